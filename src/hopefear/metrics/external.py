"""Any number that a user measured of each candidate: a COMET column, say. A document's score is the mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hopefear import _core
from hopefear.metrics.base import Stats
from hopefear.metrics.columns import ColumnMetric


def usual_scale(values: Stats) -> float:
    """The scale that brings gains of these values to about 0 to 1, as trainers expect: 100 for values of 0 to 100."""
    largest = float(np.abs(values).max())
    return next((scale for scale in (1.0, 10.0, 100.0, 1000.0) if largest <= scale), largest)


@dataclass(frozen=True)
class External(ColumnMetric):
    """The column ``column`` of the candidates' numbers. Statistics: ``[value, 1]``.

    >>> answers = [
    ...     {"question": 1, "logprob": -1.0, "length": 12, "comet": 0.7},
    ...     {"question": 1, "logprob": -2.0, "length": 9, "comet": 0.9},
    ... ]
    >>> hf.Mert(metric=hf.External("comet")).fit(answers, group="question", outcome="comet").score
    0.9
    """

    name: ClassVar[str] = "external"

    column: str
    higher_is_better: bool = True
    scale: float = 1.0  # the gain that trainers maximise is the mean divided by this: 100 for scores of 0 to 100

    @property
    def key(self) -> str:
        return self.column

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    def _make_core(self) -> _core.Metric:
        return _core.External(self.column, self.higher_is_better, self.scale)

    def score_at(self, gain: float) -> float:
        return gain * self.scale if self.higher_is_better else -gain * self.scale

    def _signature(self) -> list[str]:
        return [f"column:{self.column}", f"higher:{'yes' if self.higher_is_better else 'no'}"]
