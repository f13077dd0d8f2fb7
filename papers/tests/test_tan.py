"""The experiments of this paper."""

from __future__ import annotations

import pytest

from hopefear_papers import Lab
from papers.tests import tiny


@pytest.mark.parametrize("name", tiny.names("tan"))
def test_tiny(name: str, lab: Lab) -> None:
    tiny.check(name, lab)
