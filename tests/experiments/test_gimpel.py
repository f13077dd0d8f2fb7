"""The experiments of this paper."""

from __future__ import annotations

import pytest

from hopefear.experiments import Lab
from hopefear.experiments.gimpel import _cosine
from tests.experiments import tiny


@pytest.mark.parametrize("name", tiny.names("gimpel"))
def test_tiny(name: str, lab: Lab) -> None:
    tiny.check(name, lab)


def test_the_least_cosine_knows_no_scale() -> None:
    one = {"a": 1.0, "b": 2.0}
    assert _cosine([one, {"a": 3.0, "b": 6.0}]) == pytest.approx(1.0)
    assert _cosine([one, one, {"a": -2.0, "b": 1.0}]) == pytest.approx(0.0)
