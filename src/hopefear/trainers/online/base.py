"""Online trainers: decode a sentence, search hope and fear in its forest, update, continue. Chiang (2012).

Objective, algorithm, approximation and parallelisation are independent of each other, as in the columns of the paper's
Table 1: a trainer's name stands for an algorithm and its usual objective, options change the rest, and ``learners``
says how several of them work together.

Defaults are those of section 7: eta 0.01, hope with mu = -1, forest reranking, ten epochs; in AROW the learning rates
of the language models and phrase probabilities begin at 0.01. Deviations:

- Training starts from the model's own weights, so that it does not end below them. The paper's start, 1 for the two
  language models and the two phrase probabilities and 0 for all others, is ``initial=paper_weights(names)``.
- The result is the average over all epochs (``keep=last``), not that of the epoch which scores best on the
  development data (``keep=best``), because a hundred sentences are too few to select an epoch. With one of three seeds
  on es-en-fisher they selected epoch 1, with 36.9 BLEU on other sentences; the average has 38.3.
- If the initial weights score at least as high on the development data, they are returned.
- Hope and fear are searched for among the 50 best edges per source word (``edges_per_word``), not among everything that
  the decoder kept; 0 searches everything.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

import numpy as np

from hopefear import _core
from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.runs.session import SILENT, Session
from hopefear.trainers.base import Result, Trainer, Vector, option, start_vector, weights_of
from hopefear.trainers.data import Task
from hopefear.trainers.online.teams import PARALLEL, Learners
from hopefear.util.values import check_choice

KEEP = ("last", "best", "learnt")
#: Features that have to be initialised carefully (section 7).
CAREFUL = ("lm", "lm2", "lm3", "njm", "phrase_ef", "phrase_fe")
#: What our decoders count, and the lexical weights.
COUNTED = (
    "lexical_ef", "lexical_fe", "rule", "word", "glue", "sentence", "identity", "unknown", "number", "name", "swap"
)  # fmt: skip


def is_careful(name: str) -> bool:
    """Whether a feature is a log probability of the kind that section 7 initialises carefully, or may be one.

    ``group`` features are phrase probabilities, one for each length. Names of other people's models and of the scores
    of a lattice say nothing, so these are taken for log probabilities.
    """
    template, bracket, _ = name.partition("(")
    return template == "group" if bracket else name not in COUNTED


def paper_weights(names: Sequence[str]) -> dict[str, float]:
    """The weights that training begins with in section 7."""
    return {name: float(name in CAREFUL) for name in names}


def initial_weights(names: Sequence[str], given: Mapping[str, float] | None = None, data: object = None) -> Vector:
    """The weights given, or those of the model, or without a model the paper's; what they do not name starts at 0."""
    if given is None:
        given = data.decoder.model.weights if isinstance(data, Task) else paper_weights(names)
    return start_vector(names, given)


@dataclass(frozen=True, kw_only=True)
class Online(Trainer):
    """The options and the fit of all online trainers."""

    algorithm: ClassVar[str]
    learns_from: ClassVar[str] = "model"
    family: ClassVar[str] = "online"
    spaces: ClassVar[tuple[str, ...]] = ("models, online",)

    epochs: int = option(10, "passes over the sentences", paper=10, least=1)
    eta: float = option(0.01, "learning rate", paper=0.01, least=0)
    mu: float = option(-1.0, "weight of the loss in the search for hope, 0 or less", paper=-1)
    mu_decay: float = option(1.0, "factor of mu after each epoch", paper=1, least=0)
    objective: str = option("hinge", "hinge, perceptron, risk, or secant (between risk and hinge, A.2)", paper="hinge")
    reference: str = option("hope", "what to move towards: hope, local, max-bleu or bold", paper="hope")
    approximation: str = option(
        "auto", "of B on forests: forest, linear, kbest; auto: forest, for expectations linear", paper="forest"
    )
    k: int = option(100, "candidates of kbest and local", least=1)
    temperature: float = option(1.0, "temperature of risk and secant", paper=1, least=0)
    epsilon: float = option(0.01, "by how much a constraint must be violated to be added", paper=0.01, least=0)
    constraints: int = option(1, "1: cutting planes; n: the n best, hope and fear at once (2008)", paper=1, least=1)
    max_planes: int = option(30, "maximum number of constraints per sentence by cutting planes", least=1)
    decay: float = option(0.9, "decay of the oracle document", paper=0.9, least=0)
    edges_per_word: int = option(
        50, "edges per source word among which hope and fear are searched for; 0: all", paper=0, least=0
    )
    keep: str = option(
        "last",
        "what is returned: last, the average over all epochs; best, that of the best epoch; or the initial weights if "
        "they score as high; learnt: as last, but never the initial weights",
        paper="best",
    )
    patience: int = option(0, "stop after this many epochs without a better score; 0: never", paper=0, least=0)

    learners: Learners = field(
        default=Learners(), metadata={"help": "how many learners, and how they work together (--parallel, --learners)"}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.mu <= 0:
            raise InputError(f"trainer {self.name}: mu must be 0 or less, not {self.mu}")
        if self.objective == "secant" and self.mu == 0:
            raise InputError(f"trainer {self.name}: secant divides by mu: it cannot be 0")
        check_choice("keep", self.keep, KEEP)
        if (way := self.learners.parallel) not in PARALLEL:
            raise InputError(f"there is no way {way!r} for learners to work together. Choose {', '.join(PARALLEL)}")
        self.learner(np.zeros(1), ["lm"], False)  # raises for unknown names

    def fit(self, data: Any, initial: Any = None, *, run: Session | None = None, **columns: Any) -> Result:
        """Learn from a :class:`Task`, or from fixed candidates with references: a pool, a path, records or a frame.

        ``columns`` says what is what in a frame, as for :meth:`BatchTrainer.fit`.

        >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
        >>> hf.Arow(epochs=1, eta=0.1).fit(pool[:50], initial="data/initial.txt").epoch
        1
        """
        from hopefear.formats.inputs import pool_of
        from hopefear.formats.records import lists_in, several
        from hopefear.trainers.online.job import fit

        data = several(data)
        if isinstance(data, str | os.PathLike) or columns or not (isinstance(data, Pool) or lists_in(data) is None):
            data = pool_of(data, **columns)
        return fit(self, data, weights_of(initial), run or SILENT)

    def options(self) -> dict[str, Any]:
        return super().options() | {"learners": asdict(self.learners)}

    def mu_of(self, epoch: int) -> float:
        """mu in an epoch, counted from 1."""
        return self.mu * self.mu_decay ** (epoch - 1)

    def rates(self, names: Sequence[str]) -> Vector | None:
        """Initial learning rates that differ from feature to feature."""
        return None

    def extra(self) -> dict[str, Any]:
        """Options of the learner that only some algorithms have."""
        return {"lambda_": 0.0}

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
            max_planes=self.max_planes,
            edges_per_word=self.edges_per_word,
            broadcast=broadcast,
            **self.extra(),
        )
