"""The mean of fits of a trainer on sentences drawn with replacement. Breiman (1996), "Bagging predictors".

Each of ``bag`` fits learns from as many sentences as there are, drawn with replacement by the seed, and starts from the
same weights. Before averaging, fits are scaled to length 1 in units of each feature's standard deviation within a list,
because only the proportions of weights matter. A sample in which all candidates of each sentence have one score is
dropped.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear._core import Pool
from hopefear.formats.weights import weight_vector
from hopefear.metrics import Metric
from hopefear.runs.session import SILENT, Session
from hopefear.trainers.base import Result, Vector, option
from hopefear.trainers.batch.base import CandidateTrainer
from hopefear.trainers.cross_validation import Fit, Indices, Say, silent
from hopefear.util.cluster import Each

BAG = 10


@dataclass(frozen=True, kw_only=True)
class Bagged(CandidateTrainer):
    """The mean of bootstrapped fits of another trainer (``tune --bag N``).

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
    >>> hf.Bagged(of=hf.Kbmira(), bag=3).fit(pool, "data/initial.txt")
    <Result: score 47..., 43.05 before; 9 weights: ...>
    """

    name: ClassVar[str] = "bagged"
    paper: ClassVar[str] = "Breiman 1996"
    what: ClassVar[str] = "the mean of bootstrapped fits of another trainer"
    spaces: ClassVar[tuple[str, ...]] = ("lists", "forests")
    in_parts: ClassVar[bool] = True

    of: CandidateTrainer | str = field(default="mert", metadata={"help": "the trainer of each fit"})
    bag: int = option(BAG, "number of fits", paper=50, least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.of, str):
            from hopefear.trainers.registry import find_batch

            object.__setattr__(self, "of", find_batch(self.of)(metric=self.metric))

    @classmethod
    def around(cls, trainer: CandidateTrainer, bag: int) -> Bagged:
        """Bagging of ``bag`` fits of this trainer, with its metric, seed and threads."""
        return cls(of=trainer, bag=bag, metric=trainer.metric, seed=trainer.seed, jobs=trainer.jobs)

    def fit(self, data: Any, initial: Any = None, *, run: Session | None = None, **columns: Any) -> Result:
        trainer, pool, initial = self.ready(data, initial, **columns)
        return trainer.fit_in_parts(map, pool, initial, run=run)

    def fit_in_parts(
        self, each: Each, data: Pool, initial: Mapping[str, float] | None = None, *, run: Session | None = None
    ) -> Result:
        begun, session = time.perf_counter(), run or SILENT
        trainer, data, initial = self.ready(data, initial)
        trainer.check(data)
        update = session.progress(f"tune {trainer.learner.name}", trainer.bag)
        weights = mean_of_fits(
            data,
            lambda drawn: trainer.learner.fit(drawn, initial).weights,
            trainer.metric,
            trainer.bag,
            trainer.seed,
            trainer.jobs,
            each,
            lambda number: update(number + 1, text="fits"),
        )
        return trainer.result(data, weights, initial, session, begun)

    @property
    def learner(self) -> CandidateTrainer:
        """The trainer of each fit."""
        assert not isinstance(self.of, str)
        return replace(self.of, metric=self.metric, seed=self.seed, jobs=self.jobs)

    @property
    def strength(self) -> float | None:
        return self.learner.strength

    def regularised(self, l2: float) -> Self:
        return replace(self, of=self.learner.regularised(l2))

    def options(self) -> dict[str, Any]:
        return self.learner.options() | {"of": self.learner.name, "bag": self.bag}


def mean_of_fits(
    pool: Pool, fit: Fit, metric: Metric, bag: int, seed: int, jobs: int = 0, each: Each = map, say: Say = silent
) -> dict[str, float]:
    """The mean of fits on bootstrap samples of the groups, each of length 1 in units of standard deviations.

    ``each``: where fits are made. ``say`` is called with the number of each before it is waited for.
    """
    spread = deviations(pool)
    total = np.zeros(len(pool.features))
    random = np.random.default_rng([seed, 31])

    def fitted(indices: Indices) -> Vector | None:
        drawn = resampled(pool, indices)
        return weight_vector(fit(drawn), pool.feature_names) if tells_apart(drawn, metric, jobs) else None

    results = each(fitted, [random.integers(0, len(pool), len(pool)) for _ in range(bag)])
    for number in range(bag):
        say(number)
        if (w := next(results)) is None:
            continue
        size = float(np.abs(w * spread).sum())
        total += w / size if size > 0 else 0.0
    size = float(np.abs(total).sum())
    return dict(zip(pool.feature_names, (total / (size or 1.0)).tolist(), strict=True))


def resampled(pool: Pool, indices: Indices) -> Pool:
    """These groups, some of them several times, under names of their own."""
    drawn = pool.subset(np.zeros(0, dtype=np.int64))
    for number, i in enumerate(indices.tolist()):
        drawn.append(str(number), pool[i], pool.source(i), pool.references(i))
    return drawn


def tells_apart(pool: Pool, metric: Metric, jobs: int) -> bool:
    """Whether some group has candidates of different outcome."""
    if not pool.is_lists:
        return True
    stats, begin = metric.stats(pool, jobs), pool.row_begin()
    return not bool((stats == stats[np.repeat(begin[:-1], np.diff(begin))]).all())


def deviations(pool: Pool) -> NDArray[np.float64]:
    """The standard deviation of each feature within groups; of forests, within the lists of 100 of each."""
    lists = pool if pool.is_lists else pool.kbest(np.ones(len(pool.features)), 100, distinct=True)
    return np.sqrt(_core.within_variance(lists))
