"""The experiments of this paper."""

from __future__ import annotations

import pytest

from hopefear.experiments import Lab
from tests.experiments import tiny


@pytest.mark.parametrize("name", tiny.names("tan"))
def test_tiny(name: str, lab: Lab) -> None:
    tiny.check(name, lab)
