"""Random search: of some weights around the best so far, the best are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hopefear.trainers.base import Vector, option
from hopefear.trainers.batch.base import BatchTrainer, Problem


@dataclass(frozen=True, kw_only=True)
class Mine(BatchTrainer):
    """Random search."""

    name: ClassVar[str] = "mine"
    paper: ClassVar[str] = "none"
    what: ClassVar[str] = "the metric, by random search"

    epochs: int = option(5, "rounds of the search", least=1)
    spread: float = option(1.0, "standard deviation of the steps", least=0)

    def learn(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        random = np.random.default_rng(self.seed)
        best, gain = problem.initial, problem.metric.gain(problem.document(problem.initial))
        for epoch in range(1, self.epochs + 1):
            for _ in range(20):
                w = np.clip(best + random.normal(0, self.spread, len(best)), problem.lower, problem.upper)
                if (score := problem.metric.gain(problem.document(w))) > gain:
                    best, gain = w, score
            if not problem.report(epoch, problem.score(best), best, {}):
                break
        return best, {}
