"""SGD by hand, and what asynchronous learners do with it."""

from __future__ import annotations

import numpy as np
import pytest

from hopefear import _core
from tests.trainers.online.lists import learner as online, pool_of, random_pool, run


def test_sgd_by_hand() -> None:
    """Two candidates: hope is the reference, fear the other; w moves by eta times the difference of their features."""
    pool = pool_of(["0 ||| u v w x y ||| a=1 b=0 ||| 0", "0 ||| z z z z ||| a=0 b=2 ||| 0"], ["u v w x y"])
    learner = online(np.zeros(2), algorithm="sgd", eta=0.25)
    (learnt,) = run(learner, pool, passes=1)
    assert dict(zip(pool.feature_names, learner.weights, strict=True)) == {"a": 0.25, "b": -0.5}
    assert learnt.hope > learnt.fear
    assert learnt.loss == pytest.approx(learnt.hope - learnt.fear)  # w was 0: nothing but the loss
    assert (learnt.best, learnt.constraints) == (learnt.hope, 1)  # equal scores: the first


def test_updates_of_others_are_summed() -> None:
    """Asynchronous SGD: what one learner did, the other does too when it hears of it."""
    pool = random_pool(17, sentences=2)
    examples = _core.pool_examples(pool)
    learners = [online(np.zeros(4), algorithm="sgd", eta=0.1, broadcast=True) for _ in range(2)]
    _core.simulate(learners, examples, [0, 1], -1.0, 1)
    own = [learner.weights for learner in learners]
    states = [learner.state() for learner in learners]
    _core.simulate(learners, examples, [0, 1], -1.0, 1)  # they hear, then learn again
    for i, learner in enumerate(learners):
        _, u, sigma, document, t, inbox = states[i]
        assert len(inbox) == 1
        alone = online(np.zeros(4), algorithm="sgd", eta=0.1)
        alone.restore(own[i] + own[1 - i], u, sigma, document, t, [])
        _core.learn([alone], examples, [[i]], -1.0, 1)
        assert learner.weights == pytest.approx(alone.weights, abs=1e-6)  # working sets travel with 32 bits
    assert not np.allclose(own[0], own[1])
