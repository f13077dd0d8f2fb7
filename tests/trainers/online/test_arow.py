"""AROW and the units of features, and its learning rates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.trainers.online.base import CAREFUL
from tests.trainers.online.lists import learner as online, pool_of, random_pool, run


def scaled(pool: hf.Pool, name: str, factor: float) -> hf.Pool:
    """The same lists with one feature in other units."""
    j = pool.feature_names.index(name)
    lines, references = [], []
    for i in range(len(pool)):
        references.append(pool.references(i)[0])
        for e, row in enumerate(pool[i].dense):
            values = [value * factor if k == j else value for k, value in enumerate(row)]
            shown = " ".join(f"{n}={v!r}" for n, v in zip(pool.feature_names, map(float, values), strict=True))
            lines.append(f"{i} ||| {pool.text(i, e)} ||| {shown} ||| 0")
    return pool_of(lines, references)


@pytest.mark.parametrize(("algorithm", "invariant"), [("arow", True), ("mira", False), ("sgd", False)])
def test_units_of_a_feature(algorithm: str, invariant: bool) -> None:
    """3.3: with h_j c, w_j / c and a variance sigma_j / c^2, AROW learns the same; MIRA and SGD do not."""
    pool, c = random_pool(5), 8.0
    other = scaled(pool, "f1", c)
    units = np.array([c if name == "f1" else 1.0 for name in pool.feature_names])
    w, sigma = np.full(4, 0.2), np.full(4, 0.3)
    options: dict[str, Any] = {"algorithm": algorithm, "eta": 0.3, "epsilon": 1e-9}
    learners = [
        online(w, sigma if algorithm == "arow" else None, **options),
        online(w / units, sigma / units**2 if algorithm == "arow" else None, **options),
    ]
    for learner, lists in zip(learners, (pool, other), strict=True):
        run(learner, lists)
    same = np.allclose(learners[0].weights, learners[1].weights * units, atol=1e-5)
    assert same is invariant


def test_careful_features_begin_with_small_rates() -> None:
    """Section 7: 0.01 for the language models, the joint model and phrase probabilities, 1 for all others."""
    names = ["word", *CAREFUL, "lex(a|b)"]
    assert hf.Arow().rates(names).tolist() == [1.0, *[0.01] * len(CAREFUL), 1.0]
    assert hf.Arow(eta=0.5, careful_eta=0.1).rates(names).tolist() == [0.5, *[0.1] * len(CAREFUL), 0.5]
    foreign = ["group(phrase_ef,1,3)", "PhraseModel_0", "Feature_0", "lexical_ef", "glue"]
    assert hf.Arow().rates(foreign).tolist() == [0.01, 0.01, 0.01, 1.0, 1.0]
    learner = hf.Arow().learner(np.zeros(len(names)), names, False)
    assert learner.state()[2] == pytest.approx(hf.Arow().rates(names))


def test_rates_fall_with_what_was_seen() -> None:
    """Sigma^-1 += lambda diag(x^2): a feature that never differs keeps its rate."""
    pool = pool_of(["0 ||| u v w x y ||| a=1 b=1 ||| 0", "0 ||| z z z z ||| a=0 b=1 ||| 0"], ["u v w x y"])
    learner = online(np.zeros(2), algorithm="arow", eta=0.5, lambda_=0.1)
    run(learner, pool, passes=1)
    sigma = dict(zip(pool.feature_names, learner.state()[2], strict=True))
    assert sigma["b"] == 0.5
    assert sigma["a"] == pytest.approx(1 / (1 / 0.5 + 0.1))
