"""Diagnosis of a result: findings of one line each, so that degenerate weights are noticed.

``diagnose`` looks at the lists, at the weights before and after, and at the translations that they choose. Each finding
has a code, by which docs/diagnosis.md explains it. Thresholds are constants below, with the reason for each. Nothing
here changes a result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear._core import Pool
from hopefear.evaluation.held_out_scores import Difference
from hopefear.evaluation.reference_mismatch import pool_fit
from hopefear.evaluation.significance import Comparison, paired_bootstrap
from hopefear.evaluation.spelling import pool_spelling
from hopefear.formats.pool import evenly_spaced
from hopefear.formats.weights import weight_vector
from hopefear.metrics import Bleu, Chrf, Metric, Ter
from hopefear.util.messages import digits_for, some

Vector = NDArray[np.float64]

DWARFS = 100.0  # a contribution this many times the next largest: the others only break ties (Brown 2011, section 8)
RARE, OUTWEIGHS = 0.02, 10.0  # a feature in so few lists has no evidence for an influence so many times the largest
TINY, HUGE = 1e-30, 1e30  # weights beyond these get lost in the arithmetic of some decoder
HEADROOM = 0.01  # gain of the oracle over the first choice: below one point there is nothing to win
SAME = 0.5  # share of the sentences whose candidates all have one score
LENGTHS = (0.9, 1.1)  # hypothesis to reference: within it, the brevity penalty is a matter of taste
MOVED = 0.01  # and how far training must have moved the ratio away from 1 to be blamed
ASIDE = 0.3  # p below which a loss on the held-out part is reported: that part is too small for a smaller p
CHANCE = 0.05  # p above which a gain may be chance, and below which a loss in another metric is real
SWING = 0.9  # the last epoch below this share of the best one: training did not settle
COLLINEAR = 1 - 1e-9  # correlation within lists
SENTENCES = 500  # looked at for headroom and other metrics: evenly spaced, enough for a warning, and cheap


@dataclass(frozen=True)
class Finding:
    """Something that the user should know."""

    code: str
    text: str

    def __str__(self) -> str:
        return f"{self.text} [{self.code}]"


def diagnose(
    pool: Pool,
    metric: Metric,
    weights: Mapping[str, float],
    initial: Mapping[str, float] | None = None,
    *,
    held_out: Difference | None = None,
    history: Sequence[Mapping[str, Any]] = (),
    seed: int = 1,
    jobs: int = 0,
) -> list[Finding]:
    """All findings about weights that were learnt from the lists of a pool.

    Without ``initial``, before means the first candidate of each list; of forests nothing is known then, and so nothing
    is reported about gains. ``history`` has a record with a ``score`` for
    each epoch of a trainer that continues from epoch to epoch; leave it out for one that does not (mert). Of forests,
    only the weights and the outcome are examined. ``held_out`` is before against after on other sentences.
    """
    w = weight_vector(weights, pool.feature_names)
    if wrong := wrong_references(pool, seed=seed):
        return wrong  # all other findings follow from these
    findings = list(examine_lists(pool, metric, initial, jobs)) if pool.is_lists else []
    findings += [*examine_weights(pool, w), *_history(history, metric)]
    if not np.all(np.isfinite(w)):
        return findings  # no best translations under such weights
    if initial is None and not pool.is_lists:
        return findings
    w0 = weight_vector(initial or {}, pool.feature_names)
    findings += examine_outcome(_chosen(pool, w0, jobs), _chosen(pool, w, jobs), metric, seed=seed, jobs=jobs)
    return findings + examine_held_out(held_out, metric)


def wrong_references(pool: Pool, names: Sequence[str] = (), seed: int = 1) -> list[Finding]:
    """Findings about references that seem to be those of other sentences; ``names`` are those of their files."""
    return [Finding("wrong-references", text) for text in pool_fit(pool, names, seed)]


def other_spelling(pool: Pool, metric: Metric | None) -> list[Finding]:
    """Findings about references that are spelled in another way than the candidates: case, Unicode form, tokens."""
    return [Finding("spelling", text) for text in pool_spelling(pool, metric)]


def _chosen(pool: Pool, w: Vector, jobs: int) -> Pool:
    """The best candidate of each list under w."""
    return pool.kbest(w, 1, jobs=jobs)


def examine_lists(
    pool: Pool, metric: Metric, initial: Mapping[str, float] | None = None, jobs: int = 0
) -> Iterator[Finding]:
    """Constant, silent and collinear features; lists without headroom, or whose candidates all have one score."""
    names = pool.feature_names
    largest = _largest(pool)
    fires = largest > 0
    deviation = np.sqrt(_core.within_variance(pool))
    dense = np.arange(len(names)) < pool.dense_width  # a sparse feature is silent in most lists by nature
    silent = [names[j] for j in np.flatnonzero(dense & ~fires)]
    if silent:
        yield Finding(
            "silent-feature", f"{_count(silent)} 0 in every candidate: {some(silent)}. Leave them out, or fix them"
        )
    scale = np.maximum(largest, 1e-300)
    constant = [names[j] for j in np.flatnonzero(dense & fires & (deviation <= 1e-12 * scale))]
    if constant:
        yield Finding(
            "constant-feature",
            f"{_count(constant)} the same in all candidates of each sentence: {some(constant)}. "
            "Their weights mean nothing",
        )
    unknown = [name for name in initial or {} if pool.features.find(name) < 0]
    if unknown:
        yield Finding(
            "unknown-feature",
            f"the initial weights name features that no candidate has: {some(unknown)}. Are these the right weights?",
        )
    yield from _collinear(pool, deviation, jobs)
    yield from _headroom(pool, metric, initial, jobs)


def _count(names: Sequence[str]) -> str:
    return "a feature is" if len(names) == 1 else f"{len(names)} features are"


def _largest(pool: Pool) -> Vector:
    """The largest magnitude of each dense feature: 0 if it never fires, else what rounding errors are relative to."""
    largest, width = np.zeros(len(pool.features)), pool.dense_width
    for forest in pool if width else ():
        dense = forest.dense
        if len(dense):
            np.maximum(largest[:width], np.maximum(dense.max(axis=0), -dense.min(axis=0)), out=largest[:width])
    return largest


def _collinear(pool: Pool, deviation: Vector, jobs: int) -> Iterator[Finding]:
    moving = np.flatnonzero(deviation[: pool.dense_width])
    if not 1 < len(moving) <= 500:
        return
    covariance = _core.within_covariance(pool, jobs=jobs)[np.ix_(moving, moving)]
    correlation = covariance / np.outer(deviation[moving], deviation[moving])
    pairs = np.argwhere(np.triu(np.abs(correlation) >= COLLINEAR, 1))
    if len(pairs):
        names = pool.feature_names
        pairs_named = [f"{names[moving[a]]} and {names[moving[b]]}" for a, b in pairs]
        yield Finding(
            "collinear-features",
            f"features that are collinear within every list: {some(pairs_named, 3)}. "
            "They share one weight unless they are bounded or frozen. Leave one out",
        )


def _headroom(pool: Pool, metric: Metric, initial: Mapping[str, float] | None, jobs: int) -> Iterator[Finding]:
    pool = evenly_spaced(pool, SENTENCES)
    stats = metric.stats(pool, jobs)
    begin = pool.row_begin()
    filled = np.flatnonzero(np.diff(begin))
    if len(filled) == 0:
        return
    gains = metric.sentence_gains(stats)
    first = np.repeat(begin[:-1], np.diff(begin))
    differs = np.add.reduceat((stats != stats[first]).any(axis=1), begin[filled]) > 0
    same = 1 - differs.mean()
    if same > SAME:
        yield Finding(
            "same-candidates",
            f"in {100 * same:.0f} % of the sentences all candidates have the same {metric.name}: nothing is learnt "
            "from these. Make longer or more varied lists",
        )
    oracle = np.array([begin[i] + int(np.argmax(gains[begin[i] : begin[i + 1]])) for i in filled])
    w = weight_vector(initial or {}, pool.feature_names)
    chosen, _ = _core.one_best(pool, stats, metric.core, w, jobs=jobs, places=None)
    now = begin[filled] + np.asarray(chosen)[filled]
    best, have = stats[oracle].sum(axis=0), stats[now].sum(axis=0)
    if metric.gain(best) - metric.gain(have) < HEADROOM:
        oracle_score, score = metric.score(best), metric.score(have)
        d = digits_for((oracle_score, score))
        yield Finding(
            "no-headroom",
            f"the best candidates of all lists score {oracle_score:.{d}f} {metric.name}, the first choices "
            f"{score:.{d}f}: there is little to gain. Make longer or more varied lists",
        )


def examine_weights(pool: Pool, w: Vector) -> Iterator[Finding]:
    """Weights that are not finite, all zero, out of any scale, or dwarfed by one of them."""
    names = pool.feature_names
    bad = [names[j] for j in np.flatnonzero(~np.isfinite(w))]
    if bad:
        yield Finding("diverged", f"weights that are not finite: {some(bad)}. Lower the step size (C, eta)")
        return
    size = np.abs(w)
    if not size.any():
        yield Finding("zero-weights", "all weights are 0: the first candidate of each list wins. Nothing was learnt")
        return
    if size.max() < TINY or size.max() > HUGE:
        yield Finding(
            "extreme-weights",
            f"the largest weight is {size.max():.3g} ({names[int(size.argmax())]}). Decoders may round such numbers: "
            "set scaling=std, or start from other weights",
        )
    if not pool.is_lists:
        return
    contribution = size * np.sqrt(_core.within_variance(pool))  # of a feature to the differences of scores in a list
    moving = np.flatnonzero(contribution)
    if len(contribution) < 3 or len(moving) == 0:
        return
    order = np.argsort(-contribution, kind="stable")
    first, second = contribution[order[0]], contribution[order[1]]
    if first > DWARFS * second:
        times = f"its influence is {first / second:.3g} times the next" if second > 0 else "no other has any influence"
        yield Finding(
            "runaway-weight",
            f"{names[order[0]]} (weight {w[order[0]]:.4g}) alone decides: {times}. Is it unused, or "
            "nearly constant? Leave it out, set bounds for it, or use another trainer",
        )
        return
    lists = _varying_lists(pool)
    for j in np.flatnonzero((lists > 0) & (lists < RARE * len(pool))):
        there = contribution[j] * np.sqrt(len(pool) / lists[j])  # within the lists where it differs at all
        others = float(np.delete(contribution, j).max())
        if there > OUTWEIGHS * others > 0:
            yield Finding(
                "rare-feature",
                f"{names[j]} (weight {w[j]:.4g}) differs in {lists[j]} of {len(pool)} sentences and outweighs all else "
                "there. Freeze it, or set bounds for it",
            )


def _varying_lists(pool: Pool) -> NDArray[np.int64]:
    """In how many lists each dense feature differs between candidates."""
    lists = np.zeros(pool.dense_width, dtype=np.int64)
    for i in range(len(pool)):
        dense = pool[i].dense
        if len(dense) > 1:
            lists += (dense != dense[0]).any(axis=0)
    return lists


def _history(history: Sequence[Mapping[str, Any]], metric: Metric) -> Iterator[Finding]:
    scores = [float(epoch["score"]) for epoch in history if isinstance(epoch.get("score"), int | float)]
    if len(scores) < 2:
        return
    best, last = (max(scores) if metric.higher_is_better else min(scores)), scores[-1]
    worse = last < SWING * best if metric.higher_is_better else SWING * last > best
    if worse and min(best, last) >= 0:
        d = digits_for((last, best))
        yield Finding(
            "unsettled",
            f"the last epoch scored {last:.{d}f} {metric.name}, the best {best:.{d}f}: training did not settle. "
            "Lower the step size (C, eta), or set scaling=std",
        )


def compare(before: Pool, after: Pool, metric: Metric, seed: int = 1, jobs: int = 0) -> Comparison:
    """After against before, by the paired bootstrap; each pool has one candidate per sentence."""
    return paired_bootstrap(metric.stats(after, jobs), metric.stats(before, jobs), metric, seed=seed, jobs=jobs)


def _change(metric: Metric, result: Comparison | Difference) -> str:
    digits = digits_for((result.delta,)) if metric.columns else 2
    return f"{result.delta:+.{digits}f} {metric.key} (p = {result.p:.2g})"


def _better(metric: Metric, result: Comparison | Difference) -> float:
    return metric.sign * result.delta


def examine_outcome(before: Pool, after: Pool, metric: Metric, *, seed: int = 1, jobs: int = 0) -> Iterator[Finding]:
    """The translations before and after: gain inside the noise, other metrics, length."""
    target = compare(before, after, metric, seed, jobs)
    gained = _better(metric, target)
    if gained <= 0:
        yield Finding("no-gain", f"nothing was gained: {_change(metric, target)}. Keep the old weights")
    elif target.p > CHANCE:
        yield Finding("gain-in-noise", f"the gain may be due to chance: {_change(metric, target)}. Use more sentences")
    if not all(before.references(i) for i in range(len(before))):
        return
    if gained > 0:
        was, now = evenly_spaced(before, SENTENCES), evenly_spaced(after, SENTENCES)
        falling = []
        for other in (Bleu(), Chrf(), Ter()):
            if other.name == metric.name:
                continue
            old, new = other.stats(was, jobs), other.stats(now, jobs)
            if other.gain(new.sum(axis=0)) >= other.gain(old.sum(axis=0)):
                continue  # no need to resample
            result = paired_bootstrap(new, old, other, seed=seed, jobs=jobs)
            if result.p < CHANCE:
                falling.append(_change(other, result))
        if falling:
            digits = digits_for((target.delta,)) if metric.columns else 2
            yield Finding(
                "other-metrics-fall",
                f"while {metric.key} rises by {abs(target.delta):.{digits}f}, others get worse: {', '.join(falling)}. "
                "The metric may be gamed: look at the translations",
            )
    yield from _lengths(before, after, jobs)


def _lengths(before: Pool, after: Pool, jobs: int) -> Iterator[Finding]:
    bleu = Bleu()
    was, now = (bleu.length_ratio(bleu.stats(pool, jobs).sum(axis=0)) for pool in (before, after))
    if not LENGTHS[0] <= now <= LENGTHS[1] and (now == 0 or _off(now) > _off(was) + MOVED):
        what = "short" if now < 1 else "long"
        yield Finding(
            "length-ratio",
            f"translations became too {what}: {now:.3f} of the references' length, {was:.3f} before. "
            "Is there a word penalty among the features?",
        )


def _off(ratio: float) -> float:
    return abs(math.log(ratio)) if ratio > 0 else math.inf


def examine_held_out(change: Difference | None, metric: Metric) -> list[Finding]:
    """The held-out part got worse."""
    if change is None or _better(metric, change) >= 0 or change.p >= ASIDE:
        return []
    return [
        Finding(
            "holdout-worse",
            f"the held-out sentences got worse: {_change(metric, change)}. The weights may overfit the others: "
            "use more sentences, or more regularisation",
        )
    ]
