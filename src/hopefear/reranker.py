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
from pathlib import Path
from typing import Any, SupportsFloat, overload

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.errors import InputError, input_error, python_messages
from hopefear.formats import weights_json
from hopefear.formats.file_kinds import explained
from hopefear.formats.missing import LIST_POLICIES, check_policy
from hopefear.formats.scorable import is_columns, is_matrix, opened, reordered
from hopefear.formats.table import Table, TableSpec, read_table
from hopefear.formats.weights import weight_vector
from hopefear.util.files import PathLike, atomic_write, read_whole
from hopefear.util.messages import plural, some, suggestion
from hopefear.util.picture import Picture, bars

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
        if not isinstance(self.weights, Mapping) and hasattr(self.weights, "items"):  # a pandas.Series
            object.__setattr__(self, "weights", dict(self.weights.items()))
        if not hasattr(self.weights, "items"):
            given = getattr(self.weights, "weights", None) or getattr(self.weights, "weights_", None)  # of a Weigher
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
        """The largest weights, as one line of text."""
        names = sorted(self.weights, key=lambda name: -abs(self.weights[name]))[:most]
        weights = ", ".join(f"{name} {self.weights[name]:.4g}" for name in names)
        return f"{plural(len(self.weights), 'weight')}: {weights}{', ...' if len(self.weights) > most else ''}"

    @classmethod
    @python_messages()
    def load(cls, path: PathLike) -> Reranker:
        """Weights from a JSON file of ``save``, a folder of ``tune``, ``train`` or ``weigh``, or a file of weights.

        Of a result, those it has.

        >>> path = hf.Reranker({"lm": 0.5, "tm": 1.0}, group="id").save("weights.json")
        >>> hf.Reranker.load(path).names
        ('lm', 'tm')
        """
        from hopefear.formats.weights import read_weights

        if not isinstance(path, str | os.PathLike):
            return getattr(path, "reranker", None) or (path if isinstance(path, cls) else cls(path))
        where = Path(path)
        if where.is_dir():
            return cls._of_run(where)
        data = read_whole(path) if where.is_file() else b""
        if data[:1] != b"{":
            return cls(read_weights(path))
        with explained(weights=[path]):
            record = weights_json.parsed(data, path)
        return cls(**{each.name: record[each.name] for each in fields(cls) if each.name in record})

    @classmethod
    def _of_run(cls, folder: Path) -> Reranker:
        """Of what ``tune``, ``train`` or ``weigh`` left."""
        from hopefear.formats.weights import read_weights
        from hopefear.runs.directory import read_run

        weighed = folder / "weigh.json"
        if weighed.is_file():
            return cls._of_weighed(weighed, read_weights(folder / "weights.txt"))
        if not (folder / "run.json").is_file():
            raise input_error(folder, None, "is not a folder of tune, train, compare or weigh. Give one, or a file")
        record = read_run(folder)
        if record.status != "done":
            raise input_error(folder, None, "holds an unfinished run. Finish it with --resume")
        about = {"trainer": record.trainer, "seed": record.seed, "final": record.final, "versions": record.versions}
        policy, group = record.settings.get("missing"), str(record.settings.get("group") or "")
        missing = str(policy) if policy in LIST_POLICIES else "error"
        return cls(read_weights(folder / "weights.txt"), missing, record.means, str(record.metric or ""), group, about)

    @classmethod
    def _of_weighed(cls, path: Path, weights: Mapping[str, float]) -> Reranker:
        try:
            record = json.loads(read_whole(path))
            about = {name: record[name] for name in ("chosen", "verdict")}
            return cls(weights, record["missing"], record["means"], record["outcome"], record["group"], about)
        except (KeyError, TypeError, ValueError) as error:
            raise input_error(path, None, f"not what weigh writes ({error}). Repeat weigh") from None

    def save(self, path: PathLike) -> Path:
        """Write the JSON file; it appears complete or not at all.

        >>> path = hf.Reranker({"lm": 0.5}, missing="zero").save("weights.json")
        >>> hf.load(path).missing
        'zero'
        """
        with atomic_write(path) as file:
            json.dump(self.to_dict(), file, indent=1, ensure_ascii=False, allow_nan=False)
            file.write("\n")
        return Path(path)

    def to_dict(self) -> dict[str, Any]:
        """The content of the JSON file.

        >>> hf.Reranker({"lm": 0.5}, group="prompt").to_dict()["weights"]
        {'lm': 0.5}
        """
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

    def to_onnx(self, path: PathLike) -> Path:
        """Write an ONNX model: ``features``, 32-bit floats with a column for each of ``names``, to ``scores``.

        NaN becomes 0 or the mean if that is the policy for missing scores; with ``error``, the score is NaN.

        >>> hf.Reranker({"lm": 0.5, "tm": 1.0}).to_onnx("weights.onnx").stat().st_size
        205
        """
        from hopefear.formats.onnx_model import onnx_bytes

        if not self.weights:
            raise InputError("there are no weights to export")
        substitutes = None if self.missing == "error" else self._substitutes().tolist()
        about = {"missing": self.missing, "metric": self.metric}
        with atomic_write(path, "wb") as file:
            file.write(onnx_bytes(self.weights, substitutes, about))
        return Path(path)

    def to_pandas(self) -> Any:
        """The weights as a Series, the largest first.

        >>> hf.Reranker({"lm": 0.5, "tm": -1.0}).to_pandas().to_dict()
        {'tm': -1.0, 'lm': 0.5}
        """
        try:
            import pandas
        except ImportError:
            raise InputError("to_pandas() needs pandas. Install it: pip install pandas") from None
        ordered = sorted(self.weights.items(), key=lambda item: -abs(item[1]))
        return pandas.Series(dict(ordered), name="weight", dtype=float)

    def plot(self) -> Any:
        """The largest weights as bars: matplotlib's axes if it is installed, otherwise an object that notebooks show.

        >>> picture = hf.Reranker({"lm": 0.5, "tm": -1.0}).plot()
        """
        names, values = zip(*_largest(self.weights), strict=True) if self.weights else ((), ())
        try:
            from matplotlib import pyplot
        except ImportError:
            return Picture(bars(names, values))
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
        data = opened(data)
        if isinstance(data, Pool):
            self._need(data.feature_names, "the candidates")
            w = weight_vector(self.weights, data.feature_names)
            return np.concatenate([forest.scores(w) for forest in data]) if len(data) else np.empty(0)
        if isinstance(data, np.ndarray):
            return self._of_matrix(data)
        if isinstance(data, Mapping) and not is_columns(data):
            data = [data]
        if is_matrix(data):
            return self._of_matrix(np.asarray(data))
        if isinstance(data, Sequence):
            return self._of_rows(data)
        return self._of_table(read_table(data))

    def best(self, rows: Any) -> int:
        """The index of the best candidate of one group; if several are equal, the first.

        >>> hf.Reranker({"lm": 0.5, "tm": 1.0}).best([{"lm": -2.0, "tm": 1.0}, {"lm": -1.0, "tm": 1.0}])
        1
        """
        scores = self.predict(rows)
        if not len(scores):
            raise InputError("there are no candidates to choose from")
        return int(np.argmax(scores))

    @overload
    def rerank(self, data: Pool, group: str | None = None) -> list[str]: ...
    @overload
    def rerank(self, data: NDArray[Any], group: str | None = None) -> NDArray[np.int64]: ...
    @overload
    def rerank(self, data: Any, group: str | None = None) -> Any: ...

    @python_messages()
    def rerank(self, data: Any, group: str | None = None) -> Any:
        """The candidates, best first.

        Of lists of candidates the best text of each. Of a matrix the numbers of its rows; of rows as dicts the dicts.
        A frame comes back with the columns ``score`` and ``rank``, best first in each ``group``: by default the column
        by which the weights were learnt, if it is there; without one, all rows compete.

        >>> Reranker({"lm": 0.5}).rerank([{"text": "a", "lm": -2.0}, {"text": "b", "lm": -1.0}])[0]["text"]
        'b'
        """
        data = opened(data)
        if isinstance(data, Pool):
            self._need(data.feature_names, "the candidates")
            return [best.text for best in data.viterbi(dict(self.weights))]
        scores = self.predict(data)
        if isinstance(data, np.ndarray) or is_matrix(data):
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
        return reordered(data, table, order, {"score": scores, "rank": ranks})

    def _of_matrix(self, rows: NDArray[Any]) -> Vector:
        try:
            rows = np.asarray(rows, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError("a matrix of numbers is needed: this one has something else") from None
        if rows.ndim != 2 or rows.shape[1] != len(self.names):
            finding = f"a matrix of {len(self.names)} columns is needed ({some(self.names)}), not {rows.shape}"
            raise InputError(f"{finding}. A frame or dicts name their columns")
        if not math.isfinite(rows.sum()):
            rows = self._filled(rows)
        return np.asarray(np.ascontiguousarray(rows) @ self.vector)

    def _filled(self, rows: Vector) -> Vector:
        if (infinite := np.isinf(rows)).any():
            row, column = (int(at[0]) for at in np.nonzero(infinite))
            raise InputError(f"{self.names[column]} of row {row} is infinite. Give a finite number")
        holes = np.isnan(rows)
        if not holes.any():  # the sum alone is too large
            return rows
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
                    try:
                        values[number, column] = value
                    except (TypeError, ValueError):
                        raise InputError(f"{name} of row {number} is {value!r}, which is not a number") from None
        return self._of_matrix(values)

    def _of_table(self, table: Table) -> Vector:
        self._need(table.columns, table.name)
        empty = np.full(table.rows, np.nan)
        columns = [table.numbers(name, "weights") if name in table.columns else empty for name in self.names]
        return self._of_matrix(np.column_stack(columns) if columns else np.empty((table.rows, 0)))

    def _need(self, there: Iterable[str], whose: str) -> None:
        """Raise an error about features that the data lack, unless the policy allows it."""
        known = set(there)
        lacking = [name for name, weight in self.weights.items() if weight and name not in known]
        if not lacking or self.missing != "error":
            return
        cure = 'Add them, or use missing="zero" or missing="mean"'
        does, have = "lacks" if whose == "table" else "lack", "has a weight" if len(lacking) == 1 else "have weights"
        raise InputError(f"{whose} {does} {some(lacking)}, which {have}.{suggestion(lacking[0], known)} {cure}")


class Scoring:
    """Methods of every result of learning: score, rerank, save, display. Subclasses have ``reranker``."""

    @property
    def reranker(self) -> Reranker:
        """The weights as a ``Reranker``."""
        raise NotImplementedError

    def predict(self, data: Any) -> Vector:
        """The score of each candidate; see :meth:`Reranker.predict`.

        >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0"])
        >>> result = hf.Kbmira().fit(pool)
        >>> result.predict(pool).shape
        (9000,)
        """
        return self.reranker.predict(data)

    @overload
    def rerank(self, data: Pool, group: str | None = None) -> list[str]: ...
    @overload
    def rerank(self, data: NDArray[Any], group: str | None = None) -> NDArray[np.int64]: ...
    @overload
    def rerank(self, data: Any, group: str | None = None) -> Any: ...

    def rerank(self, data: Any, group: str | None = None) -> Any:
        """The candidates, best first; see :meth:`Reranker.rerank`.

        >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0"])
        >>> result = hf.Kbmira().fit(pool)
        >>> result.rerank(pool[:1])
        ['but elimelech husband of naomi died , and she was left , she and her two sons .']
        """
        return self.reranker.rerank(data, group)

    def save(self, path: PathLike) -> Path:
        """Write one JSON file that ``hf.load`` and ``hf.Reranker.load`` read.

        >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0"])
        >>> result = hf.Kbmira().fit(pool)
        >>> hf.load(result.save("weights.json")).weights == result.weights
        True
        """
        return self.reranker.save(path)

    def to_dict(self) -> dict[str, Any]:
        """The weights and where they come from, as in the JSON file.

        >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0"])
        >>> result = hf.Kbmira().fit(pool)
        >>> sorted(result.to_dict())
        ['about', 'checksum', 'format', 'group', 'means', 'metric', 'missing', 'version', 'weights']
        """
        return self.reranker.to_dict()

    def to_pandas(self) -> Any:
        """The weights as a Series, the largest first.

        >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0"])
        >>> result = hf.Kbmira().fit(pool)
        >>> result.to_pandas().index[0]
        'glue'
        """
        return self.reranker.to_pandas()

    def plot(self) -> Any:
        """The largest weights as bars.

        >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0"])
        >>> result = hf.Kbmira().fit(pool)
        >>> picture = result.plot()
        """
        return self.reranker.plot()


def load(path: PathLike) -> Reranker:
    """Weights from a file of ``save``, from a folder of ``tune``, ``train`` or ``weigh``, or from a file of weights.

    >>> path = hf.Reranker({"lm": 0.5}).save("weights.json")
    >>> hf.load(path).weights
    {'lm': 0.5}
    """
    return Reranker.load(path)


def _largest(weights: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(weights.items(), key=lambda item: -abs(item[1]))[:BARS]
