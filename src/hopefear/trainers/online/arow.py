"""AROW, adaptive regularisation of weights. Chiang (2012), section 3.3, algorithm 3.

Objective and working sets are those of ``mira``; a diagonal Sigma takes the place of eta, and after each example
Sigma^-1 += lambda diag(x^2), so that features that were seen often move little. The learning rates of language models
and phrase probabilities begin at ``careful_eta`` (section 7), and so do those of ``group`` features and of all dense
features whose names are not ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hopefear.trainers.base import Vector, option
from hopefear.trainers.online.base import Online, is_careful


@dataclass(frozen=True, kw_only=True)
class Arow(Online):
    """Adaptive regularisation of weights, algorithm 3.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
    >>> hf.Arow(epochs=3, eta=0.1).fit(pool, "data/initial.txt")
    <Result: score 46..., 43.05 before; 9 weights: ...>
    """

    name: ClassVar[str] = "arow"
    paper: ClassVar[str] = "Chiang 2012, 3.3"
    what: ClassVar[str] = "hinge between hope and fear, with a learning rate for each feature"
    algorithm: ClassVar[str] = "arow"

    eta: float = option(1.0, "initial learning rate, eta_0", paper=1, least=0)
    lambda_: float = option(0.01, "how fast learning rates fall", paper=0.01, least=0)
    careful_eta: float = option(
        0.01, "initial learning rate of the language models and phrase probabilities", paper=0.01, least=0
    )

    def rates(self, names: Sequence[str]) -> Vector:
        return np.array([self.careful_eta if is_careful(name) else self.eta for name in names])

    def extra(self) -> dict[str, Any]:
        return {"lambda_": self.lambda_}
