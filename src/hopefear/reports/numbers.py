"""The numbers behind the pictures of a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear._core import Pool
from hopefear.evaluation.scores import best_of, chosen_stats
from hopefear.evaluation.significance import paired_bootstrap
from hopefear.formats.weights import weight_vector
from hopefear.metrics import Bleu, Metric
from hopefear.reports.gather import Kept, LoopOutputs, RunData, sentences_of
from hopefear.util.svg import Curve

Vector = NDArray[np.float64]
STEPS = 400  # points of a surface at most: what a screen can show


def averaged(name: str, replicates: Iterable[Iterable[tuple[float, float]]]) -> Curve:
    """The mean over replicates at each x, and its standard deviation: later points are over those that got there."""
    values: dict[float, list[float]] = {}
    for points in replicates:
        for x, y in points:
            values.setdefault(x, []).append(y)
    xs = sorted(values)
    errors = [stdev(values[x]) if len(values[x]) > 1 else 0.0 for x in xs]
    return Curve(name, xs, [mean(values[x]) for x in xs], errors if any(errors) else None)


def learning_curve(run: RunData) -> Curve:
    """The score after each epoch."""
    return averaged(run.name, (epoch_scores(replicate.history) for replicate in run.replicates))


def epoch_scores(history: Iterable[Mapping[str, Any]]) -> list[tuple[float, float]]:
    """Epochs and their scores; a score that was not finite is null in records."""
    return [(epoch["epoch"], epoch["score"]) for epoch in history if epoch["score"] is not None]


@dataclass(frozen=True)
class BeforeAfter:
    """A part of the data before and after: statistics of every sentence, and what they say."""

    part: str
    sentences: int
    before: float
    after: list[float]  # a score per replicate
    p: float  # after against before
    interval: tuple[float, float]
    stats_before: Vector  # sentences x statistics
    stats: Vector  # replicates x sentences x statistics
    bleu: dict[str, dict[str, Any]] | None  # before, after: ratio, precisions, brevity penalty
    of: object  # what tells these sentences from others
    outputs: LoopOutputs | None = None  # where the candidates are there


def before_after(run: RunData, part: str, jobs: int = 0) -> BeforeAfter:
    """How a part scored before and after: by its candidates, or by the output of a decoder in the loop."""
    pool = run.parts[part]
    outputs = run.outputs.get(part)
    if outputs is not None:
        before, stats = all_stats(outputs, run.metric, jobs)
    else:
        outputs = LoopOutputs(
            best_of(pool, run.initial, jobs), [best_of(pool, replicate.weights, jobs) for replicate in run.replicates]
        )
        before = chosen_stats(pool, run.initial, run.metric, jobs)
        stats = np.stack([chosen_stats(pool, replicate.weights, run.metric, jobs) for replicate in run.replicates])
    bleu = None
    if len(pool) and all(pool.references(i) for i in range(len(pool))):
        metric = Bleu(getattr(run.metric, "lowercase", False), getattr(run.metric, "tokenize", "none"))
        both = {"before": outputs.before, "after": outputs.after[run.chosen]}
        bleu = {when: bleu_details(metric, metric.stats(chosen, jobs).sum(axis=0)) for when, chosen in both.items()}
    return _compared(run.metric, part, before, stats, bleu, sentences_of(pool), outputs, jobs)


def all_stats(outputs: LoopOutputs, metric: Metric, jobs: int = 0) -> tuple[Vector, Vector]:
    """The statistics of any metric: before, and after for each replicate."""
    return metric.stats(outputs.before, jobs), np.stack([metric.stats(chosen, jobs) for chosen in outputs.after])


def kept_before_after(part: str, kept: Kept, jobs: int = 0) -> BeforeAfter:
    """The same of a part whose statistics the run has kept."""
    metric = Bleu()
    both = {"before": kept.before, "after": kept.after}
    bleu = {when: bleu_details(metric, stats.sum(axis=0)) for when, stats in both.items()}
    return _compared(metric, part, kept.before, kept.after[None], bleu, kept.references, None, jobs)


def _compared(
    metric: Metric,
    part: str,
    before: Vector,
    after: Vector,
    bleu: dict[str, dict[str, Any]] | None,
    of: object,
    outputs: LoopOutputs | None,
    jobs: int,
) -> BeforeAfter:
    test = paired_bootstrap(after, before, metric, jobs=jobs)
    was, now = test.score_b, list(test.runs_a)
    return BeforeAfter(part, len(before), was, now, test.p, test.ci, before, after, bleu, of, outputs)


def bleu_details(metric: Bleu, sums: Vector) -> dict[str, Any]:
    """Precisions, brevity penalty and lengths of BLEU from summed statistics."""
    K = metric.max_order
    precisions = [100.0 * float(sums[k] / sums[K + k]) if sums[K + k] else 0.0 for k in range(K)]
    ratio = float(sums[K] / sums[-1]) if sums[-1] else 0.0
    return {"score": metric.score(sums), "precisions": precisions, "ratio": ratio}


@dataclass(frozen=True)
class Moved:
    """A feature's weight before and after, and its share in the decisions."""

    name: str
    before: float
    after: float
    share_before: float
    share_after: float


def influence(pool: Pool) -> dict[str, float]:
    """How much each feature differs between the candidates of a sentence: a standard deviation."""
    return dict(zip(pool.feature_names, np.sqrt(_core.within_variance(pool)).tolist(), strict=True))


def shares(weights: Mapping[str, float], names: Sequence[str], deviations: Mapping[str, float]) -> Vector:
    """The share of each feature in the decisions, with the sign of its weight.

    That is |weight| times how much the feature varies within a list, over the sum of that for all features: so runs
    that scale their weights differently can be compared.
    """
    w = weight_vector(weights, names)
    scale = np.array([deviations.get(name, 0.0 if deviations else 1.0) for name in names])
    size = np.abs(w) * scale
    total = size.sum()
    return np.sign(w) * size / total if total > 0 else np.zeros(len(w))


def moved_weights(run: RunData, deviations: Mapping[str, float], most: int = 16) -> tuple[list[Moved], int]:
    """The weights whose share in the decisions changed most, largest first; and how many there are in all."""
    names = list(dict.fromkeys([*run.weights, *run.initial]))
    w0, w1 = (weight_vector(source, names) for source in (run.initial, run.weights))
    before, after = (shares(source, names, deviations) for source in (run.initial, run.weights))
    order = np.argsort(-np.abs(after - before), kind="stable")
    changed = [int(j) for j in order if after[j] != before[j]]
    largest = [Moved(names[j], float(w0[j]), float(w1[j]), float(before[j]), float(after[j])) for j in changed[:most]]
    return largest, len(names)


@dataclass(frozen=True)
class Surface:
    """The metric of the best candidates against one weight, the others held: exact, then thinned for the screen."""

    name: str
    weight: float  # where the trainer stopped
    x: list[float]
    y: list[float]
    score: float  # at the weight
    best: float  # the best on the line
    pieces: int


def surfaces(run: RunData, names: Sequence[str], jobs: int = 0) -> list[Surface]:
    """The error surface along each of these weights."""
    pool = run.parts[run.part]
    prepared = run.metric.prepared(pool)
    stats = run.metric.stats(pool, jobs) if pool.is_lists else None
    w = weight_vector(run.weights, pool.feature_names)
    scale = _scale(run, pool, jobs)
    surfaces = []
    for name in names:
        j = pool.features.find(name)
        if j < 0:
            continue
        direction = np.zeros(len(w))
        direction[j] = 1.0
        starts, gains = _core.error_surface(prepared, stats, run.metric.core, w, direction, axis=False)
        scores = scale[0] + scale[1] * np.asarray(gains)
        surfaces.append(_surface(name, float(w[j]), np.asarray(starts), scores, run.metric.higher_is_better))
    return surfaces


def _scale(run: RunData, pool: Pool, jobs: int) -> tuple[float, float]:
    """Scores are affine in gains: score = a + b gain, from two documents."""
    metric = run.metric
    sums = [metric.stats(best_of(pool, w, jobs), jobs).sum(axis=0) for w in (run.initial, run.weights)]
    (gain_a, gain_b), (a, b) = ([f(x) for x in sums] for f in (metric.gain, metric.score))
    slope = (
        (b - a) / (gain_b - gain_a) if abs(gain_b - gain_a) > 1e-9 else (100.0 if metric.higher_is_better else -100.0)
    )
    return b - slope * gain_b, slope


def _surface(name: str, weight: float, starts: Vector, scores: Vector, higher: bool) -> Surface:
    """Around the weight, wide enough to hold most of the breaks; x becomes the weight itself."""
    inner = starts[np.isfinite(starts)]
    if len(inner) == 0:
        flat = float(scores[0])
        return Surface(name, weight, [weight - 1, weight + 1], [flat, flat], flat, flat, 1)
    low, high = np.quantile(inner, [0.02, 0.98])
    low, high = min(low, 0.0), max(high, 0.0)
    pad = 0.08 * (high - low) or 1.0
    low, high = low - pad, high + pad
    here = float(scores[int(np.searchsorted(starts, 0.0, side="right")) - 1])
    inside = np.flatnonzero((starts > low) & (starts < high))
    first = int(np.searchsorted(starts, low, side="right")) - 1
    xs = np.concatenate([[low], starts[inside]])
    ys = np.concatenate([[scores[first]], scores[inside]])
    x, y = thinned(xs, ys, low, high)
    return Surface(name, weight, [weight + v for v in x], y, here, float(ys.max() if higher else ys.min()), len(starts))


def thinned(xs: Vector, ys: Vector, low: float, high: float) -> tuple[list[float], list[float]]:
    """A step function as points; where steps are closer than the screen shows, the extremes of each column stay."""
    if len(xs) <= STEPS:
        x = np.repeat(np.append(xs, high), 2)[1:-1]
        return x.tolist(), np.repeat(ys, 2).tolist()
    columns = np.minimum(((xs - low) / (high - low) * (STEPS // 2)).astype(int), STEPS // 2 - 1)
    out_x: list[float] = []
    out_y: list[float] = []
    for column in np.unique(columns):
        own = np.flatnonzero(columns == column)
        where = sorted({int(own[0]), int(own[np.argmin(ys[own])]), int(own[np.argmax(ys[own])]), int(own[-1])})
        out_x += [float(xs[k]) for k in where]
        out_y += [float(ys[k]) for k in where]
    return [*out_x, high], [*out_y, out_y[-1]]
