"""The structured perceptron. Chiang (2012), section 3.1.

The update of ``sgd`` with the best translation in place of fear: away from what the decoder would output, towards hope.
The tamed perceptron of Brown (2011) on lists is ``hopefear.trainers.batch.perceptron``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hopefear.trainers.base import option
from hopefear.trainers.online.base import Online


@dataclass(frozen=True, kw_only=True)
class OnlinePerceptron(Online):
    """The structured perceptron, 3.1: away from the 1-best.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
    >>> hf.OnlinePerceptron(epochs=3).fit(pool, "data/initial.txt")
    <Result: score 46..., 43.05 before; 9 weights: ...>
    """

    name: ClassVar[str] = "perceptron"
    paper: ClassVar[str] = "Chiang 2012, 3.1"
    what: ClassVar[str] = "from the best translation towards hope"
    algorithm: ClassVar[str] = "sgd"

    objective: str = option("perceptron", "perceptron: fear is the best translation", paper="perceptron")
