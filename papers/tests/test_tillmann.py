"""The experiments of this paper."""

from __future__ import annotations

import pytest

from hopefear_papers import Lab
from hopefear_papers.tillmann import _ends, _held, _ours, _task
from papers.tests import tiny


@pytest.mark.parametrize("name", tiny.names("tillmann"))
def test_tiny(name: str, lab: Lab) -> None:
    tiny.check(name, lab)


def test_replicates_without_test_data_have_no_end() -> None:
    runs = [{"train": [0.1, 0.2], "test": []}, {"train": [0.3, 0.4], "test": []}]
    assert _ends(runs, "train") == [0.2, 0.4] and _ends(runs, "train", 0) == [0.1, 0.3]
    assert _ours(_ends(runs, "test"), None) == "-"
    assert _ours([0.25, 0.25], 0.3) == "0.250 ± 0.000 [0.3]"


def test_lambda_is_chosen_on_sentences_that_are_not_tested_on(lab: Lab) -> None:
    chosen, tested = _held(_task(lab))
    assert not set(chosen.lines) & set(tested.lines)
    assert abs(len(tested) - len(chosen)) >= len(chosen) - 1  # the other half, and the test data
    assert len(tested.references) == len(chosen.references)
