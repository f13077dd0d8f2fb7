import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import hopefear as hf
from hopefear import _core
from tests.reference import batch_trainers
from tests.trainers.pools import QUALITY, matrices, random_pool, split
from tests.trainers.twins import best_of, epochs, same, setting


@pytest.mark.parametrize("metric", [hf.Bleu(), hf.Ter(), QUALITY], ids=lambda metric: metric.name)
@pytest.mark.parametrize(
    ("gain", "sparse"), [("plus1", 0), ("plus1", 3), ("linear", 0), ("linear", 3), ("background", 0)]
)
def test_as_the_algorithm_is_printed(metric: Any, gain: Any, sparse: Any) -> None:
    for seed in range(5):
        pool, stats, w, lower, upper = setting(seed, metric, sparse)
        ours, best = epochs(
            _core.cmira, pool, stats, metric.core, w, lower, upper,
            C=0.05, gain=gain, decay=0.999, epochs=12, beam=0, constraints=1, jobs=1,
        )  # fmt: skip
        lists, rows = matrices(pool), split(pool, stats)
        gains_at = batch_trainers.GAINS[gain](lists, rows, metric)
        same(ours, batch_trainers.cmira(lists, rows, metric.score, metric.gain, gains_at, w, C=0.05, epochs=12))
        assert best.tolist() == best_of(pool, stats, metric, w, ours).tolist()


@pytest.mark.parametrize(("beam", "constraints"), [(1, 1), (4, 1), (5, 5), (3, 8)])
def test_a_beam_over_the_corpus(beam: Any, constraints: Any) -> None:
    bleu = hf.Bleu()
    for seed in range(2):
        pool, stats, w, lower, upper = setting(seed, bleu)
        ours, _ = epochs(
            _core.cmira, pool, stats, bleu.core, w, lower, upper, C=0.5, gain="plus1", decay=1.0, epochs=3,
            beam=beam, constraints=constraints, jobs=1,
        )  # fmt: skip
        twin = batch_trainers.cmira(
            matrices(pool), split(pool, stats), bleu.score, bleu.gain, None, w, C=0.5, epochs=3,
            beam_size=beam, constraints=constraints,
        )  # fmt: skip
        same(ours, twin, tolerance=1e-10 if constraints == 1 else 1e-4)


def test_a_wide_beam_finds_the_hope_and_fear_of_all_corpora() -> None:
    """(5) and (6) over every corpus there is, and the step between the two."""
    bleu = hf.Bleu()
    for seed in range(3):
        pool = random_pool(seed, sentences=4, candidates=4)
        stats, w, inf = bleu.stats(pool), np.random.default_rng(seed).normal(size=3) * 0.3, np.full(3, np.inf)
        lists, rows = matrices(pool), split(pool, stats)
        every = [
            batch_trainers.corpus(lists, rows, choice) for choice in itertools.product(*(range(len(h)) for h in lists))
        ]
        hope = max(every, key=lambda each: each[0] @ w + bleu.gain(each[1]))
        fear = max(every, key=lambda each: each[0] @ w - bleu.gain(each[1]))
        x, loss = hope[0] - fear[0], bleu.gain(hope[1]) - bleu.gain(fear[1])
        ours, _ = epochs(
            _core.cmira, pool, stats, bleu.core, w, -inf, inf,
            C=0.2, gain="plus1", decay=1.0, epochs=1, beam=1000, constraints=1, jobs=1,
        )  # fmt: skip
        expected = w + max(0, min(0.2, (loss - w @ x) / (x @ x))) * x if x.any() else w  # one corpus is both
        assert ours[0][1] == pytest.approx((w + expected) / 2, abs=1e-12)  # line 13 averages from w_0 on


def test_the_step_is_the_solution_of_its_quadratic_program() -> None:
    """(3) and (4) with one hope and one fear, by a solver that knows nothing of the closed form."""
    rng = np.random.default_rng(1)
    for _ in range(25):
        before, x, loss, C = rng.normal(size=4), rng.normal(size=4), rng.uniform(-0.5, 1.5), rng.choice([0.01, 0.3, 5])
        alpha = _core.cmira_step(loss, float(before @ x), float(x @ x), C)
        # min 1/2 ||w - w'||^2 + C xi  with  xi >= 0, xi >= loss - w.x
        optimum = minimize(
            lambda v, before=before, C=C: 0.5 * ((v[:4] - before) ** 2).sum() + C * v[4],
            np.append(before, 5.0),
            jac=lambda v, before=before, C=C: np.append(v[:4] - before, C),
            method="SLSQP",
            bounds=[(None, None)] * 4 + [(0, None)],
            constraints={"type": "ineq", "fun": lambda v, x=x, loss=loss: v[4] - loss + v[:4] @ x},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert before + alpha * x == pytest.approx(optimum.x[:4], abs=1e-5)


def test_the_step_of_corpora_with_the_same_features() -> None:
    assert _core.cmira_step(0.5, 0.0, 0.0, 0.1) == 0


def test_constraints_need_a_beam() -> None:
    with pytest.raises(hf.InputError, match="needs a beam"):
        hf.Cmira(constraints=3).fit(random_pool(1))


def test_initial_weights_need_not_compete() -> None:
    """The papers choose among what was learnt: with steps that ruin it, the best of these is returned all the same."""
    pool, _, _, _, _ = setting(2, hf.Bleu())
    start = hf.Mert(restarts=3).fit(pool).weights  # hard to beat
    kept, learnt = (hf.Cmira(epochs=3, C=1e-9, competes=competes).fit(pool, start) for competes in (True, False))
    assert kept.weights == dict(start)
    assert learnt.weights != dict(start)
