"""ROUGE-S. Lin and Och 2004, with the F measure of Brown 2011, equation (9).

A skip-bigram is a pair of words in sentence order with at most ``skip`` words between them. Statistics: ``[matches,
pairs of the candidate, pairs of the reference, F, 1]``; with several references, those of the one with the highest F. A
document's score is 100 times the mean F of its sentences. Where neither side has a pair, F is 1 if both are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hopefear import _core
from hopefear.metrics.base import Metric


@dataclass(frozen=True)
class RougeS(Metric):
    """ROUGE-S with F-beta; ``skip=0`` counts bigrams.

    >>> round(hf.RougeS(skip=4).corpus_score(["the cat sat"], [["the cat sat down"]]), 1)
    66.7
    """

    name: ClassVar[str] = "rouge-s"

    skip: int = 4
    beta: float = 1.0  # above 1, recall counts more: candidates grow longer
    lowercase: bool = False
    tokenize: str = "none"

    def _make_core(self) -> _core.Metric:
        return _core.RougeS(self.skip, self.beta)

    def _signature(self) -> list[str]:
        return [self._case, f"tok:{self.tokenize}", f"skip:{self.skip}", f"beta:{self.beta:g}"]
