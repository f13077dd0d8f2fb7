"""Minimum risk, online. Chiang (2012), appendix A.

Objective: the expected loss over the forest at temperature T; its gradient (22) is 1/T (E[Bh] - E[B] E[h]), with linear
BLEU on the edges, and the step is that of stochastic gradient descent. ``objective=secant`` is what lies between risk
and hinge, A.2. The batch form on lists is ``hopefear.trainers.batch.minrisk``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hopefear.trainers.base import option
from hopefear.trainers.online.base import Online


@dataclass(frozen=True, kw_only=True)
class OnlineMinrisk(Online):
    """Minimum risk, appendix A, by stochastic gradient descent.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
    >>> hf.OnlineMinrisk(epochs=3, temperature=2.0).fit(pool, "data/initial.txt")
    <Result: score 46..., 43.05 before; 9 weights: ...>
    """

    name: ClassVar[str] = "minrisk"
    paper: ClassVar[str] = "Chiang 2012, appendix A"
    what: ClassVar[str] = "expected loss over the forest, by stochastic gradient descent"
    algorithm: ClassVar[str] = "sgd"

    objective: str = option("risk", "risk, or secant (between risk and hinge, A.2)", paper="risk")
    eta: float = option(0.05, "learning rate", paper=0.05, least=0)
