"""Model directories: whole or not at all, and damage is found."""

from __future__ import annotations

import json
import pickle
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from hopefear._core import checksum, file_checksum
from hopefear.errors import InputError
from hopefear.model.directory import Model, write_model
from hopefear.model.features import template_of


def test_templates_are_ready_for_a_decoder(model: Model) -> None:
    rule = model.grammar.find("wa")[0]
    everything = model.templates().rule_features(model.grammar, np.array([rule]))[1]
    names = [model.feature_names[i] for i in everything]
    assert any(name.startswith("lex(wa,") for name in names)
    assert any(name.startswith("group(phrase_ef,1,") for name in names)
    lex = model.templates(["lex"]).rule_features(model.grammar, np.array([rule]))[1]
    assert [model.feature_names[i] for i in lex] == [name for name in names if template_of(name) == "lex"]
    with pytest.raises(InputError, match="no features of the template 'other'"):
        model.templates(["other"])


def test_a_model_that_travels_is_opened_where_it_arrives(model: Model, model_path: Path, tmp_path: Path) -> None:
    assert pickle.loads(pickle.dumps(model)).info == model.info
    shutil.copytree(model_path, tmp_path / "copy")
    sent = pickle.dumps(Model.open(tmp_path / "copy"))
    assert len(sent) < 1000
    write_model(
        tmp_path / "copy", model.info | {"counts": {}}, model.grammar, model.language_models, [], overwrite=True
    )
    with pytest.raises(InputError, match="the model here is not the one"):
        pickle.loads(sent)


def test_nothing_is_left_of_a_failed_write(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "grammar.bin")

    monkeypatch.setattr("hopefear.model.directory.write_grammar", full)
    with pytest.raises(OSError, match="No space"):
        write_model(tmp_path / "model", model.info, model.grammar, model.language_models, [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["grammar.bin", "lm.bin", "lm2.bin", "features.txt", "model.json"])
def test_damage_is_found_and_named(model_path: Path, tmp_path: Path, name: str) -> None:
    for damage in ("cut", "flip", "remove"):
        folder = tmp_path / damage
        shutil.copytree(model_path, folder)
        data = bytearray((folder / name).read_bytes())
        if damage == "remove":
            (folder / name).unlink()
        else:
            data[len(data) // 2] ^= 4
            (folder / name).write_bytes(data if damage == "flip" else data[: len(data) * 2 // 3])
        with pytest.raises(InputError, match=name.replace(".", r"\.")):
            Model.open(folder)
        if damage != "flip" or name == "model.json":
            with pytest.raises(InputError, match=name.replace(".", r"\.")):
                Model.open(folder, verify=False)


def test_what_is_no_model(model_path: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere: no such model directory"):
        Model.open(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"is not a model: it has no model\.json"):
        Model.open(tmp_path)
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(InputError, match=r"model\.json: does not describe a model"):
        Model.open(tmp_path)
    info = json.loads((model_path / "model.json").read_text())
    info["version"] = 99
    (tmp_path / "model.json").write_text(json.dumps(info))
    with pytest.raises(InputError, match=r"model\.json: a model of version 99, this hopefear reads version 1"):
        Model.open(tmp_path)


def test_a_model_of_another_kind(model: Model) -> None:
    model.require("hiero", "this is for hiero")
    with pytest.raises(InputError, match=r"is a model of hiero, and this is for blocks\. Build one: .* --kind blocks"):
        model.require("blocks", "this is for blocks")


@pytest.mark.parametrize("size", [0, 5, 1 << 20, (1 << 20) + 33])
def test_a_checksum_does_not_depend_on_the_pieces_that_a_file_is_read_in(tmp_path: Path, size: int) -> None:
    data = random.Random(1).randbytes(size)
    (tmp_path / "file").write_bytes(data)
    assert file_checksum(str(tmp_path / "file")) == checksum(data)
    with pytest.raises(InputError, match="cannot be read"):
        file_checksum(str(tmp_path))
