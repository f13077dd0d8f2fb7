"""PRO: pairwise ranking optimisation. Hopkins and May (2011).

Objective: the logistic loss of a classifier that finds the better of two candidates by h(better) - h(worse). PRO draws
``samples`` random pairs from each list, drops pairs whose gains (BLEU+1) differ by less than ``threshold``, and keeps
the ``keep`` pairs with the largest difference. A pair and its mirror image have the same loss and are counted once.
With ``weighted``, a pair counts by its difference.

L-BFGS fits the classifier with l2 towards zero. The result is mixed with the previous weights: ``interpolation`` *
new + (1 - ``interpolation``) * old, ``resample`` times with new samples. The paper mixes 0.1 to 0.9 between
decodings, and so does the outer loop. On fixed lists, the default is one round without mixing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from hopefear import _core
from hopefear.errors import InputError
from hopefear.trainers.base import Vector, option
from hopefear.trainers.batch.base import Problem
from hopefear.trainers.batch.gains import SentenceGain, gain_option
from hopefear.trainers.batch.quasi_newton import minimize


@dataclass(frozen=True, kw_only=True)
class Pro(SentenceGain):
    """Pairwise ranking with a logistic classifier.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
    >>> hf.Pro(seed=7).fit(pool, "data/initial.txt")
    <Result: score 47..., 43.05 before; 9 weights: ...>
    """

    name: ClassVar[str] = "pro"
    paper: ClassVar[str] = "Hopkins and May 2011"
    what: ClassVar[str] = "logistic loss over sampled pairs of candidates"

    gain: str = gain_option("plus1")
    samples: int = option(5000, "pairs sampled from each list", paper=5000, least=1)
    threshold: float = option(0.05, "smallest difference in the sentence metric", paper=0.05, least=0)
    keep: int = option(50, "pairs kept of each list", paper=50, least=1)
    weighted: bool = option(False, "weigh pairs by their difference", paper=False)
    l2: float = option(1e-4, "strength of the l2 term, in units of the mean loss", least=0)
    l1: float = option(0.0, "strength of the l1 term", least=0)
    interpolation: float = option(1.0, "share of the new weights in each round", paper=0.1, least=0)
    resample: int = option(1, "how often to sample and fit", least=1)

    def learn(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        w = problem.initial
        pairs = 0
        for number in range(1, self.resample + 1):
            gains = self.row_gains(problem, w)
            seed = self.seed * 1_000_003 + number
            matrix = _core.sample_pairs(
                *problem.task,
                gains,
                samples=self.samples,
                threshold=self.threshold,
                keep=self.keep,
                weighted=self.weighted,
                seed=seed,
                jobs=self.jobs,
            )
            pairs = len(matrix)
            if pairs == 0:
                raise InputError(
                    f"trainer pro: no two candidates of a sentence differ by {self.threshold:g} or more. "
                    "Lower threshold, or make more varied lists"
                )
            fitted = minimize(
                partial(matrix.log_loss, jobs=self.jobs),
                w,
                problem.lower,
                problem.upper,
                towards=np.clip(np.zeros_like(w), problem.lower, problem.upper),
                l1=self.l1,
                l2=self.l2,
            )
            w = (1 - self.interpolation) * w + self.interpolation * fitted
            problem.report(number, problem.score(w), w, {"pairs": pairs})
        return w, {"pairs": pairs}
