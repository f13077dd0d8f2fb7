"""Log loss: conditional likelihood of the oracle. Och and Ney (2002); Gimpel and Smith (2012), example 2, section 3.4.

Objective: - sum_i log p(oracle_i | f_i) + l2 ||w - w_0||^2 / 2, p ~ exp(w.h), over the candidates of a list. The
oracle is the candidate with the best ``gain``, which takes the place of the unreachable reference (10). ``latent`` sums
over all candidates that are equally good (latent log loss, (9) softened). L-BFGS minimises it, three times if the gain
depends on the weights.

Deviations: the loss is divided by the number of sentences, so that l2 means the same for every set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from hopefear import _core
from hopefear.trainers.base import Vector, option
from hopefear.trainers.batch.base import Problem
from hopefear.trainers.batch.gains import SentenceGain


@dataclass(frozen=True, kw_only=True)
class Logloss(SentenceGain):
    """Conditional log-likelihood of the best candidates.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
    >>> hf.Logloss().fit(pool, "data/initial.txt")
    <Result: score 45..., 43.05 before; 9 weights: ...>
    """

    name: ClassVar[str] = "logloss"
    paper: ClassVar[str] = "Gimpel and Smith 2012, example 2; Och and Ney 2002"
    what: ClassVar[str] = "log-likelihood of each list's oracle"

    latent: bool = option(True, "all candidates as good as the oracle count as correct")
    l2: float = option(1e-3, "strength of the l2 term towards the initial weights", least=0)
    l1: float = option(0.0, "strength of the l1 term towards the initial weights", least=0)
    iterations: int = option(100, "iterations of L-BFGS", least=1)

    def learn(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        loss = "latentlog" if self.latent else "log"
        share = 1 / len(problem.pool)
        epoch, going = 0, True
        w = problem.initial

        def objective(w: Vector) -> tuple[float, Vector]:
            value, gradient = _core.pool_loss(*problem.task, costs, w, loss=loss, jobs=self.jobs)
            return share * value, share * gradient

        def on_iteration(w: Vector) -> bool:
            nonlocal epoch, going
            epoch += 1
            going = epoch % 5 != 0 or problem.report(epoch, problem.score(w), w, {})
            return going

        for _ in range(1 if self.gain == "plus1" else 3):  # which candidates are the oracles moves with the weights
            costs = 1 - self.row_gains(problem, w)
            w = problem.minimized(objective, w, on_iteration, self.l1, self.l2, self.iterations)
            if not going:
                break
        problem.report(epoch + 1, problem.score(w), w, {})
        return w, {"loss": objective(w)[0]}
