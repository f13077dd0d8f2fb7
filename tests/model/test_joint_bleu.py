"""Expected-BLEU training: the gradient against a slow twin, and what is learnt from lists."""

from __future__ import annotations

import numpy as np
import pytest

from hopefear.model.joint import ARRAYS, BOS, EOS, MARKS, JointModel
from hopefear.model.joint_bleu import BleuOptions, bleu_gradient, expected_bleu, train_bleu
from hopefear.model.joint_lists import CandidateList
from hopefear.model.joint_training import JointOptions, start
from tests.reference import joint as slow

SOURCE, TARGET = (*MARKS, "a", "b", "c"), (*MARKS, "v", "x", "y", "z")


def joint(seed: int) -> JointModel:
    rng, options = np.random.default_rng(seed), JointOptions(embedding=4, hidden=12)
    params = start(rng, (len(SOURCE), len(TARGET)), np.full(len(TARGET), 1 / len(TARGET), np.float32), options)
    params["hidden_bias"] += np.float32(0.3)
    return JointModel(SOURCE, TARGET, params)


def random_list(rng: np.random.Generator, candidates: int, places: int = 9) -> CandidateList:
    lengths = rng.integers(1, 6, candidates)
    begin = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int32)
    contexts = np.concatenate(
        [rng.integers(0, len(TARGET), (places, 3)), rng.integers(0, len(SOURCE), (places, 11))], axis=1
    ).astype(np.int32)
    words = rng.integers(4, len(TARGET), places).astype(np.int32)
    uses = rng.integers(0, places, lengths.sum()).astype(np.int32)  # some more than once
    return CandidateList(contexts, words, uses, begin, rng.normal(0, 1, candidates), rng.random(candidates))


def test_the_gradient_by_finite_differences_of_a_slow_twin() -> None:
    rng = np.random.default_rng(5)
    lists = [random_list(rng, 4), random_list(rng, 1), random_list(rng, 3)]
    params = {name: array.astype(np.float64) for name, array in joint(2).arrays.items()}
    weight, scale = 0.7, 1.8

    def total(changed: dict[str, np.ndarray]) -> float:
        return float(sum(slow.expected_bleu(changed, each, weight, scale) for each in lists))

    assert expected_bleu(params, lists, weight, scale) == pytest.approx(total(params) / 3, abs=1e-12)
    gradient = bleu_gradient(params, lists, weight, scale)
    for name in ARRAYS:
        rows, values = gradient[name]
        slopes = np.zeros_like(params[name])
        slopes[slice(None) if rows is None else rows] = values
        places = list(np.ndindex(params[name].shape))
        for k in rng.permutation(len(places))[:80]:
            sides = []
            for change in (1e-5, -1e-5):
                moved = params[name].copy()
                moved[places[k]] += change
                sides.append(total({**params, name: moved}))
            assert slopes[places[k]] == pytest.approx((sides[0] - sides[1]) / 2e-5, abs=1e-8), (name, places[k])


def good_and_bad(rng: np.random.Generator, count: int) -> list[CandidateList]:
    """A source word a, b or c has the right translation x, y or z, and two wrong ones."""
    lists = []
    for _ in range(count):
        f = int(rng.integers(4, 7))
        window = [BOS] * 5 + [f] + [EOS] * 5
        contexts = np.array([[BOS, BOS, BOS, *window]] * 3, np.int32)
        begin = np.arange(3, dtype=np.int32)
        gains = np.array([float(e == f) for e in (4, 5, 6)])
        words = np.array([5, 6, 7], np.int32)
        lists.append(CandidateList(contexts, words, begin, begin, rng.normal(0, 0.1, 3), gains))
    return lists


def test_training_prefers_good_translations_and_repeats_itself() -> None:
    lists, model = good_and_bad(np.random.default_rng(1), 60), joint(1)
    before = {name: array.copy() for name, array in model.arrays.items()}
    tuned, history = train_bleu(model, lists, 1.0, BleuOptions(step=0.3, epochs=8), seed=3)
    again, _ = train_bleu(model, lists, 1.0, BleuOptions(step=0.3, epochs=8), seed=3)
    assert history[0] < 0.5 and max(history) > 0.9 and len(history) == 9
    assert expected_bleu(tuned.arrays, lists, 1.0, 1.0) > 0.9
    assert all(np.array_equal(tuned.arrays[name], again.arrays[name]) for name in ARRAYS)
    assert all(np.array_equal(model.arrays[name], before[name]) for name in ARRAYS)


def test_what_does_not_help_held_out_sentences_is_not_kept() -> None:
    lists = good_and_bad(np.random.default_rng(1), 60)
    model, _ = train_bleu(joint(1), lists, 1.0, BleuOptions(step=0.3, epochs=8))
    for each in lists[::5]:  # what the rest goes on teaching is wrong here
        each.gains[:] = 1 - each.gains
    tuned, history = train_bleu(model, lists, 1.0, BleuOptions(step=0.3, epochs=2))
    assert history[0] == max(history) and tuned is model
