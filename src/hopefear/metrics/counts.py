"""BLEU of counts that another program made: ``scores.dat`` of Moses' extractor, ``-stat_in`` of Travatar.

Such material has no text: the columns ``matches_1``, ``total_1``, ..., ``matches_4``, ``total_4`` and
``reference_length`` of each candidate are what :class:`hopefear.metrics.Bleu` would have counted.
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
class BleuCounts(ColumnMetric):
    """BLEU from columns of counts. Statistics: those of BLEU, ``[m_1..m_4, n_1..n_4, rho]``."""

    name: ClassVar[str] = "bleu-counts"

    @property
    def columns(self) -> tuple[str, ...]:
        return *(f"{what}_{k}" for what in ("matches", "total") for k in range(1, 5)), "reference_length"

    def _make_core(self) -> _core.Metric:
        return _core.Bleu(4, "closest")

    def stats(self, pool: Pool, jobs: int = 0) -> Stats:
        missing = [name for name in self.columns if name not in pool.number_names]
        if missing or not pool.is_lists:
            raise InputError(f"{self.name} needs lists with the column {missing[0] if missing else 'matches_1'!r}")
        places = [pool.number_names.index(name) for name in self.columns]
        return np.ascontiguousarray(np.concatenate([forest.numbers for forest in pool])[:, places])
