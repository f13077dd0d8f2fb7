"""MERT: minimum error rate training. Och (2003); Chiang (2012), section 7; Macherey et al. (2008) for forests.

Objective: the metric itself, of the best candidates. Along any line through the weights it is piecewise constant, and
all its pieces are known exactly from the upper envelope of each sentence's candidates (``core/mert.h``). From each
start the weights go to the middle of the best piece, line after line, until nothing helps.

Deviations, which ``axes=coordinates``, ``kicks=0`` take back:

- The lines of a pass are not the coordinates but the principal axes of the features' differences within a list.
  Translation features rise and fall together (with the length), so coordinate lines leave a narrow ridge at once.
- After all starts the best one is searched towards the ends of the others, then kicked: four random steps that change a
  tenth of the sentences, an ascent from each, the best is kept; ``kicks`` times.
- Weights have no scale here: the result is scaled to sum of absolute values 1, unless a weight is frozen or bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hopefear import _core
from hopefear.errors import InputError
from hopefear.trainers.base import Problem, Trainer, Vector, option


@dataclass(frozen=True, kw_only=True)
class Mert(Trainer):
    """Minimum error rate training by exact line search."""

    name: ClassVar[str] = "mert"
    paper: ClassVar[str] = "Och 2003; Chiang 2012, section 7"
    objective: ClassVar[str] = "the metric of the best candidates, exactly"

    restarts: int = option(20, "random starts besides the initial weights", paper=20, least=0)
    axes: str = option("principal", "lines of a pass: principal axes of the features' differences, or coordinates")
    random_directions: int = option(0, "random lines a pass tries besides the axes", least=0)
    passes: int = option(50, "passes over the lines at most, from each start", least=1)
    kicks: int = option(5, "rounds of four kicks from the best point", least=0)

    def learn(self, problem: Problem) -> tuple[Vector, dict[str, Any]]:
        starts = _core.mert(
            *problem.task,
            problem.initial,
            self.directions(problem),
            problem.lower,
            problem.upper,
            restarts=self.restarts,
            random_directions=self.random_directions,
            max_passes=self.passes,
            min_gain=1e-6,
            kick_rounds=self.kicks,
            kick_share=0.1,
            seed=self.seed,
            jobs=self.jobs,
        )
        scores = []
        for number, (gain, w, lines) in enumerate(starts):
            scores.append(100 * gain if problem.metric.higher_is_better else 100 * (1 - gain))
            problem.report(number, scores[-1], w, {"lines": lines})
        best = max(range(len(starts)), key=lambda r: starts[r][0])
        w = starts[best][1]
        total = np.abs(w).sum()
        if total > 0 and np.all(np.isinf(problem.lower)) and np.all(np.isinf(problem.upper)):
            w = w / total
        return w, {"start": best, "starts": scores, "lines": sum(lines for _, _, lines in starts)}

    def directions(self, problem: Problem) -> Vector:
        """The axes as rows. Features that do not move are left out; sparse features keep their coordinates."""
        pool = problem.pool
        size, dense = problem.initial.size, pool.dense_width
        free = np.flatnonzero(problem.lower < problem.upper)
        if self.axes not in ("principal", "coordinates"):
            raise InputError(f"trainer mert: axes must be principal or coordinates, not {self.axes}")
        variance = _core.within_variance(pool)
        moving = free[variance[free] > 0]
        scale = np.zeros(size)
        scale[moving] = 1 / np.sqrt(variance[moving])
        rows = np.diag(scale)[moving] if size <= 2000 else _coordinates(scale, moving, size)
        mixed = moving[moving < dense]
        if self.axes == "principal" and mixed.size > 1:
            covariance = _core.within_covariance(pool, self.jobs)[np.ix_(mixed, mixed)]
            # In units of each feature, so that a feature's own scale does not matter.
            correlation = covariance * np.outer(scale[mixed], scale[mixed])
            values, vectors = np.linalg.eigh(correlation)
            keep = values > 1e-9 * values.max()
            axes = (vectors[:, keep] / np.sqrt(values[keep])).T * scale[mixed]
            # eigh leaves the sign open
            axes *= np.where(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)] < 0, -1.0, 1.0)[:, None]
            principal = np.zeros((len(axes), size))
            principal[:, mixed] = axes
            rows = np.vstack([principal, rows[mixed.size :]])
        return np.ascontiguousarray(rows)


def _coordinates(scale: Vector, moving: Any, size: int) -> Vector:
    rows = np.zeros((moving.size, size))
    rows[np.arange(moving.size), moving] = scale[moving]
    return rows
