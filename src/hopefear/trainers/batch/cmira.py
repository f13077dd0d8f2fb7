"""Corpus-level MIRA. Tan, Xia, Wang and Zhou (2013), algorithm 1.

Objective: 1/2 ||w' - w||^2 + C max_E (B(E*) - B(E) - w'.(H(E*) - H(E))) over corpus hypotheses E, with B the metric
of the whole corpus and H the mean of the features. The hope E* and fear E' join each sentence's hope and fear under
the smoothed sentence metric (lines 3 to 8), or come from a beam over the corpus (``beam``, section 4.3), then also
with ``constraints`` corpus hypotheses and SMO.

Lines 11 and 12 as printed have the signs of Delta_H = fear minus hope; here the step goes from fear towards hope, by
min(C, (Delta_B - w.(H* - H')) / ||H* - H'||^2), and not at all when that is negative. The metric counts 0 to 1.
Deviation: C. Its size depends on the scale of the features; the paper picks it from 0.1 ... 0.00001 by the score on
the development set, here the default is one that does well on unscaled decoder features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from hopefear import _core
from hopefear.errors import InputError
from hopefear.trainers.base import Vector, option
from hopefear.trainers.batch.base import Problem
from hopefear.trainers.batch.gains import SentenceGain, gain_option


@dataclass(frozen=True, kw_only=True)
class Cmira(SentenceGain):
    """MIRA with one hope and one fear for the whole corpus."""

    name: ClassVar[str] = "cmira"
    paper: ClassVar[str] = "Tan et al. 2013"
    what: ClassVar[str] = "hinge between the hope and the fear corpus, by the metric of the corpus"

    gain: str = gain_option("linear")
    C: float = option(0.1, "the largest step", paper="0.001 or 0.0001", least=0)
    epochs: int = option(400, "T", paper=400, least=1)
    beam: int = option(
        0, "0: join the sentences' hopes and fears; else the stack of a beam over the corpus", paper="0; 10", least=0
    )
    constraints: int = option(1, "with a beam: corpus hypotheses in the quadratic program", paper="1; 30", least=1)

    def learn(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        if self.constraints > 1 and self.beam == 0:
            raise InputError("trainer cmira: constraints > 1 needs a beam, e.g. beam=10")
        w = _core.cmira(
            *problem.task,
            *problem.space,
            C=self.C,
            **self.gain_options,
            epochs=self.epochs,
            beam=self.beam,
            constraints=self.constraints,
            places=problem.places,
            jobs=self.jobs,
            on_epoch=problem.on_epoch,
        )
        return w, {}
