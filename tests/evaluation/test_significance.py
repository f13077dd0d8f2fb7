import itertools
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.evaluation import significance
from hopefear.evaluation.significance import (
    _percentiles,
    approximate_randomization,
    confidence_interval,
    paired_bootstrap,
)


def system(rng: Any, lengths: Any, precision: Any) -> Any:
    """BLEU statistics of a system that gets each word right with the precision that the sentence allows."""
    n = np.maximum(4, lengths + rng.integers(-2, 3, len(lengths)))
    rows, right = [], n
    for k, p in enumerate([precision, 0.6, 0.6, 0.7]):
        right = rng.binomial(np.minimum(right, n - k), p)
        rows.append(right)
    return np.stack([*rows, *(n - k for k in range(4)), lengths], axis=1).astype(float)


def sentences(rng: Any, count: Any = 300) -> Any:
    return rng.integers(5, 40, count), rng.beta(6, 4, count)


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomization])
def test_calibrated(test: Any) -> None:
    """Of 200 pairs of systems with no difference, about 5 % have p < .05; the band has 99.9 % of the binomial."""
    rng = np.random.default_rng(1)
    p = []
    for seed in range(200):
        case = sentences(rng)
        p.append(test(system(rng, *case), system(rng, *case), hf.Bleu(), samples=400, seed=seed).p)
    p = np.array(p)
    assert 2 <= (p < 0.05).sum() <= 21
    assert 78 <= (p < 0.5).sum() <= 122


def test_calibrated_with_runs() -> None:
    """The same where the runs of a system differ more than chance in the test set explains."""
    rng = np.random.default_rng(1)
    p = []
    for seed in range(200):
        lengths, precision = sentences(rng, 150)
        a, b = (
            np.stack([system(rng, lengths, np.clip(precision + rng.normal(0, 0.04), 0, 1)) for _ in range(8)])
            for _ in range(2)
        )
        p.append(paired_bootstrap(a, b, hf.Bleu(), samples=200, seed=seed).p)
    assert 2 <= (np.array(p) < 0.05).sum() <= 25


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomization])
def test_clear_differences_and_none(test: Any) -> None:
    rng = np.random.default_rng(2)
    lengths, precision = sentences(rng)
    a, b = system(rng, lengths, np.minimum(1, precision + 0.15)), system(rng, lengths, precision)
    better = test(a, b, hf.Bleu(), samples=300)
    assert better.p == 1 / 301 and better.delta > 0 and better.ci[0] > 0
    assert better.ci[0] < better.delta < better.ci[1]
    worse = test(b, a, hf.Bleu(), samples=300)
    assert worse.delta == -better.delta and worse.p == better.p
    same = test(a, a, hf.Bleu(), samples=300)
    assert (same.p, same.delta, same.ci) == (1, 0, (0, 0))
    assert better.runs_a == (better.score_a,) and better.score_a == pytest.approx(hf.Bleu().score(a.sum(axis=0)))


def test_same_seed_same_result_whatever_jobs() -> None:
    rng = np.random.default_rng(3)
    case = sentences(rng, 50)
    a, b = system(rng, *case), system(rng, *case)
    for test in (paired_bootstrap, approximate_randomization):
        results = [test(a, b, hf.Bleu(), samples=200, seed=7, jobs=jobs) for jobs in (1, 3)]
        assert results[0] == results[1]
        assert test(a, b, hf.Bleu(), samples=200, seed=8).p != results[0].p
        test(a, b, hf.Bleu(), samples=10, seed=-1)


def test_randomisation_equals_all_ways_to_change_sides() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(size=(2, 10, 1))
    a, b = (np.concatenate([v, np.ones((10, 1))], axis=1) for v in values)
    metric = hf.External("x")
    difference = values[0, :, 0] - values[1, :, 0]
    by_chance = [abs(np.mean(difference * signs)) for signs in itertools.product([-1, 1], repeat=10)]
    exact = np.mean(np.array(by_chance) >= abs(difference.mean()) - 1e-12)
    assert approximate_randomization(a, b, metric, samples=20000).p == pytest.approx(exact, abs=0.015)


def test_bootstrap_of_a_mean_has_its_standard_error() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=400)
    stats = np.stack([values, np.ones(400)], axis=1)
    metric = hf.External("x")
    interval = confidence_interval(stats, metric, samples=4000, level=0.6827)
    assert interval.score == pytest.approx(values.mean())
    error = values.std() / 20
    assert interval.low == pytest.approx(values.mean() - error, abs=0.1 * error)
    assert interval.high == pytest.approx(values.mean() + error, abs=0.1 * error)
    # the mean of r runs, all variance between runs: s^2 / r, here for both systems
    levels = rng.normal(size=5)
    runs = np.stack([np.full((5, 30), levels[:, None]), np.ones((5, 30))], axis=2)
    interval = confidence_interval(runs, metric, samples=4000, level=0.6827)
    assert (interval.high - interval.low) / 2 == pytest.approx(levels.std(ddof=1) / 5**0.5, rel=0.15)
    assert interval.runs == pytest.approx(levels)


def test_several_runs() -> None:
    rng = np.random.default_rng(6)
    lengths, precision = sentences(rng, 100)
    a = np.stack([system(rng, lengths, precision) for _ in range(3)])
    b = np.stack([system(rng, lengths, precision) for _ in range(2)])
    result = paired_bootstrap(a, b, hf.Bleu(), samples=100)
    assert len(result.runs_a) == 3 and len(result.runs_b) == 2
    assert result.score_a == pytest.approx(np.mean([hf.Bleu().score(run.sum(axis=0)) for run in a]))
    with pytest.raises(hf.InputError, match="the same number of runs of both systems, not 3 and 2"):
        approximate_randomization(a, b, hf.Bleu())
    # identical replicates tell no more than one run
    one, three = (
        approximate_randomization(a[:1].repeat(r, 0), b[:1].repeat(r, 0), hf.Bleu(), samples=500) for r in (1, 3)
    )
    assert three.p == one.p


def test_messages() -> None:
    stats = np.ones((4, 9))
    with pytest.raises(hf.InputError, match="one has 4 and one 3"):
        paired_bootstrap(stats, stats[:3], hf.Bleu())
    with pytest.raises(hf.InputError, match="no sentence"):
        paired_bootstrap(stats[:0], stats[:0], hf.Bleu())
    with pytest.raises(hf.InputError, match="a row per sentence"):
        significance.confidence_interval(np.ones(9), hf.Bleu())
    with pytest.raises(hf.InputError, match="samples"):
        paired_bootstrap(stats, stats, hf.Bleu(), samples=0)
    with pytest.raises(hf.InputError, match="level"):
        confidence_interval(stats, hf.Bleu(), level=1)
    with pytest.raises(ValueError, match="wrong number of statistics"):
        paired_bootstrap(stats, stats, hf.Ter())


@pytest.mark.parametrize("count", [1, 2, 3, 10, 99, 1000])
def test_percentiles_are_those_of_numpy_bit_for_bit(count: int) -> None:
    values = np.random.default_rng(count).normal(size=count)
    for level in (0.5, 0.68, 0.9, 0.95, 0.99):
        assert _percentiles(values, level) == tuple(np.quantile(values, [(1 - level) / 2, (1 + level) / 2]))
    assert np.isnan(_percentiles(np.append(values, np.nan), 0.9)).all()


def test_percentiles_need_no_masked_arrays() -> None:
    """``tune`` asks for percentiles; importing ``numpy.ma`` would take a twentieth of a small run."""
    code = (
        "import sys, numpy; from hopefear.evaluation.significance import _percentiles as p; p(numpy.arange(9.0), 0.9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print('numpy.ma' in sys.modules)"], capture_output=True, text=True
    )
    assert done.stdout == "False\n"
