"""Options of all online trainers, and where weights begin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hopefear.errors import InputError
from hopefear.trainers.online.base import CAREFUL, initial_weights
from hopefear.trainers.online.mira import Mira
from hopefear.trainers.online.teams import Learners


def test_mu_fades() -> None:
    assert [Mira(mu=-2, mu_decay=0.5).mu_of(epoch) for epoch in (1, 2, 3)] == [-2, -1, -0.5]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"mu": 0.5}, "mu must be 0 or less"),
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"objective": "secant", "mu": 0.0}, "divides by mu"),
        ({"approximation": "exact"}, "approximation must be forest, linear or kbest"),
        ({"reference": "oracle"}, "reference must be one of"),
    ],
)
def test_wrong_options_are_said_at_once(options: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        Mira(**options)


def test_ways_to_work_together_are_known() -> None:
    with pytest.raises(InputError, match=r"there is no way 'hogwild' for learners to work together. Choose none, "):
        Mira(learners=Learners("hogwild", 2))
    options = Mira(learners=Learners("mix", 2)).options()
    assert options["learners"] == {"parallel": "mix", "count": 2, "simulate": False, "cluster": None}


def test_initial_weights() -> None:
    """Section 7: 1 for the language models and phrase probabilities, 0 for all others; or those given."""
    names = ["word", *CAREFUL]
    assert initial_weights(names).tolist() == [0, *[1] * len(CAREFUL)]
    given = initial_weights(names, {"lm2": 0.5, "stranger": 3.0})
    assert dict(zip(names, given.tolist(), strict=True)) == dict.fromkeys(names, 0.0) | {"lm2": 0.5}
    with pytest.raises(InputError, match="none of the initial weights"):
        initial_weights(names, {"stranger": 3.0})
    with pytest.raises(InputError, match="NaN or infinite"):
        initial_weights(names, {"lm": np.inf})
