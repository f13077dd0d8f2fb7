"""Corpus-level MIRA. Tan, Xia, Wang and Zhou (2013), algorithm 1.

Objective: 1/2 ||w' - w||^2 + C max_E (B(E*) - B(E) - w'.(H(E*) - H(E))) over corpus hypotheses E, with B the metric
of the whole corpus and H the mean of the features. The hope E* and fear E' join each sentence's hope and fear under a
sentence metric b' (lines 3 to 8), or come from a beam over the corpus (``beam``, section 4.3), then also with
``constraints`` corpus hypotheses and SMO.

Lines 11 and 12 as printed have the signs of Delta_H = fear minus hope; here the step goes from fear towards hope, by
min(C, (Delta_B - w.(H* - H')) / ||H* - H'||^2), and not at all when that is negative. The metric counts 0 to 1.

Deviations:

- ``gain=linear``: b' is the first-order change of the corpus's metric around the best candidates of the moment, which
  makes lines 4 and 5 the first-order solution of (5) and (6); ``plus1`` is the paper's BLEU+1. With that, hope and
  output are too short. On unseen lists (five folds as one document, length ratio in brackets): es-en-kbest 32.4
  (0.96) with plus1, 33.3 (0.99) with linear, kbmira 33.4; es-en-neural, 1000 sentences, 36.4 (0.97), 37.3 (1.00),
  kbmira 37.1.
- ``scaling=dense``: dense features count in units of their standard deviation within a list, sparse ones as they are.
  Steps have one size for all features, so without it weights of features with small units hardly move. Unseen folds,
  without and with: es-en-kbest 33.25 and 33.66, es-en-neural, 1500 sentences, 37.75 and 37.80, generated lists with 808
  features 66.25 and 67.44 (kbmira 33.40, 37.71, 66.50). Planted weights behind features whose units differ by up to six
  powers of ten: 79 to 93 % of the planted BLEU without, 100 % with.
- w_0 competes with the averages of line 15, unless it is all zero (``competes=false``: never).
- C. Its size depends on the scale of the features; the paper picks it from 0.1 ... 0.00001 by the score on the
  development set. With linear gains it hardly matters above 0.1 (C = 0.1, 1, 10, unscaled: 33.3, 33.3, 33.3 on
  es-en-kbest and 37.3, 37.3, 37.2 on es-en-neural; scaled, C = 0.01, 0.1, 1: 33.55, 33.66, 33.66 on es-en-kbest).
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
