"""chrF and chrF++. Popovic 2015 and 2017, as sacreBLEU computes them.

Statistics: for each order (characters, then words) the n-grams of the candidate, of the reference, and in common. With
several references, those of the reference that gives the best sentence score. White space does not count as characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hopefear import _core
from hopefear.metrics.base import Metric


@dataclass(frozen=True)
class Chrf(Metric):
    """chrF; with ``word_order=2`` it is chrF++.

    >>> round(hf.Chrf(word_order=2).corpus_score(["the cat sat"], [["the cat sat down"]]), 1)
    68.4
    """

    name: ClassVar[str] = "chrf"

    char_order: int = 6
    word_order: int = 0
    beta: float = 2  # recall counts beta times as much as precision
    lowercase: bool = False

    def _make_core(self) -> _core.Metric:
        return _core.Chrf(self.char_order, self.word_order, self.beta)

    def _signature(self) -> list[str]:
        parts = [self._case, "eff:yes", f"nc:{self.char_order}", f"nw:{self.word_order}", "space:no"]
        return parts if self.beta == 2 else [*parts, f"beta:{self.beta:g}"]
