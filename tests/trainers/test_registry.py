"""Trainers by name, and their options as text."""

from __future__ import annotations

import pytest

import hopefear as hf
from hopefear.errors import OptionError
from hopefear.trainers.base import ELSEWHERE
from hopefear.trainers.online.minrisk import OnlineMinrisk
from hopefear.trainers.online.perceptron import OnlinePerceptron
from hopefear.trainers.registry import TRAINERS, by_name, find, find_batch, options_from, settable
from tests.trainers.every import every_trainer


def test_two_names_stand_for_two_trainers() -> None:
    twice = {name: kinds for name, kinds in by_name().items() if len(kinds) > 1}
    assert twice == {"minrisk": [hf.Minrisk, OnlineMinrisk], "perceptron": [hf.Perceptron, OnlinePerceptron]}
    for candidates, model in twice.values():
        assert (candidates.learns_from, model.learns_from) == ("candidates", "model")
    assert sum(map(len, by_name().values())) == len(TRAINERS) == len(set(TRAINERS))


def test_names_of_trainers() -> None:
    assert find("mert") is find("mert", "candidates") is hf.Mert
    assert find("minrisk", "candidates") is find_batch("minrisk") is hf.Minrisk
    assert find("minrisk", "model") is find("minrisk") is OnlineMinrisk
    assert find("costmargin") is hf.Costmargin
    with pytest.raises(OptionError, match=r"no trainer 'miraculous'\. There are: cmira, .*, mert, .*, costmargin"):
        find("miraculous")
    with pytest.raises(
        OptionError, match=r"no trainer 'kbmria'\. Did you mean 'kbmira'\? There are: cmira, .*, rampion"
    ):
        find("kbmria", "candidates")
    with pytest.raises(OptionError, match=r"arow learns while a model translates\. Use: hopefear train MODEL"):
        find("arow", "candidates")


@every_trainer
def test_every_option_can_be_set_as_text(trainer: type[hf.trainers.Trainer]) -> None:
    given = [f"{name}={field.default}" for name, field in settable(trainer).items()]
    assert options_from(trainer, given) == {name: field.default for name, field in settable(trainer).items()}
    assert trainer(**options_from(trainer, given)) == trainer()
    assert set(ELSEWHERE).isdisjoint(settable(trainer))


def test_the_trainers_own_options_come_first() -> None:
    assert list(settable(hf.Kbmira))[:2] == ["gain", "C"]
    assert list(settable(hf.Arow))[:3] == ["eta", "lambda_", "careful_eta"]


def test_options_as_text_or_as_a_mapping() -> None:
    assert options_from(hf.Kbmira, ["C=0.5", "passes=3"]) == {"C": 0.5, "passes": 3}
    assert options_from(hf.Kbmira, {"C": 0.5, "passes": "3"}) == {"C": 0.5, "passes": 3}
    assert options_from(hf.Costmargin, ["drop-once=no", "max_swap = 2"]) == {"drop_once": False, "max_swap": 2}
    assert options_from(hf.Arow, ()) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("passses=3", "--set passses=3: kbmira has no option 'passses'. Did you mean 'passes'?"),
        ("speed=3", "--set speed=3: kbmira has no option 'speed'. See: hopefear trainers kbmira."),
        ("C", "--set C: write --set name=value."),
        ("jobs=2", "--set jobs=2: use --jobs."),
        ("passes=many", "--set passes: 'many' is not a whole number."),
        ("C=much", "--set C: 'much' is not a number."),
    ],
)
def test_wrong_options(text: str, message: str) -> None:
    with pytest.raises(OptionError) as error:
        options_from(hf.Kbmira, [text])
    assert message in str(error.value)
