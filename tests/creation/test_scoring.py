"""What is said of the scores."""

from typing import Any

import pytest

from hopefear.creation.scoring import verdict


def scored(**more: Any) -> dict[str, Any]:
    gain = {"gain": 2.0, "low": 1.0, "high": 3.0}
    return {
        "bleu": 30.0,
        "low": 29.0,
        "high": 31.0,
        "sentences": 1000,
        "against": {"untrained": gain, "copy": gain},
    } | more


def test_weights_that_were_not_learnt() -> None:
    assert verdict(scored(), False).endswith("It keeps the default weights, because learnt weights were not better.")


@pytest.mark.parametrize(
    "more, words",
    [
        ({}, "BLEU 30.0 (95 %: 29.0 to 31.0) on 1,000 sentences. Training is worth +2.0."),
        ({"sentences": 50}, "too few to tell"),
        ({"low": 20.0}, "The interval is wide"),
        ({"against": {"copy": {"gain": 0.5, "low": -1.0, "high": 2.0}}}, "there is too little data"),
        (
            {"against": {"copy": {"low": 1.0}, "untrained": {"gain": 0.5, "low": -1.0, "high": 2.0}}},
            "The gain of training (+0.5) is not significant.",
        ),
        (
            {"against": {"copy": {"low": 1.0}, "untrained": {"gain": -2.0, "low": -3.0, "high": -1.0}}},
            "--dev-source and --dev-refs",
        ),
    ],
)
def test_verdicts(more: dict[str, Any], words: str) -> None:
    assert words in verdict(scored(**more))
