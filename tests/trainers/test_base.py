"""What all trainers share: options as fields, and what is done to candidates before anything is learnt."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

import hopefear as hf
from hopefear.errors import InputError
from hopefear.runs.session import Session
from hopefear.trainers.base import Result, Trainer, option, prepared, refuse_equal, start_vector
from tests.trainers.pools import QUALITY, list_pool, random_pool


@dataclass(frozen=True, kw_only=True)
class Lazy(Trainer):
    """Learns nothing."""

    name: ClassVar[str] = "lazy"
    eta: float = option(0.5, "step size", paper=1, least=0)

    def fit(self, data: Any, initial: Mapping[str, float] | None = None, *, run: Session | None = None) -> Result:
        return Result(dict(initial or {}), 0.0, 0.0, [], 0.0)


def test_options_are_fields() -> None:
    assert Lazy(seed=3).options() == {"seed": 3, "jobs": 0, "eta": 0.5}
    assert Lazy().fit(None, {"a": 1.0}).weights == {"a": 1.0}
    with pytest.raises(TypeError, match="epochs"):
        Lazy(epochs=2)


@pytest.mark.parametrize("value", [-0.1, math.nan, -math.inf])
def test_the_least_legal_value(value: float) -> None:
    with pytest.raises(InputError, match="trainer lazy: eta must be at least 0, not "):
        Lazy(eta=value)
    assert Lazy(eta=0).eta == 0


def test_candidates_come_in_canonical_order_without_duplicates() -> None:
    rows, texts = np.array([[1.0], [2.0], [1.0]]), ["a", "b", "a"]
    pool_of_lists = list_pool([rows] * 2, texts=[texts] * 2)
    other = list_pool([rows[::-1]] * 2, texts=[texts[::-1]] * 2)
    (first, places), (second, others) = (prepared(pool) for pool in (pool_of_lists, other))
    orders = [first, second]
    assert [pool.row_begin().tolist() for pool in orders] == [[0, 2, 4]] * 2
    assert [[pool.text(0, e) for e in range(2)] for pool in orders] == [["a", "b"]] * 2
    assert places is not None and others is not None
    assert places.tolist() == [0, 1, 0, 1]  # where each first turns up
    assert others.tolist() == [0, 1, 0, 1]


def test_candidates_with_equal_features() -> None:
    rows = [np.eye(2)] * 2
    pool = list_pool(rows, numbers=[[0.1, 0.1], [0.4, 0.4]])
    with pytest.raises(InputError, match="same external score"):
        refuse_equal(pool, QUALITY.stats(pool), QUALITY)
    pool = list_pool(rows, numbers=[[0.1, 0.1], [0.4, 0.5]])
    refuse_equal(pool, QUALITY.stats(pool), QUALITY)  # one list is enough


def test_initial_weights_as_a_vector() -> None:
    names = random_pool(1).feature_names
    assert start_vector(names, {"f001": 2.0, "stranger": 1.0}).tolist() == [0.0, 2.0, 0.0]
    assert start_vector(names, {}).tolist() == [0.0] * 3
    with pytest.raises(hf.InputError, match="none of the initial weights names a feature of the candidates"):
        start_vector(names, {"stranger": 1.0})
    with pytest.raises(hf.InputError, match="NaN or infinite"):
        start_vector(names, {"f001": math.nan})
