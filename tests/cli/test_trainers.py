import dataclasses
import json

import pytest

from hopefear.cli.main import main
from hopefear.trainers import TRAINERS

Said = pytest.CaptureFixture[str]


def test_all_trainers_are_listed(capsys: Said) -> None:
    assert main(["trainers"]) == 0
    out = capsys.readouterr().out
    for name, trainer in TRAINERS.items():
        assert f"{name} " in out
        assert trainer.objective in out
        assert trainer.paper in out


@pytest.mark.parametrize("name", TRAINERS)
def test_the_options_of_one(name: str, capsys: Said) -> None:
    assert main(["trainers", name]) == 0
    table = capsys.readouterr().out.partition("\noption ")[2]
    rows = {line.split()[0]: line for line in table.partition("\n\n")[0].splitlines()[1:]}
    for field in dataclasses.fields(TRAINERS[name]):
        if field.name in ("metric", "seed", "jobs"):
            assert field.name not in rows
        else:
            assert field.metadata["help"] in rows[field.name]


def test_json(capsys: Said) -> None:
    assert main(["trainers", "--json"]) == 0
    found = {one["name"]: one for one in json.loads(capsys.readouterr().out)["trainers"]}
    assert list(found) == [*TRAINERS, "sgd", "mira", "arow", "costmargin"]
    assert {one["name"]: one["default"] for one in found["arow"]["options"]}["eta"] == 1
    assert found["minrisk"]["spaces"][-1] == "models, online"
    assert {one["name"]: one["default"] for one in found["minrisk"]["online_options"]}["objective"] == "risk"
    options = {one["name"]: one for one in found["kbmira"]["options"]}
    assert options["C"]["default"] == options["C"]["paper"] == 0.01
    assert set(found["kbmira"]) == {"name", "paper", "objective", "spaces", "options"}


def test_one_that_is_not_there(capsys: Said) -> None:
    assert main(["trainers", "kbmria"]) == 2
    assert "there is no trainer 'kbmria'. Did you mean 'kbmira'?" in capsys.readouterr().err
