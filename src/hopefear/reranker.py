"""Learnt weights in production: one JSON file that scores candidates.

    reranker = hf.Reranker.load("weights.json")
    reranker.predict(rows)                # scores: a matrix, a frame, a dict of columns, a list of dicts, or a pool
    reranker.best(rows)                   # the number of the best row of one group
    reranker.rerank(frame, group="id")    # the frame, best first in each group, with columns score and rank

The file holds everything that is needed to score: the weights by name, what to do about a missing score, the metric
that was optimised, where the weights come from, and a checksum. A score is the sum of weight times value, so ten lines
of any language can read it. Objects never change after they were made: threads may share them.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.errors import InputError, input_error, python_messages
from hopefear.formats import weights_json
from hopefear.formats.missing import check_policy
from hopefear.formats.nbest import read_nbest
from hopefear.formats.records import Records, is_dataset, is_table, lists_in, several
from hopefear.formats.table import Table, TableSpec, read_table
from hopefear.formats.weights import weight_vector
from hopefear.util.files import PathLike, atomic_write, read_whole
from hopefear.util.messages import plural, some, suggestion

BARS = 30  # weights that a plot shows

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Reranker:
    """Weights that score candidates.

    >>> reranker = hf.Reranker({"lm": 0.5, "tm": 1.0})
    >>> reranker.best([{"lm": -2.0, "tm": 3.0}, {"lm": -4.0, "tm": 1.0}])
    0
    """

    weights: Mapping[str, float]
    missing: str = "error"  #: a score that a candidate lacks: error, zero, or mean (of the candidates learnt from)
    means: Mapping[str, float] = field(default_factory=dict)  #: of each feature, for ``missing="mean"``
    metric: str = ""  #: that was optimised
    group: str = ""  #: the column of the table learnt from that says which candidates compete
    about: Mapping[str, Any] = field(default_factory=dict)  #: trainer, seed, scores, version

    def __post_init__(self) -> None:
        check_policy(self.missing)
        if not hasattr(self.weights, "items"):
            given = getattr(self.weights, "weights", None)  # of a result
            if given is None:
                raise InputError(f"weights map names to numbers: a dict, not {type(self.weights).__name__}")
            object.__setattr__(self, "weights", given)
        for name, weight in self.weights.items():
            if not isinstance(weight, SupportsFloat):
                raise InputError(f"the weight of {name} is {weight!r}, not a number")
        if wrong := next((name for name, weight in self.weights.items() if not math.isfinite(weight)), None):
            raise InputError(f"the weight of {wrong} is not a finite number")

    def __repr__(self) -> str:
        return f"<Reranker of {self.largest()}>"

    def largest(self, most: int = 3) -> str:
        """The largest weights in a line."""
        names = sorted(self.weights, key=lambda name: -abs(self.weights[name]))[:most]
        weights = ", ".join(f"{name} {self.weights[name]:.4g}" for name in names)
        return f"{plural(len(self.weights), 'weight')}: {weights}{', ...' if len(self.weights) > most else ''}"

    @classmethod
    @python_messages()
    def load(cls, path: PathLike) -> Reranker:
        """Weights from a JSON file of ``save``, a run directory, or a file of weights; of a result, those it has."""
        from hopefear.formats.weights import read_weights

        if not isinstance(path, str | os.PathLike):
            return getattr(path, "reranker", None) or (path if isinstance(path, cls) else cls(path))
        where = Path(path)
        if where.is_dir():
            return cls._of_run(where)
        data = read_whole(path) if where.is_file() else b""
        if data[:1] != b"{":
            return cls(read_weights(path))
        record = weights_json.parsed(data, path)
        return cls(**{each.name: record[each.name] for each in fields(cls) if each.name in record})

    @classmethod
    def _of_run(cls, folder: Path) -> Reranker:
        from hopefear.formats.weights import read_weights
        from hopefear.runs.directory import read_run

        record = read_run(folder)
        if record.status != "done":
            raise input_error(folder, None, "holds an unfinished run. Finish it with --resume")
        about = {"trainer": record.trainer, "seed": record.seed, "final": record.final, "versions": record.versions}
        missing = "zero" if record.settings.get("missing") == "zero" else "error"  # a run does not keep the means
        group = str(record.settings.get("group") or "")
        return cls(read_weights(folder / "weights.txt"), missing, {}, str(record.metric or ""), group, about)

    def save(self, path: PathLike) -> Path:
        """Write the JSON file; it appears whole or not at all."""
        with atomic_write(path) as file:
            json.dump(self.to_dict(), file, indent=1, ensure_ascii=False, allow_nan=False)
            file.write("\n")
        return Path(path)

    def to_dict(self) -> dict[str, Any]:
        """What the file holds."""
        from hopefear.util.values import plain

        record: dict[str, Any] = {
            "format": weights_json.FORMAT,
            "version": weights_json.VERSION,
            "weights": {name: float(weight) for name, weight in self.weights.items()},
            "missing": self.missing,
            "means": {name: float(value) for name, value in self.means.items()},
            "metric": self.metric,
            "group": self.group,
            "about": plain(self.about),
        }
        return {**record, "checksum": weights_json.checksum(record)}

    def to_pandas(self) -> Any:
        """The weights as a Series, the largest first."""
        try:
            import pandas
        except ImportError:
            raise InputError("to_pandas() needs pandas. Install it: pip install pandas") from None
        ordered = sorted(self.weights.items(), key=lambda item: -abs(item[1]))
        return pandas.Series(dict(ordered), name="weight", dtype=float)

    def plot(self) -> Any:
        """The largest weights as bars: matplotlib's axes if it is installed, else an object that notebooks show."""
        names, values = zip(*_largest(self.weights), strict=True) if self.weights else ((), ())
        try:
            from matplotlib import pyplot
        except ImportError:
            return Picture(_bars(names, values))
        _, axes = pyplot.subplots(figsize=(6, 0.3 * len(names) + 1))
        axes.barh(names[::-1], values[::-1])
        axes.set_xlabel("weight")
        return axes

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The features, in the order of a matrix's columns."""
        return tuple(self.weights)

    @cached_property
    def vector(self) -> Vector:
        """The weights in that order."""
        vector = np.array([self.weights[name] for name in self.names], dtype=np.float64)
        vector.flags.writeable = False
        return vector

    @python_messages()
    def predict(self, data: Any) -> Vector:
        """The score of each candidate: the larger, the better.

        ``data`` is a matrix (columns in the order of ``names``), a frame or dict of columns, rows as dicts, lists of
        candidates (a pool, or records with a list each: the scores of all candidates, list after list), or a file.

        >>> Reranker({"lm": 0.5, "tm": 1.0}).predict([{"lm": -2.0, "tm": 3.0}, {"lm": -4.0, "tm": 1.0}])
        array([ 2., -1.])
        """
        data = _opened(data)
        if isinstance(data, Pool):
            self._need(data.feature_names, "the candidates")
            w = weight_vector(self.weights, data.feature_names)
            return np.concatenate([forest.scores(w) for forest in data]) if len(data) else np.empty(0)
        if isinstance(data, np.ndarray):
            return self._of_matrix(data)
        if isinstance(data, Mapping) and not is_columns(data):
            data = [data]
        if _is_matrix(data):
            return self._of_matrix(np.asarray(data))
        if isinstance(data, Sequence):
            return self._of_rows(data)
        return self._of_table(read_table(data))

    def best(self, rows: Any) -> int:
        """The number of the best candidate of one group, the first of equals."""
        return int(np.argmax(self.predict(rows)))

    @python_messages()
    def rerank(self, data: Any, group: str | None = None) -> Any:
        """The candidates, best first.

        Of lists of candidates the best text of each. Of a matrix the numbers of its rows; of rows as dicts the dicts.
        A frame comes back with the columns ``score`` and ``rank``, best first in each ``group``: by default the column
        by which the weights were learnt, if it is there; without one, all rows compete.

        >>> Reranker({"lm": 0.5}).rerank([{"text": "a", "lm": -2.0}, {"text": "b", "lm": -1.0}])[0]["text"]
        'b'
        """
        data = _opened(data)
        if isinstance(data, Pool):
            self._need(data.feature_names, "the candidates")
            return [best.text for best in data.viterbi(dict(self.weights))]
        scores = self.predict(data)
        if isinstance(data, np.ndarray) or _is_matrix(data):
            return np.argsort(-scores, kind="stable")
        table = read_table(data, TableSpec(group) if group else None)
        group = group or (self.group if self.group in table.columns else None)
        codes = table.codes(group)[0] if group else np.zeros(len(scores), np.int64)
        order = np.lexsort((np.arange(len(scores)), -scores, codes))
        begin = np.flatnonzero(np.diff(codes[order], prepend=-1))
        sizes = np.diff(np.append(begin, len(order)))
        if isinstance(data, Sequence):
            return [data[row] for row in order.tolist()]
        ranks = np.empty(len(scores), np.int64)
        ranks[order] = np.arange(len(order)) - np.repeat(begin, sizes) + 1
        return _reordered(data, table, order, {"score": scores, "rank": ranks})

    def _of_matrix(self, rows: NDArray[Any]) -> Vector:
        rows = np.asarray(rows, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.names):
            finding = f"a matrix of {len(self.names)} columns is needed ({some(self.names)}), not {rows.shape}"
            raise InputError(f"{finding}. A frame or dicts name their columns")
        if np.isnan(rows.sum()):
            rows = self._filled(rows)
        return np.asarray(np.ascontiguousarray(rows) @ self.vector)

    def _filled(self, rows: Vector) -> Vector:
        holes = np.isnan(rows)
        if self.missing == "error":
            row, column = (int(at[0]) for at in np.nonzero(holes))
            finding = f"row {row} has no {self.names[column]}"
            raise InputError(f'{finding}. Fill it, or use missing="zero" or missing="mean"')
        return np.where(holes, self._substitutes(), rows)

    def _substitutes(self) -> Vector:
        if self.missing == "zero":
            return np.zeros(len(self.names))
        if without := [name for name in self.names if name not in self.means]:
            raise InputError(f"the means of {some(without)} are not known: these weights were saved without them")
        return np.array([self.means[name] for name in self.names])

    def _of_rows(self, rows: Sequence[Mapping[str, Any]]) -> Vector:
        """Rows as dicts: flat, or with the scores under ``features``."""
        values = np.full((len(rows), len(self.names)), np.nan)
        for number, row in enumerate(rows):
            if not isinstance(row, Mapping):
                raise InputError(f"row {number} is {type(row).__name__}. Give dicts of scores by name")
            scores = row["features"] if isinstance(row.get("features"), Mapping) else row
            for column, name in enumerate(self.names):
                if (value := scores.get(name)) is not None:
                    values[number, column] = value
        return self._of_matrix(values)

    def _of_table(self, table: Table) -> Vector:
        self._need(table.columns, table.name)
        empty = np.full(table.rows, np.nan)
        columns = [table.numbers(name, "weights") if name in table.columns else empty for name in self.names]
        return self._of_matrix(np.column_stack(columns) if columns else np.empty((table.rows, 0)))

    def _need(self, there: Iterable[str], whose: str) -> None:
        """Complain about features that the data lack, unless the policy is another one."""
        known = set(there)
        lacking = [name for name, weight in self.weights.items() if weight and name not in known]
        if not lacking or self.missing != "error":
            return
        cure = 'Add them, or use missing="zero" or missing="mean"'
        does, have = "lacks" if whose == "table" else "lack", "has a weight" if len(lacking) == 1 else "have weights"
        raise InputError(f"{whose} {does} {some(lacking)}, which {have}.{suggestion(lacking[0], known)} {cure}")


class Scoring:
    """What every result of learning can do: score, rerank, save, show itself. Subclasses have ``reranker``."""

    @property
    def reranker(self) -> Reranker:
        """The weights as something that scores."""
        raise NotImplementedError

    def predict(self, data: Any) -> Vector:
        """The score of each candidate; see :meth:`Reranker.predict`."""
        return self.reranker.predict(data)

    def rerank(self, data: Any, group: str | None = None) -> Any:
        """The candidates, best first; see :meth:`Reranker.rerank`."""
        return self.reranker.rerank(data, group)

    def save(self, path: PathLike) -> Path:
        """Write one JSON file that ``hf.load`` and ``hf.Reranker.load`` read."""
        return self.reranker.save(path)

    def to_dict(self) -> dict[str, Any]:
        """The weights and where they come from, as JSON has them."""
        return self.reranker.to_dict()

    def to_pandas(self) -> Any:
        """The weights as a Series, the largest first."""
        return self.reranker.to_pandas()

    def plot(self) -> Any:
        """The largest weights as bars."""
        return self.reranker.plot()


def load(path: PathLike) -> Reranker:
    """Weights from a file of ``save``, from a run directory or from a file of weights.

    >>> path = hf.Reranker({"lm": 0.5}).save("weights.json")
    >>> hf.load(path).weights
    {'lm': 0.5}
    """
    return Reranker.load(path)


@dataclass(frozen=True)
class Picture:
    """A picture that notebooks show; ``str()`` is its SVG."""

    svg: str

    def __str__(self) -> str:
        return self.svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: PathLike) -> Path:
        """Write the SVG to a file."""
        with atomic_write(path) as file:
            file.write(self.svg)
        return Path(path)


def _opened(data: Any) -> Any:
    """Data in a form to score: lists of candidates as a pool, a file of rows as a table, a pandas Series as a dict."""
    if isinstance(data, str | os.PathLike):
        return read_table(data) if is_table(data) else read_nbest(data)
    if hasattr(data, "iloc") and not hasattr(data, "columns"):
        return data.to_dict()
    data = several(data)
    lists = lists_in(data)
    return data if lists is None else lists if isinstance(lists, Pool) else read_nbest(Records(lists))


def _is_matrix(data: Any) -> bool:
    """Whether these are rows of numbers without names."""
    return isinstance(data, list) and bool(data) and isinstance(data[0], list | tuple | np.ndarray)


def is_columns(data: Mapping[str, Any]) -> bool:
    """Whether a dict holds columns, and not one row."""
    return any(hasattr(value, "__len__") and not isinstance(value, str | Mapping) for value in data.values())


def _reordered(data: Any, table: Table, order: NDArray[np.int64], more: Mapping[str, NDArray[Any]]) -> Any:
    """Data of the same kind in another order, with more columns."""
    if hasattr(data, "iloc"):  # pandas
        return data.assign(**more).iloc[order]
    if hasattr(data, "with_columns") and hasattr(data, "select"):  # polars
        return type(data)({**{name: data[name] for name in data.columns}, **more})[order.tolist()]
    if is_dataset(data):
        for name, values in more.items():
            data = data.add_column(name, values)
        return data.select(order)
    if hasattr(data, "append_column"):  # pyarrow
        for name, values in more.items():
            data = data.append_column(name, [values])
        return data.take(order)
    return {name: column[order] for name, column in {**table.columns, **more}.items()}


def _largest(weights: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(weights.items(), key=lambda item: -abs(item[1]))[:BARS]


def _bars(names: Sequence[str], values: Sequence[float]) -> str:
    """Bars from 0 to both sides."""
    width, label, row = 560, 160, 22
    scale = (width - label) / 2 / max((abs(value) for value in values), default=1.0)
    middle = label + (width - label) / 2
    parts = []
    for number, (name, value) in enumerate(zip(names, values, strict=True)):
        y = row * number
        length = abs(value) * scale
        x = middle if value >= 0 else middle - length
        colour = "#2a6fdb" if value >= 0 else "#c2410c"
        title = f"<title>{escape(name)}: {value:.6g}</title>"
        parts.append(
            f'<text x="{label - 8}" y="{y + 15}" text-anchor="end" fill="currentColor">{escape(name)}</text>'
            f'<rect x="{x:.1f}" y="{y + 4}" width="{length:.1f}" height="{row - 8}" fill="{colour}">{title}</rect>'
        )
    height = row * len(names) + 4
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="weights"'
    return f'{head} font-family="system-ui,sans-serif" font-size="12">{"".join(parts)}</svg>'
