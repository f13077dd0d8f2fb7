"""Online trainers: decode a sentence, search hope and fear in its forest, update, go on. Chiang (2012).

Objective, algorithm, approximation and parallelisation are independent of each other, as in the columns of the paper's
Table 1: a trainer's name stands for an algorithm and its usual objective, options change the rest, and how several
learners work together is decided elsewhere (``hopefear.trainers.online.job``). What one learner does at a sentence, and where
the paper is silent, is in ``core/learner.h``.

Defaults are those of section 7: eta 0.01, hope with mu = -1, forest reranking, ten epochs. The weights of the two
language models and the two phrase probabilities begin at 1 and all others at 0; in AROW the learning rates of these
four begin at 0.01. One deviation: hope and fear are searched for among the 50 best edges a source word
(``edges_per_word``), not in everything the decoder kept; 0 asks for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear.errors import InputError
from hopefear.trainers.base import option

__all__ = ["CAREFUL", "ONLINE", "Arow", "Mira", "Online", "OnlineMinrisk", "OnlinePerceptron", "Sgd", "initial_weights"]

Vector = NDArray[np.float64]

#: Features that have to be initialised carefully (section 7).
CAREFUL = ("lm", "lm2", "phrase_ef", "phrase_fe")


def initial_weights(names: Sequence[str], given: Mapping[str, float] | None = None) -> Vector:
    """The weights of section 7, or those given; what they do not name starts at 0."""
    start = dict.fromkeys(CAREFUL, 1.0) if given is None else given
    return np.array([start.get(name, 0.0) for name in names])


@dataclass(frozen=True, kw_only=True)
class Online:
    """What all online trainers have in common. Fields are options, as for the other trainers."""

    name: ClassVar[str]
    paper: ClassVar[str]
    what: ClassVar[str]
    algorithm: ClassVar[str]
    spaces: ClassVar[tuple[str, ...]] = ("models, online",)

    epochs: int = option(10, "passes over the sentences", paper=10, least=1)
    eta: float = option(0.01, "learning rate", paper=0.01, least=0)
    mu: float = option(-1.0, "weight of the loss in the search for hope, not above 0", paper=-1)
    mu_decay: float = option(1.0, "factor of mu after each epoch", paper=1, least=0)
    objective: str = option("hinge", "hinge, perceptron, risk, or secant (between risk and hinge, A.2)", paper="hinge")
    reference: str = option("hope", "what to move towards: hope, local, max-bleu or bold", paper="hope")
    approximation: str = option(
        "auto", "of B on forests: forest, linear, kbest; auto: forest, for expectations linear", paper="forest"
    )
    k: int = option(100, "candidates of kbest and local", least=1)
    temperature: float = option(1.0, "of risk and secant", paper=1, least=0)
    epsilon: float = option(0.01, "how much worse a new constraint must be", paper=0.01, least=0)
    constraints: int = option(1, "1: cutting planes; n: the n best, hope and fear at once (2008)", paper=1, least=1)
    decay: float = option(0.9, "of the oracle document", paper=0.9, least=0)
    edges_per_word: int = option(
        50, "edges a source word among which hope and fear are searched for; 0: all", paper=0, least=0
    )
    patience: int = option(0, "stop after so many epochs without a better score; 0: never", paper=0, least=0)

    def __post_init__(self) -> None:
        for each in fields(self):
            least, value = each.metadata.get("least"), getattr(self, each.name)
            if least is not None and not value >= least:
                raise InputError(f"trainer {self.name}: {each.name} must be at least {least:g}, not {value}")
        if not self.mu <= 0:
            raise InputError(f"trainer {self.name}: mu must not be above 0, not {self.mu}: hope wants little loss")
        if self.objective == "secant" and self.mu == 0:
            raise InputError(f"trainer {self.name}: secant divides by mu: it cannot be 0")
        self.learner(np.zeros(1), ["lm"], False)  # says which names are wrong

    def options(self) -> dict[str, Any]:
        """The options as plain values, for records."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def mu_of(self, epoch: int) -> float:
        """mu in an epoch, counted from 1."""
        return self.mu * self.mu_decay ** (epoch - 1)

    def rates(self, names: Sequence[str]) -> Vector | None:
        """Initial learning rates that differ from feature to feature."""
        return None

    def extra(self) -> dict[str, Any]:
        """Options of the learner that only this algorithm has."""
        return {}

    def fit(self, decoder: Any, corpus: Any, **how: Any) -> Any:
        """Learn the weights of a decoder from a corpus: :func:`hopefear.trainers.online.train`."""
        from hopefear.trainers.online.job import train

        return train(decoder, corpus, self, **how)

    def learner(self, w: Vector, names: Sequence[str], broadcast: bool) -> _core.Learner:
        """A learner at these weights."""
        approximation = self.approximation
        if approximation == "auto":
            soft = self.objective == "risk" or (self.objective == "secant" and self.temperature > 0)
            approximation = "linear" if soft else "forest"
        return _core.Learner(
            w,
            self.rates(names),
            objective=self.objective,
            algorithm=self.algorithm,
            reference=self.reference,
            approximation=approximation,
            k=self.k,
            eta=self.eta,
            epsilon=self.epsilon,
            temperature=self.temperature,
            decay=self.decay,
            constraints=self.constraints,
            edges_per_word=self.edges_per_word,
            broadcast=broadcast,
            **self.extra(),
        )


@dataclass(frozen=True, kw_only=True)
class Sgd(Online):
    """Stochastic gradient descent, algorithm 1."""

    name: ClassVar[str] = "sgd"
    paper: ClassVar[str] = "Chiang 2012, 3.1"
    what: ClassVar[str] = "hinge between hope and fear, by stochastic gradient descent"
    algorithm: ClassVar[str] = "sgd"


@dataclass(frozen=True, kw_only=True)
class Mira(Online):
    """MIRA, algorithm 2."""

    name: ClassVar[str] = "mira"
    paper: ClassVar[str] = "Chiang 2012, 3.2; with constraints > 1 Chiang et al. 2008"
    what: ClassVar[str] = "hinge between hope and fear, by cutting planes and SMO"
    algorithm: ClassVar[str] = "mira"


@dataclass(frozen=True, kw_only=True)
class Arow(Online):
    """Adaptive regularisation of weights, algorithm 3."""

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
        return np.array([self.careful_eta if name in CAREFUL else self.eta for name in names])

    def extra(self) -> dict[str, Any]:
        return {"lambda_": self.lambda_}


@dataclass(frozen=True, kw_only=True)
class OnlineMinrisk(Online):
    """Minimum risk, appendix A, by stochastic gradient descent."""

    name: ClassVar[str] = "minrisk"
    paper: ClassVar[str] = "Chiang 2012, appendix A"
    what: ClassVar[str] = "expected loss over the forest, by stochastic gradient descent"
    algorithm: ClassVar[str] = "sgd"

    objective: str = option("risk", "risk, or secant (between risk and hinge, A.2)", paper="risk")
    eta: float = option(0.05, "learning rate", paper=0.05, least=0)


@dataclass(frozen=True, kw_only=True)
class OnlinePerceptron(Online):
    """The structured perceptron, 3.1: away from the 1-best."""

    name: ClassVar[str] = "perceptron"
    paper: ClassVar[str] = "Chiang 2012, 3.1"
    what: ClassVar[str] = "from the best translation towards hope"
    algorithm: ClassVar[str] = "sgd"

    objective: str = option("perceptron", "perceptron: fear is the best translation", paper="perceptron")


ONLINE: dict[str, type[Online]] = {each.name: each for each in (Sgd, Mira, Arow, OnlineMinrisk, OnlinePerceptron)}
