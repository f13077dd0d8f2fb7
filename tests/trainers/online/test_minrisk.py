"""Online risk, and what lies between it and the hinge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hopefear as hf
from tests.trainers.online.lists import learner as online, random_pool, run


def test_secant_becomes_risk_and_hope_and_fear() -> None:
    """A.2: for small mu the secant is the gradient of the risk; at temperature 0 and mu = 1 it is hope minus fear."""
    pool, w = random_pool(7), np.linspace(-0.4, 0.6, 4)
    common: dict[str, Any] = {"algorithm": "sgd", "eta": 0.1, "k": 1000}

    def learnt(**options: Any) -> np.ndarray:
        mu = options.pop("mu")
        learner = online(w, **{**common, **options})
        run(learner, pool, mu, passes=1)
        return learner.weights

    risk = learnt(objective="risk", approximation="kbest", mu=-1.0, eta=0.2)  # eta' = 2 eta
    assert learnt(objective="secant", approximation="kbest", mu=-1e-4) == pytest.approx(risk, abs=1e-6)
    assert np.abs(risk - w).max() > 0.01
    cold = learnt(objective="secant", approximation="kbest", temperature=0.0, mu=-1.0)
    assert cold == pytest.approx(learnt(objective="hinge", approximation="kbest", mu=-1.0), abs=1e-12)


def test_expectations_are_over_linear_bleu_by_default() -> None:
    """Risk has no hope and fear to search for: approximation=auto is linear, with lists k-best on request."""
    pool = random_pool(9)
    names, w = pool.feature_names, np.linspace(-0.3, 0.4, 4)

    def learnt(trainer: hf.trainers.Trainer) -> list[float]:
        learner = trainer.learner(w, names, False)  # type: ignore[attr-defined]
        run(learner, pool)
        return learner.weights.tolist()

    risk = hf.trainers.find("minrisk", "model")
    assert learnt(risk()) == learnt(risk(approximation="linear"))
    assert learnt(risk()) != learnt(risk(approximation="kbest"))
    with pytest.raises(hf.InputError, match="approximation linear or kbest"):
        risk(approximation="forest")
