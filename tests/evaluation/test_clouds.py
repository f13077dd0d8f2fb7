"""Clouds of derivations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hopefear as hf
from hopefear._core import Pool
from hopefear.data.forests import forest_pool
from hopefear.data.lists import Synthetic
from hopefear.evaluation.clouds import cloud, typical_document
from hopefear.evaluation.scores import best_of
from hopefear.metrics import Bleu, Ter


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> Pool:
    files = Synthetic(sentences=6, candidates=40, dense=4).write(Path(tmp_path_factory.mktemp("lists")))
    return hf.read_nbest(files["nbest"], [files["ref.0"], files["ref.1"]])


@pytest.fixture(scope="module")
def forests() -> Pool:
    return forest_pool(4, 300, seed=3)


def weights_of(pool: Pool) -> dict[str, float]:
    random = np.random.default_rng(4)
    return {name: float(random.normal()) for name in pool.feature_names}


def test_a_typical_document_is_ten_average_sentences(lists: Pool) -> None:
    weights = weights_of(lists)
    sums = Bleu().stats(best_of(lists, weights)).sum(axis=0)
    document = typical_document(lists, weights, 1)
    assert np.asarray(document.counts) == pytest.approx(np.maximum(10 * sums / len(lists), 1e-3))


@pytest.mark.parametrize("metric", [Bleu(), Ter()])
def test_hope_and_fear_of_a_list_are_its_extremes(lists: Pool, metric: hf.metrics.Metric) -> None:
    weights = weights_of(lists)
    for i in range(len(lists)):
        drawn = cloud(lists, i, weights, metric, kbest=10, samples=20)
        points = drawn["points"]
        size = np.mean([len(text.split()) for text in lists.references(i)])
        assert len(points["kbest"]) == 10 and len(points["sample"]) == 20
        every = points["kbest"] + points["sample"]
        ((x, y),) = points["hope"]
        assert all(x + size * y >= a + size * b - 1e-9 for a, b in every)
        ((x, y),) = points["fear"]
        assert all(x - size * y >= a - size * b - 1e-9 for a, b in every)
        ((x, _),) = points["best"]
        assert all(x >= a - 1e-9 for a, _ in every)
        assert drawn["texts"]["best"] == best_of(lists, weights).text(i, 0)


def test_a_forest_has_hope_and_fear_outside_its_list(forests: Pool) -> None:
    weights = weights_of(forests)
    document = typical_document(forests, weights, 1)
    for i in range(len(forests)):
        points = cloud(forests, i, weights, Bleu(), document=document, kbest=5, samples=10)
        assert points == cloud(forests, i, weights, Bleu(), document=document, kbest=5, samples=10)  # the same seed
        assert set(points["points"]) == {"kbest", "best", "sample", "hope", "fear", "hope_kbest", "fear_kbest"}
        assert points["points"]["hope_kbest"][0] in points["points"]["kbest"]
        best = points["points"]["best"][0][0]
        assert all(points["points"][kind][0][0] <= best + 1e-9 for kind in ("hope", "fear", "sample"))
