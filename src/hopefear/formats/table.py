"""Tables: one row per candidate, scores in columns. From CSV, TSV, JSON lines, Parquet, Arrow, frames, dicts of arrays.

    pool = Pool.from_table("scores.csv", group="prompt", outcome="reward")
    pool = Pool.from_table(frame, group="query", features=["bm25", "dense*"], outcome=["grade"])

CSV, TSV and JSON lines need nothing else; pyarrow (the extra ``tables``) reads JSON lines many times as fast, and is
needed for Parquet, Arrow and frames. Rows of a group stand together. In *wide* tables a row is a whole group, and
columns hold lists. How files become columns is in ``hopefear.formats.table_files``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.errors import InputError, input_error
from hopefear.formats.missing import TABLE_POLICIES, check_policy, filled
from hopefear.formats.nested import columns_of, rows_of
from hopefear.util.values import parsed_number
from hopefear.util.words import one_of, plural, some

Column = NDArray[Any]
Numbers = NDArray[np.float64]
Warn = Callable[[str], object]
EMPTY = ("", "na", "n/a", "nan", "null", "none")  # of a number: missing
TRUTH = {"true": 1.0, "false": 0.0}
BLOCK = 1 << 16  # rows that are brought into the pool at once
PIECE = 1 << 13  # groups that are searched for duplicates at once
DIFFERENT = 0.9  # share of the rows with a value of their own: two rows that agree in such a column are one row twice
LEAK = 1 - 1e-9  # correlation with the outcome within groups


@dataclass(frozen=True)
class TableSpec:
    """Which columns mean what."""

    group: str  # sentence, query, prompt: candidates of one group compete
    features: Sequence[str] = ()  # names or patterns; none: all columns of numbers that mean nothing else
    text: str | None = None
    references: Sequence[str] = ()
    outcome: Sequence[str] = ()  # columns of numbers that say how good a candidate is
    missing: str = "error"  # what becomes of missing numbers: one of TABLE_POLICIES

    def __post_init__(self) -> None:
        for name in ("features", "references", "outcome"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value or ()))
        check_policy(self.missing, TABLE_POLICIES)

    @property
    def words(self) -> tuple[str, ...]:
        """The columns that are text, whatever they look like."""
        return tuple(name for name in (self.group, self.text, *self.references) if name)

    def wants(self, name: str) -> bool:
        """Whether a column may say something of each candidate."""
        if name in (self.text, *self.outcome):
            return True
        if name in (self.group, *self.references):
            return False
        return not self.features or any(fnmatchcase(name, pattern) for pattern in self.features)


@dataclass
class Table:
    """Columns by name, all of one length, and where they come from."""

    columns: Mapping[str, Column]
    name: str = "table"
    line_of: Callable[[int], int] | None = None  # the line of a row, where the file has lines
    source: Any = None  # the pyarrow.Table, if there is one
    owner: NDArray[np.int64] | None = None  # the row of the file or frame that each row comes from, if it is another
    duplicates: bool = False  # whether a candidate may be there twice
    rows: int = field(init=False)

    def __post_init__(self) -> None:
        if self.source is not None:
            self.rows = self.source.num_rows
            return
        lengths = {name: len(column) for name, column in self.columns.items()}
        if len({*lengths.values()}) > 1:
            short = min(lengths, key=lengths.__getitem__)
            raise input_error(self.name, None, f"column {short!r} has {lengths[short]} rows, others have more")
        self.rows = next(iter(lengths.values()), 0)

    def error(self, row: int, finding: str) -> InputError:
        """An error in a row, which is named by its line, or by its number from 0."""
        if self.line_of is None:
            return input_error(self.name, None, f"{self.place(row)}: {finding}")
        return input_error(self.name, self.line_of(self._source_row(row)), finding)

    def place(self, row: int) -> str:
        row = self._source_row(row)
        return f"row {row}" if self.line_of is None else f"line {self.line_of(row)}"

    def _source_row(self, row: int) -> int:
        return row if self.owner is None else int(self.owner[row])

    def taken(self, order: NDArray[np.int64]) -> Table:
        """The table with these rows, in this order; messages speak of the rows of this one. Nothing is copied yet."""
        owner = order if self.owner is None else self.owner[order]
        return Table(_Taken(self, order), self.name, self.line_of, owner=owner, duplicates=self.duplicates)

    def part(self, name: str, rows: slice) -> Column:
        """Some rows of a column, where possible without making an array of all of it."""
        part = getattr(self.columns, "part", None)
        found: Column = part(name, rows) if part is not None else self.columns[name][rows]
        return found

    def column(self, name: str, what: str) -> Column:
        if name not in self.columns:
            known = f" There are: {some(self.columns, 8)}"
            raise input_error(self.name, None, f"no column {name!r} for {what}.{one_of(name, self.columns)}{known}")
        return self.columns[name]

    def numbers(self, name: str, what: str) -> Numbers:
        """A column as numbers; NaN where one is missing. Complains about text and infinite values."""
        column = self.column(name, what)
        if column.dtype.kind in "fiub":
            values = column.astype(np.float64, copy=False)
        else:
            values = np.empty(len(column))
            for row, value in enumerate(column):
                values[row] = self._number(name, row, value)
        if np.isinf(values).any():
            row = int(np.flatnonzero(np.isinf(values))[0])
            raise self.error(row, f"{name} is infinite. Write a finite number")
        return values

    def _number(self, name: str, row: int, value: Any) -> float:
        found = _as_number(value)
        if found is None:
            finding = f"{name} is {str(value)[:40]!r}, which is not a number"
            raise self.error(row, f"{finding}. Mend it, or name the columns to use with --features")
        return found

    def texts(self, name: str, what: str) -> list[str]:
        return ["" if _is_missing(value) else str(value) for value in self.column(name, what)]

    def is_numeric(self, name: str) -> bool:
        """Whether a column is meant as numbers: more of its first rows have a number than something else."""
        column = self.part(name, slice(0, min(self.rows, 1000)))
        if column.dtype.kind in "fiub":
            return True
        if column.dtype.kind != "O":
            return False
        values = [_as_number(value) if not isinstance(value, bytes) else None for value in column]
        return sum(value is not None and not math.isnan(value) for value in values) > values.count(None)

    def has_lists(self, name: str) -> bool:
        """Whether the first value of a column is a list."""
        if self.rows == 0 or self.part(name, slice(0, 1)).dtype.kind != "O":
            return False
        first = next((value for value in self.columns[name] if value is not None), None)
        return isinstance(first, list | tuple | np.ndarray)

    def feature_names(self, spec: TableSpec) -> list[str]:
        """The columns that are features: those that match a pattern, or all numbers that mean nothing else."""
        other = {spec.group, spec.text, *spec.references, *spec.outcome}
        if not spec.features:
            found = [name for name in self.columns if name not in other and self.is_numeric(name)]
            if not found:
                raise input_error(self.name, None, "no column of numbers is left for features. Name them: --features")
            return found
        found = []
        for pattern in spec.features:
            hits = [name for name in self.columns if fnmatchcase(name, pattern)] or [pattern]
            self.column(hits[0], "--features")
            found += [name for name in hits if name not in found and name not in other - {pattern}]
        return found

    def refuse_constant(self, spec: TableSpec) -> None:
        """Complains about a feature that is the same number in all rows."""
        for name in self.feature_names(spec) if self.rows > 1 else ():
            first = _as_number(self.part(name, slice(0, 1))[0])
            for begin in range(0, self.rows, BLOCK):
                column = self.part(name, slice(begin, min(begin + BLOCK, self.rows)))
                if column.dtype.kind not in "fiub":
                    column = np.array([_as_number(value) for value in column], dtype=np.float64)
                if not (column == first).all():
                    break
            else:
                finding = f"{name} is {first:g} in every row, so it cannot tell candidates apart"
                raise input_error(self.name, None, f"{finding}. Name the columns to use with --features")

    def codes(self, name: str) -> tuple[NDArray[np.int64], list[str]]:
        """A column of labels as numbers, and the labels in the order in which they appear."""
        codes, labels, begin = self._stretches(name)
        return np.repeat(codes, np.diff(begin)), labels

    def _stretches(self, name: str) -> tuple[NDArray[np.int64], list[str], NDArray[np.int64]]:
        """Of each stretch of rows with the same label its number; the labels; first rows, the end at last."""
        column = self.column(name, "--group")
        ends = np.flatnonzero(column[1:] != column[:-1]) + 1
        begin = np.concatenate([[0], ends, [len(column)]]) if len(column) else np.zeros(1, dtype=np.int64)
        labels: dict[str, int] = {}
        codes = np.empty(len(begin) - 1, dtype=np.int64)
        for number, (row, value) in enumerate(zip(begin[:-1].tolist(), column[begin[:-1]].tolist(), strict=True)):
            if _is_missing(value) or value == "":
                raise self.error(row, f"the group {name!r} is missing. Fill it")
            codes[number] = labels.setdefault(_label(value), len(labels))
        return codes, list(labels), begin

    def groups(self, name: str) -> tuple[list[str], NDArray[np.int64]]:
        """The labels of the groups and their first rows, the end at last. Complains about groups in pieces."""
        codes, labels, begin = self._stretches(name)
        if len(codes) > len(labels):
            seen: dict[int, int] = {}
            for code, row in zip(codes.tolist(), begin.tolist(), strict=False):
                if code in seen:
                    before = self.place(seen[code])
                    finding = f"group {labels[code]!r} begins again, after {before}. Sort the rows by {name!r}"
                    raise self.error(row, finding)
                seen[code] = row
        return labels, begin

    def pool(self, spec: TableSpec, warn: Warn | None = None) -> Pool:
        """The candidates of the table as a pool of lists; outcome columns are its numbers."""
        return _Builder(self.flat(spec), spec, warn or (lambda text: None)).pool()

    def flat(self, spec: TableSpec) -> Table:
        """The table with one row per candidate: columns of lists are unrolled."""
        wide = {name: self.columns[name] for name in self.columns if spec.wants(name) and self.has_lists(name)}
        if not wide:
            return self
        first = next(iter(wide))
        counts = np.zeros(self.rows, dtype=np.int64)
        for name, column in wide.items():
            for row, value in enumerate(column):
                if not isinstance(value, list | tuple | np.ndarray):
                    raise self.error(row, f"{name} is {str(value)[:40]!r}, and a list elsewhere. Write a list")
                if name == first:
                    counts[row] = len(value)
                elif len(value) != counts[row]:
                    finding = f"{name} has {len(value)} values, {first} has {counts[row]}"
                    raise self.error(row, f"{finding}. All lists of a row go together: name the columns to use")
        columns: dict[str, Column] = {}
        for name in self.columns:
            if name in wide:
                columns[name] = _column(item for value in wide[name] for item in value)
            elif name in spec.words or not self.has_lists(name):
                columns[name] = np.repeat(self.columns[name], counts)
        return Table(
            columns, self.name, self.line_of, owner=np.repeat(np.arange(self.rows), counts), duplicates=self.duplicates
        )


class _Taken(Mapping[str, Column]):
    """The columns of a table in another order, put into it when they are asked for."""

    def __init__(self, table: Table, order: NDArray[np.int64]) -> None:
        self.table, self.order = table, order

    def __getitem__(self, name: str) -> Column:
        found: Column = self.table.columns[name][self.order]
        return found

    def part(self, name: str, rows: slice) -> Column:
        order = self.order[rows]
        first, last = (int(order.min()), int(order.max()) + 1) if len(order) else (0, 0)
        found: Column = self.table.part(name, slice(first, last))[order - first]
        return found

    def __contains__(self, name: object) -> bool:
        return name in self.table.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.table.columns)

    def __len__(self) -> int:
        return len(self.table.columns)


class _Builder:
    """From columns to a pool. Whole columns are looked at one after the other, and go into the pool block by block."""

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
        """Some rows of a column as numbers; complains about text and infinite values."""
        if name not in self.converted:
            found = self.table.part(name, rows) if name in self.table.columns else self.table.column(name, what)
            if found.dtype.kind in "fiub":
                values = found.astype(np.float64, copy=False)
                if np.isinf(values).any():
                    self.table.numbers(name, what)  # says where
                return values
            self.converted[name] = self.table.numbers(name, what)
        return self.converted[name][rows]

    def _parts(self, name: str, what: str = "--features") -> Iterator[tuple[int, int, slice, Numbers]]:
        """A column block by block: first and last group, rows, values."""
        for first, last in self._blocks():
            rows = slice(int(self.begin[first]), int(self.begin[last]))
            yield first, last, rows, self._part(name, rows, what)

    def _look(self) -> None:
        """Complains about what is no number, missing, or there twice, and warns of leaks."""
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
        for key, found in leaks.items():
            if found:
                words = "says" if len(found) == 1 else "say"
                self.warn(
                    f"{self.table.name}: {some(found)} {words} the same as the outcome {key!r}. "
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
            kept = np.flatnonzero(keep[rows]) if keep is not None else np.arange(rows.stop - rows.start)
            row_begin = np.searchsorted(kept, self.begin[first : last + 1] - rows.start)
            full = np.flatnonzero(np.diff(row_begin) > 0)
            empty += last - first - len(full)
            pool.append_lists(
                [self.labels[first + i] for i in full.tolist()],
                np.concatenate([row_begin[full], row_begin[-1:]]).astype(np.int64),
                self._dense(rows, kept, holes, np.repeat(np.arange(last - first), np.diff(row_begin)), means),
                _stacked([self._part(name, rows)[kept] for name in self.spec.outcome], len(kept)),
                [text[rows.start + i] for i in kept.tolist()] if text is not None else [],
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
        kept: NDArray[np.int64],
        holes: Sequence[int],
        group: NDArray[np.int64],
        means: Mapping[int, float],
    ) -> Numbers:
        dense = np.empty((len(kept), len(self.names) + len(holes)))
        for j, name in enumerate(self.names):
            dense[:, j] = self._part(name, rows)[kept]
            if j in self.gone and not holes:
                dense[:, j] = filled(dense[:, j], group, self.spec.missing, means.get(j, 0.0))
        for k, j in enumerate(holes, len(self.names)):
            gone = np.isnan(dense[:, j])
            dense[:, k] = gone
            dense[gone, j] = 0.0
        return dense

    @staticmethod
    def _references(columns: Sequence[Column], row: int) -> list[str]:
        found: list[str] = []
        for column in columns:
            value = column[row]
            values = value if isinstance(value, list | tuple | np.ndarray) else [value]
            found += [str(one) for one in values if not _is_missing(one)]
        return [text for text in found if text.strip()]

    def _outcome(self, name: str) -> Numbers:
        """The differences of an outcome from its group's mean; none may be missing."""
        found = np.empty(self.table.rows)
        for first, last, rows, values in self._parts(name, "--outcome"):
            if np.isnan(values).any():
                row = rows.start + int(np.flatnonzero(np.isnan(values))[0])
                cure = "Every candidate needs its outcome: fill it, or cut the row"
                raise self.table.error(row, f"{name} is missing. {cure}")
            found[rows] = self._centred(first, last, values)
        return found

    def _complain(self) -> None:
        """The first missing number, and how many there are."""
        count = sum(int(gone.sum()) for gone in self.gone.values())
        row, j = min((int(np.flatnonzero(gone)[0]), j) for j, gone in self.gone.items())
        more = f", as are {count - 1} more" if count > 1 else ""
        cure = "Fill it, or say --missing mean (of its group), zero, drop (leave the candidate out) or indicator"
        raise self.table.error(row, f"{self.names[j]} is missing{more}. {cure}")

    def _no_duplicates(self, hashes: _RowHashes) -> None:
        """Complains about a candidate that stands in its group twice.

        With a text that is: the same text and features. Without one, the same row, where some column of numbers hardly
        ever repeats itself; grades of 1 to 5 may well be the same for two candidates.
        """
        names = [*self.names, *(() if self.spec.text else self.spec.outcome)]
        twice = hashes.pairs()
        if not twice:
            return
        whole = slice(0, self.table.rows)
        for name in names:
            column = self._part(name, whole)
            twice = [pair for pair in twice if _equal(column[pair[0]], column[pair[1]])]
        if self.spec.text:
            others = [self.table.column(self.spec.text, "--text")]
        elif twice and any(len(np.unique(self._part(name, whole))) >= DIFFERENT * self.table.rows for name in names):
            used = {self.spec.group, *self.names, *self.spec.outcome}
            others = [self.table.columns[name] for name in self.table.columns if name not in used]
        else:
            return
        for first, row in twice:
            if all(_equal(column[first], column[row]) for column in others):
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
        found = []
        for first, last in itertools.pairwise(range(0, len(self.begin) - 1 + PIECE, PIECE)):
            begin = self.begin[first : last + 1]
            owner = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
            hashes = self.hashes[begin[0] : begin[-1]]
            order = np.lexsort((hashes, owner))
            again = (hashes[order][1:] == hashes[order][:-1]) & (owner[1:] == owner[:-1])
            start = int(begin[0])
            found += [(start + int(order[at]), start + int(order[at + 1])) for at in np.flatnonzero(again)]
        return sorted(found, key=lambda pair: pair[1])


def _dot(a: Numbers, b: Numbers) -> float:
    return float(np.einsum("i,i", a, b))  # in this thread, unlike @


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray | list) or isinstance(b, np.ndarray | list):
        return np.array_equal(a, b)
    return bool(a == b) or (_is_missing(a) and _is_missing(b))


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _as_number(value: Any) -> float | None:
    """The number that a value is, NaN if it is missing, None if it is something else."""
    if value is None:
        return math.nan
    if isinstance(value, str):
        text = value.strip().lower()
        if text in EMPTY:
            return math.nan
        if text in TRUTH:
            return TRUTH[text]
        try:
            return parsed_number(text)
        except ValueError:
            return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _label(value: Any) -> str:
    """A group's name: 3 and 3.0 are the same."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _stacked(columns: Sequence[Numbers], rows: int) -> Numbers:
    return np.column_stack(columns) if columns else np.zeros((rows, 0))


def as_objects(values: Sequence[Any]) -> Column:
    """An array of Python objects, lists among them."""
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _column(values: Iterable[Any]) -> Column:
    """Numbers as numbers, everything else as objects."""
    values = list(values)
    if all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in values):
        return np.array(values, dtype=np.float64)
    found = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        found[i] = value
    return found


def read_table(source: Any, spec: TableSpec | None = None) -> Table:
    """A table from a file, a frame that speaks Arrow's PyCapsule protocol, a dict of arrays, or dicts one by one.

    With ``spec``, columns of group, text and references are read as they are written, not as numbers.
    """
    from hopefear.formats.table_files import from_arrow, is_path, pyarrow_for, read_file

    if isinstance(source, Table):
        return source
    if is_path(source):
        return read_file(source, spec.words if spec is not None else ())
    if isinstance(source, Mapping):
        return Table({str(name): _array(values, str(name)) for name, values in source.items()})
    if isinstance(source, list | tuple) or (hasattr(source, "__next__") and hasattr(source, "__iter__")):
        rows = rows_of(source, "table")
        if spec is not None:  # rows of a group may come in any order
            first: dict[Any, int] = {}
            rows.sort(key=lambda row: first.setdefault(row.get(spec.group), len(first)))
        return Table({name: _column(values) for name, values in columns_of(rows).items()})
    if hasattr(source, "__arrow_c_stream__"):
        return from_arrow(pyarrow_for("This frame").table(source), "table")
    if hasattr(source, "columns") and hasattr(source, "__getitem__"):  # a frame of another kind
        return Table({str(name): _array(source[name], str(name)) for name in source.columns})
    raise InputError(f"a table is a file, a frame or a dict of arrays, not {type(source).__name__}")


def _array(values: Any, name: str) -> Column:
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
        raise InputError(f"table: column {name!r} is {type(values).__name__}. Give an array or a list of values")
    if not isinstance(values, np.ndarray):
        values = values.to_numpy() if hasattr(values, "to_numpy") else list(values)
    if not isinstance(values, np.ndarray):
        return _column(values)
    if values.ndim == 1:
        return values.astype(object) if values.dtype.kind in "US" else values
    if values.ndim == 2:  # a wide column: a row of numbers per group
        return as_objects(list(values))
    raise InputError(f"table: column {name!r} has {values.ndim} dimensions. Give one value per row")
