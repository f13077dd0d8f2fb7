"""The experiments of this paper."""

from __future__ import annotations

import pytest

from hopefear.util.svg import Curve
from hopefear_papers import Lab
from hopefear_papers.chiang import _longest
from hopefear_papers.chiang_curves import _score_table
from hopefear_papers.tasks import Part
from papers.tests import tiny


@pytest.mark.parametrize("name", tiny.names("chiang"))
def test_tiny(name: str, lab: Lab) -> None:
    tiny.check(name, lab)


def test_the_longest_sentences_that_are_short_enough() -> None:
    lines = ["a", "a b c d", "a b", "a b c"]
    part = Part(lines, [lines], [lines])
    assert _longest(part, 2, most=3).sources == ["a b", "a b c"]  # in their order


def test_a_curve_that_ends_early_has_empty_cells() -> None:
    """MERT stops when its weights hardly move; figure 2 failed after an hour of full-size runs."""
    curves = [Curve("MERT", [1, 2], [30.0, 31.0], [0.1, 0.2]), Curve("SGD", [1, 2, 3], [28.0, 29.0, 30.0])]
    rows = _score_table("dev BLEU", curves).rows
    assert rows == [["MERT", "30.00 (0.10)", "31.00 (0.20)", ""], ["SGD", "28.00", "29.00", "30.00"]]
