"""The joint model trained for BLEU on the way to a translator: lists with gains, and what the final model has."""

from pathlib import Path

import numpy as np
import pytest

from hopefear.creation import create, joint_tuning, recipe
from hopefear.creation.building import FINAL, FIRST, TUNED, build_final, build_model, weights_of
from hopefear.creation.data import prepare, read_part
from hopefear.creation.joint_tuning import lists_of, tune_joint
from hopefear.decode import Hiero
from hopefear.formats.weights import write_weights
from hopefear.metrics import Bleu
from hopefear.model.directory import Model
from hopefear.model.joint import JointModel
from hopefear.runs.session import SILENT
from hopefear.trainers.data import Corpus
from tests.creation.test_pipeline import options, write_corpus


def test_from_lists_to_the_final_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "JOINT_FROM", 300)
    monkeypatch.setattr(recipe, "SPARSE_FROM", 100)
    write_corpus(tmp_path / "x.tsv", 900)
    folder = tmp_path / "work"
    folder.mkdir()
    data = prepare(options(tmp_path), folder, SILENT)
    chosen = recipe.choose_recipe(data)
    assert chosen.tune_joint and chosen.dev_text
    build_model(data, chosen, folder, 1, 1, SILENT)
    model, dev = Model.open(folder / FIRST), read_part(folder, "dev", 1)
    write_weights(model.weights, folder / weights_of(FIRST))
    lists = list(lists_of(Hiero(model), dev, 1, SILENT))
    assert len(lists) == len(dev)
    gains = np.concatenate([each.gains for each in lists])
    assert 0 <= gains.min() < 1 and gains.max() == 1
    commas = Corpus(dev.lines[:3], [[f"{line} , ." for line in dev.references[0][:3]]])
    for line, reference, each in zip(
        Hiero(model).translate(dev.lines[:3], tokens=True),
        dev.references[0],
        lists_of(Hiero(model), commas, 1, SILENT),
        strict=False,
    ):
        best = Bleu().sentence_gains(Bleu().corpus_stats([line], [[reference]]))
        assert each.gains[0] == best[0]  # punctuation is not scored

    record = tune_joint(model, dev, folder / weights_of(FIRST), folder / TUNED, 1, 1, SILENT)
    assert record["after"] >= record["before"] and record["sentences"] == len(dev)
    build_final(data, chosen, folder, 1, 1, SILENT)
    final, tuned = Model.open(folder / FINAL), JointModel.open(folder / TUNED)
    assert final.joint is not None
    widths = [len(joint.arrays["hidden_bias"]) for joint in (final.joint, tuned)]
    assert widths == [2 * widths[1], widths[1]]
    assert Hiero(final).translate("der hund sieht das haus hier und der mann hat den ball dort")


def test_create_does_it_if_the_recipe_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "JOINT_FROM", 300)
    monkeypatch.setattr(recipe, "SPARSE_FROM", 100)
    monkeypatch.setattr(joint_tuning, "CANDIDATES", 5)
    write_corpus(tmp_path / "x.tsv", 900)
    made = create(options(tmp_path))
    assert made.recipe["tune_joint"]
    joint = Model.open(made.path).joint
    assert joint is not None and len(joint.arrays["hidden_bias"]) == 256
    assert "trained for BLEU on" in (made.path / "report.html").read_text()
