"""What every metric must do. A new metric is in METRICS and inherits these."""

import dataclasses
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.metrics import METRICS, Metric, by_name
from hopefear.metrics.columns import ColumnMetric
from tests.metrics.strategies import list_pool

FROM_TEXT = [name for name, metric in METRICS.items() if not issubclass(metric, ColumnMetric)]
HYPS = ["The cat sat on the mat .", "A dog barks at the tree .", "", "yes", "中文 句子 e\u0301"]
REFS = [
    ["the cat sat on the mat .", "A dog barked at a tree .", "nothing at all", "yes", "中文 句子 é"],
    ["a cat sat there", "", "", "no", ""],
]


def made(name: str) -> Metric:
    """The metric with its defaults; a column of some name where it needs one."""
    needs_column = any(each.name == "column" for each in dataclasses.fields(METRICS[name]))
    return by_name(name, column="comet") if needs_column else by_name(name)


@pytest.mark.parametrize("name", FROM_TEXT)
def test_statistics_are_rows_and_scores_are_of_sums(name: Any) -> None:
    metric = by_name(name)
    stats = metric.corpus_stats(HYPS, REFS)
    assert stats.shape == (len(HYPS), metric.size) and stats.dtype == np.float64
    assert metric.corpus_score(HYPS, REFS) == metric.score(stats.sum(axis=0))
    assert metric.core.scores(stats).tolist() == [metric.score(row) for row in stats]
    assert metric.sentence_gains(stats).tolist() == [metric.core.sentence_gain(row) for row in stats]
    assert metric.corpus_stats([], [[], []]).shape == (0, metric.size)
    np.testing.assert_array_equal(
        metric.corpus_stats(HYPS * 20, [r * 20 for r in REFS], jobs=3), np.tile(stats, (20, 1))
    )


@pytest.mark.parametrize("name", FROM_TEXT)
def test_a_copy_of_the_reference_is_best(name: Any) -> None:
    metric = by_name(name)
    copy, other = metric.corpus_stats([REFS[0][0], HYPS[1]], [[REFS[0][0]] * 2])
    assert metric.gain(copy) == 1 and metric.core.sentence_gain(copy) == 1
    assert metric.core.sentence_gain(other) < 1
    assert (metric.score(copy) > metric.score(other)) == metric.higher_is_better


@pytest.mark.parametrize("name", FROM_TEXT)
def test_lists_equal_documents(name: Any) -> None:
    metric = by_name(name)
    refs = [[r[i] for r in REFS] for i in range(len(HYPS))]
    pool = list_pool([[hyp, "x", hyp] for hyp in HYPS], refs)
    rows = metric.stats(pool)
    np.testing.assert_array_equal(rows[0::3], metric.corpus_stats(HYPS, REFS))
    np.testing.assert_array_equal(rows[2::3], rows[0::3])


@pytest.mark.parametrize("name", METRICS)
def test_signature_names_the_version(name: Any) -> None:
    metric = made(name)
    assert metric.signature(2).startswith("nrefs:2|")
    assert metric.signature().endswith(f"version:hopefear-{hf.__version__}")
    assert metric.core.name == name.removesuffix("-counts")
    assert metric.name == name


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_travels_to_other_processes(name: Any) -> None:
    metric = made(name)
    there = pickle.loads(pickle.dumps(metric))
    assert there == metric and there.core.size == metric.core.size


def test_submodules_are_attributes() -> None:
    code = "import hopefear as hf; print(hf.metrics.by_name('chrf').name)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "chrf\n"
