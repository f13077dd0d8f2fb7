"""Minimum risk. Smith and Eisner (2006); Chiang (2012), appendix A, in batch form on lists.

Objective: the expected gain under P_T(d) ~ exp(w.h(d) / T), minus the l2 and l1 terms. ``expectation=corpus`` is the
metric of the expected statistics of the corpus, ``sentence`` the mean of the expected ``gain`` of a sentence. The
gradient is (22), 1/T (E[Bh] - E[B]E[h]), with B the linear part of the gain at the expected statistics, computed in one
pass over the candidates. T falls from ``temperature`` to ``final_temperature`` in ``anneal`` steps, with L-BFGS at each
(annealing; with T -> 0 the objective becomes the metric of the best candidates).

Deviations: the paper trains online with linear BLEU on forests; this is the batch, quasi-Newton form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hopefear import _core
from hopefear.metrics import Bleu
from hopefear.trainers.base import Vector, option
from hopefear.trainers.batch.base import Problem
from hopefear.trainers.batch.gains import SentenceGain

#: Expected gain, entropy and gradient at (w, T).
Risk = Callable[[Vector, float], tuple[float, float, Vector]]


@dataclass(frozen=True, kw_only=True)
class Minrisk(SentenceGain):
    """Expected metric by L-BFGS, annealed.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
    >>> hf.Minrisk(metric=hf.Chrf(), l2=0.01).fit(pool, "data/initial.txt")
    <Result: score 65..., 63.36 before; 9 weights: ...>
    """

    name: ClassVar[str] = "minrisk"
    paper: ClassVar[str] = "Chiang 2012, appendix A; Smith and Eisner 2006"
    what: ClassVar[str] = "expected metric under the model"

    spaces: ClassVar[tuple[str, ...]] = ("lists", "lattices", "forests")

    expectation: str = option(
        "corpus",
        "corpus: metric of expected statistics; sentence: expected sentence metric",
        choices=("corpus", "sentence"),
    )
    temperature: float = option(1.0, "T at the beginning", paper=1, least=1e-6)
    final_temperature: float = option(1.0, "T at the end", paper="1; annealed towards 0", least=1e-6)
    anneal: int = option(1, "temperatures, spaced evenly on a log scale", least=1)
    entropy: float = option(0.0, "weight of an entropy bonus", least=0)
    l2: float = option(1e-5, "strength of the l2 term towards the initial weights", least=0)
    l1: float = option(0.0, "strength of the l1 term towards the initial weights", least=0)
    iterations: int = option(60, "iterations of L-BFGS at each temperature", least=1)

    @property
    def epochs_at_most(self) -> int | None:
        return self.anneal * self.iterations

    def learn(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        corpus = self.expectation == "corpus"

        def around(w: Vector) -> Risk:
            gains = self.row_gains(problem, w)  # not used by the corpus form

            def risk(v: Vector, T: float) -> tuple[float, float, Vector]:
                return _core.expected_gain(
                    *problem.task, gains, v, temperature=T, corpus=corpus, entropy_weight=self.entropy, jobs=self.jobs
                )

            return risk

        return self.anneal_down(problem, around, again=0 if corpus or self.gain == "plus1" else 2)

    def learn_forests(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        """B is linear BLEU around the best derivations, recomputed at each temperature and twice later."""
        if not isinstance(problem.metric, Bleu):
            return super().learn_forests(problem)
        warnings: list[str] = []

        def around(w: Vector) -> Risk:
            gains, size, warnings[:] = problem.bleu_gains(w)

            def risk(v: Vector, T: float) -> tuple[float, float, Vector]:
                expected = problem.pool.expectations(v, gains, T, 0.0, self.jobs)
                return float(np.sum(expected.gain)) / size, 0.0, np.asarray(expected.gradient) / size

            return risk

        w, details = self.anneal_down(problem, around, again=2)
        return w, details | {"warnings": warnings}

    def anneal_down(
        self, problem: Problem, around: Callable[[Vector], Risk], again: int = 0
    ) -> tuple[Vector, dict[str, Any]]:
        """L-BFGS at each temperature; ``around(w)`` gives expected gain and gradient at (w, T)."""
        w, epoch, expected, going = problem.initial, 0, 0.0, True
        temperatures = np.geomspace(self.temperature, self.final_temperature, self.anneal).tolist()
        for T in temperatures + temperatures[-1:] * again:
            risk = around(w)

            def objective(v: Vector, T: float = T, risk: Risk = risk) -> tuple[float, Vector]:
                nonlocal expected
                expected, entropy, gradient = risk(v, T)
                return -expected - self.entropy * entropy, -gradient

            def on_iteration(v: Vector, T: float = T) -> bool:
                nonlocal epoch, going
                epoch += 1
                if epoch % 5 == 0:
                    going = problem.report(epoch, problem.score(v), v, {"expected": 100 * expected, "temperature": T})
                return going

            w = problem.minimized(objective, w, on_iteration, self.l1, self.l2, self.iterations)
            if not going:
                break
        problem.report(epoch + 1, problem.score(w), w, {"expected": 100 * expected})
        return w, {"expected": 100 * expected}
