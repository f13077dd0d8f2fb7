"""The loop of the papers on batch training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hopefear._core import Pool
from hopefear.errors import OptionError
from hopefear.evaluation.significance import Comparison
from hopefear.trainers.batch.minrisk import Minrisk
from hopefear_papers import Lab
from hopefear_papers.loop import HieroInLoop, Trial, compare, looped, mark, trainer
from hopefear_papers.setups import main_setup


def trial(lab: Lab, name: str = "kbmira", **more: object) -> Trial:
    on = main_setup(lab)
    return looped(lab, on, "test", name, 1, initial=on.initial(), iterations=1, k=5, options={"passes": 2}, **more)  # type: ignore[arg-type]


def test_a_trainer_has_the_defaults_of_the_loop(lab: Lab) -> None:
    assert trainer("pro", lab, 3).options()["interpolation"] == 0.1
    assert trainer("pro", lab, 3, in_loop=False).options()["interpolation"] != 0.1
    assert isinstance(trainer("minrisk", lab, 3), Minrisk)  # that for candidates
    with pytest.raises(OptionError, match="while a model translates"):
        trainer("arow", lab, 3)


def test_a_trial_is_kept_and_leaves_no_other_files(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    first = trial(lab)
    assert {"dev", "test", "ratio", "weights", "hypotheses", "cpu"} <= set(first)
    assert first["decodings"] == len(first["history"]) == 2
    assert not list((lab.out / "scratch").glob("test-*"))
    monkeypatch.setattr("hopefear_papers.loop.OuterLoop", None)  # nothing is computed again
    assert trial(lab) == first


def test_an_option_is_chosen_by_the_score_on_the_first_lists(lab: Lab) -> None:
    found = trial(lab, choose={"C": [1e-12, 0.01]})
    assert found["options"] == {"passes": 2, "C": 0.01}


def test_lists_may_be_changed_before_they_are_learnt_from(lab: Lab) -> None:
    on = main_setup(lab)
    seen: list[int] = []

    def change(pool: Pool) -> Pool:
        seen.append(len(pool))
        return pool

    plain, changed = HieroInLoop(on, 5), HieroInLoop(on, 5, change=change)
    weights = {**on.initial(), "of nobody": 1.0}  # which the decoder does not have
    pools = [decoder.decode(weights, Path()) for decoder in (plain, changed)]
    assert seen == [len(on.dev)]
    assert [pools[0].text(i, 0) for i in range(3)] == [pools[1].text(i, 0) for i in range(3)]


def test_a_recipe_is_level_with_itself(lab: Lab) -> None:
    found = trial(lab)
    same = compare(main_setup(lab), [found], [found], lab)
    assert (same.delta, same.p, mark(same)) == (0.0, 1.0, "")
    worse = dict(found, hypotheses=["x"] * len(found["hypotheses"]))
    assert mark(compare(main_setup(lab), [worse], [found], lab)) == "-"
    assert mark(compare(main_setup(lab), [found], [worse], lab)) == "+"
    assert isinstance(same, Comparison) and np.isfinite(same.ci).all()
