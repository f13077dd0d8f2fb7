"""Metrics in Python see the same sentences as ours, in documents and in lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hopefear.metrics import PythonMetric
from tests.metrics.strategies import list_pool


@dataclass(frozen=True)
class Exact(PythonMetric):
    """The share of candidates that are one of their references."""

    name: ClassVar[str] = "exact"

    def statistics(self, text: str, references: list[str]) -> list[float]:
        return [float(text in references), 1.0]

    def score_of(self, sums: Any) -> float:
        return float(sums[0]) / max(1.0, float(sums[1]))


def test_an_empty_document_has_no_rows() -> None:
    assert Exact().corpus_stats([], [[], []]).shape == (0, 2)


def test_empty_references_are_missing_as_in_lists() -> None:
    hypotheses = ["a b", "", ""]
    references = [["a b", "c", ""], ["c", "", ""]]
    stats = Exact().corpus_stats(hypotheses, references)
    assert stats[:, 0].tolist() == [1.0, 0.0, 1.0]
    pool = list_pool([[text] for text in hypotheses], [[line[i] for line in references] for i in range(3)])
    np.testing.assert_array_equal(Exact().stats(pool), stats)
