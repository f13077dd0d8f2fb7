"""Frozen, bounded, tied and scaled weights, with every batch trainer and by themselves."""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.trainers.batch.base import BatchTrainer
from hopefear.trainers.batch.reparameterize import Parameters
from tests.trainers.every import every_batch_trainer, make
from tests.trainers.pools import random_pool, synthetic_pool

Kind = type[BatchTrainer]
INITIAL = {"lm": 0.3, "wordpenalty": -0.4, "distortion": -0.2, "tm0": 0.1, "tm3": -0.3}


@pytest.fixture(scope="module")
def pool() -> hf.Pool:
    return synthetic_pool()


@every_batch_trainer
@pytest.mark.parametrize("scaling", ["none", "std"])
def test_frozen_weights_stay(trainer: Kind, scaling: str, pool: hf.Pool) -> None:
    result = make(trainer, frozen="lm,tm*", scaling=scaling).fit(pool, INITIAL)
    for feature in pool.feature_names:
        if feature == "lm" or feature.startswith("tm"):
            assert result.weights[feature] == pytest.approx(INITIAL.get(feature, 0.0), rel=1e-15)
    assert result.weights["wordpenalty"] != INITIAL["wordpenalty"]


@every_batch_trainer
def test_bounds_hold(trainer: Kind, pool: hf.Pool) -> None:
    result = make(trainer, bounds="lm:0.05:0.1,wordpenalty:-inf:0").fit(pool, INITIAL)
    assert 0.05 <= result.weights["lm"] <= 0.1
    assert result.weights["wordpenalty"] <= 0


@every_batch_trainer
@pytest.mark.parametrize("scaling", ["none", "std", "dense"])
def test_groups_share_a_weight(trainer: Kind, scaling: str, pool: hf.Pool) -> None:
    result = make(trainer, groups="tm=tm*", scaling=scaling).fit(pool, {"tm0": 0.3})
    tied = {value for feature, value in result.weights.items() if feature.startswith("tm")}
    assert len(tied) == 1
    assert len(set(result.weights.values())) > 2


def complaint(trainer: Kind, pool: hf.Pool, *, initial: dict[str, float] | None = None, **options: Any) -> str:
    with pytest.raises(hf.InputError) as error:
        make(trainer, **options).fit(pool, initial)
    assert "\n" not in str(error.value)
    return str(error.value)


@every_batch_trainer
def test_meaningless_options_are_errors(trainer: Kind, pool: hf.Pool) -> None:
    assert "there is no feature lm0" in complaint(trainer, pool, frozen="lm0")
    assert "there is no feature nix*" in complaint(trainer, pool, bounds="nix*:0:1")
    assert "feature:lower:upper" in complaint(trainer, pool, bounds="lm=3")
    assert "below the upper" in complaint(trainer, pool, bounds="lm:1:0")
    assert "below the upper" in complaint(trainer, pool, bounds="lm:nan:1")
    assert "name=feature" in complaint(trainer, pool, groups="lm")
    assert "groups: lm is itself a feature" in complaint(trainer, pool, groups="lm=tm0+tm1")
    assert "groups: tm0 is in two groups, a and b" in complaint(trainer, pool, groups="a=lm+tm0,b=tm*")
    assert "exclude each other" in complaint(trainer, pool, groups="g=lm+tm0", bounds="lm:0:1,tm0:2:3")
    assert "scaling must be" in complaint(trainer, pool, scaling="max")
    assert "NaN" in complaint(trainer, pool, initial={"lm": math.nan})
    assert "none of the initial weights" in complaint(trainer, pool, initial={"languagemodel": 1.0})


def test_scores_are_the_same_in_the_space_that_is_learnt() -> None:
    """w'.h' = w.h for whatever weights are learnt, when features are scaled and tied."""
    pool = random_pool(3, features=4, sparse=3)
    trainer = hf.Kbmira(scaling="std", groups="g=f000+f002", frozen="f001", bounds="s*:-1:1")
    parameters = Parameters.of(trainer, pool, pool, {"f000": 0.3, "f001": 0.2}, 0.0)
    w = np.random.default_rng(1).normal(size=len(parameters.initial))
    weights = parameters.weights(w)
    original = np.array([weights[name] for name in pool.feature_names])
    for i in range(len(pool)):
        assert parameters.pool[i].scores(w) == pytest.approx(pool[i].scores(original))
    assert weights["f000"] / weights["f002"] == pytest.approx(parameters.factors[0] / parameters.factors[2])
    frozen = parameters.lower == parameters.upper
    assert frozen.sum() == 1
    assert parameters.weights(parameters.initial)["f001"] == pytest.approx(0.2)
    assert (
        np.isinf(parameters.lower).sum() == np.isinf(parameters.upper).sum() == 2
    )  # the tie and the dense feature left


def test_scaling_of_dense_features_leaves_sparse_ones_alone() -> None:
    pool = random_pool(3, features=4, sparse=3)
    std, dense = (Parameters.of(hf.Kbmira(scaling=how), pool, pool, None, 0.0).factors for how in ("std", "dense"))
    assert dense[:4].tolist() == std[:4].tolist() and (std != 1).all()
    assert dense[4:].tolist() == [1.0] * 3


def test_without_changes_the_pool_is_returned() -> None:
    pool = random_pool(3)
    parameters = Parameters.of(hf.Kbmira(), pool, pool, None, 0.25)
    assert parameters.pool is pool
    assert parameters.initial.tolist() == [0.25] * 3
    assert parameters.weights(np.arange(3.0)) == {"f000": 0.0, "f001": 1.0, "f002": 2.0}


@pytest.mark.parametrize("trainer", [hf.Mert, hf.Minrisk, hf.Logloss])
def test_values_that_overflow_are_the_users_to_mend(trainer: Kind, tmp_path: Path) -> None:
    lines = [
        f"{i} ||| {w} ||| f= {v} g= {i} ||| 0\n" for i in range(12) for w, v in (("a", "1e307"), ("b", i), ("c", 7))
    ]
    (tmp_path / "list").write_text("".join(lines))
    (tmp_path / "ref").write_text("a\n" * 12)
    pool = hf.read_nbest(tmp_path / "list", [tmp_path / "ref"])
    with suppress(hf.InputError):
        assert all(map(math.isfinite, trainer().fit(pool).weights.values()))
