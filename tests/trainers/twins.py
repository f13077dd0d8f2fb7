"""What the comparisons with slow twins share."""

from typing import Any

import numpy as np
import pytest

from hopefear import _core
from tests.trainers.pools import random_pool


def epochs(call: Any, *arguments: Any, **options: Any) -> Any:
    """What the core reports after each epoch, and what it returns."""
    seen = []
    options = {"places": None, "jobs": 1} | options
    if call in (_core.kbmira, _core.cmira):
        options = {"competes": True} | options
    w = call(*arguments, **options, on_epoch=lambda epoch, score, w, updates: seen.append((score, w.copy())) or True)  # type: ignore[func-returns-value]
    return seen, w


def same(ours: Any, theirs: Any, tolerance: float = 1e-10) -> None:
    ours, theirs = list(ours), list(theirs)
    assert len(ours) == len(theirs)
    for (score, w), (twin_score, twin_w) in zip(ours, theirs, strict=True):
        assert w == pytest.approx(twin_w, abs=tolerance)
        assert score == pytest.approx(twin_score, abs=1e-9)


def best_of(pool: Any, stats: Any, metric: Any, w: Any, seen: Any) -> Any:
    """The weights that score best, among those of the start and of every epoch; of equal ones the first."""
    sign = 1 if metric.higher_is_better else -1
    initial = metric.score(_core.one_best(pool, stats, metric.core, w, jobs=1, places=None)[1])
    return max([(initial, w), *seen], key=lambda each: sign * each[0])[1]


def setting(seed: Any, metric: Any, sparse: Any = 0) -> Any:
    pool = random_pool(seed, sentences=7, candidates=6, features=3, sparse=sparse)
    stats = metric.stats(pool)
    n = len(pool.features)
    rng = np.random.default_rng(seed)
    return pool, stats, rng.normal(size=n) * 0.1, np.full(n, -np.inf), np.full(n, np.inf)
