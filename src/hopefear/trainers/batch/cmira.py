"""Corpus-level MIRA. Tan, Xia, Wang and Zhou (2013), algorithm 1.

Objective: 1/2 ||w' - w||^2 + C max_E (B(E*) - B(E) - w'.(H(E*) - H(E))) over corpus hypotheses E, with B the metric
of the whole corpus and H the mean of the features. The hope E* and fear E' join each sentence's hope and fear under a
sentence metric b' (lines 3 to 8), or come from a beam over the corpus (``beam``, section 4.3), then also with
``constraints`` corpus hypotheses and SMO.

Lines 11 and 12 are printed with the signs of Delta_H = fear minus hope. Here the step goes from fear towards hope, by
min(C, (Delta_B - w.(H* - H')) / ||H* - H'||^2), and is omitted if that is negative. The metric is from 0 to 1.

Deviations (the page "Trainers" of the documentation has the scores of both choices on unseen lists):

- ``gain=linear``: b' is the first-order change of the corpus's metric around the current best candidates, which
  makes lines 4 and 5 the first-order solution of (5) and (6). The paper's BLEU+1 (``plus1``) makes the output
  too short.
- ``scaling=dense``: dense features count in units of their standard deviation within a list, sparse features as they
  are. Steps have one size for all features, so without scaling the weights of features with small units hardly move.
- w_0 competes with the averages of line 15, unless it is all zero (``competes=false``: never).
- C is larger. Its size depends on the scale of the features; the paper selects it from 0.1 ... 0.00001 by the score on
  the development set. With linear gains, values from 0.1 to 10 give the same scores to 0.1 BLEU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from hopefear import _core
from hopefear.errors import InputError
from hopefear.trainers.base import Vector, option
from hopefear.trainers.batch.base import Problem, scaling_option
from hopefear.trainers.batch.gains import SentenceGain, gain_option


@dataclass(frozen=True, kw_only=True)
class Cmira(SentenceGain):
    """MIRA with one hope and one fear for the whole corpus.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
    >>> result = hf.Cmira(frozen="lm").fit(pool, "data/initial.txt")
    >>> result.weights["lm"]
    0.5
    """

    name: ClassVar[str] = "cmira"
    paper: ClassVar[str] = "Tan et al. 2013"
    what: ClassVar[str] = "hinge between the hope and the fear corpus, by the metric of the corpus"

    gain: str = gain_option("linear")
    scaling: str = scaling_option("dense")
    C: float = option(0.1, "the largest step", paper="0.001 or 0.0001", least=0)
    epochs: int = option(400, "T, the number of epochs", paper=400, least=1)
    beam: int = option(
        0, "0: join the sentences' hopes and fears; else the stack of a beam over the corpus", paper="0; 10", least=0
    )
    constraints: int = option(1, "with a beam: corpus hypotheses in the quadratic program", paper="1; 30", least=1)

    competes: bool = option(True, "return the initial weights if no epoch is better", paper=False)

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
            competes=self.competes,
            places=problem.places,
            jobs=self.jobs,
            on_epoch=problem.on_epoch,
        )
        return w, {}
