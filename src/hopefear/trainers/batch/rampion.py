"""RAMPION. Gimpel and Smith (2012), algorithm 1, lines 4 to 15, with ramp losses and others.

Objective: sum over sentences of a loss, + C/2 ||theta - theta_0||^2. The default is ramp loss 3, eq. (8): - max
(score - cost) + max (score + cost), with cost = ``alpha`` (1 - gain). Each of T' CCCP iterations replaces the concave
part by its tangent and makes T'' passes of stochastic subgradient descent, with step size ``eta``, over the rest. On
lattices and forests the cost is linear BLEU, additive over edges, around the document of the best derivations,
recomputed in each of ``rounds`` rounds. theta_0 are the initial weights, or in a loop around a decoder those of the
loop.

The paper's loop around the decoder (lines 2 and 3) is the outer loop of ``hopefear tune``. Deviations (the page
"Trainers" of the documentation has the scores of both choices on unseen lists):

- ``gain=linear``: the cost comes from the first-order change of the corpus's metric around the best candidates at the
  start of each CCCP iteration. The paper's BLEU+1 (``plus1``) makes the output too short.
- ``scaling=dense``, ``eta=0.003``: dense features count in units of their standard deviation within a list, sparse
  features as they are. The paper fixed eta = 0.0001 "early on and did little tuning to it".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hopefear import _core
from hopefear.metrics import Bleu
from hopefear.trainers.base import Vector, option
from hopefear.trainers.batch.base import Problem, scaling_option
from hopefear.trainers.batch.gains import SentenceGain, gain_option


@dataclass(frozen=True, kw_only=True)
class Rampion(SentenceGain):
    """Structured ramp loss by the concave-convex procedure.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
    >>> hf.Rampion(loss="ramp1").fit(pool, "data/initial.txt")
    <Result: score 46..., 43.05 before; 9 weights: ...>
    """

    name: ClassVar[str] = "rampion"
    paper: ClassVar[str] = "Gimpel and Smith 2012"
    what: ClassVar[str] = "ramp loss 3, or any declared loss"

    spaces: ClassVar[tuple[str, ...]] = ("lists", "lattices", "forests")

    pulled: ClassVar[bool] = True

    gain: str = gain_option("linear")
    scaling: str = scaling_option("dense")
    loss: str = option("ramp3", "one of " + " ".join(name for name, _ in _core.loss_names()), paper="ramp3")
    alpha: float = option(10.0, "cost = alpha (1 - sentence metric)", paper=10, least=0)
    eta: float = option(0.003, "step size", paper=0.0001, least=0)
    C: float = option(1.0, "strength of the l2 term towards the initial weights", paper=1, least=0)
    l1: float = option(0.0, "strength of the l1 term towards the initial weights", least=0)
    cccp: int = option(10, "T', CCCP iterations", paper=10, least=1)
    passes: int = option(5, "T'', passes of subgradient descent in each", paper=5, least=1)
    shuffle: bool = option(False, "visit the sentences in random order", paper=False)

    def learn(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        return self.descend(problem, None)

    def learn_forests(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        """Costs are linear BLEU on edges, per reference word, around the best derivations of each round's start."""
        if not isinstance(problem.metric, Bleu):
            return super().learn_forests(problem)
        pool = problem.pool
        details: dict[str, Any] = {}
        words = [np.mean([len(text.split()) for text in pool.references(i)] or [1]) for i in range(len(pool))]
        per_edge = np.repeat(np.maximum(words, 1), np.diff(pool.edge_offsets()))
        w = problem.initial
        for _ in range(self.rounds):
            gains, _, warnings = problem.bleu_gains(w)
            w, details = self.descend(replace(problem, initial=w), -self.alpha * gains / per_edge)
            details["warnings"] = warnings
        return w, details

    def descend(self, problem: Problem, costs: Vector | None) -> tuple[Vector, dict[str, Any]]:
        w = _core.rampion(
            problem.pool,
            problem.stats,
            problem.metric.core,
            costs,
            problem.initial,
            problem.anchor,
            problem.lower,
            problem.upper,
            **self.gain_options,
            alpha=self.alpha,
            loss=self.loss,
            eta=self.eta,
            C=self.C,
            l1=self.l1,
            cccp=self.cccp,
            passes=self.passes,
            seed=self.seed,
            shuffle=self.shuffle,
            places=problem.places,
            jobs=self.jobs,
            on_epoch=problem.on_epoch,
        )
        if not np.all(np.isfinite(w)):
            return w, {}
        if costs is None:
            costs = self.alpha * (1 - self.row_gains(problem, w))
        value, _ = _core.pool_loss(
            problem.pool, problem.stats, problem.metric.core, costs, w, loss=self.loss, jobs=self.jobs
        )
        return w, {"loss": value}
