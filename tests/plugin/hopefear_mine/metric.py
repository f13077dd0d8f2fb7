"""How many words a candidate has in common with a reference, as a set, of all words of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hopefear.metrics import PythonMetric


@dataclass(frozen=True)
class Mine(PythonMetric):
    """The Jaccard index of the words of a document, of 100."""

    name: ClassVar[str] = "mine"
    scale = 100.0

    lowercase: bool = False

    def statistics(self, text: str, references: list[str]) -> Sequence[float]:
        own, *others = (set((each.lower() if self.lowercase else each).split()) for each in (text, *references))
        best = max(others, key=lambda other: len(own & other) / max(1, len(own | other)), default=set())
        return [len(own & best), len(own | best)]

    def score_of(self, sums: Any) -> float:
        return 100.0 * float(sums[0]) / max(1.0, float(sums[1]))
