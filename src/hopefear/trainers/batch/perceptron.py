"""Tamed structured perceptrons. Brown (2011), sections 3 to 5.

Objective: none in closed form. The update moves from the top candidate towards the pseudo-oracle, the candidate
with the best sentence objective: w += S(oracle) (Phi_oracle - Phi_top1), eq. (3); ``scaled=false`` gives eq. (2),
``normalize=true`` divides each feature's difference by its squared range in the list, (4) and (5).

Semi-batch: weights change after each sentence, with one pass per iteration. The result is from the iteration that
scores best by the objective. Weights start at 1e-9. On fixed lists every iteration sees the same candidates. With
``hopefear tune --decoder-command``, each iteration is a new decoding with the weights of the previous pass
(``returned=last``), whether or not they score better on the old lists.

Deviations, with the options that undo them:

- ``average=running``: a pass ends with the average of the weights after each of its sentences, and the next pass
  starts from there. ``none`` follows the paper literally. The paper says that perceptrons rely "on averaging effects
  over the whole of the training set" (section 2) and that its objective scores do not converge (section 4), but it does
  not average.
- ``sentence_objective=metric``, ``gain=linear``: S is the first-order BLEU of the sentence in its corpus, not ROUGE-S
  with F-beta (9), which is ``rouge-s``. Section 9 of the paper says that single sentences cannot tell "systematically
  shorter" from "longer and shorter", and suggests BLEU in context. The page "Trainers" of the
  documentation has the scores of ``pa`` with each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hopefear import _core
from hopefear.metrics import by_name
from hopefear.trainers.base import Vector, option
from hopefear.trainers.batch.base import Problem
from hopefear.trainers.batch.gains import SentenceGain, average_option, gain_option


@dataclass(frozen=True, kw_only=True)
class Perceptron(SentenceGain):
    """Structured perceptron with objective-scaled updates.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
    >>> hf.Perceptron(metric=hf.RougeS()).fit(pool, "data/initial.txt")
    <Result: score 52..., 48.8 before; 9 weights: ...>
    """

    name: ClassVar[str] = "perceptron"
    paper: ClassVar[str] = "Brown 2011, sections 3 and 4"
    what: ClassVar[str] = "mean sentence objective of the top candidates"
    start_at: ClassVar[float] = 1e-9
    differences_only: ClassVar[bool] = False  # eq. (5) looks at magnitudes

    sentence_objective: str = option(
        "metric", "rouge-s, or metric: the gain of --metric", paper="rouge-s", choices=("rouge-s", "metric")
    )
    gain: str = gain_option("linear")
    beta: float = option(
        1.5, "recall counts so many times as much as precision in ROUGE-S", paper="1.2 to 1.5", least=0
    )
    skip: int = option(4, "longest gap of a skip bigram in ROUGE-S", paper=4, least=0)
    iterations: int = option(18, "passes over the lists", paper=18, least=1)
    average: str = average_option("running", "none")
    scaled: bool = option(True, "multiply the update by the objective of the oracle (3)", paper=True)
    normalize: bool = option(False, "feature-wise normalisation (4), (5)")
    returned: str = option("best", "result: the best pass by the mean objective, or the last", choices=("best", "last"))

    def learn(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        return self.passes(problem, passive_aggressive=False, scaled=self.scaled, C=1.0)

    def passes(
        self, problem: Problem, *, passive_aggressive: bool, scaled: bool, C: float
    ) -> tuple[Vector, dict[str, Any]]:
        objective = None  # the gain of the metric
        if self.sentence_objective == "rouge-s":
            rouge = by_name("rouge-s", skip=self.skip, beta=self.beta)
            objective = rouge.sentence_gains(rouge.stats(problem.pool, self.jobs))
        last = problem.initial

        def on_epoch(epoch: int, mean: float, w: Vector, updates: int) -> bool:
            nonlocal last
            last = np.array(w)
            return problem.report(epoch, problem.score(w), w, {"objective": mean, "updates": updates})

        w = _core.perceptron(
            *problem.task,
            objective,
            *problem.space,
            passive_aggressive=passive_aggressive,
            scaled=scaled,
            normalize=self.normalize,
            C=C,
            average=self.average,
            **self.gain_options,
            iterations=self.iterations,
            places=problem.places,
            jobs=self.jobs,
            on_epoch=on_epoch,
        )
        return w if self.returned == "best" else last, {}
