"""The base class of metrics that read columns of numbers, never words."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.metrics.base import Metric, Stats


class ColumnMetric(Metric):
    """A metric of columns of numbers."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns it reads."""

    def prepared(self, pool: Pool) -> Pool:
        return pool

    def corpus_stats(
        self, hypotheses: Sequence[str], references: Sequence[Sequence[str | None]], jobs: int = 0
    ) -> Stats:
        which = ", ".join(self.columns)
        raise InputError(f"the metric {self.name} ({which}) is read from candidate lists, not computed from text")

    def _signature(self) -> list[str]:
        return [f"columns:{'+'.join(self.columns)}", f"higher:{'yes' if self.higher_is_better else 'no'}"]
