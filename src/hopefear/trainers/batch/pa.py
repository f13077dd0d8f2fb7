"""Perceptron with passive-aggressive updates. Brown (2011), sections 4 and 5: the final algorithm.

As ``perceptron``, but the step is PA-II (Crammer et al. 2006): delta = loss / (||Phi_oracle - Phi_top1||^2 + 1 /
(2C)) with loss = S(oracle) - S(top1), eq. (6) to (8). Deviations: those of ``perceptron``, averaging and the objective.
The paper's final algorithm is ``average=none sentence_objective=rouge-s``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from hopefear.trainers.base import Vector, option
from hopefear.trainers.batch.base import Problem
from hopefear.trainers.batch.perceptron import Perceptron


@dataclass(frozen=True, kw_only=True)
class Pa(Perceptron):
    """PA-II updates towards the pseudo-oracle.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
    >>> hf.Pa(C=0.01).fit(pool, "data/initial.txt")
    <Result: score 47..., 43.05 before; 9 weights: ...>
    """

    name: ClassVar[str] = "pa"
    paper: ClassVar[str] = "Brown 2011, section 5"

    C: float = option(0.1, "aggressiveness (8)", paper="0.1 or 0.01", least=1e-12)

    def learn(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        return self.passes(problem, passive_aggressive=True, scaled=False, C=self.C)
