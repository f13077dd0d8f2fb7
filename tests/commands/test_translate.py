"""Translators on the command line: lines, documents, one file in place of a folder."""

from __future__ import annotations

import io
import shutil
import sys
from pathlib import Path

import pytest

from hopefear.cli.main import main
from hopefear.formats import read_nbest
from hopefear.model.directory import Model
from tests.translator.conftest import folder as folder

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPEFEAR_CACHE", str(tmp_path / "cache"))


def translate(monkeypatch: pytest.MonkeyPatch, text: str, *arguments: object) -> int:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    return main(["translate", *map(str, arguments)])


TEXT = "Ein <b>rotes</b> Haus steht hier. Das Boot!\n\n{x} kommt von IKEA.\n"
WANTED = "A <b>red</b> house stands here. The boat!\n\n{x} comes from IKEA.\n"


def test_lines(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    assert translate(monkeypatch, TEXT, folder) == 0
    assert capsys.readouterr() == (WANTED, "")
    assert translate(monkeypatch, TEXT, folder, "--quality", "--alignments") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert "".join(f"{row[3]}\n" for row in rows) == WANTED and {len(row) for row in rows} == {5}
    assert all(0 <= float(number) <= 1 for row in rows for number in row[:3])
    assert rows[0][4].split()[0] == "0-3:0-1" and rows[1] == ["1.000", "0.000", "1.000", "", ""]


def test_scores_and_candidates(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path) -> None:
    """Candidates are texts in which protected spans stay, too; the first is the translation."""
    assert translate(monkeypatch, TEXT + "a ||| b\n", folder, "--scores", "--quality") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert "".join(f"{row[4]}\n" for row in rows[:3]) == WANTED and {len(row) for row in rows} == {5}
    assert translate(monkeypatch, TEXT + "a ||| b\n", folder, "--nbest", 3) == 0
    (tmp_path / "list").write_text(capsys.readouterr().out)
    lists = read_nbest(tmp_path / "list")
    assert lists.ids == ["0", "1", "2", "3"] and lists.feature_names == ["model"]
    assert "".join(f"{lists.text(i, 0)}\n" for i in range(3)) == WANTED
    assert [f"{lists[i].dense[0, 0]:.3f}" for i in range(4)] == [row[0] for row in rows]
    assert all("<b>" in lists.text(0, j) for j in range(lists[0].edge_count)) and lists[0].edge_count == 3
    assert "¦¦¦" in lists.text(3, 0)


def test_a_column_of_a_table(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Boot,text\nHaus,Das Haus\n")
    out = tmp_path / "out"
    assert translate(monkeypatch, "", folder, tmp_path / "a.csv", "--out", out) == 0
    assert (out / "a.csv").read_text() == "Boot,text\nHaus,The house\n"
    assert translate(monkeypatch, "", folder, tmp_path / "a.csv", "--out", out, "--column", "Boot", "2") == 0
    assert (out / "a.csv").read_text() == "Boot,text\nHouse,The house\n"
    assert translate(monkeypatch, "", folder, tmp_path / "a.csv", "--out", out, "--column", "no") == 2
    assert "has no column no" in capsys.readouterr().err


def test_the_encoding_of_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("Das Haus hört\n".encode("latin-1"))
    given = (folder, tmp_path / "a.txt", "--out", tmp_path / "out")
    assert translate(monkeypatch, "", *given) == 2
    assert "--encoding latin-1" in capsys.readouterr().err
    assert translate(monkeypatch, "", *given, "--encoding", "latin-1") == 0
    assert (tmp_path / "out" / "a.txt").read_bytes() == "The house hört\n".encode("latin-1")
    assert translate(monkeypatch, "", *given, "--encoding", "klingon") == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_model_without_a_card_is_what_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    plain = Path(shutil.copytree(folder, tmp_path / "plain"))
    (plain / "card.json").unlink()
    assert translate(monkeypatch, "Ein <b>rotes</b> Haus.\n", plain) == 0
    assert "<b>" not in capsys.readouterr().out
    assert translate(monkeypatch, "Ein <b>rotes</b> Haus.\n", plain, "--protect", "zzz") == 0
    assert capsys.readouterr().out == "A <b>red</b> house.\n"
    assert translate(monkeypatch, "das Haus\n", folder, "--nbest", 2, "--tokens") == 0  # what the model alone says
    assert capsys.readouterr().out.startswith("0 ||| the house ||| ")


def test_glossary_protect_keep(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "terms.tsv").write_text("Tor\tportal\n")
    (tmp_path / "stay.txt").write_text("Boot\n")
    given = ("--glossary", tmp_path / "terms.tsv", "--keep", tmp_path / "stay.txt", "--protect", "rot\\w+", "hi.r")
    assert translate(monkeypatch, "Ein rotes Tor steht hier.\nDas Boot\n", folder, *given) == 0
    assert capsys.readouterr().out == "A rotes portal stands hier.\nThe Boot\n"
    (tmp_path / "terms.tsv").write_text("Tor\n")
    assert translate(monkeypatch, "", folder, *given) == 2
    assert "terms.tsv:1: has no source and target term" in capsys.readouterr().err


def test_documents(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>Ein <b>rotes</b> Haus</p>")
    (tmp_path / "a.txt").write_text("Das Boot ist wichtig.\n")
    out = tmp_path / "out"
    assert translate(monkeypatch, "", folder, tmp_path / "page.html", tmp_path / "a.txt", "--out", out) == 0
    assert capsys.readouterr().out == ""
    assert (out / "page.html").read_text() == "<p>A <b>red</b> house</p>"
    assert (out / "a.txt").read_text() == "The boat is important.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.txt"], "Documents need a folder for their translations: --out DIR."),
        (["a.txt", "--out", "."], "would be overwritten"),
        (["a.xyz", "--out", "o"], "is not a kind of document"),
        (["a.txt", "b/a.txt", "--out", "o"], "would both become"),
        (["a.txt", "--out", "a.txt"], "is not a folder"),
        (["--out", "o"], "--out is for files"),
        (["--nbest", "3", "--quality"], "--nbest cannot be combined with --quality"),
        (["--tokens", "--scores"], "--scores cannot be combined with --tokens"),
        (["a.txt", "--out", "o", "--quality"], "--quality is for lines of text"),
        (["--column", "2"], "--column is for files"),
        (["--encoding", "utf-8"], "--encoding is for files"),
        (["--protect", "("], "not a regular expression"),
    ],
)
def test_what_does_not_go_together(
    folder: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("b").mkdir()
    for name in ("a.txt", "b/a.txt", "a.xyz"):
        Path(name).write_text("das Haus\n")
    assert translate(monkeypatch, "x\n", folder, *arguments) == 2
    output = capsys.readouterr()
    assert message in output.err and output.err.count("\n") == 1 and not output.out
    assert not Path("o").exists() or not list(Path("o").iterdir())


def test_a_packed_file_is_the_translator(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    packed, small = tmp_path / "own.hft", tmp_path / "small.hft"
    assert main(["pack", str(folder), str(packed)]) == 0
    assert main(["pack", str(folder), str(small), "--prune", "0.1"]) == 0
    assert "rules (" in capsys.readouterr().err and small.stat().st_size < packed.stat().st_size
    for file in (packed, small):
        assert translate(monkeypatch, TEXT, file) == 0
        assert capsys.readouterr().out == WANTED
    assert main(["inspect", str(packed)]) == 0
    (tmp_path / "no.hft").write_text("x")
    assert translate(monkeypatch, TEXT, tmp_path / "no.hft") == 2
    assert "no.hft: is not a packed translator" in capsys.readouterr().err


def test_train_into(folder: Path, tmp_path: Path, capsys: Capture) -> None:
    model = Path(shutil.copytree(folder, tmp_path / "model"))
    (tmp_path / "de").write_text("Ein rotes Haus steht hier.\nDas Boot ist wichtig.\nEin altes Tor.\n" * 4)
    (tmp_path / "en").write_text("A red house stands here.\nThe boat is important.\nAn old gate.\n" * 4)
    before = Model.open(model).weights
    files = ["--source", str(tmp_path / "de"), "--refs", str(tmp_path / "en")]
    given = ["--trainer", "mira", "--features", "small", "--set", "epochs=1", "--paper-start", "--into", str(model)]
    assert main(["train", str(model), *files, *given, "--out", str(tmp_path / "run")]) == 0
    from hopefear.formats import read_weights

    learnt = read_weights(tmp_path / "run" / "weights.txt")
    after = Model.open(model).weights
    assert after == {name: learnt.get(name, 0.0) for name in after} and after.keys() >= before.keys()
