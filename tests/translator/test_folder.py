"""The card and the weights of a translator's folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hopefear.decode import Hiero
from hopefear.errors import InputError
from hopefear.model.directory import Model
from hopefear.translator.folder import describe, open_translator, pack, put_weights, read_card, write_card


@pytest.fixture
def folder(task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPEFEAR_CACHE", str(tmp_path / "cache"))
    return Path(shutil.copytree(task / "model", tmp_path / "captions"))


CARD: dict[str, Any] = {
    "name": "captions",
    "source": "de",
    "target": "pt-BR",
    "licence": "CC0",
    "made_from": ["captions.tmx"],
    "scores": {"bleu": 41.25},
    "recipe": {"mbr": "bleu", "scale": 0.5, "pop_limit": 100, "rounds": 3},
}


def test_a_card_comes_back(folder: Path, tmp_path: Path) -> None:
    write_card(folder, CARD)
    card = read_card(folder)
    assert {name: card[name] for name in CARD} == CARD
    assert describe(card) == "captions: de to pt-BR, bleu 41.25"
    assert read_card(pack(folder, tmp_path / "packed.hft")) == card
    model, again = open_translator(tmp_path / "packed.hft")
    assert again == card and len(model.grammar) == len(Model.open(folder).grammar)


def test_a_model_without_a_card(folder: Path, tmp_path: Path) -> None:
    card = read_card(folder)
    assert (card["name"], card["source"], card["target"], card["recipe"]) == ("captions", "und", "und", {})
    assert read_card(pack(folder, tmp_path / "other.hft"))["name"] == "other"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, "has no name"),
        ({"source": "German"}, "'German' is not a language code"),
        ({"made_from": "a file"}, "made_from is not what it should be"),
        ({"recipe": {"mbr": "meteor"}}, "mbr is 'meteor'"),
        ({"recipe": {"scale": -1.0}}, "scale is -1.0"),
        ({"recipe": {"pop_limit": 1.5}}, "pop_limit is 1.5"),
        ({"recipe": {"max_options": True}}, "max_options is True"),
    ],
)
def test_wrong_cards(folder: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        write_card(folder, CARD | change)
    assert not (folder / "card.json").exists()
    write_card(folder, CARD)
    (folder / "card.json").write_text(json.dumps(read_card(folder) | change))
    with pytest.raises(InputError, match=rf"card\.json: .*{message}"):
        read_card(folder)


def test_damaged_cards(folder: Path, tmp_path: Path) -> None:
    for text, message in [
        ("{", "is not JSON"),
        ("[]", "is not the card"),
        ('{"format": "hopefear translator"}', "of version"),
    ]:
        (folder / "card.json").write_text(text)
        with pytest.raises(InputError, match=message):
            read_card(folder)
    with pytest.raises(InputError, match="is not a translator"):
        read_card(tmp_path / "nothing")
    with pytest.raises(InputError, match="gets no card"):
        write_card(tmp_path, CARD)


def test_weights_are_put_into_a_model(folder: Path, tmp_path: Path) -> None:
    model = Model.open(folder)
    sparse = model.sparse_names[0]
    weights = {name: 0.125 * k for k, name in enumerate(model.dense_names)} | {sparse: 0.5, model.sparse_names[1]: 0.0}
    put_weights(folder, weights)
    opened = Model.open(folder)
    assert opened.weights == {name: value for name, value in weights.items() if name != model.sparse_names[1]}
    assert Hiero(opened).templates == (sparse.partition("(")[0],)
    line = "la casa"
    assert Hiero(opened).translate(line) == Hiero(model, weights).translate(line)
    put_weights(folder, {"lm": 2.0})
    assert Model.open(folder).weights == dict.fromkeys(model.dense_names, 0.0) | {"lm": 2.0}


def test_weights_that_do_not_fit_leave_the_model_alone(folder: Path, tmp_path: Path) -> None:
    before = (folder / "model.json").read_bytes()
    for weights, message in [({"lmm": 1.0}, "has no feature 'lmm'"), ({"lm": float("inf")}, "not a finite number")]:
        with pytest.raises(InputError, match=message):
            put_weights(folder, weights)
    assert (folder / "model.json").read_bytes() == before
    with pytest.raises(InputError, match="into its folder"):
        put_weights(pack(folder, tmp_path / "packed.hft"), {"lm": 1.0})
