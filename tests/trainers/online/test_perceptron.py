"""The online perceptron: away from the best translation, towards hope."""

from __future__ import annotations

import numpy as np

from hopefear.trainers.online.perceptron import OnlinePerceptron
from tests.trainers.online.lists import pool_of, run

LINES = [
    "0 ||| u v w x y ||| a=1 b=0 c=0 ||| 0",  # hope
    "0 ||| z z z z z ||| a=0 b=1 c=0 ||| 0",  # fear: its BLEU is the lowest
    "0 ||| u v z z z ||| a=0 b=0 c=1 ||| 0",  # what the weights prefer
]


def test_fear_is_the_best_translation() -> None:
    pool = pool_of(LINES, ["u v w x y"])
    w = np.array([{"a": 0.0, "b": 0.1, "c": 0.2}[name] for name in pool.feature_names])
    learner = OnlinePerceptron(eta=0.5).learner(w, pool.feature_names, False)
    run(learner, pool, passes=1)
    moved = dict(zip(pool.feature_names, (learner.weights - w).tolist(), strict=True))
    assert moved == {"a": 0.5, "b": 0.0, "c": -0.5}


def test_where_the_best_is_hope_nothing_moves() -> None:
    pool = pool_of(LINES, ["u v w x y"])
    w = np.array([1.0 if name == "a" else 0.0 for name in pool.feature_names])
    learner = OnlinePerceptron().learner(w, pool.feature_names, False)
    run(learner, pool)
    assert learner.weights.tolist() == w.tolist()
