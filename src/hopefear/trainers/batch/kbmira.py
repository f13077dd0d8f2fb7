"""Batch MIRA. Cherry and Foster (2012), algorithm 1 on k-best lists; Chiang, Marton and Resnik (2008) in batch mode.

Objective, sentence by sentence: 1/2 ||w' - w||^2 + C max_d (B(hope) - B(d) - w'.(h(hope) - h(d))), with hope = argmax
w.h + B, fear = argmax w.h - B. B is the metric in the context of a background corpus of the hope candidates seen so
far, which fades by ``decay`` and starts with counts of one (BLEU only; other metrics are computed sentence by
sentence). Other values of ``gain`` are computed around the weights at the beginning of a pass. With ``constraints`` = 1
the step has a closed form: min(C, loss / ||h(hope) - h(fear)||^2). With more, the union of that many best, hope and
fear candidates makes a quadratic program, solved by SMO (MIRA_1 in Tan et al. 2013).

The result is the average of the weights over the sentences of one pass: the pass whose average scores best on the
lists (with ``average=all``, the average over all passes so far). On lattices and forests, hope and fear are searched
for in the complete forest (Chiang 2012, section 5), with one constraint per sentence.

Deviation: the initial weights are returned if no pass is better, unless they are all zero (``competes=false``: never).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from hopefear import _core
from hopefear.errors import InputError
from hopefear.metrics import Bleu
from hopefear.trainers.base import Vector, option
from hopefear.trainers.batch.base import Problem
from hopefear.trainers.batch.gains import SentenceGain, average_option, gain_option


@dataclass(frozen=True, kw_only=True)
class Kbmira(SentenceGain):
    """Batch MIRA with hope and fear.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
    >>> hf.Kbmira(C=0.1, scaling="std").fit(pool, "data/initial.txt")
    <Result: score 47..., 43.05 before; 9 weights: ...>
    """

    name: ClassVar[str] = "kbmira"
    paper: ClassVar[str] = "Cherry and Foster 2012; with constraints > 1 Chiang et al. 2008"
    what: ClassVar[str] = "hinge between hope and fear, sentence by sentence"

    spaces: ClassVar[tuple[str, ...]] = ("lists", "lattices", "forests")

    gain: str = gain_option("background", "background")
    C: float = option(0.01, "the largest step", paper=0.01, least=0)
    passes: int = option(60, "passes over the lists", paper=60, least=1)
    average: str = average_option("pass", "pass")
    constraints: int = option(
        1, "best, hope and fear candidates each; more than 1: MIRA_1", paper="1; MIRA_1: 10", least=1
    )

    competes: bool = option(True, "return the initial weights if no pass is better", paper=False)
    approximation: str = option("forest", "on forests, hope and fear by: forest (reranking), linear (BLEU) or kbest")

    def learn(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        w = _core.kbmira(
            *problem.task,
            *problem.space,
            C=self.C,
            **self.gain_options,
            passes=self.passes,
            average=self.average,
            competes=self.competes,
            constraints=self.constraints,
            epsilon=0.01,
            seed=self.seed,
            places=problem.places,
            jobs=self.jobs,
            on_epoch=problem.on_epoch,
        )
        return w, {}

    def learn_forests(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        if problem.metric != Bleu(problem.metric.lowercase, problem.metric.tokenize):
            return super().learn_forests(problem)  # hope and fear on forests are those of BLEU
        if self.constraints > 1:
            raise InputError("trainer kbmira: constraints > 1 works on lists only")
        w = _core.forest_mira(
            problem.pool,
            problem.metric.core,
            *problem.space,
            C=self.C,
            decay=self.decay,
            passes=self.passes,
            average=self.average,
            competes=self.competes,
            approximation=self.approximation,
            seed=self.seed,
            jobs=self.jobs,
            on_epoch=problem.on_epoch,
        )
        return w, {}
