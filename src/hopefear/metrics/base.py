"""The base class of metrics: additive statistics, and a function of their sum.

The work is done by the compiled ``core`` object over word ids; a metric's Python face knows how text becomes words.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

import hopefear
from hopefear import _core
from hopefear._core import Pool
from hopefear.metrics import tokenizers
from hopefear.util import plugins

Stats = NDArray[np.float64]


class Metric(ABC):
    """A metric. Subclasses are frozen dataclasses whose fields are the options."""

    name: ClassVar[str]
    whole_order: ClassVar[bool] = False  # of the order of all candidates, not of the best one
    tokenize: str = "none"
    lowercase: bool = False

    def __post_init__(self) -> None:
        _ = self.core  # raises for a wrong option now, not when it is used

    @abstractmethod
    def _make_core(self) -> _core.Metric: ...

    @cached_property
    def core(self) -> _core.Metric:
        """The compiled metric, which trainers take."""
        return self._make_core()

    def __getstate__(self) -> dict[str, object]:
        """The options: a copy in another process makes its own core."""
        return {name: value for name, value in self.__dict__.items() if name != "core"}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the candidates' numbers that it reads; metrics of words read none."""
        return ()

    @property
    def key(self) -> str:
        """The name in records: a column of the lists goes by its own name."""
        return self.name

    def record(self) -> dict[str, Any]:
        """Name and options as plain values; ``hopefear.metrics.from_record`` is the way back."""
        return {"name": self._findable, "options": dataclasses.asdict(self)}  # type: ignore[call-overload]

    @property
    def _findable(self) -> str:
        """The name by which ``hopefear.metrics.find`` finds the class."""
        kind = type(self)
        point = plugins.entry_points("hopefear.metrics").get(self.name)
        path = f"{kind.__module__}:{kind.__qualname__}"
        ours = kind.__module__.startswith("hopefear.")
        return self.name if ours or (point is not None and point.value == path) else path

    @property
    def size(self) -> int:
        """How many statistics a candidate has."""
        return self.core.size

    @property
    def higher_is_better(self) -> bool:
        return self.core.higher_is_better

    @property
    def sign(self) -> int:
        """1 if higher is better, else -1: what makes the larger of two scores the better one."""
        return 1 if self.higher_is_better else -1

    def prepared(self, pool: Pool) -> Pool:
        """The pool as the metric sees it: tokenised and lower-cased. ``core`` works on its word ids."""
        return tokenizers.prepared(pool, self._preparation())

    def _preparation(self) -> tokenizers.Preparation:
        return tokenizers.preparation(self.tokenize, self.lowercase)

    def stats(self, pool: Pool, jobs: int = 0) -> Stats:
        """Statistics of the candidates of a pool of lists: a line for each row of the pool."""
        return self.core.stats(self.prepared(pool), jobs)

    def chosen_stats(self, pool: Pool, w: Stats, jobs: int = 0) -> Stats:
        """Statistics of what these weights choose: a line for each sentence of lists or forests."""
        return self.stats(pool.kbest(w, 1, jobs=jobs), jobs)

    def corpus_stats(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str | None]], jobs: int = 0
    ) -> Stats:
        """Statistics of lines of text, a line for each sentence; ``references`` has one list of lines per reference.

        Empty (or None) references are skipped, unless all references of a line are empty.
        """
        return self.core.stats(tokenizers.corpus_pool(hypotheses, references, self._preparation()), jobs)

    def corpus_score(self, hypotheses: Sequence[str], references: Sequence[Sequence[str | None]]) -> float:
        """The score of a document.

        >>> hf.Bleu().corpus_score(["the cat sat down"], [["the cat sat down"]])
        100.0
        """
        return self.score(self.corpus_stats(hypotheses, references).sum(axis=0))

    def score(self, stats: ArrayLike) -> float:
        """The score of a document, as the field prints it, from the sum of its statistics."""
        return self.core.score(np.ascontiguousarray(stats, dtype=np.float64))

    def gain(self, stats: ArrayLike) -> float:
        """The score where larger is better, about 0 to 1: what trainers maximise."""
        return self.core.gain(np.ascontiguousarray(stats, dtype=np.float64))

    def score_at(self, gain: float) -> float:
        """The score of a document with this gain."""
        return 100 * gain if self.higher_is_better else 100 - 100 * gain

    def sentence_gains(self, stats: ArrayLike) -> Stats:
        """The gain of every row taken as a document of its own, smoothed where the metric needs it (BLEU+1)."""
        return self.core.sentence_gains(np.ascontiguousarray(stats, dtype=np.float64))

    def signature(self, references: int | str | None = None) -> str:
        """Everything a reader needs to get the same number, in the manner of sacreBLEU.

        >>> hf.Bleu(tokenize="13a").signature(references=1)
        'nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:hopefear-...'
        """
        parts = [f"nrefs:{references}"] if references is not None else []
        return "|".join([*parts, *self._signature(), f"version:hopefear-{hopefear.__version__}"])

    @abstractmethod
    def _signature(self) -> list[str]: ...

    @property
    def _case(self) -> str:
        return "case:lc" if self.lowercase else "case:mixed"
