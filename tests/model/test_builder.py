"""Models are built, and are the same every time."""

from __future__ import annotations

import lzma
import math
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hopefear.decode.hiero import Hiero
from hopefear.errors import InputError
from hopefear.model.align import align_directed
from hopefear.model.builder import build
from hopefear.model.directory import Model
from hopefear.model.features import SMALL, template_of
from hopefear.model.grammar import iter_rules
from hopefear.model.inspection import inspect_model
from hopefear.model.options import BuildOptions
from hopefear.runs import Session
from hopefear.runs.events import Event, Note, Progress, Warned
from tests.model.parallel_files import NONE, write
from tests.orphans import is_running, kill_while, wait_for
from tests.shared_data import SHARED


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
        "lex", "group", "shape", "distance", "pair", "unigram", "bigram", "trigram", "trigger",
    }  # fmt: skip


def test_probabilities_of_the_model_sum_to_one(corpus: Path, tmp_path: Path) -> None:
    options = BuildOptions(tokenizer="none", max_options=0)
    build(corpus / "f", corpus / "e", tmp_path / "model", options)
    sums: dict[str, float] = defaultdict(float)
    for rule in iter_rules(Model.open(tmp_path / "model").grammar):
        sums[rule.source] += math.exp(rule.values["phrase_ef"])
    assert list(sums.values()) == pytest.approx([1.0] * len(sums), abs=1e-4)


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


def test_rules_of_several_alignments(corpus: Path, tmp_path: Path) -> None:
    """Rules are those of each alignment, and counted in all; texts, words and language models are not doubled."""
    rules, infos = [], []
    for name in ("fastalign", "eflomal", "fastalign+eflomal"):
        options = BuildOptions(tokenizer="none", max_options=0, aligner=name)
        build(corpus / "f", corpus / "e", tmp_path / name, options)
        model = Model.open(tmp_path / name)
        infos.append(model.info["counts"])
        rules.append({(rule.source, rule.target) for rule in iter_rules(model.grammar)})
    one, other, both = infos
    assert rules[2] == rules[0] | rules[1] != rules[0]
    assert both["links"] == one["links"] + other["links"]
    for name in ("pairs", "source_words", "target_words", "ngrams"):
        assert both[name] == one[name]
    with pytest.raises(InputError, match="save_alignment: there are several alignments"):
        build(corpus / "f", corpus / "e", tmp_path / "no", options, save_alignment=tmp_path / "links")


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
    options = BuildOptions(tokenizer="none", kind="blocks", max_phrase=4, min_occurrences=1, min_probability=0)
    build(corpus / "clean.f", corpus / "clean.e", tmp_path / "blocks", options, align=[corpus / "clean.a"])
    model = Model.open(tmp_path / "blocks")
    assert model.kind == "blocks"
    assert model.grammar.names[4:] == ["count", "left", "right", "neutral"]
    columns = model.grammar.columns
    assert np.all(columns[:, 5:].sum(axis=1) == columns[:, 4])
    assert np.all(columns[:, 5:].sum(axis=0) > 50)
    assert not any("[X" in rule.source for rule in iter_rules(model.grammar))
    assert model.grammar.max_source_symbols == 4
    assert inspect_model(tmp_path / "blocks", 10)["rules"]["phrases"]


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
    with pytest.raises(InputError, match=r"model: already exists\. Choose another --out, or add --overwrite"):
        build(f, e, model_path, NONE)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "precious").write_text("data")
    with pytest.raises(InputError, match="other: exists and is not a model"):
        build(f, e, tmp_path / "other", NONE, overwrite=True)
    shutil.copytree(model_path, tmp_path / "old")
    short = write(tmp_path / "short", ["a b"] * 4)
    build(short, short, tmp_path / "old", NONE, overwrite=True)
    assert Model.open(tmp_path / "old").info["counts"]["pairs"] == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old", "other", "short"]


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
        build(f, f, tmp_path / "model", BuildOptions(**options))


def chinese_pairs(folder: Path) -> tuple[Path, Path]:
    """Sentences of three words each, on the one side without blanks."""
    words = {
        "我们": "we",
        "他们": "they",
        "喜欢": "like",
        "看见": "see",
        "学校": "schools",
        "公园": "parks",
        "火车": "trains",
    }
    lines = [
        (f"{a}{b}{c}。", f"{words[a]} {words[b]} {words[c]} .")
        for a in ("我们", "他们")
        for b in ("喜欢", "看见")
        for c in ("学校", "公园", "火车")
    ] * 4
    return write(folder / "zh", [f for f, _ in lines]), write(folder / "en", [e for _, e in lines])


def test_a_side_without_blanks_is_built_of_characters(tmp_path: Path) -> None:
    told: list[Event] = []
    report = build(*chinese_pairs(tmp_path), tmp_path / "model", run=Session(told.append))
    model = Model.open(report.model)
    assert (model.source_text.tokenizer, model.target_text.tokenizer) == ("characters", "unicode")
    assert model.info["options"]["tokenizer"] == "characters,unicode"
    assert any(isinstance(event, Note) and "source: no spaces separate its words" in event.text for event in told)
    assert report.counts["source_vocabulary"] < 17
    (line,) = Hiero(model).translate(["他们看见公园。"])
    assert line == "They see parks." or line.lower() == "they see parks."


def test_a_tokenizer_that_finds_no_words_is_told(tmp_path: Path) -> None:
    told: list[Event] = []
    build(*chinese_pairs(tmp_path), tmp_path / "model", BuildOptions(tokenizer="unicode"), run=Session(told.append))
    assert any(isinstance(event, Warned) and "and unicode finds none" in event.text for event in told)


def test_tokenizers_of_both_sides(tmp_path: Path) -> None:
    options = BuildOptions(tokenizer="none,european")
    assert options.pipeline("source").tokenizer == "none" and options.pipeline("target").tokenizer == "european"
    with pytest.raises(InputError, match="tokenizer: 'none,x,y' is not known"):
        BuildOptions(tokenizer="none,x,y")


def test_text_without_usable_links(tmp_path: Path) -> None:
    f, a = write(tmp_path / "f", ["a"]), write(tmp_path / "a", [""])
    with pytest.raises(InputError, match="no rule could be extracted"):
        build(f, f, tmp_path / "model", NONE, align=[a])


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


def test_a_build_tells_how_it_goes(tmp_path: Path) -> None:
    f = write(tmp_path / "f", ["a b c", "", "c b"] * 3)
    told: list[Event] = []
    build(f, f, tmp_path / "model", NONE, run=Session(told.append))
    notes = [event.text for event in told if isinstance(event, Note)]
    assert notes[0] == "3 of 9 pairs left out: an empty side"
    assert notes[1].startswith("lm: the text is too small")
    steps = [event for event in told if isinstance(event, Progress)]
    assert {step.label for step in steps} == {"align", "extract"}
    assert sum(step.label == "extract" for step in steps) == steps[-1].total
    silent = tmp_path / "silent"
    build(f, f, silent, NONE)
    assert (silent / "grammar.bin").read_bytes() == (tmp_path / "model" / "grammar.bin").read_bytes()


def test_overwriting_removes_only_what_a_build_wrote(tmp_path: Path) -> None:
    text = write(tmp_path / "text", ["a b"] * 4)
    build(text, text, tmp_path / "m", BuildOptions(kind="hiero"), lm_text=[text])
    (tmp_path / "m" / "thesis.txt").write_text("x")
    (tmp_path / "m" / "run").mkdir()
    (tmp_path / "m" / "run" / "weights.txt").write_text("lm 1")
    build(text, text, tmp_path / "m", BuildOptions(kind="blocks"), overwrite=True)
    assert Model.open(tmp_path / "m").kind == "blocks"
    names = sorted(path.name for path in (tmp_path / "m").iterdir())
    assert names == ["grammar.bin", "lm.bin", "model.json", "run", "thesis.txt"]
    assert (tmp_path / "m" / "run" / "weights.txt").read_text() == "lm 1"
    (tmp_path / "m" / "model.json").write_text("{")
    build(text, text, tmp_path / "m", BuildOptions(), overwrite=True)
    assert Model.open(tmp_path / "m").kind == "hiero" and (tmp_path / "m" / "thesis.txt").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m", "text"]


def test_aligners_die_with_the_build(tmp_path: Path) -> None:
    lines = [f"a{i} b{i} c{i % 7} d{i % 11}" for i in range(20_000)]

    def work() -> None:
        opened = subprocess.Popen

        def popen(*args: Any, **more: Any) -> Any:
            worker = opened(*args, **more)
            (tmp_path / "child").write_text(f"{worker.pid}\n")
            return worker

        subprocess.Popen = popen  # type: ignore[misc,assignment]
        align_directed(lines, lines, "eflomal", 100, 1)

    started = kill_while(work, tmp_path / "child")
    wait_for(lambda: not is_running(started))
