import json
import re

import pytest

from hopefear.cli.main import main
from hopefear.trainers import TRAINERS, Trainer
from hopefear.trainers.base import ELSEWHERE
from hopefear.trainers.registry import by_name, settable
from tests.trainers.every import every_trainer

Capture = pytest.CaptureFixture[str]


def test_all_trainers_are_listed(capsys: Capture) -> None:
    assert main(["trainers"]) == 0
    out = capsys.readouterr().out
    for trainer in TRAINERS:
        assert f"{trainer.name} " in out
        assert trainer.what in out
        assert f"{trainer.paper} ({', '.join(trainer.spaces)})" in out


@every_trainer
def test_the_options_of_one(trainer: type[Trainer], capsys: Capture) -> None:
    """If a name stands for two trainers, both are printed, the one for candidates first."""
    assert main(["trainers", trainer.name]) == 0
    tables = capsys.readouterr().out.split("\noption ")[1:]
    mine = by_name()[trainer.name].index(trainer)
    rows = {line.split()[0]: line for line in tables[mine].partition("\n\n")[0].splitlines()[1:]}
    assert set(rows) == set(settable(trainer))
    assert set(rows).isdisjoint(ELSEWHERE)
    for name, field in settable(trainer).items():
        assert field.metadata["help"] in rows[name]


@every_trainer
def test_the_text_is_for_users(trainer: type[Trainer], capsys: Capture) -> None:
    """No marks of code, and no names of our source files, which an installed package lacks."""
    assert main(["trainers", trainer.name]) == 0
    out = capsys.readouterr().out
    assert "``" not in out
    assert not re.findall(r"\w{3,}\.(?:py|h|cc|md)\b", out)


def test_what_online_trainers_share_is_shown(capsys: Capture) -> None:
    assert main(["trainers", "mira"]) == 0
    assert "keep=best" in capsys.readouterr().out.partition("Works on:")[0]


def test_json(capsys: Capture) -> None:
    assert main(["trainers", "--json"]) == 0
    record = {trainer["name"]: trainer for trainer in json.loads(capsys.readouterr().out)["trainers"]}
    assert list(record) == list(by_name())
    assert {"mert", "arow", "costmargin"} <= set(record)
    assert {trainer["name"]: trainer["default"] for trainer in record["arow"]["options"]}["eta"] == 1
    assert record["minrisk"]["spaces"][-1] == "models, online"
    assert {trainer["name"]: trainer["default"] for trainer in record["minrisk"]["online_options"]}[
        "objective"
    ] == "risk"
    options = {trainer["name"]: trainer for trainer in record["kbmira"]["options"]}
    assert options["C"]["default"] == options["C"]["paper"] == 0.01
    assert set(record["kbmira"]) == {"name", "paper", "objective", "spaces", "options"}
    assert main(["trainers", "kbmira", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trainers"] == [record["kbmira"]]


def test_an_unknown_trainer_suggests_the_nearest(capsys: Capture) -> None:
    assert main(["trainers", "kbmria"]) == 2
    assert "there is no trainer 'kbmria'. Did you mean 'kbmira'?" in capsys.readouterr().err
