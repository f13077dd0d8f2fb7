"""Model directories: built, opened, the same every time, and never half."""

from __future__ import annotations

import json
import lzma
import math
import shutil
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from hopefear.data.language import SyntheticParallel
from hopefear.errors import InputError
from hopefear.model.builder import BuildOptions, build
from hopefear.model.directory import Model, write_model
from hopefear.model.features import SMALL, template_of
from hopefear.model.grammar import iter_rules
from hopefear.model.inspection import inspect_model
from tests.shared_data import SHARED

DATA = SyntheticParallel(seed=2)
NONE = BuildOptions(tokenizer="none")


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    pairs = DATA.pairs(500)
    write(folder / "f", [pair.source for pair in pairs])
    write(folder / "e", [pair.target for pair in pairs])
    clean = DATA.pairs(300, noise=0)
    write(folder / "clean.f", [pair.source for pair in clean])
    write(folder / "clean.e", [pair.target for pair in clean])
    write(folder / "clean.a", [" ".join(f"{s}-{t}" for s, t in pair.links) for pair in clean])
    write(folder / "test.f", [pair.source for pair in DATA.pairs(5, stream=1)])
    return folder


@pytest.fixture(scope="module")
def model_path(corpus: Path) -> Path:
    build(corpus / "f", corpus / "e", corpus / "model", NONE, lm_text=[corpus / "clean.e"])
    return corpus / "model"


@pytest.fixture(scope="module")
def model(model_path: Path) -> Model:
    return Model.open(model_path)


def test_a_model_has_all_its_parts(model: Model) -> None:
    assert model.kind == "hiero"
    assert model.info["counts"]["pairs"] == 500
    assert len(model.grammar) == model.info["counts"]["rules"] > 2000
    assert len(model.language_models) == 2
    assert model.language_models[0].order == 5
    assert model.language_models[0].perplexity(["the the the"]) > 1
    assert model.feature_names[: len(SMALL)] == list(SMALL)
    assert len(SMALL) == 13
    assert set(model.weights) == set(SMALL)
    assert model.weights["lm"] == model.weights["lm2"] > 0
    assert model.source_text.tokenizer == "none"
    assert {template_of(n) for n in model.sparse_names} == {
        "lex", "group", "pair", "unigram", "bigram", "trigram", "trigger",
    }  # fmt: skip


def test_probabilities_of_the_model_sum_to_one(corpus: Path, tmp_path: Path) -> None:
    options = BuildOptions(tokenizer="none", max_options=0)
    build(corpus / "f", corpus / "e", tmp_path / "model", options)
    sums: dict[str, float] = defaultdict(float)
    for rule in iter_rules(Model.open(tmp_path / "model").grammar):
        sums[rule.source] += math.exp(rule.values["phrase_ef"])
    assert list(sums.values()) == pytest.approx([1.0] * len(sums), abs=1e-4)


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


def test_the_same_bytes_whatever_the_jobs(corpus: Path, model_path: Path, tmp_path: Path) -> None:
    build(corpus / "f", corpus / "e", tmp_path / "again", NONE, lm_text=[corpus / "clean.e"], jobs=1)
    names = sorted(path.name for path in model_path.iterdir())
    assert names == ["features.txt", "grammar.bin", "lm.bin", "lm2.bin", "model.json"]
    for name in names:
        assert (model_path / name).read_bytes() == (tmp_path / "again" / name).read_bytes(), name


def test_alignments_of_ones_own(corpus: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved.a"
    build(
        corpus / "clean.f",
        corpus / "clean.e",
        tmp_path / "model",
        NONE,
        align=[corpus / "clean.a"],
        save_alignment=saved,
    )
    assert saved.read_text() == (corpus / "clean.a").read_text()
    model = Model.open(tmp_path / "model")
    best: dict[str, str] = {}
    for rule in iter_rules(model.grammar):
        best.setdefault(rule.source, rule.target)
    # verb-final to verb-second, learned from gold links
    assert best["[X,1] wa [X,2] na"] == "[X,1] does not [X,2]"


def test_an_alignment_out_of_range(corpus: Path, tmp_path: Path) -> None:
    lines = (corpus / "clean.a").read_text().splitlines()
    lines[6] = "0-0 99-0"
    bad = write(tmp_path / "bad.a", lines)
    with pytest.raises(InputError, match=r"bad\.a:7: 99-0 is out of range: the source sentence has \d+ words"):
        build(corpus / "clean.f", corpus / "clean.e", tmp_path / "model", NONE, align=[bad])
    assert not (tmp_path / "model").exists()


def test_filtered_to_a_test_set(corpus: Path, model: Model, tmp_path: Path) -> None:
    build(corpus / "f", corpus / "e", tmp_path / "small", NONE, filter_to=[corpus / "test.f"])
    small = Model.open(tmp_path / "small")
    assert 0 < len(small.grammar) < len(model.grammar) / 2
    everything = {(rule.source, rule.target): rule for rule in iter_rules(model.grammar)}
    assert all(everything[rule.source, rule.target] == rule for rule in iter_rules(small.grammar))


def test_blocks(corpus: Path, tmp_path: Path) -> None:
    options = BuildOptions(tokenizer="none", kind="blocks", max_phrase=4)
    build(corpus / "clean.f", corpus / "clean.e", tmp_path / "blocks", options, align=[corpus / "clean.a"])
    model = Model.open(tmp_path / "blocks")
    assert model.kind == "blocks"
    assert model.grammar.names[4:] == ["count", "left", "right", "neutral"]
    columns = model.grammar.columns
    assert np.all(columns[:, 5:].sum(axis=1) == columns[:, 4])
    assert np.all(columns[:, 5:].sum(axis=0) > 50)
    assert not any("[X" in rule.source for rule in iter_rules(model.grammar))
    assert model.grammar.max_source_symbols == 4
    assert inspect_model(tmp_path / "blocks")["rules"]["phrases"]


def test_punctuation_and_case(tmp_path: Path) -> None:
    f = write(tmp_path / "f", ["¿Dónde ESTÁ?", "El gato."] * 3)
    e = write(tmp_path / "e", ["Where IS it?", "The cat."] * 3)
    build(f, e, tmp_path / "model", BuildOptions(strip_punctuation="source"))
    model = Model.open(tmp_path / "model")
    assert model.grammar.source_vocab.names() == ["dónde", "está", "el", "gato"]
    assert "?" in model.grammar.target_vocab.names()
    assert model.source_text.text("¿Qué?") == "qué"


def test_out_must_be_free(corpus: Path, model_path: Path, tmp_path: Path) -> None:
    f, e = corpus / "f", corpus / "e"
    with pytest.raises(InputError, match=r"model: exists already\. Take another --out, or add --overwrite"):
        build(f, e, model_path, NONE)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "precious").write_text("data")
    with pytest.raises(InputError, match="other: exists and is no model"):
        build(f, e, tmp_path / "other", NONE, overwrite=True)
    shutil.copytree(model_path, tmp_path / "old")
    short = write(tmp_path / "short", ["a b"] * 4)
    build(short, short, tmp_path / "old", NONE, overwrite=True)
    assert Model.open(tmp_path / "old").info["counts"]["pairs"] == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old", "other", "short"]


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
    with pytest.raises(InputError, match=r"has no model\.json, so it is no model"):
        Model.open(tmp_path)
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(InputError, match=r"model\.json: does not describe a model"):
        Model.open(tmp_path)
    info = json.loads((model_path / "model.json").read_text())
    info["version"] = 99
    (tmp_path / "model.json").write_text(json.dumps(info))
    with pytest.raises(InputError, match=r"model\.json: a model of version 99, this hopefear reads version 1"):
        Model.open(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "syntax"}, "kind: 'syntax' is not known"),
        ({"tokenizer": "moses"}, "tokenizer: 'moses' is not known"),
        ({"max_words": 5000}, "max_words: 5000 is not between 1 and 1000"),
        ({"lm_order": 9}, "lm_order: 9 is not between 1 and 6"),
        ({"max_phrase": 40}, "max_phrase: 40 is not between 0 and 15"),
    ],
)
def test_bad_options(tmp_path: Path, options: dict[str, object], message: str) -> None:
    f = write(tmp_path / "f", ["a"])
    with pytest.raises(InputError, match=message):
        build(f, f, tmp_path / "model", BuildOptions(**options))  # type: ignore[arg-type]


def test_text_without_usable_links(tmp_path: Path) -> None:
    f, a = write(tmp_path / "f", ["a"]), write(tmp_path / "a", [""])
    with pytest.raises(InputError, match="no rule could be extracted"):
        build(f, f, tmp_path / "model", NONE, align=[a])


def test_inspect(corpus: Path, model_path: Path) -> None:
    about = inspect_model(model_path, top=3, perplexity=[corpus / "e"])
    json.dumps(about)
    assert about["bytes"]["total"] == sum(path.stat().st_size for path in model_path.iterdir())
    assert [len(rules) for rules in about["rules"].values()] == [3, 3]
    assert about["rules"]["phrases"][0]["count"] >= about["rules"]["phrases"][1]["count"]
    assert 1 < about["perplexity"]["lm"]["perplexity"] < about["perplexity"]["lm2"]["perplexity"]
    some = inspect_model(model_path, source="[X,1] wa [X,2]")["rules"]["[X,1] wa [X,2]"]
    assert some[0]["target"] in ("[X,1] [X,2]", "the [X,1] [X,2]")


@pytest.mark.skipif(SHARED is None, reason="needs the shared data")
def test_real_text(tmp_path: Path) -> None:
    assert SHARED is not None
    paths = []
    for language in ("de", "en"):
        with lzma.open(SHARED / "data/de-en-multi30k" / f"train.{language}.xz") as file:
            lines = file.read().decode().split("\n")[:3000]
        paths.append(write(tmp_path / language, lines))
    build(*paths, tmp_path / "model", BuildOptions(max_phrase=7))
    grammar = Model.open(tmp_path / "model").grammar
    for source, target in {
        "ein mann": "a man",
        "hund": "dog",
        "[X,1] .": "[X,1] .",
        "eine frau [X,1]": "a woman [X,1]",
    }.items():
        assert grammar.target(grammar.find(source)[0]) == target
