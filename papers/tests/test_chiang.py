"""The experiments of this paper."""

from __future__ import annotations

import pytest

from hopefear_papers import Lab
from hopefear_papers.chiang import _longest
from hopefear_papers.tasks import Part
from papers.tests import tiny


@pytest.mark.parametrize("name", tiny.names("chiang"))
def test_tiny(name: str, lab: Lab) -> None:
    tiny.check(name, lab)


def test_the_longest_sentences_that_are_short_enough() -> None:
    lines = ["a", "a b c d", "a b", "a b c"]
    part = Part(lines, [lines], [lines])
    assert _longest(part, 2, most=3).sources == ["a b", "a b c"]  # in their order
