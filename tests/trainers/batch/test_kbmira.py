from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear import _core
from tests.reference import batch_trainers, quadratic
from tests.trainers.pools import QUALITY, matrices, random_pool, split
from tests.trainers.twins import best_of, epochs, same, setting

AVERAGES = ("pass", "none", "running", "all")


@pytest.mark.parametrize("sparse", [0, 3])
@pytest.mark.parametrize("metric", [hf.Bleu(), hf.Ter(), QUALITY], ids=lambda metric: metric.name)
def test_as_the_algorithm_is_printed(metric: Any, sparse: Any) -> None:
    for seed in range(5):
        pool, stats, w, lower, upper = setting(seed, metric, sparse)
        options = {"C": 0.05, "decay": 0.95, "passes": 4, "seed": seed, "average": AVERAGES[seed % len(AVERAGES)]}
        ours, best = epochs(
            _core.kbmira, pool, stats, metric.core, w, lower, upper,
            gain="background", constraints=1, epsilon=0.01, jobs=1, **options,
        )  # fmt: skip

        def sentence_gain(context: Any, row: Any, metric: Any = metric) -> Any:
            return metric.sentence_gains(row[None, :])[0]

        context_gain = batch_trainers.bleu_in_context if metric.name == "bleu" else sentence_gain
        lists, rows = matrices(pool), split(pool, stats)
        same(ours, batch_trainers.kbmira(lists, rows, metric.score, context_gain, w, **options))
        assert best.tolist() == best_of(pool, stats, metric, w, ours).tolist()


@pytest.mark.parametrize("gain", ["plus1", "linear"])
@pytest.mark.parametrize("metric", [hf.Bleu(), hf.Ter()], ids=lambda metric: metric.name)
def test_other_gains_are_those_around_the_beginning_of_a_pass(metric: Any, gain: Any) -> None:
    for seed in range(3):
        pool, stats, w, lower, upper = setting(seed, metric)
        options = {"C": 0.05, "decay": 0.95, "passes": 4, "seed": seed}
        ours, _ = epochs(
            _core.kbmira, pool, stats, metric.core, w, lower, upper,
            gain=gain, average="pass", constraints=1, epsilon=0.01, jobs=1, **options,
        )  # fmt: skip
        lists, rows = matrices(pool), split(pool, stats)
        words = np.mean([each[0][-1] for each in rows]) if metric.name == "bleu" else 1.0
        gains_at = batch_trainers.GAINS[gain](lists, rows, metric)

        def around(w: Any, gains_at: Any = gains_at, words: Any = words) -> Any:
            return [words * each for each in gains_at(w)]

        same(ours, batch_trainers.kbmira(lists, rows, metric.score, None, w, around=around, **options), 1e-6)


@pytest.mark.parametrize("constraints", [2, 4])
def test_many_constraints_by_a_general_solver(constraints: Any) -> None:
    bleu = hf.Bleu()
    for seed in range(2):
        pool, stats, w, lower, upper = setting(seed, bleu)
        options = {"C": 0.05, "decay": 0.95, "passes": 2, "seed": seed, "constraints": constraints}
        ours, _ = epochs(
            _core.kbmira,
            pool,
            stats,
            bleu.core,
            w,
            lower,
            upper,
            gain="background",
            average="pass",
            epsilon=1e-10,
            jobs=1,
            **options,
        )
        twin = batch_trainers.kbmira(
            matrices(pool), split(pool, stats), bleu.score, batch_trainers.bleu_in_context, w, **options
        )
        same(ours, twin, tolerance=1e-5)


def test_one_step_solves_its_quadratic_program() -> None:
    """One sentence, one pass: hope and fear are all there is."""
    for seed in range(10):
        pool = random_pool(seed, sentences=1, candidates=2)
        stats, w = QUALITY.stats(pool), np.random.default_rng(seed).normal(size=3)
        inf, h, b = np.full(3, np.inf), matrices(pool)[0], QUALITY.sentence_gains(QUALITY.stats(pool))
        ours, _ = epochs(
            _core.kbmira, pool, stats, QUALITY.core, w, -inf, inf,
            C=0.1, gain="background", decay=1.0, passes=1, average="pass", constraints=1, epsilon=0.01, seed=1, jobs=1,
        )  # fmt: skip
        hope, fear = np.argmax(h @ w + b), np.argmax(h @ w - b)
        expected, _ = quadratic.solve(w, np.full(3, 0.1), (h[hope] - h[fear])[None, :], (b[hope] - b[fear])[None])
        assert ours[0][1] == pytest.approx(expected, abs=1e-6)


def test_bounds_hold_after_every_pass() -> None:
    bleu = hf.Bleu()
    pool, stats, _, _, _ = setting(1, bleu)
    lower, upper = np.array([-0.01, 0.0, 0.3]), np.array([0.02, np.inf, 0.3])
    for constraints in (1, 3):
        ours, _ = epochs(
            _core.kbmira, pool, stats, bleu.core, np.array([0.0, 0.1, 0.3]), lower, upper,
            C=0.5, gain="background", decay=0.999, passes=5, average="pass", constraints=constraints, epsilon=0.01,
            seed=1, jobs=1,
        )  # fmt: skip
        for _, w in ours:
            assert (lower - 1e-12 <= w).all()
            assert (w <= upper + 1e-12).all()


def test_initial_weights_need_not_compete() -> None:
    """The papers choose among what was learnt: with steps that ruin it, the best of these is returned all the same."""
    pool, _, _, _, _ = setting(2, hf.Bleu())
    start = hf.Mert(restarts=3).fit(pool).weights  # hard to beat
    kept, learnt = (hf.Kbmira(passes=3, C=1e-9, competes=competes).fit(pool, start) for competes in (True, False))
    assert kept.weights == dict(start)
    assert learnt.weights != dict(start)
