"""The experiments of this paper."""

from __future__ import annotations

from typing import Any

import pytest

from hopefear_papers import Lab, tan
from hopefear_papers.verdicts import Gap
from papers.tests import tiny


@pytest.mark.parametrize("name", tiny.names("tan"))
def test_tiny(name: str, lab: Lab) -> None:
    tiny.check(name, lab)


def test_the_best_is_ahead_of_both(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ahead of one with p = 0.04 and behind the other with p = 0.001: the larger p alone does not decide."""
    gaps = {"MIRA_1": Gap(0.3, 0.04), "MIRA_2": Gap(-0.5, 0.001)}
    runs: Any = {("basic", method): [method] for method in (*gaps, tan.AS_PRINTED)}
    monkeypatch.setattr(tan, "compare", lambda on, ours, theirs, lab: gaps[theirs[0]])
    on: Any = None
    claim = tan._ahead(lab, on, runs, "basic", "c-MIRA is best")
    assert claim.held is False and claim.p == 0.002
