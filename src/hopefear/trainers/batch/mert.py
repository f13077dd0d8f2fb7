"""MERT: minimum error rate training. Och (2003); Chiang (2012), section 7; Macherey et al. (2008) for forests.

Objective: the metric itself, of the best candidates. Along any line through the weights it is piecewise constant, and
the upper envelope of each sentence's candidates gives all its pieces exactly. From each start, the weights move to the
middle of the best piece, line after line, until no line improves the metric.

Deviations, which ``axes=coordinates`` and ``kicks=0`` undo:

- The lines of a pass are the principal axes of the features' differences within a list, not the coordinates.
  Translation features rise and fall together (with the length), so coordinate lines leave a narrow ridge at once.
- From the best start, MERT also searches towards the ends of the other starts. Then it applies kicks: four random steps
  that each change a tenth of the sentences or more, with an ascent from each; the best result is kept. The search ends
  when ``kicks`` rounds in a row gain nothing. Lists with fewer than 400,000 candidates get as many rounds as take the
  same time, at most a hundred times as many; with n > 32 features, 32/n of them, because more kicks overfit such lists.
  Below 100,000 candidates, where the surface is rough, a pass has as many random lines as axes, kicks are larger,
  and only one of the four starts at the best point: the others continue independently, and restart when they stop
  improving.
- Sparse features keep their initial weights, except for the ``sparse`` ones that vary most: MERT is for a few dozen
  features.
- The scale of the weights has no effect. The result is scaled to a sum of absolute values of 1, unless a weight is
  frozen or bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hopefear import _core
from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.metrics import Metric
from hopefear.trainers.base import Vector, option
from hopefear.trainers.batch.base import BatchTrainer, Problem
from hopefear.util.messages import digits_for, plural


@dataclass(frozen=True, kw_only=True)
class Mert(BatchTrainer):
    """Minimum error rate training by exact line search.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
    >>> result = hf.Mert(restarts=5, kicks=0).fit(pool, "data/initial.txt")
    >>> result
    <Result: score 48..., 43.05 before; 9 weights: ...>
    >>> result.save("weights.json").name
    'weights.json'
    """

    name: ClassVar[str] = "mert"
    paper: ClassVar[str] = "Och 2003; Chiang 2012, section 7"
    what: ClassVar[str] = "the metric of the best candidates, exactly"

    spaces: ClassVar[tuple[str, ...]] = ("lists", "lattices", "forests")
    orders: ClassVar[bool] = True

    restarts: int = option(20, "random starts in addition to the initial weights", paper=20, least=0)
    axes: str = option(
        "principal",
        "lines of a pass: principal axes of the features' differences, or coordinates",
        choices=("principal", "coordinates"),
    )
    random_directions: int = option(0, "random lines per pass in addition to the axes", least=0)
    passes: int = option(50, "maximum passes over the lines from each start", least=1)
    sparse: int = option(0, "how many sparse features to tune: those that vary most; the others stay", least=0)
    thorough: bool = option(
        True, "search small lists more: their surface is rough, a line costs little. False with kicks=0: Och's ascents"
    )
    kicks: int = option(2, "rounds of four kicks that may fail in a row; more for small lists", least=0)

    @property
    def epochs_at_most(self) -> int | None:
        """Not known: progress counts ascents, and how many there are depends on what they find."""
        return None

    def learn(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        return self.search(problem, problem.pool)

    def learn_forests(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        return self.search(problem, problem.pool.kbest(problem.initial, 100, distinct=True, jobs=self.jobs))

    def search(self, problem: Problem, lists: Pool) -> tuple[Vector, dict[str, Any]]:
        """Search from all starts; the variance of features comes from ``lists``."""
        starts = _core.mert(
            problem.pool,
            problem.stats,
            problem.metric.core,
            problem.initial,
            self.directions(problem, lists),
            problem.lower,
            problem.upper,
            restarts=self.restarts,
            random_directions=self.random_directions,
            max_passes=self.passes,
            min_gain=1e-6,
            kick_rounds=self.kicks,
            kick_share=0.1,
            thorough=self.thorough,
            seed=self.seed,
            jobs=self.jobs,
            on_ascent=lambda done, best: problem.progress(text=progress_text(done, problem.metric, best)),
        )
        scores = []
        for number, (_, w, lines) in enumerate(starts):
            scores.append(problem.score(w))
            problem.report(number, scores[-1], w, {"lines": lines})
        # By the score under w itself: where candidates tie, as all do at 0, the line search sees the side next to it.
        best = max(range(len(starts)), key=lambda r: problem.metric.sign * scores[r])
        w = starts[best][1]
        still = problem.initial.size - problem.pool.dense_width - self.sparse
        warnings = [f"{still} sparse features keep their initial weights (option sparse)"] if still > 0 else []
        return w, {"start": best, "starts": scores, "lines": sum(lines for _, _, lines in starts), "warnings": warnings}

    def sized(self, problem: Problem, w: Vector) -> Vector:
        """To a sum of absolute values of 1, unless the user fixed the size of one."""
        total = np.abs(w).sum()
        fixed = np.any(np.isfinite(problem.lower)) or np.any(np.isfinite(problem.upper))
        return w / total if total > 0 and not fixed else w

    def directions(self, problem: Problem, lists: Pool) -> Vector:
        """The axes as rows. Features that do not move are left out."""
        dense = problem.pool.dense_width
        variance = np.where(problem.lower < problem.upper, _core.within_variance(lists), 0.0)
        moving = np.flatnonzero(variance[:dense])
        often = dense + np.argsort(-variance[dense:], kind="stable")[: self.sparse]
        often = often[variance[often] > 0]
        rows = np.zeros((moving.size + often.size, problem.initial.size))
        scale = 1 / np.sqrt(variance[moving])
        rows[np.arange(moving.size), moving] = scale
        rows[np.arange(moving.size, len(rows)), often] = 1 / np.sqrt(variance[often])
        if self.axes == "principal" and moving.size > 1:
            # Of the correlation, so that a feature's own scale does not matter.
            covariance = _core.within_covariance(lists, jobs=self.jobs)[np.ix_(moving, moving)]
            values, vectors = np.linalg.eigh(covariance * np.outer(scale, scale))
            # The last digits of eigh depend on the processor: six are enough for a line. The sign is open, too.
            vectors, values = vectors.T.round(6), np.array([float(f"{value:.6g}") for value in values])
            vectors *= np.where(vectors[np.arange(len(values)), np.abs(vectors).argmax(axis=1)] < 0, -1.0, 1.0)[:, None]
            rows[: moving.size, moving] = vectors / np.sqrt(np.maximum(values, 1e-9 * values.max()))[:, None] * scale
        if len(rows) == 0:
            raise InputError("trainer mert: no feature that may move differs between the candidates of a sentence")
        return rows


def progress_text(ascents: int, metric: Metric, gain: float) -> str:
    """The progress of the search: ascents done and the best score."""
    score = metric.score_at(gain)
    return f"{plural(ascents, 'ascent')}  best {metric.key} {score:.{digits_for([score])}f}"
