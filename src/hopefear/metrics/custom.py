"""A metric in pure Python: statistics of a candidate that add up, and a score of their sum.

    exact = CustomMetric(
        statistics=lambda text, references: [text in references, 1],
        score_of=lambda sums: 100 * sums[0] / sums[1],
        label="exact",
        scale=100,
    )
    Mert(metric=exact).fit(pool)

Every trainer on lists takes it. It is slow: the inner loops of trainers call ``score_of`` each time they need a score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.metrics.base import Metric, Stats


class PythonMetric(Metric):
    """A metric in Python: a frozen dataclass derived from it has ``name``, ``statistics`` and ``score_of``.

    @dataclass(frozen=True)
    class Exact(PythonMetric):
        name = "exact"
        scale = 100.0
        lowercase: bool = False        # fields are the options: --metric exact:lowercase=true

        def statistics(self, text, references): ...
        def score_of(self, sums): ...
    """

    statistics: Callable[[str, list[str]], Sequence[float]]  # numbers of one candidate
    score_of: Callable[[NDArray[np.float64]], float]  # the score of a document, from their sums
    label: str = ""  # in records, if it is not the name
    size_: int | None = None  # how many statistics there are; counted if it is not given
    higher_is_better: bool = True
    scale: float = 1.0  # the gain that trainers maximise is the score divided by this: 100 for scores of 0 to 100

    @property
    def key(self) -> str:
        return self.label or self.name

    def _make_core(self) -> _core.Metric:
        size = self.size_ if self.size_ is not None else len(self._checked("", [""]))
        return _core.Custom(self.key, size, self._score, self.higher_is_better, self.scale)

    def _score(self, sums: Any) -> float:
        return float(self.score_of(sums))

    def _checked(self, text: str, references: list[str]) -> list[float]:
        statistics = [float(value) for value in self.statistics(text, references)]
        if not all(np.isfinite(statistics)):
            raise InputError(f"metric {self.key}: the statistics of {text[:40]!r} are not finite: {statistics}")
        return statistics

    def _row(self, text: str, references: list[str]) -> list[float]:
        statistics = self._checked(text, references)
        if len(statistics) != self.core.size:
            finding = f"{len(statistics)} statistics of {text[:40]!r}, but {self.core.size} of others"
            raise InputError(f"metric {self.key}: {finding}. Give as many for every candidate")
        return statistics

    def score_at(self, gain: float) -> float:
        return gain * self.scale if self.higher_is_better else -gain * self.scale

    def prepared(self, pool: Pool) -> Pool:
        return pool

    def stats(self, pool: Pool, jobs: int = 0) -> Stats:
        if not pool.is_lists:
            raise InputError(f"metric {self.key}: a metric in Python works on candidate lists only")
        rows = [
            self._row(pool.text(i, j), pool.references(i)) for i in range(len(pool)) for j in range(pool[i].edge_count)
        ]
        return np.array(rows, dtype=np.float64).reshape(len(rows), self.core.size)

    def corpus_stats(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str | None]], jobs: int = 0
    ) -> Stats:
        columns = [[text for text in line if text] or [""] for line in zip(*references, strict=True)]
        rows = [self._row(text, texts) for text, texts in zip(hypotheses, columns, strict=True)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), self.core.size)

    def _signature(self) -> list[str]:
        options = [f"{each.name}:{getattr(self, each.name)}" for each in fields(self)]  # type: ignore[arg-type]
        return [*options, f"higher:{'yes' if self.higher_is_better else 'no'}"]


@dataclass(frozen=True)
class CustomMetric(PythonMetric):
    """``statistics(text, references)`` are numbers of one candidate, ``score_of(sums)`` is the score of a document.

    >>> exact = hf.CustomMetric(
    ...     statistics=lambda text, references: [text in references, 1],
    ...     score_of=lambda sums: 100 * sums[0] / sums[1],
    ...     label="exact",
    ...     scale=100,
    ... )
    >>> exact.corpus_score(["a cat", "the dog"], [["a cat", "a dog"]])
    50.0
    """

    name: ClassVar[str] = "custom"

    statistics: Callable[[str, list[str]], Sequence[float]]
    score_of: Callable[[NDArray[np.float64]], float]
    label: str = "custom"
    size_: int | None = None
    higher_is_better: bool = True
    scale: float = 1.0

    def record(self) -> dict[str, Any]:
        return {"name": self.name, "options": {"label": self.label}}

    def _signature(self) -> list[str]:
        return [f"label:{self.label}", f"higher:{'yes' if self.higher_is_better else 'no'}"]
