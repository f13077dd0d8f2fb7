"""Combinations of sentences, against all of them."""

from __future__ import annotations

import itertools
import random

import pytest

from hopefear.translator.translation import best_combinations, quality_of


@pytest.mark.parametrize("seed", range(20))
def test_combinations_come_best_first(seed: int) -> None:
    rng = random.Random(seed)
    scores = [sorted((rng.random() for _ in range(rng.randint(1, 4))), reverse=True) for _ in range(rng.randint(0, 3))]
    every = itertools.product(*(range(len(each)) for each in scores))
    wanted = sorted((sum(s[r] for s, r in zip(scores, ranks, strict=True)) for ranks in every), reverse=True)
    got = list(best_combinations(scores))
    assert [total for _, total in got] == pytest.approx(wanted)
    assert len({ranks for ranks, _ in got}) == len(wanted)


def test_the_first_of_each_comes_first_whatever_its_score() -> None:
    assert next(best_combinations([[1.0, 5.0], [2.0]])) == ((0, 0), 3.0)


def test_quality_is_between_0_and_1() -> None:
    assert quality_of(1.2, 0.0, 0.0).score == 1 and quality_of(0.5, 1.0, -3.0).score == 0
    worse = [(0.8, 0.1, -3.0), (0.8, 0.3, -3.0), (0.4, 0.3, -3.0), (0.4, 0.3, -5.0)]
    scores = [quality_of(*each).score for each in worse]
    assert scores == sorted(scores, reverse=True) and len(set(scores)) == 4
