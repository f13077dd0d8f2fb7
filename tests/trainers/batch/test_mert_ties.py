"""MERT where candidates tie."""

from pathlib import Path

import pytest

import hopefear as hf


def test_a_start_at_zero_is_not_taken_for_what_lies_next_to_it(tmp_path: Path) -> None:
    # At 0 all candidates tie and the first, which is bad, is the choice; right beside it the good one wins.
    (tmp_path / "list").write_text("0 ||| a b ||| f= 0 ||| 0\n0 ||| a b c d e x ||| f= 1 ||| 0\n")
    (tmp_path / "ref").write_text("a b c d e f\n")
    found = hf.Mert(restarts=3).fit(hf.read_nbest(tmp_path / "list", [tmp_path / "ref"]))
    assert found.weights["f"] > 0
    assert found.score == pytest.approx(max(found.details["starts"])) and found.score > 50
