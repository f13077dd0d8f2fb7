"""Ratios of sums: scikit-learn on the same counts is the oracle; trainers reach the best that can be reached."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

import hopefear as hf
from hopefear.errors import InputError
from hopefear.formats.table import Table, TableSpec
from hopefear.metrics import Metric, from_text


def counted(seed: int, groups: int = 6, k: int = 3) -> hf.Pool:
    random = np.random.default_rng(seed)
    rows = groups * k
    counts = {name: random.integers(0, 6, rows).astype(float) for name in ("tp", "fp", "fn", "errors")}
    columns = {"g": np.repeat(np.arange(groups), k), **counts, "length": random.integers(5, 20, rows).astype(float)}
    scores = {"a": random.normal(size=rows), "b": random.normal(size=rows)}
    return Table(columns | scores).pool(TableSpec("g", ["a", "b"], outcome=(*counts, "length")))


@pytest.mark.parametrize("seed", range(5))
def test_counts_as_scikit_learn_has_them(seed: int) -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(seed)
    truth, message = random.random(200) < 0.3, random.random(200) < 0.4
    stats = {"tp": (truth & message).sum(), "fp": (~truth & message).sum(), "fn": (truth & ~message).sum()}
    for beta in (0.5, 1.0, 2.0):
        ours = hf.FBeta(beta).score([stats["tp"], stats["fp"], stats["fn"]])
        assert ours == pytest.approx(sklearn.fbeta_score(truth, message, beta=beta))
    assert hf.Precision().score([stats["tp"], stats["fp"]]) == pytest.approx(sklearn.precision_score(truth, message))
    assert hf.Recall().score([stats["tp"], stats["fn"]]) == pytest.approx(sklearn.recall_score(truth, message))


def test_rate_is_the_corpus_rate_of_ours_from_text() -> None:
    """WER of text, counted sentence by sentence, is the oracle."""
    hypotheses, truth = ["a b c", "x y", "p q r s"], ["a c", "x z y", "p q r s"]
    text = hf.Wer().corpus_stats(hypotheses, [truth])
    assert 100 * hf.Rate().score(text.sum(axis=0)) == pytest.approx(hf.Wer().corpus_score(hypotheses, [truth]))


def test_zero_over_zero_is_perfect() -> None:
    assert hf.FBeta().score([0, 0, 0]) == 1
    assert hf.Precision().score([0, 0]) == 1
    assert hf.Rate().score([0, 0]) == 0
    assert hf.Rate().score([2, 0]) == 1


def choices(pool: hf.Pool, metric: Metric) -> NDArray[np.float64]:
    """The best gain of any choice of candidates: all of them are tried."""
    stats, begin = metric.stats(pool), pool.row_begin()
    rows = [range(begin[i], begin[i + 1]) for i in range(len(pool))]
    return np.array([metric.gain(stats[list(choice_row)].sum(axis=0)) for choice_row in itertools.product(*rows)])


@pytest.mark.parametrize("metric", [hf.FBeta(0.5), hf.Precision(), hf.Recall(), hf.Rate()])
@pytest.mark.parametrize("seed", range(2))
def test_mert_finds_the_best_of_all_directions(metric: Metric, seed: int) -> None:
    pool = counted(seed)
    result = hf.Mert(metric=metric, seed=1, jobs=1).fit(pool)
    assert result.score == pytest.approx(
        metric.score(metric.chosen_stats(pool, np.array([result.weights[n] for n in "ab"])).sum(axis=0))
    )
    angles = [np.array([np.cos(t), np.sin(t)]) for t in np.linspace(0, 2 * np.pi, 300)]
    best = max(metric.gain(metric.chosen_stats(pool, w, 1).sum(axis=0)) for w in angles)
    ours = result.score if metric.higher_is_better else 1 - result.score
    assert best - 1e-9 <= ours <= choices(pool, metric).max() + 1e-9


@pytest.mark.parametrize("trainer", [hf.Kbmira, hf.Minrisk, hf.Pro, hf.Rampion])
def test_other_trainers_take_ratios(trainer: type) -> None:
    pool = counted(3, groups=30)
    assert trainer(metric=hf.FBeta(0.5)).fit(pool).score >= 0


def test_from_text_and_complaints() -> None:
    assert from_text("fbeta:beta=0.5,tp=hits") == hf.FBeta(0.5, tp="hits")
    assert from_text("rate:errors=e,length=n").columns == ("e", "n")
    with pytest.raises(InputError, match="beta"):
        hf.FBeta(0)
    with pytest.raises(InputError, match="no number called wrong"):
        hf.Precision(tp="wrong").stats(counted(1))
    with pytest.raises(InputError, match="not computed from text"):
        hf.FBeta().corpus_score(["a"], [["a"]])
    columns = {"g": np.zeros(2), "a": np.arange(2.0), "tp": np.array([1.0, -1.0]), "fp": np.ones(2)}
    pool = Table(columns).pool(TableSpec("g", ["a"], outcome=("tp", "fp")))
    with pytest.raises(InputError, match="negative"):
        hf.Precision().stats(pool)


def test_a_table_is_scored_by_columns_of_counts() -> None:
    rows = [{"id": 1, "tp": 1, "fp": 2, "fn": 2, "score": -1.0}, {"id": 1, "tp": 3, "fp": 1, "fn": 0, "score": 1.0}]
    assert hf.score(rows, "id", metric="precision").value == 0.75
    assert hf.score(rows, "id", ["tp", "fp", "fn"], metric=["recall", hf.FBeta()]).scores == {"recall": 1, "f1": 6 / 7}
