"""Stochastic gradient descent. Chiang (2012), section 3.1, algorithm 1.

Objective: the hinge between hope and fear, L_i = max_d v_i(w, d, d_i), eq. (4). Update, eq. (5): w += eta x with x =
h(hope) - h(fear); the weights are averaged over all updates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hopefear.trainers.online.base import Online


@dataclass(frozen=True, kw_only=True)
class Sgd(Online):
    """Stochastic gradient descent, algorithm 1.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
    >>> hf.Sgd(epochs=3, patience=1).fit(pool, "data/initial.txt")
    <Result: score 46..., 43.05 before; 9 weights: ...>
    """

    name: ClassVar[str] = "sgd"
    paper: ClassVar[str] = "Chiang 2012, 3.1"
    what: ClassVar[str] = "hinge between hope and fear, by stochastic gradient descent"
    algorithm: ClassVar[str] = "sgd"
