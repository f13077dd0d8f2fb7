"""A run with everything that the page shows of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopefear.report.examined import Examined
from hopefear.report.gather import Reader


@pytest.mark.parametrize("name", ["kbmira", "ter", "forests"])
def test_every_part_is_scored_and_sentences_are_picked(runs: Path, name: str) -> None:
    run = Reader(jobs=1).read(runs / name)
    found = Examined(run, 0, 3, 1)
    assert set(found.scored) == set(run.parts)
    assert set(found.deviations) == set(run.parts["dev"].feature_names)
    assert len(found.changes) == len(run.parts["dev"]) and len(found.clouds) == 3
    for part in run.parts:
        before, after = found.final(part)
        assert after is not None
        if name == "forests":  # what a decoder said first is not known of forests without initial weights
            assert before is None
        else:
            assert found.scored[part].before == pytest.approx(before)
    assert found.final("test") == (None, None)


def test_a_run_without_candidates_has_its_scores_only(runs: Path) -> None:
    run = Reader(jobs=1).read(runs / "kbmira")
    run.parts = {}
    found = Examined(run, 0, 3, 1)
    assert not found.scored and not found.clouds and found.final("dev")[1] is not None
