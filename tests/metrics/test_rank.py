"""Metrics of whole orders: ranx and ir-measures are the oracles; the line search is checked against enumeration."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hopefear as hf
from hopefear import _core
from hopefear.errors import InputError
from hopefear.formats.table import Table, TableSpec
from hopefear.metrics import Metric, from_text
from hopefear.trainers.bagged import resampled

METRICS = {
    "ndcg@3": hf.Ndcg("grade", k=3),
    "ndcg": hf.Ndcg("grade", k=0),
    "mrr": hf.Mrr("grade"),
    "mrr@2": hf.Mrr("grade", k=2),
    "map": hf.Map("grade"),
    "map@3": hf.Map("grade", k=3),
    "recall@2": hf.RecallAt("grade", k=2),
}


def graded(seed: int, groups: int = 8, k: int = 6, whole: bool = False) -> hf.Pool:
    """Scores are small whole numbers where ``whole``: many crossings at one point."""
    random = np.random.default_rng(seed)
    rows = groups * k
    draw = (lambda: random.integers(-3, 4, rows).astype(float)) if whole else (lambda: random.normal(size=rows))
    columns: dict[str, Any] = {"g": np.repeat(np.arange(groups), k), "grade": random.integers(0, 3, rows).astype(float)}
    return Table(columns | {"a": draw(), "b": draw()}).pool(TableSpec("g", ["a", "b"], outcome=("grade",)))


def lists(pool: hf.Pool, w: NDArray[np.float64]) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Judgements and a run for other programs; equal scores are ordered by their place in the list."""
    grades, begin = hf.External("grade").stats(pool)[:, 0], pool.row_begin()
    qrels, run = {}, {}
    for i in range(len(pool)):
        scores = np.asarray(pool[i].dense) @ w
        order = np.argsort(-scores, kind="stable")
        run[f"q{i}"] = {f"d{c}": float(len(order) - rank) for rank, c in enumerate(order)}
        qrels[f"q{i}"] = {f"d{c}": int(grades[begin[i] + c]) for c in range(len(scores))}
    return qrels, run


THEIRS = {
    "ndcg@3": ("ndcg@3", "nDCG@3"),
    "ndcg": ("ndcg", "nDCG"),
    "mrr": ("mrr", "RR"),
    "mrr@2": ("mrr@2", "RR@2"),
    "map": ("map", "AP"),
    "map@3": ("map@3", "AP@3"),
    "recall@2": ("recall@2", "R@2"),
}


@pytest.mark.parametrize("name", list(METRICS))
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_ranx(name: str, seed: int) -> None:
    ranx = pytest.importorskip("ranx")
    pool, w = graded(seed), np.array([1.0, -0.5])
    qrels, run = lists(pool, w)
    theirs = float(ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), THEIRS[name][0]))
    assert METRICS[name].score(METRICS[name].chosen_stats(pool, w, 1).sum(axis=0)) == pytest.approx(theirs)


@pytest.mark.parametrize("name", list(METRICS))
def test_agrees_with_ir_measures(name: str) -> None:
    measures = pytest.importorskip("ir_measures")
    pool, w = graded(7), np.array([0.3, 1.0])
    qrels, run = lists(pool, w)
    measure = measures.parse_measure(THEIRS[name][1])
    theirs = float(measures.calc_aggregate([measure], qrels, run)[measure])
    assert METRICS[name].score(METRICS[name].chosen_stats(pool, w, 1).sum(axis=0)) == pytest.approx(theirs)


def test_exponential_gains_by_hand() -> None:
    metric = hf.Ndcg("grade", k=2, gains="exponential")
    columns = {"g": np.zeros(3), "grade": np.array([1.0, 3.0, 0.0]), "a": np.array([3.0, 2.0, 1.0])}
    pool = Table(columns).pool(TableSpec("g", ["a"], outcome=("grade",)))
    value = (1 + 7 / np.log2(3)) / (7 + 1 / np.log2(3))
    assert metric.chosen_stats(pool, np.array([1.0])).tolist() == [[pytest.approx(value), 1.0]]


def crossings(pool: hf.Pool, w: NDArray[np.float64], d: NDArray[np.float64]) -> list[Fraction]:
    """All points where two candidates of a list have the same score, exactly."""
    points = set()
    for i in range(len(pool)):
        rows = [[Fraction(x) for x in row] for row in np.asarray(pool[i].dense).tolist()]
        a = [sum(Fraction(float(u)) * x for u, x in zip(w, row, strict=True)) for row in rows]
        b = [sum(Fraction(float(u)) * x for u, x in zip(d, row, strict=True)) for row in rows]
        points |= {(a[p] - a[q]) / (b[q] - b[p]) for p in range(len(a)) for q in range(p) if b[q] != b[p]}
    return sorted(points)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("name", list(METRICS))
@pytest.mark.parametrize("seed", range(2))
def test_line_search_against_enumeration(name: str, seed: int, whole: bool) -> None:
    """Between two crossings, and beyond them, the surface has the value of the order there."""
    metric, pool = METRICS[name], graded(seed, whole=whole)
    w, d = np.array([1.0, 0.25]), np.array([-0.5, 1.0])
    stats = metric.stats(pool)
    x, gain = _core.error_surface(pool, stats, metric.core, w, d, axis=False)
    points = crossings(pool, w, d)
    middles = [points[0] - 1, *((p + q) / 2 for p, q in pairwise(points)), points[-1] + 1]
    best = -np.inf
    for at in middles:
        here = float(at)
        truth = metric.gain(metric.chosen_stats(pool, w + here * d).sum(axis=0))
        best = max(best, truth)
        assert gain[np.searchsorted(x, here, side="right") - 1] == pytest.approx(truth), here
    at, best_stats, _ = _core.line_search(pool, stats, metric.core, w, d, -np.inf, np.inf, axis=False)
    assert best_stats == pytest.approx(best)
    assert metric.gain(metric.chosen_stats(pool, w + at * d).sum(axis=0)) == pytest.approx(best)


@pytest.mark.parametrize("name", list(METRICS))
def test_repeated_lists_count_twice(name: str) -> None:
    """A bootstrap sample has lists several times; their line is traced once."""
    metric, pool = METRICS[name], graded(3)
    w, d = np.array([1.0, 0.25]), np.array([-0.5, 1.0])
    drawn = resampled(pool, np.array([0, 1, 0, 2, 1, 0, 5]))
    x, gain = _core.error_surface(drawn, metric.stats(drawn), metric.core, w, d, axis=False)
    for at in np.linspace(-3, 3, 50):
        truth = metric.gain(metric.chosen_stats(drawn, w + at * d).sum(axis=0))
        assert gain[np.searchsorted(x, at, side="right") - 1] == pytest.approx(truth)


@pytest.mark.parametrize("name", list(METRICS))
def test_mert_optimises_the_order(name: str) -> None:
    metric, pool = METRICS[name], graded(5, groups=12)
    result = hf.Mert(metric=metric, jobs=1).fit(pool)
    angles = [np.array([np.cos(t), np.sin(t)]) for t in np.linspace(0, 2 * np.pi, 300)]
    best = max(metric.score(metric.chosen_stats(pool, w, 1).sum(axis=0)) for w in angles)
    assert result.score >= best - 1e-9
    w = np.array([result.weights["a"], result.weights["b"]])
    assert result.score == pytest.approx(metric.score(metric.chosen_stats(pool, w, 1).sum(axis=0)))


@pytest.mark.parametrize(
    "trainer", [hf.Kbmira, hf.Minrisk, hf.Pro, hf.Cmira, hf.Rampion, hf.Logloss, hf.Perceptron, hf.Pa]
)
def test_other_trainers_name_one_that_can(trainer: type) -> None:
    with pytest.raises(InputError, match=r"whole ranking.*mert"):
        trainer(metric=hf.Ndcg("grade")).fit(graded(1))


def test_what_was_not_retrieved_counts_for_the_ideal_only() -> None:
    columns = {
        "g": np.zeros(3),
        "grade": np.array([1.0, 0.0, 1.0]),
        "here": np.array([1.0, 1.0, 0.0]),
        "a": np.array([1.0, 2.0, 3.0]),
    }
    pool = Table(columns).pool(TableSpec("g", ["a"], outcome=("grade", "here")))
    w = np.array([1.0])
    score = lambda metric: float(metric.chosen_stats(pool, w, 1)[0, 0])  # noqa: E731
    assert score(hf.RecallAt("grade", k=2, retrieved="here")) == 0.5
    assert score(hf.Mrr("grade", retrieved="here")) == 0.5
    assert score(hf.Map("grade", retrieved="here")) == 0.25


def test_from_text() -> None:
    assert from_text("ndcg@5:column=grade") == hf.Ndcg("grade", k=5)
    assert from_text("recall@7:column=y") == hf.RecallAt("y", k=7)
    assert from_text("map:column=y,level=2").key == "map"
    metrics: list[Metric] = [hf.Ndcg("y"), hf.RecallAt("y", k=3)]
    assert [metric.key for metric in metrics] == ["ndcg@10", "recall@3"]
    with pytest.raises(InputError, match="gains"):
        hf.Ndcg("y", gains="odd")
    with pytest.raises(InputError, match="k must"):
        hf.Mrr("y", k=-1)


PAGES = [
    {"query": query, "bm25": bm25, "clicks": clicks, "grade": grade}
    for query, bm25, clicks, grade in [("tea", 5, 0.1, 0), ("tea", 4, 0.9, 1), ("cup", 3, 0.8, 1), ("cup", 3.5, 0.2, 0)]
]


@pytest.mark.filterwarnings("ignore:the gain may be due to chance")
@pytest.mark.parametrize("metric", ["mrr", "ndcg@10", "recall@1", hf.Map("grade")])
def test_the_outcome_is_the_column_of_a_metric_that_needs_one(metric: Any) -> None:
    how: dict[str, Any] = {"group": "query", "outcome": "grade"}
    assert hf.Mert(metric=metric).fit(PAGES, **how).score == 1
    assert hf.tune(PAGES, **how, metric=metric, trainer="mert", holdout=0).score == 1
    assert hf.tune(PAGES, **how, trainer=hf.Mert(metric=metric), holdout=0).score == 1


def test_a_column_that_is_not_known_is_asked_for() -> None:
    with pytest.raises(InputError, match=r"metric mrr: which column has the numbers\? Add column=NAME, one of grade"):
        hf.Mert(metric="mrr").fit(PAGES, group="query", outcome=["grade", "clicks"])
    with pytest.raises(InputError, match="trainer kbmira cannot optimise mrr"):
        hf.tune(PAGES, "query", "grade", metric="mrr", trainer="kbmira")


def test_a_ranked_table_is_scored() -> None:
    ranked = hf.rerank(PAGES, {"bm25": 1.0}, group="query")
    assert hf.score(ranked, "query", "grade", metric=["mrr", "recall@1"], by="bm25").scores == {
        "mrr": 0.5,
        "recall@1": 0,
    }
    assert hf.score(ranked, "query", metric="mrr:column=grade", by="clicks").value == 1
    assert hf.score(PAGES, "query", metric=hf.Mrr("grade")).value == 0.75  # the order of the rows
    frame = hf.score([{**row, "score": row["clicks"]} for row in reversed(PAGES)], "query", "grade", metric="ndcg@2")
    assert frame.value == 1
    with pytest.raises(InputError, match="row 1: grade is missing"):
        hf.score([PAGES[0], {**PAGES[1], "grade": None}], "query", "grade", metric="mrr")
