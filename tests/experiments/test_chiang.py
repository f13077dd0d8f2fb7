"""The experiments of this paper."""

from __future__ import annotations

import pytest

from hopefear.experiments import Lab
from hopefear.experiments.chiang import Gap, _longest
from hopefear.experiments.tasks import Part
from tests.experiments import tiny


@pytest.mark.parametrize("name", tiny.names("chiang"))
def test_tiny(name: str, lab: Lab) -> None:
    tiny.check(name, lab)


def test_replicates_are_told_apart_by_welch() -> None:
    gap = Gap.between([30.0, 31.0, 32.0], [33.0, 34.0, 35.0])
    assert gap.delta == pytest.approx(-3.0)
    assert gap.p == pytest.approx(0.0213, abs=1e-4)  # t = -3.674 with 4 degrees of freedom
    assert Gap.between([30.0], [31.0]).p == 1.0  # one replicate each says nothing
    assert Gap.between([30.0, 30.0], [31.0, 31.0]).p == 0.0
    assert Gap.between([30.0, 30.0], [30.0, 30.0]).p == 1.0


def test_the_longest_sentences_that_are_short_enough() -> None:
    lines = ["a", "a b c d", "a b", "a b c"]
    part = Part(lines, [lines], [lines])
    assert _longest(part, 2, most=3).sources == ["a b", "a b c"]  # in their order
