"""The loop of the papers on batch training."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from hopefear._core import Pool
from hopefear.errors import OptionError
from hopefear.evaluation.significance import Comparison
from hopefear.trainers.batch.base import BatchTrainer
from hopefear.trainers.batch.minrisk import Minrisk
from hopefear_papers import Lab
from hopefear_papers.loop import HieroInLoop, Recipe, Trial, compare, mark, swings, trainer
from hopefear_papers.setups import main_setup


def trial(lab: Lab, name: str = "kbmira", **more: object) -> Trial:
    on = main_setup(lab)
    recipe = Recipe(name, 1, initial=on.initial(), iterations=1, k=5, options={"passes": 2}, **more)  # type: ignore[arg-type]
    return recipe.trial(lab, on, "test")


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
    outcome = trial(lab, choose={"C": [1e-12, 0.01]})
    assert outcome["options"] == {"passes": 2, "C": 0.01}


def test_the_decoder_gets_weights_that_it_knows_with_so_many_digits(lab: Lab) -> None:
    on = main_setup(lab)
    weights = {"lm": 2.0, "word": -1.0, "rule": 1e-9, "of nobody": 5.0}
    assert HieroInLoop(on, 5).known(weights) == {"lm": 2.0, "word": -1.0, "rule": 1e-9}
    cut = HieroInLoop(on, 5, digits=6).known(weights)
    assert cut == {"lm": 0.666667, "word": -0.333333, "rule": 0.0}


def test_what_is_done_before_and_after_the_decodings_is_kept(lab: Lab) -> None:
    def stand_still(learner: BatchTrainer, decoder: HieroInLoop, w: Mapping[str, float]) -> Mapping[str, float]:
        return {**w, "lm": 3.0}

    def sentences(best: Pool) -> float:
        return float(len(best))

    on = main_setup(lab)
    outcome = trial(lab, begin=stand_still, measure=sentences)
    assert outcome["decodings"] == 1  # the loop has one iteration less
    assert outcome["weights"]["lm"] == 3.0
    assert outcome["measured"] == [len(on.dev)]
    assert outcome["iteration"] == 1
    assert outcome["largest"][0][1] == "lm" and 0 < outcome["largest"][0][0] < 1


def test_the_weights_are_those_of_the_best_decoding_or_of_the_last(lab: Lab) -> None:
    def words(best: Pool) -> float:
        return float(sum(len(best.text(i, 0).split()) for i in range(len(best))))

    best, last, long = trial(lab), trial(lab, last=True), trial(lab, measure=words)
    scores = [record["score"] for record in best["history"]]
    assert best["iteration"] == 1 + int(np.argmax(scores)) and best["dev"] == max(scores)
    assert last["iteration"] == 2 and last["dev"] == scores[-1]
    assert long["iteration"] == 1 + int(np.argmax(long["measured"]))


def test_weights_that_only_grow_do_not_swing() -> None:
    assert swings([{"lm": 1.0, "word": -1.0}, {"lm": 3.0, "word": -3.0}]) == [0.0]
    assert swings([{"lm": 1.0}, {"word": 2.0}, {"word": 2.0}]) == [2.0, 0.0]


def test_a_recipe_is_level_with_itself(lab: Lab) -> None:
    outcome = trial(lab)
    same = compare(main_setup(lab), [outcome], [outcome], lab)
    assert (same.delta, same.p, mark(same)) == (0.0, 1.0, "")
    worse = dict(outcome, hypotheses=["x"] * len(outcome["hypotheses"]))
    assert mark(compare(main_setup(lab), [worse], [outcome], lab)) == "-"
    assert mark(compare(main_setup(lab), [outcome], [worse], lab)) == "+"
    assert isinstance(same, Comparison) and np.isfinite(same.ci).all()
