"""The experiments of this paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopefear_papers import Lab
from hopefear_papers.gimpel import _cosine, _varies_more
from papers.tests import tiny


@pytest.mark.parametrize("name", tiny.names("gimpel"))
def test_tiny(name: str, lab: Lab) -> None:
    tiny.check(name, lab)


def test_the_least_cosine_knows_no_scale() -> None:
    entry = {"a": 1.0, "b": 2.0}
    assert _cosine([entry, {"a": 3.0, "b": 6.0}]) == pytest.approx(1.0)
    assert _cosine([entry, entry, {"a": -2.0, "b": 1.0}]) == pytest.approx(0.0)


def test_one_seed_does_not_tell_how_much_seeds_vary(tmp_path: Path) -> None:
    once, twice = (Lab(tmp_path, replicates=count) for count in (1, 2))
    assert _varies_more(once, {"MERT, as printed": 0.0, "PRO, as printed": 0.0}) is None
    assert _varies_more(twice, {"MERT, as printed": 0.2, "PRO, as printed": 0.1}) is True
    assert _varies_more(twice, {"MERT, as printed": 0.1, "PRO, as printed": 0.2}) is False
