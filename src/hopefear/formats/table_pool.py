"""How a table becomes a pool: columns brought in by blocks, missing scores filled in, duplicates and leaks refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.errors import input_error
from hopefear.formats.missing import filled
from hopefear.formats.table_columns import Column, Numbers, equal_values, is_missing
from hopefear.util.messages import plural, some

if TYPE_CHECKING:
    from hopefear.formats.table import Table, TableSpec, Warn

BLOCK = 1 << 16  # rows that are brought into the pool at once
PIECE = 1 << 13  # groups that are searched for duplicates at once
DIFFERENT = 0.9  # share of the rows with a value of their own: two rows that agree in such a column are one row twice
LEAK = 1 - 1e-9  # correlation with the outcome within groups


class PoolBuilder:
    """Builds a pool from columns. Checks column by column, then adds the rows to the pool block by block."""

    def __init__(self, table: Table, spec: TableSpec, warn: Warn) -> None:
        self.table, self.spec, self.warn = table, spec, warn
        if table.rows == 0:
            raise input_error(table.name, None, "there are no rows. Give a table with one row per candidate")
        self.labels, self.begin = table.groups(spec.group)
        self.names = table.feature_names(spec)
        self.converted: dict[str, Numbers] = {}  # columns of other things than numbers
        self.gone: dict[int, NDArray[np.bool_]] = {}  # of a feature, where it is missing
        self._look()

    def _part(self, name: str, rows: slice, what: str = "--features") -> Numbers:
        """Some rows of a column as numbers; an InputError for text and infinite values."""
        if name not in self.converted:
            part = self.table.part(name, rows) if name in self.table.columns else self.table.column(name, what)
            if part.dtype.kind in "fiub":
                values = part.astype(np.float64, copy=False)
                if np.isinf(values).any():
                    self.table.numbers(name, what)  # raises, with the row
                return values
            self.converted[name] = self.table.numbers(name, what)
        return self.converted[name][rows]

    def _parts(self, name: str, what: str = "--features") -> Iterator[tuple[int, int, slice, Numbers]]:
        """A column block by block: first and last group, rows, values."""
        for first, last in self._blocks():
            rows = slice(int(self.begin[first]), int(self.begin[last]))
            yield first, last, rows, self._part(name, rows, what)

    def _look(self) -> None:
        """Reject cells that are not numbers, missing values and duplicate rows; warn of leaks."""
        hashes = _RowHashes(self.begin)
        outcome = {name: self._outcome(name) for name in self.spec.outcome}  # centred
        leaks: dict[str, list[str]] = {name: [] for name in outcome}
        for j, name in enumerate(self.names):
            add = hashes.column()
            square, cross = 0.0, dict.fromkeys(outcome, 0.0)
            for first, last, rows, values in self._parts(name):
                add(rows, values)
                if (gone := np.isnan(values)).any():
                    self.gone.setdefault(j, np.zeros(self.table.rows, dtype=np.bool_))[rows] = gone
                other = self._centred(first, last, values) if outcome else values
                square += _dot(other, other)
                for key, aim in outcome.items():
                    cross[key] += _dot(aim[rows], other)
            for key, aim in outcome.items():
                norm = math.sqrt(_dot(aim, aim) * square)
                if norm > 0 and abs(cross[key]) > LEAK * norm:
                    leaks[key].append(name)
        if self.gone and self.spec.missing == "error":
            self._complain()
        if not self.table.duplicates:
            for name in () if self.spec.text else outcome:
                add = hashes.column()
                for _, _, rows, values in self._parts(name):
                    add(rows, values)
            self._no_duplicates(hashes)
        for key, rows_leaking in leaks.items():
            if rows_leaking:
                words = "agrees" if len(rows_leaking) == 1 else "agree"
                self.warn(
                    f"{self.table.name}: {some(rows_leaking)} {words} with the outcome {key!r}. "
                    "Did the outcome leak into the features? Leave it out with --features"
                )

    def _centred(self, first: int, last: int, values: Numbers) -> Numbers:
        """The differences from the mean of each of these groups."""
        values = np.nan_to_num(values)
        begin = self.begin[first : last + 1]
        sizes = np.diff(begin)
        values -= np.repeat(np.add.reduceat(values, begin[:-1] - begin[0]) / sizes, sizes)
        return values

    def pool(self) -> Pool:
        holes = list(self.gone) if self.spec.missing == "indicator" else []
        keep = ~np.logical_or.reduce(list(self.gone.values())) if self.gone and self.spec.missing == "drop" else None
        means = {j: self._mean(j) for j in self.gone} if self.spec.missing == "mean" else {}
        pool = Pool()
        for name in [*self.names, *(f"{self.names[j]}_missing" for j in holes)]:
            pool.features.add(name)
        pool.number_names = list(self.spec.outcome)
        text = self.table.texts(self.spec.text, "--text") if self.spec.text else None
        references = [self.table.column(name, "--references") for name in self.spec.references]
        empty = 0
        for first, last in self._blocks():
            rows = slice(int(self.begin[first]), int(self.begin[last]))
            selected = np.flatnonzero(keep[rows]) if keep is not None else np.arange(rows.stop - rows.start)
            row_begin = np.searchsorted(selected, self.begin[first : last + 1] - rows.start)
            full = np.flatnonzero(np.diff(row_begin) > 0)
            empty += last - first - len(full)
            pool.append_lists(
                [self.labels[first + i] for i in full.tolist()],
                np.concatenate([row_begin[full], row_begin[-1:]]).astype(np.int64),
                self._dense(rows, selected, holes, np.repeat(np.arange(last - first), np.diff(row_begin)), means),
                stacked([self._part(name, rows)[selected] for name in self.spec.outcome], len(selected)),
                [text[rows.start + i] for i in selected.tolist()] if text is not None else [],
                [self._references(references, int(self.begin[first + i])) for i in full.tolist()] if references else [],
            )
        if empty:
            self.warn(f"{self.table.name}: {plural(empty, 'group')} without a complete candidate, left out")
        if len(pool) == 0:
            raise input_error(self.table.name, None, "no candidate is complete. Fill in the missing numbers")
        return pool

    def _blocks(self) -> Iterator[tuple[int, int]]:
        """Groups, first to last, of about BLOCK rows together."""
        first = 0
        while first < len(self.labels):
            last = int(np.searchsorted(self.begin, self.begin[first] + BLOCK))
            last = min(max(last, first + 1), len(self.labels))
            yield first, last
            first = last

    def _mean(self, j: int) -> float:
        """The mean of a feature that is missing in places."""
        count, total = 0, 0.0
        for _, _, _, values in self._parts(self.names[j]):
            count, total = count + int((~np.isnan(values)).sum()), total + float(np.nansum(values))
        return total / count if count else 0.0

    def _dense(
        self,
        rows: slice,
        selected: NDArray[np.int64],
        holes: Sequence[int],
        group: NDArray[np.int64],
        means: Mapping[int, float],
    ) -> Numbers:
        dense = np.empty((len(selected), len(self.names) + len(holes)))
        for j, name in enumerate(self.names):
            dense[:, j] = self._part(name, rows)[selected]
            if j in self.gone and not holes:
                dense[:, j] = filled(dense[:, j], group, self.spec.missing, means.get(j, 0.0))
        for k, j in enumerate(holes, len(self.names)):
            gone = np.isnan(dense[:, j])
            dense[:, k] = gone
            dense[gone, j] = 0.0
        return dense

    @staticmethod
    def _references(columns: Sequence[Column], row: int) -> list[str]:
        references: list[str] = []
        for column in columns:
            value = column[row]
            values = value if isinstance(value, list | tuple | np.ndarray) else [value]
            references += [str(reference) for reference in values if not is_missing(reference)]
        return [text for text in references if text.strip()]

    def _outcome(self, name: str) -> Numbers:
        """The differences of an outcome from its group's mean; none may be missing."""
        outcome = np.empty(self.table.rows)
        for first, last, rows, values in self._parts(name, "--outcome"):
            if np.isnan(values).any():
                row = rows.start + int(np.flatnonzero(np.isnan(values))[0])
                cure = "Every candidate needs its outcome: fill it, or remove the row"
                raise self.table.error(row, f"{name} is missing. {cure}")
            outcome[rows] = self._centred(first, last, values)
        return outcome

    def _complain(self) -> None:
        """The first missing number, and how many there are."""
        count = sum(int(gone.sum()) for gone in self.gone.values())
        row, j = min((int(np.flatnonzero(gone)[0]), j) for j, gone in self.gone.items())
        more = f", as are {count - 1} more" if count > 1 else ""
        cure = "Fill it, or set --missing mean (of its group), zero, drop (leave the candidate out) or indicator"
        raise self.table.error(row, f"{self.names[j]} is missing{more}. {cure}")

    def _no_duplicates(self, hashes: _RowHashes) -> None:
        """Raises an error for a candidate that occurs twice in its group.

        With a text that is: the same text and features. Without one, the same row, where some column of numbers hardly
        ever repeats itself; grades of 1 to 5 may well be the same for two candidates.
        """
        names = [*self.names, *(() if self.spec.text else self.spec.outcome)]
        twice = hashes.pairs()
        if not twice:
            return
        all_rows = slice(0, self.table.rows)
        for name in names:
            column = self._part(name, all_rows)
            twice = [pair for pair in twice if equal_values(column[pair[0]], column[pair[1]])]
        rows = self.table.rows - len(twice)  # or a table that is there twice as a whole would hide its repetitions
        if self.spec.text:
            others = [self.table.column(self.spec.text, "--text")]
        elif twice and any(len(np.unique(self._part(name, all_rows))) >= DIFFERENT * rows for name in names):
            used = {self.spec.group, *self.names, *self.spec.outcome}
            others = [self.table.columns[name] for name in self.table.columns if name not in used]
        else:
            return
        for first, row in twice:
            if all(equal_values(column[first], column[row]) for column in others):
                finding = f"the same candidate as {self.table.place(first)}"
                raise self.table.error(row, f"{finding}. Leave one out, or add a column of text that tells them apart")


class _RowHashes:
    """Which rows of a group may agree in all columns of numbers: those whose hashes do."""

    def __init__(self, begin: NDArray[np.int64]) -> None:
        self.begin = begin  # of the groups
        self.hashes = np.zeros(int(begin[-1]), dtype=np.uint64)
        self._random = np.random.default_rng(0)

    def column(self) -> Callable[[slice, Numbers], None]:
        """To add a column, some rows after the other."""
        factor = self._random.integers(1, 2**63, dtype=np.uint64) | np.uint64(1)

        def add(rows: slice, values: Numbers) -> None:
            bits = (values + 0.0).view(np.uint64)  # -0 is 0
            bits ^= bits >> np.uint64(29)
            bits *= factor
            bits ^= bits >> np.uint64(32)
            self.hashes[rows] += bits

        return add

    def pairs(self) -> list[tuple[int, int]]:
        """Rows, each with one before it in its group that it may agree with."""
        equal = []
        for first, last in itertools.pairwise(range(0, len(self.begin) - 1 + PIECE, PIECE)):
            begin = self.begin[first : last + 1]
            owner = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
            hashes = self.hashes[begin[0] : begin[-1]]
            order = np.lexsort((hashes, owner))
            again = (hashes[order][1:] == hashes[order][:-1]) & (owner[1:] == owner[:-1])
            start = int(begin[0])
            equal += [(start + int(order[at]), start + int(order[at + 1])) for at in np.flatnonzero(again)]
        return sorted(equal, key=lambda pair: pair[1])


def _dot(a: Numbers, b: Numbers) -> float:
    return float(np.einsum("i,i", a, b))  # in this thread, unlike @


def stacked(columns: Sequence[Numbers], rows: int) -> Numbers:
    """Columns as a matrix with so many rows."""
    return np.column_stack(columns) if columns else np.zeros((rows, 0))
