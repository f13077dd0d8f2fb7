"""What a candidate is worth to its sentence: one option for all trainers that need such a number.

``plus1``: the metric of the sentence alone, BLEU+1 for BLEU, as in the papers. ``linear``: B(D) + M slope.b, the
first-order change of the metric of the corpus around the document D of the best candidates under the weights of the
moment, as the online trainers have it (Chiang 2012, A.3). ``background``: the metric within a fading corpus of hopes
(Cherry and Foster 2012). The computation is ``core/trainers/batch/gains.h``.

Every metric has the first two. For a metric that is a mean over candidates ``linear`` is its sentence score;
``background`` is known for BLEU only, and for other metrics it is their sentence score.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hopefear import _core
from hopefear.trainers.base import Vector, option
from hopefear.trainers.batch.base import BatchTrainer, Problem

GAINS = ("plus1", "linear", "background")


def gain_option(default: str, paper: str | None = "plus1") -> Any:
    """The field ``gain`` with a trainer's own default."""
    return option(
        default,
        "what a candidate is worth: plus1 (the metric of the sentence, BLEU+1), linear (first-order change of the "
        "corpus's metric) or background (within a fading corpus of hopes)",
        paper=paper,
        choices=GAINS,
    )


def average_option(default: str, paper: str) -> Any:
    """The field ``average`` of trainers that update after each sentence."""
    return option(
        default,
        "what a pass ends with: none (its last weights), pass (their average over its sentences), running (the same, "
        "from which the next pass continues), all (the average over all passes)",
        paper=paper,
        choices=("none", "pass", "running", "all"),
    )


@dataclass(frozen=True, kw_only=True)
class SentenceGain(BatchTrainer):
    """A trainer that needs to know what a candidate is worth."""

    gain: str = gain_option("plus1")
    decay: float = option(0.999, "decay of the background corpus after each sentence", paper=0.999, least=0)

    @property
    def gain_options(self) -> dict[str, Any]:
        """For the inner loops."""
        return {"gain": self.gain, "decay": self.decay}

    def row_gains(self, problem: Problem, w: Vector) -> Vector:
        """A number for each candidate, around these weights."""
        return _core.row_gains(*problem.task, w, **self.gain_options, jobs=self.jobs, places=problem.places)
