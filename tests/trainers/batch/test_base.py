"""What a result must not depend on."""

import numpy as np
import pytest

import hopefear as hf
from hopefear.trainers import TRAINERS
from tests.trainers.every import every_trainer, make
from tests.trainers.pools import QUALITY, list_pool

# What can be compared to the last digit is; a constant added to a feature changes the rounding.
SHORT = {"cmira": {"epochs": 30}, "kbmira": {"passes": 5}, "mert": {"restarts": 1, "kicks": 1}}


class Lists:
    """Arrays of candidates, from which pools are made in any order and form."""

    def __init__(self) -> None:
        from tests.trainers.pools import random_texts

        rng = np.random.default_rng(5)
        sizes = rng.integers(2, 9, 15).tolist()
        planted = rng.normal(size=4)
        self.texts, self.references = random_texts(rng, sizes)
        self.dense = [rng.normal(size=(k, 4)).round(3) for k in sizes]
        self.numbers = [1 / (1 + np.exp(-(h @ planted) - rng.normal(size=len(h)))) for h in self.dense]
        self.sparse = [[{f"s{rng.integers(3)}": float(rng.integers(1, 3))} for _ in range(k)] for k in sizes]

    def pool(self, take=lambda k: range(k), dense=lambda h: h, names=("a", "b", "c", "d"), sparse=True) -> hf.Pool:
        order = [list(take(len(h))) for h in self.dense]
        return list_pool(
            [dense(h[rows]) for h, rows in zip(self.dense, order, strict=True)],
            numbers=[n[rows] for n, rows in zip(self.numbers, order, strict=True)],
            texts=[[texts[e] for e in rows] for texts, rows in zip(self.texts, order, strict=True)],
            sparse=[[s[e] for e in rows] for s, rows in zip(self.sparse, order, strict=True)] if sparse else None,
            references=self.references,
            names=names,
        )


LISTS = Lists()
START = {"a": 0.2, "b": -0.1, "c": 0.1, "s1": 0.1}


def fit(name: str, pool: hf.Pool, initial=START, **options: object) -> hf.trainers.Result:
    return make(name, **(SHORT.get(name, {}) | options)).fit(pool, initial)


@every_trainer
def test_the_order_of_lines(name: str) -> None:
    rng = np.random.default_rng(1)
    straight, shuffled = LISTS.pool(), LISTS.pool(take=lambda k: rng.permutation(k).tolist())
    assert fit(name, straight).weights == fit(name, shuffled).weights


@every_trainer
def test_duplicates(name: str) -> None:
    straight, doubled = LISTS.pool(), LISTS.pool(take=lambda k: [*range(k), *range(k), 0, 0])
    assert fit(name, straight).weights == fit(name, doubled).weights


def test_candidates_that_differ_in_a_number_only() -> None:
    """Which of the two is kept must not be a matter of line order."""
    h = [np.array([[1.0], [1.0], [0.0]])] * 2
    texts = [["a", "a", "b"]] * 2
    one = list_pool(h, numbers=[[0.9, 0.1, 0.5], [0.2, 0.8, 0.4]], texts=texts)
    other = list_pool(h, numbers=[[0.1, 0.9, 0.5], [0.8, 0.2, 0.4]], texts=texts)
    assert np.array_equal(QUALITY.stats(hf.merged([one])), QUALITY.stats(hf.merged([other])))


@every_trainer
def test_the_order_of_features(name: str) -> None:
    permutation = [2, 0, 3, 1]
    other = LISTS.pool(dense=lambda h: h[:, permutation], names=[("a", "b", "c", "d")[j] for j in permutation])
    assert fit(name, LISTS.pool()).weights == fit(name, other).weights


@every_trainer
def test_the_names_of_features(name: str) -> None:
    """Names that sort alike; others change the order of sums, and so their last digits."""
    renamed = LISTS.pool(names=("x0", "x1", "x2", "x3"), sparse=False)
    mine = fit(name, LISTS.pool(sparse=False), initial={"a": 0.2, "b": -0.1}).weights
    theirs = fit(name, renamed, initial={"x0": 0.2, "x1": -0.1}).weights
    assert list(mine.values()) == list(theirs.values())


@every_trainer
def test_a_constant_added_to_a_feature(name: str) -> None:
    """Another one in each list. Only the normalisation of eq. (5) in Brown (2011) looks at magnitudes."""
    options = {} if TRAINERS[name].differences_only else {"normalize": False}
    rng = np.random.default_rng(2)
    shifted = LISTS.pool(dense=lambda h: h + np.array([0.0, 5.0, -2.0, rng.normal()]))
    mine, theirs = fit(name, LISTS.pool(), **options), fit(name, shifted, **options)
    assert mine.weights == pytest.approx(theirs.weights, rel=1e-6, abs=1e-6)


@every_trainer
def test_scaling_by_deviation_undoes_units(name: str) -> None:
    """A feature told in cents, not euros: with scaling=std its weight is a hundredth, and nothing else changes."""
    units = np.array([100.0, 1.0, 0.01, 8.0])
    other = LISTS.pool(dense=lambda h: h * units, sparse=False)
    mine = fit(name, LISTS.pool(sparse=False), {"a": 0.2, "b": -0.1}, scaling="std")
    theirs = fit(name, other, {"a": 0.2 / 100, "b": -0.1}, scaling="std")
    again = np.array([theirs.weights[feature] for feature in "abcd"]) * units
    expected = np.array([mine.weights[feature] for feature in "abcd"])
    if name == "mert":  # scaled to sum of absolute values 1 in the original units
        again, expected = again / np.abs(again).sum(), expected / np.abs(expected).sum()
    if not TRAINERS[name].differences_only:
        pytest.skip("starts at 1e-9 and looks at magnitudes")
    assert again == pytest.approx(expected, rel=1e-5, abs=1e-7)
    assert theirs.score == pytest.approx(mine.score)
