"""Metrics of the whole order of a list: nDCG@k, MRR, MAP, recall@k; the mean over lists.

A column has the grade of each candidate; grades above 0 (nDCG) or from ``level`` on (the others) are relevant. The
order is by falling score; of equal scores, the first candidate is first. Lists without a relevant candidate count as 0.
``k`` is the number of ranks that count, 0 for all. Ideal orders and recall are over the candidates of the list; where a
column ``retrieved`` is named, candidates with 0 there (judged, but in no run) count for the ideal only.

Only trainers that work on whole orders can optimise these: ``mert``, whose line search is exact here too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hopefear import _core
from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.metrics.base import Stats
from hopefear.metrics.columns import ColumnMetric


@dataclass(frozen=True)
class RankMetric(ColumnMetric):
    """Statistics of an order: ``[value, 1]``; of a candidate: ``[grade, 1]``, or ``[grade, 0]`` if not retrieved."""

    whole_order: ClassVar[bool] = True

    column: str
    k: int = 0
    level: float = 1.0
    retrieved: str = ""

    @property
    def key(self) -> str:
        name = self.name.removesuffix("-at")
        return f"{name}@{self.k}" if self.k else name

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column, *filter(None, [self.retrieved]))

    def _make_core(self) -> _core.RankMetric:
        return _core.RankMetric(self.name, self.column, self.k, self.level, False, self.retrieved)

    def chosen_stats(self, pool: Pool, w: Stats, jobs: int = 0) -> Stats:
        """The value of the order of each list under these weights."""
        if not pool.is_lists:
            raise InputError(f"{self.key} scores the whole ranking of a list. Forests have no ranking")
        core = self.core
        assert isinstance(core, _core.RankMetric)
        return _core.order_stats(pool, self.stats(pool, jobs), core, np.asarray(w, dtype=np.float64), jobs=jobs)

    def score_at(self, gain: float) -> float:
        return gain


@dataclass(frozen=True)
class Ndcg(RankMetric):
    """Normalised discounted cumulative gain (Järvelin and Kekäläinen 2002), discount 1 / log2(rank + 1).

    >>> pages = [
    ...     {"query": "tea", "title": "A cup of tea", "bm25": 5.0, "clicks": 0.1, "grade": 0},
    ...     {"query": "tea", "title": "Tea by post", "bm25": 4.0, "clicks": 0.9, "grade": 2},
    ...     {"query": "tea", "title": "All about tea", "bm25": 3.0, "clicks": 0.4, "grade": 1},
    ... ]
    >>> hf.score(pages, "query", "grade", metric=hf.Ndcg("grade", k=2)).value
    0.4796249331362629
    >>> hf.tune(pages, "query", "grade", metric="ndcg@2", trainer="mert", holdout=0).score
    1.0
    """

    name: ClassVar[str] = "ndcg"

    k: int = 10
    gains: str = "linear"  # the grade itself, as trec_eval has it; exponential: 2^grade - 1 (Burges et al. 2005)

    def _make_core(self) -> _core.RankMetric:
        if self.gains not in ("linear", "exponential"):
            raise InputError(f"metric ndcg: gains must be linear or exponential, not {self.gains}")
        exponential = self.gains == "exponential"
        return _core.RankMetric(self.name, self.column, self.k, self.level, exponential, self.retrieved)


@dataclass(frozen=True)
class Mrr(RankMetric):
    """The mean of 1 / rank of the first relevant candidate.

    >>> pages = [
    ...     {"query": "tea", "title": "A cup of tea", "bm25": 5.0, "clicks": 0.1, "grade": 0},
    ...     {"query": "tea", "title": "Tea by post", "bm25": 4.0, "clicks": 0.9, "grade": 2},
    ...     {"query": "tea", "title": "All about tea", "bm25": 3.0, "clicks": 0.4, "grade": 1},
    ... ]
    >>> hf.score(pages, "query", "grade", metric=hf.Mrr("grade")).value
    0.5
    """

    name: ClassVar[str] = "mrr"


@dataclass(frozen=True)
class Map(RankMetric):
    """The mean of average precision.

    >>> pages = [
    ...     {"query": "tea", "title": "A cup of tea", "bm25": 5.0, "clicks": 0.1, "grade": 0},
    ...     {"query": "tea", "title": "Tea by post", "bm25": 4.0, "clicks": 0.9, "grade": 2},
    ...     {"query": "tea", "title": "All about tea", "bm25": 3.0, "clicks": 0.4, "grade": 1},
    ... ]
    >>> hf.score(pages, "query", "grade", metric=hf.Map("grade", level=2)).value
    0.5
    """

    name: ClassVar[str] = "map"


@dataclass(frozen=True)
class RecallAt(RankMetric):
    """The share of the relevant candidates that is among the first k.

    >>> pages = [
    ...     {"query": "tea", "title": "A cup of tea", "bm25": 5.0, "clicks": 0.1, "grade": 0},
    ...     {"query": "tea", "title": "Tea by post", "bm25": 4.0, "clicks": 0.9, "grade": 2},
    ...     {"query": "tea", "title": "All about tea", "bm25": 3.0, "clicks": 0.4, "grade": 1},
    ... ]
    >>> hf.score(pages, "query", "grade", metric=hf.RecallAt("grade", k=2)).value
    0.5
    """

    name: ClassVar[str] = "recall-at"

    k: int = 10
