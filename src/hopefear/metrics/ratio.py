"""Ratios of sums of columns: precision, recall and F-beta from counts, error rates from errors and lengths.

The sums go over all sentences before they are divided, as in ERRANT and the M2 scorer (grammar correction) and as in
corpus WER and CER (speech recognition). Scores are between 0 and 1. Nothing over nothing is perfect, as in ERRANT: a
system that changes nothing has a precision of 1.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from hopefear import _core
from hopefear.errors import InputError
from hopefear.metrics.columns import ColumnMetric


class _Ratio(ColumnMetric):
    """Subclasses name the columns of numerator and denominator, with their factors."""

    higher: ClassVar[bool] = True

    @abstractmethod
    def _terms(self) -> dict[str, tuple[float, float]]:
        """Column -> its factor above and below."""

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._terms())

    def _make_core(self) -> _core.Metric:
        terms = self._terms()
        above, below = [numerator for numerator, _ in terms.values()], [other for _, other in terms.values()]
        return _core.Ratio(self.name, list(terms), above, below, self.higher)

    def score_at(self, gain: float) -> float:
        return gain if self.higher_is_better else 1 - gain


@dataclass(frozen=True)
class Precision(_Ratio):
    """tp / (tp + fp). Statistics: the columns ``tp`` and ``fp``.

    >>> hf.Precision().score([30, 10])
    0.75
    """

    name: ClassVar[str] = "precision"

    tp: str = "tp"
    fp: str = "fp"

    def _terms(self) -> dict[str, tuple[float, float]]:
        return {self.tp: (1, 1), self.fp: (0, 1)}


@dataclass(frozen=True)
class Recall(_Ratio):
    """tp / (tp + fn). Statistics: the columns ``tp`` and ``fn``.

    >>> hf.Recall().score([30, 30])
    0.5
    """

    name: ClassVar[str] = "recall"

    tp: str = "tp"
    fn: str = "fn"

    def _terms(self) -> dict[str, tuple[float, float]]:
        return {self.tp: (1, 1), self.fn: (0, 1)}


@dataclass(frozen=True)
class FBeta(_Ratio):
    """(1 + beta^2) tp / ((1 + beta^2) tp + beta^2 fn + fp). Statistics: the columns ``tp``, ``fp`` and ``fn``.

    >>> entities = [
    ...     {"sentence": 1, "logprob": -1.0, "tp": 1, "fp": 2, "fn": 2},
    ...     {"sentence": 1, "logprob": -3.0, "tp": 3, "fp": 1, "fn": 0},
    ... ]
    >>> hf.score(entities, "sentence", ["tp", "fp", "fn"], metric=hf.FBeta()).value
    0.3333333333333333
    """

    name: ClassVar[str] = "fbeta"

    beta: float = 1.0  # 0.5 in grammar correction: precision counts twice as much
    tp: str = "tp"
    fp: str = "fp"
    fn: str = "fn"

    def __post_init__(self) -> None:
        if not self.beta > 0:
            raise InputError(f"metric fbeta: beta must be above 0, not {self.beta}")
        super().__post_init__()

    @property
    def key(self) -> str:
        return f"f{self.beta:g}"

    def _terms(self) -> dict[str, tuple[float, float]]:
        square = self.beta**2
        return {self.tp: (1 + square, 1 + square), self.fp: (0, 1), self.fn: (0, square)}


@dataclass(frozen=True)
class Rate(_Ratio):
    """errors / length: WER and CER of counted errors; lower is better. Statistics: these columns.

    >>> transcripts = [
    ...     {"utterance": 1, "am": -310.5, "lm": -12.0, "errors": 3, "length": 10},
    ...     {"utterance": 1, "am": -311.0, "lm": -9.5, "errors": 1, "length": 10},
    ... ]
    >>> hf.Mert(metric=hf.Rate()).fit(transcripts, group="utterance", outcome=["errors", "length"]).score
    0.1
    """

    name: ClassVar[str] = "rate"
    higher: ClassVar[bool] = False

    errors: str = "errors"
    length: str = "length"

    @property
    def key(self) -> str:
        return f"{self.errors}/{self.length}"

    def _terms(self) -> dict[str, tuple[float, float]]:
        return {self.errors: (1, 0), self.length: (0, 1)}
