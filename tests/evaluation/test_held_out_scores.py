"""Held-out scores never stand alone."""

from __future__ import annotations

import numpy as np

import hopefear as hf
from hopefear.evaluation.held_out_scores import ENOUGH, Difference, difference
from hopefear.evaluation.significance import paired_bootstrap

QUALITY = hf.External("quality")


def numbers(count: int, mean: float, seed: int) -> np.ndarray:
    """Statistics of a metric that is a mean of numbers: a value and a count of one."""
    values = np.random.default_rng(seed).normal(mean, 10, count)
    return np.stack([values, np.ones(count)], axis=1)


def test_two_systems_by_the_paired_bootstrap() -> None:
    before = numbers(50, 50, 1)
    noise = numbers(50, 0, 2)[:, 0]
    far, near = before.copy(), before.copy()
    far[:, 0] += 5 + 0.1 * noise
    near[:, 0] += 0.5 + noise
    change = difference(before, far, QUALITY, seed=3)
    same = paired_bootstrap(far, before, QUALITY, seed=3)
    assert (change.delta, change.low, change.high, change.p) == (same.delta, *same.ci, same.p)
    assert (change.sentences, change.better, change.verdict) == (50, True, "better")  # the interval says so
    assert difference(far, before, QUALITY).verdict == "worse"
    cannot = difference(before, near, QUALITY)
    assert (cannot.better, cannot.verdict) == (None, "too few to tell")
    assert cannot.text.startswith(f"{cannot.before:.2f} -> {cannot.after:.2f} (")
    assert cannot.text.endswith("50 sentences: too few to tell)")
    assert cannot.record()["verdict"] == "too few to tell"


def test_many_sentences_that_do_not_differ_are_not_too_few() -> None:
    for count, words in ((ENOUGH - 1, "too few to tell"), (ENOUGH, "no difference shown")):
        before = numbers(count, 50, 1)
        after = before.copy()
        after[:, 0] += numbers(count, 0, 2)[:, 0] * 0.1 - np.mean(numbers(count, 0, 2)[:, 0]) * 0.1
        assert difference(before, after, QUALITY).verdict == words


def test_lower_may_be_better() -> None:
    """TER falls: that is better, whatever the sign."""
    change = Difference(before=60, after=55, low=-7, high=-3, p=0.001, sentences=1000, higher_is_better=False)
    assert (change.better, change.verdict) == (True, "better")
    assert "-5.00, 95 % interval -7.00 to -3.00" in change.text


def test_runs_of_a_recipe() -> None:
    """Several runs are one system; its sentences are counted once."""
    runs = np.stack([numbers(80, 50, seed) for seed in range(3)])
    assert difference(runs, runs + np.array([1.0, 0.0]), QUALITY).sentences == 80
