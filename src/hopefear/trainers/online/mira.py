"""MIRA. Chiang (2012), section 3.2, algorithm 2; with ``constraints`` above 1 the form of Chiang et al. (2008).

Objective: the hinge between hope and fear; each example minimises (6), 1/(2 eta) ||w' - w||^2 + L_i(w'), by cutting
planes: the worst violator joins a working set, whose quadratic program SMO solves. With n constraints, the n best, the
n best hopes and the n best fears are the working set at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hopefear.trainers.online.base import Online


@dataclass(frozen=True, kw_only=True)
class Mira(Online):
    """MIRA, algorithm 2.

    >>> corpus = hf.Corpus.read("train.de", ["train.en"])
    >>> task = hf.Task(hf.Hiero("translator"), corpus.subset(range(0, 200)), dev=corpus.subset(range(200, 224)))
    >>> hf.Mira(epochs=1, eta=0.01).fit(task)
    <Result: score 100, 100 before; 13 weights: ...>
    """

    name: ClassVar[str] = "mira"
    paper: ClassVar[str] = "Chiang 2012, 3.2; with constraints > 1 Chiang et al. 2008"
    what: ClassVar[str] = "hinge between hope and fear, by cutting planes and SMO"
    algorithm: ClassVar[str] = "mira"
