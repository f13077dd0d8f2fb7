"""Batch trainers beyond the contract: metrics, frozen weights, bounds and groups, and what results do not depend on."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.data.forests import forest_pool
from hopefear.runs.events import Epoch, Event, Progress
from hopefear.trainers import Result
from hopefear.trainers.batch.base import BatchTrainer
from tests.trainers.every import every_batch_trainer, make
from tests.trainers.pools import QUALITY, list_pool, random_pool, random_texts, synthetic_pool

Kind = type[BatchTrainer]
INITIAL = {"lm": 0.3, "wordpenalty": -0.4, "distortion": -0.2, "tm0": 0.1, "tm3": -0.3}
# What can be compared to the last digit is; a constant added to a feature changes the rounding.
SHORT = {"cmira": {"epochs": 30}, "kbmira": {"passes": 5}, "mert": {"restarts": 1, "kicks": 1}}


@pytest.fixture(scope="module")
def pool() -> hf.Pool:
    return synthetic_pool()


@every_batch_trainer
@pytest.mark.parametrize("metric", [hf.Chrf(), hf.Ter(), QUALITY], ids=lambda metric: metric.name)
def test_any_metric(trainer: Kind, metric: hf.metrics.Metric, pool: hf.Pool) -> None:
    result = make(trainer, metric=metric).fit(pool, INITIAL)
    better = result.score - result.initial_score
    assert (better if metric.higher_is_better else -better) > 0
    scores = [record["score"] for record in result.history]
    assert (
        min(scores) - 1e-9 <= result.score <= max([*scores, result.initial_score]) + 1e-9
    )  # on the metric's own scale
    assert make(trainer, metric=metric).options()["metric"] == metric.name


def complaint(trainer: Kind, pool: hf.Pool, *, initial: dict[str, float] | None = None, **options: Any) -> str:
    """Bad input: a one-line error, never a hang or garbage."""
    with pytest.raises(hf.InputError) as error:
        make(trainer, **options).fit(pool, initial)
    assert "\n" not in str(error.value)
    return str(error.value)


@every_batch_trainer
def test_equal_candidates_cannot_be_learnt_from(trainer: Kind) -> None:
    rows = [np.random.default_rng(1).normal(size=(4, 2))] * 3
    pool = list_pool(rows, numbers=[[0.3] * 4, [0.5] * 4, [0.7] * 4])
    assert "same external score" in complaint(trainer, pool, metric=QUALITY)


@every_batch_trainer
def test_some_lists_of_one_candidate_do_no_harm(trainer: Kind, pool: hf.Pool) -> None:
    single = list_pool(
        [np.ones((1, 8))] * 5, texts=[["a b c"]] * 5, references=[["a b"]] * 5, numbers=[[0.5]] * 5,
        names=pool.feature_names, ids=[f"single{i}" for i in range(5)],
    )  # fmt: skip
    assert make(trainer).fit(hf.merged([pool, single]), INITIAL).score > 0


class Lists:
    """Arrays of candidates, from which pools are made in any order and form."""

    def __init__(self) -> None:
        rng = np.random.default_rng(5)
        sizes = rng.integers(2, 9, 15).tolist()
        planted = rng.normal(size=4)
        self.texts, self.references = random_texts(rng, sizes)
        self.dense = [rng.normal(size=(k, 4)).round(3) for k in sizes]
        self.numbers = [1 / (1 + np.exp(-(h @ planted) - rng.normal(size=len(h)))) for h in self.dense]
        self.sparse = [[{f"s{rng.integers(3)}": float(rng.integers(1, 3))} for _ in range(k)] for k in sizes]

    def pool(
        self,
        take: Any = lambda k: range(k),
        dense: Any = lambda h: h,
        names: Any = ("a", "b", "c", "d"),
        sparse: bool = True,
    ) -> hf.Pool:
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


def fit(trainer: Kind, pool: hf.Pool, initial: Any = START, **options: object) -> Result:
    return make(trainer, **(SHORT.get(trainer.name, {}) | options)).fit(pool, initial)


@every_batch_trainer
def test_the_order_of_lines(trainer: Kind) -> None:
    rng = np.random.default_rng(1)
    straight, shuffled = LISTS.pool(), LISTS.pool(take=lambda k: rng.permutation(k).tolist())
    assert fit(trainer, straight).weights == fit(trainer, shuffled).weights


@pytest.mark.parametrize("trainer", [hf.Mert, hf.Minrisk, hf.Logloss], ids=lambda each: each.__name__)
def test_the_order_of_sentences(trainer: Kind) -> None:
    """Where nothing is updated between them and nothing is drawn at random for each of them."""
    straight = LISTS.pool()
    turned = straight.subset(np.arange(len(straight))[::-1])
    assert fit(trainer, turned).weights == pytest.approx(fit(trainer, straight).weights, rel=1e-6, abs=1e-9)


@every_batch_trainer
def test_duplicates(trainer: Kind) -> None:
    straight, doubled = LISTS.pool(), LISTS.pool(take=lambda k: [*range(k), *range(k), 0, 0])
    assert fit(trainer, straight).weights == fit(trainer, doubled).weights


def test_candidates_that_differ_in_a_number_only() -> None:
    """Which of the two is kept must not be a matter of line order."""
    h = [np.array([[1.0], [1.0], [0.0]])] * 2
    texts = [["a", "a", "b"]] * 2
    pool_of_lists = list_pool(h, numbers=[[0.9, 0.1, 0.5], [0.2, 0.8, 0.4]], texts=texts)
    other = list_pool(h, numbers=[[0.1, 0.9, 0.5], [0.8, 0.2, 0.4]], texts=texts)
    assert np.array_equal(QUALITY.stats(hf.merged([pool_of_lists])), QUALITY.stats(hf.merged([other])))


@every_batch_trainer
def test_the_order_of_features(trainer: Kind) -> None:
    permutation = [2, 0, 3, 1]
    other = LISTS.pool(dense=lambda h: h[:, permutation], names=[("a", "b", "c", "d")[j] for j in permutation])
    assert fit(trainer, LISTS.pool()).weights == fit(trainer, other).weights


@every_batch_trainer
def test_the_names_of_features(trainer: Kind) -> None:
    """Names that sort alike; others change the order of sums, and so their last digits."""
    renamed = LISTS.pool(names=("x0", "x1", "x2", "x3"), sparse=False)
    mine = fit(trainer, LISTS.pool(sparse=False), initial={"a": 0.2, "b": -0.1}).weights
    theirs = fit(trainer, renamed, initial={"x0": 0.2, "x1": -0.1}).weights
    assert list(mine.values()) == list(theirs.values())


@every_batch_trainer
def test_a_constant_added_to_a_feature(trainer: Kind) -> None:
    """Another one in each list. Only the normalisation of eq. (5) in Brown (2011) looks at magnitudes."""
    options: dict[str, object] = {} if trainer.differences_only else {"normalize": False}
    if trainer is hf.Mert:
        options["kicks"] = 0  # a long search carries differences of rounding far
    rng = np.random.default_rng(2)
    shifted = LISTS.pool(dense=lambda h: h + np.array([0.0, 5.0, -2.0, rng.normal()]))
    mine, theirs = fit(trainer, LISTS.pool(), **options), fit(trainer, shifted, **options)
    assert mine.weights == pytest.approx(theirs.weights, rel=1e-6, abs=1e-6)


@every_batch_trainer
def test_scaling_by_deviation_undoes_units(trainer: Kind) -> None:
    """A feature in cents, not euros: with scaling=std its weight is a hundredth, and nothing else changes."""
    units = np.array([100.0, 1.0, 0.01, 8.0])
    other = LISTS.pool(dense=lambda h: h * units, sparse=False)
    mine = fit(trainer, LISTS.pool(sparse=False), {"a": 0.2, "b": -0.1}, scaling="std")
    theirs = fit(trainer, other, {"a": 0.2 / 100, "b": -0.1}, scaling="std")
    again = np.array([theirs.weights[feature] for feature in "abcd"]) * units
    expected = np.array([mine.weights[feature] for feature in "abcd"])
    if trainer.name == "mert":  # scaled to sum of absolute values 1 in the original units
        again, expected = again / np.abs(again).sum(), expected / np.abs(expected).sum()
    if not trainer.differences_only:
        pytest.skip("starts at 1e-9 and looks at magnitudes")
    assert again == pytest.approx(expected, rel=1e-5, abs=1e-7)
    assert theirs.score == pytest.approx(mine.score)


# Weights that run away: training stops, keeps the best so far and says which option to lower.


@pytest.mark.parametrize("options", [{"eta": 1e300}, {"eta": 1e10, "C": 1e10}, {"eta": math.inf}])
def test_weights_that_diverge(options: dict[str, float]) -> None:
    pool = random_pool(1, sentences=10)
    result = hf.Rampion(**options).fit(pool, dict.fromkeys(pool.feature_names, 0.0))
    assert [("diverged" in message, "eta" in message, "\n" in message) for message in result.warnings] == [
        (True, True, False)
    ]
    assert all(math.isfinite(value) for value in result.weights.values())
    assert result.score >= result.initial_score or result.history
    json.dumps({"history": result.history, "details": result.details}, allow_nan=False)


def test_divergence_keeps_the_best_weights_so_far() -> None:
    pool = forest_pool(10, edges=100, source_length=5, dense=3, seed=2).kbest(np.ones(3), 30)
    result = hf.Rampion(eta=1e308, metric=hf.Bleu(max_order=2)).fit(pool)
    assert all(np.isfinite(list(result.weights.values())))
    assert len(result.warnings) == 1
    assert "diverged" in result.warnings[0] and "eta" in result.warnings[0]


@pytest.mark.parametrize("trainer", [hf.Kbmira(passes=2), hf.Pa(iterations=2)])
def test_a_good_run_has_no_warnings(trainer: BatchTrainer) -> None:
    pool = forest_pool(10, edges=100, source_length=5, dense=3, seed=2).kbest(np.ones(3), 30)
    assert trainer.fit(pool).warnings == []


@pytest.mark.parametrize(
    ("trainer", "most"), [(hf.Kbmira(passes=2), 2), (hf.Pa(iterations=2), 2), (hf.Mert(restarts=1), None)]
)
def test_progress_has_the_number_of_epochs(trainer: BatchTrainer, most: int | None) -> None:
    """No more epochs are reported; mert reports more steps than it has starts, so it has no such number."""
    events: list[Event] = []
    trainer.fit(random_pool(2), run=hf.Session(lambda event: events.append(event)))
    steps = sum(isinstance(event, Epoch | Progress) for event in events)
    assert trainer.epochs_at_most == most and (most is None or 0 < steps <= most)


def test_a_stop_ends_all_temperatures_and_rounds() -> None:
    def one_epoch(trainer: BatchTrainer, pool: hf.Pool) -> bool:
        return len(trainer.fit(pool, run=hf.Session(lambda event: False)).history) == 1

    assert one_epoch(hf.Minrisk(final_temperature=0.1, anneal=4), synthetic_pool(sentences=10))
    forests = forest_pool(4, edges=60, source_length=5, dense=3, references=2, seed=2)
    assert one_epoch(hf.Rampion(rounds=3), forests)
    assert one_epoch(hf.Pro(rounds=3, threshold=0.0), forests)
