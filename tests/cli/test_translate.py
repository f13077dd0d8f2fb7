"""translate as a command."""

from __future__ import annotations

import io
import random
import shutil
import sys
from pathlib import Path

import pytest

from hopefear.cli.main import main
from hopefear.decode import Hiero
from hopefear.formats import read_forests, read_nbest, write_forests
from hopefear.model.directory import Model, write_model
from tests.decode.block_models import block_model, random_pairs
from tests.decode.models import model_of, random_lm, random_rules

Capture = pytest.CaptureFixture[str]
WEIGHTS = {"lm": 0.5, "phrase_ef": 0.3, "lexical_ef": 0.2, "rule": -0.1, "word": 0.7, "glue": -0.2, "unknown": -5.0}
LINES = ["a b c", "", "? a b", "7 c c c a b c a"]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("translate")
    rng = random.Random(5)
    model = model_of(folder, random_rules(rng, 40), [random_lm(rng, 3)], weights=WEIGHTS, counts={})
    write_model(folder / "model", model.info, model.grammar, model.language_models, [])
    return folder / "model"


def translate(monkeypatch: pytest.MonkeyPatch, text: str | bytes, *arguments: object) -> int:
    data = text if isinstance(text, bytes) else text.encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    return main(["translate", *map(str, arguments)])


TEXT = "".join(line + "\n" for line in LINES)


def test_a_line_a_sentence(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert translate(monkeypatch, TEXT, path) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines() == Hiero(Model.open(path)).translate(LINES)
    assert out.splitlines()[1] == ""
    assert translate(monkeypatch, "", path) == 0
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("hopefear.decode.translation.BLOCK", 1)
    assert translate(monkeypatch, TEXT, path, "--jobs", 1) == 0
    assert capsys.readouterr().out == out


def test_lists_are_those_of_the_forests(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    monkeypatch.setattr("hopefear.decode.translation.FOREST_BLOCK", 3)
    assert translate(monkeypatch, TEXT, path, "--nbest", 5, "--forests", tmp_path / "forests") == 0
    (tmp_path / "list").write_text(capsys.readouterr().out)
    monkeypatch.setattr("hopefear.decode.translation.BLOCK", 2)
    assert translate(monkeypatch, TEXT, path, "--nbest", 5) == 0
    assert capsys.readouterr().out == (tmp_path / "list").read_text()
    lists, forests = read_nbest(tmp_path / "list"), read_forests(tmp_path / "forests")
    assert lists.ids == forests.ids == ["0", "1", "2", "3"]
    for i in range(4):
        best = forests[i].kbest(WEIGHTS, 5)
        assert [lists.text(i, j) for j in range(lists[i].edge_count)] == [d.text for d in best]
        w = [WEIGHTS.get(name, 0.0) for name in lists.feature_names]
        assert (lists[i].dense @ w).tolist() == pytest.approx([d.score for d in best], abs=1e-9)
    capsys.readouterr()
    assert translate(monkeypatch, TEXT, path, "--forests", tmp_path / "small", "--max-edges", 10, "--nbest", 5) == 0
    small = read_forests(tmp_path / "small")
    assert small[3].edge_count < forests[3].edge_count
    (tmp_path / "list").write_text(capsys.readouterr().out)
    lists = read_nbest(tmp_path / "list")
    for i in range(4):
        assert [lists.text(i, j) for j in range(lists[i].edge_count)] == [d.text for d in small[i].kbest(WEIGHTS, 5)]


def test_forests_are_written_as_they_come(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("hopefear.decode.translation.FOREST_BLOCK", 3)
    assert translate(monkeypatch, TEXT * 3, path, "--forests", tmp_path / "streamed", "--quiet") == 0
    write_forests(Hiero(Model.open(path)).decode(LINES * 3), tmp_path / "at once")
    assert (tmp_path / "streamed").read_bytes() == (tmp_path / "at once").read_bytes()
    assert translate(monkeypatch, "", path, "--forests", tmp_path / "none") == 0
    assert len(read_forests(tmp_path / "none")) == 0
    assert translate(monkeypatch, TEXT.encode() + b"\xff\n", path, "--forests", tmp_path / "bad") == 2
    assert sorted(file.name for file in tmp_path.iterdir()) == ["at once", "none", "streamed"]


def test_explain(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert translate(monkeypatch, "? a\n\n", path, "--explain") == 0
    out = capsys.readouterr().out
    assert "? -> ? " in out and "  word 1  lm " in out
    assert "unknown -5.000" in out


@pytest.mark.parametrize(
    ("weights", "code", "message"),
    [
        ("lm 1\nnobody 2\nno 3\n", 0, "2 weights for features that the model does not have: nobody, no"),
        ("nobody 2\n", 2, "none of its 1 weight belongs to a feature of"),
        ("lm nan\n", 2, "Write a finite number"),
        ("", 2, "no weights in this file"),
    ],
)
def test_weights(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path, weights: str, code: int, message: str
) -> None:
    (tmp_path / "weights").write_text(weights)
    assert translate(monkeypatch, "a b\n", path, "--weights", tmp_path / "weights") == code
    out, err = capsys.readouterr()
    assert message in err and len(err.splitlines()) == 1
    assert len(out.splitlines()) == (code == 0)


def test_weights_of_a_block_model(monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path) -> None:
    rng = random.Random(5)
    model = block_model(tmp_path, random_pairs(rng, 8), (random_lm(rng, 3),))
    write_model(tmp_path / "model", model.info, model.grammar, model.language_models, [])
    (tmp_path / "weights").write_text("lm 1\nnobody 2\nblock(a,b) 1\nno(a) 3\n")
    assert translate(monkeypatch, "a b\n", tmp_path / "model", "--weights", tmp_path / "weights") == 0
    err = capsys.readouterr().err
    assert "weights: 2 weights for features that the model does not have: nobody, no(a)\n" in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("name", ["grammar.bin", "lm.bin", "model.json"])
def test_damaged_models(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path, name: str
) -> None:
    model = tmp_path / "model"
    shutil.copytree(path, model)
    data = (model / name).read_bytes()
    (model / name).write_bytes(data[: len(data) // 2])
    assert translate(monkeypatch, "a b\n", model) == 2
    out, err = capsys.readouterr()
    assert out == "" and name in err and len(err.splitlines()) == 1


def test_a_model_of_another_version_or_with_a_file_missing(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    for name, change, message in (
        ("model.json", b'"version": 9', "a model of version 9"),
        ("model.json", None, "has no model.json"),
        ("lm.bin", None, "lm.bin: is missing"),
    ):
        model = tmp_path / f"{name}{message}"
        shutil.copytree(path, model)
        if change is None:
            (model / name).unlink()
        else:
            (model / name).write_bytes((model / name).read_bytes().replace(b'"version": 1', change))
        assert translate(monkeypatch, "a b\n", model) == 2
        out, err = capsys.readouterr()
        assert out == "" and message in err and len(err.splitlines()) == 1


def test_a_long_line(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    line = " ".join(random.Random(3).choices(["a", "b", "c", "?", "7"], k=500))
    assert translate(monkeypatch, f"{line}\na\n", path, "--pop-limit", 20) == 0
    out = capsys.readouterr().out.splitlines()
    assert len(out) == 2 and len(out[0].split()) > 200


def test_other_bad_input(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path) -> None:
    for text, arguments, message in (
        (b"a\n\xff\n", [path], "standard input:2: byte 1 is not UTF-8"),
        (b"a\n", [tmp_path / "nowhere"], "no such file"),
        (b"a\n", [path, "--explain", "--nbest", 3], "--explain cannot be combined"),
        (b"a\n", [path, "--pop-limit", -1], "-1 is too small"),
    ):
        assert translate(monkeypatch, text, *arguments) == 2
        out, err = capsys.readouterr()
        assert message in err and len(err.splitlines()) == 1 and out == ""


def test_lattices(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path) -> None:
    lattices = "((('a',0,1),),(('?',-5,1),('b',-1,1),),(('c',0,1),),)\n\n"
    (tmp_path / "weights").write_text("".join(f"{name} {value}\n" for name, value in WEIGHTS.items()) + "Feature_0 1\n")
    asked = (path, "--input", "plf", "--weights", tmp_path / "weights", "--tokens")
    assert translate(monkeypatch, lattices, *asked, "--forests", tmp_path / "forests", "--nbest", 3) == 0
    (tmp_path / "list").write_text(capsys.readouterr().out)
    lists, forests = read_nbest(tmp_path / "list"), read_forests(tmp_path / "forests")
    assert lists.ids == forests.ids == ["0", "1"]
    assert translate(monkeypatch, lattices, *asked) == 0
    out, err = capsys.readouterr()
    assert err == "" and out.splitlines() == [lists.text(0, 0), ""]
    weights = WEIGHTS | {"Feature_0": 1.0}
    best = forests[0].viterbi(weights)
    wanted = max(
        d.score + arc
        for d, arc in zip(Hiero(Model.open(path)).decode(["a ? c", "a b c"]).viterbi(WEIGHTS), (-5, -1), strict=True)
    )
    assert best.score == pytest.approx(wanted)
    assert translate(monkeypatch, lattices, path, "--input", "plf") == 0
    assert "scores of arcs without a weight are ignored: Feature_0" in capsys.readouterr().err
    assert translate(monkeypatch, "", path, "--input", "plf") == 0
    monkeypatch.setattr("hopefear.decode.translation.BLOCK", 2)
    for text, message in (
        ("((('a',0,1),),)\n" * 4 + "a b\n", 'standard input:5: expected "("'),
        ("a b\n", "Is this PLF?"),
        ("((('a',0,1),),)\n" * 2 + "((('a',1,1,1),),)\n", "Feature_1, which the decoder was not told of"),
    ):
        assert translate(monkeypatch, text, path, "--input", "plf", "--quiet") == 2
        err = capsys.readouterr().err.splitlines()
        assert message in err[-1]
    assert translate(monkeypatch, lattices, path, "--input", "plf", "--explain") == 2
