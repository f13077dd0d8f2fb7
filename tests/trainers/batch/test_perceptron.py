from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear import _core
from tests.reference import batch_trainers
from tests.trainers.pools import list_pool, matrices, split
from tests.trainers.twins import epochs, same, setting


@pytest.mark.parametrize("sparse", [0, 3])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("average", ["none", "pass", "running", "all"])
@pytest.mark.parametrize(("scaled", "C"), [(True, None), (False, None), (False, 0.1), (False, 0.01)])
def test_as_the_equations_say(scaled: Any, C: Any, average: Any, normalize: Any, sparse: Any) -> None:
    rouge = hf.RougeS(beta=1.5)
    for seed in range(5):
        pool, stats, w, lower, upper = setting(seed, rouge, sparse)
        S = rouge.sentence_gains(stats)
        ours, best = epochs(
            _core.perceptron, pool, stats, rouge.core, S, w, lower, upper,
            passive_aggressive=C is not None, scaled=scaled, normalize=normalize, C=C or 1.0, average=average,
            iterations=5, gain="plus1", decay=0.999,
        )  # fmt: skip
        lists, objective = matrices(pool), split(pool, S)
        twin = batch_trainers.perceptron(
            lists, lambda _, S=objective: S, w, iterations=5, scaled=scaled, normalize=normalize, C=C, average=average
        )
        same(ours, twin)
        initial = np.mean([s[np.argmax(h @ w)] for h, s in zip(lists, objective, strict=True)])
        assert best.tolist() == max([(initial, w), *ours], key=lambda each: each[0])[1].tolist()


@pytest.mark.parametrize("gain", ["plus1", "linear", "background"])
@pytest.mark.parametrize("metric", [hf.Bleu(), hf.Ter()], ids=lambda metric: metric.name)
def test_the_objective_may_be_a_gain_around_the_beginning_of_a_pass(metric: Any, gain: Any) -> None:
    for seed in range(3):
        pool, stats, w, lower, upper = setting(seed, metric)
        ours, _ = epochs(
            _core.perceptron, pool, stats, metric.core, None, w, lower, upper, gain=gain, decay=0.999,
            passive_aggressive=True, scaled=False, normalize=False, C=0.1, average="running", iterations=4, jobs=1,
        )  # fmt: skip
        lists, rows = matrices(pool), split(pool, stats)
        gains_at = batch_trainers.GAINS[gain](lists, rows, metric)

        def mean(w: Any, rows: Any = rows, lists: Any = lists) -> Any:
            return metric.gain(batch_trainers.document(lists, rows, w))

        twin = batch_trainers.perceptron(
            lists, gains_at, w, iterations=4, C=0.1, average="running", mean=None if gain == "plus1" else mean
        )
        same(ours, twin, 1e-6)


def test_weights_begin_small_and_keep_their_digits() -> None:
    """Brown (2011), section 2: weights printed with six decimals became zero."""
    rows, texts = np.array([[2e-9, 5.0], [1e-9, 5.0]]), ["b b", "the cat"]
    pool = list_pool([rows] * 2, texts=[texts] * 2, references=[["the cat"]] * 2)
    result = hf.Perceptron(iterations=1, average="none", sentence_objective="rouge-s").fit(pool)
    assert result.weights["f001"] == 1e-9  # never differs, never moves
    assert result.weights["f000"] == pytest.approx(1e-9 - 1e-9 * 2, rel=1e-6)  # two steps of size S(oracle) = 1
    assert result.history[-1]["objective"] == 1
