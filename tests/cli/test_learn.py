"""``hopefear learn``, and ``hopefear translate --learn``."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from hopefear.cli.main import main
from hopefear.translator.folder import write_card
from tests import faults
from tests.cli.capture import Capture, one_line
from tests.elsewhere import held_elsewhere

SOURCE = ["the old dingsda", "", "a dingsda here"]
TARGET = ["le vieux gizmo", "", "un gizmo ici"]


@pytest.fixture
def folder(task: Path, tmp_path: Path) -> Path:
    """A translator, source and target."""
    import shutil

    shutil.copytree(task / "model", tmp_path / "small")
    write_card(tmp_path / "small", {"name": "small", "source": "es", "target": "en"})
    (tmp_path / "source").write_text("".join(f"{line}\n" for line in SOURCE))
    (tmp_path / "target").write_text("".join(f"{line}\n" for line in TARGET))
    return tmp_path


def learn(folder: Path, *arguments: object) -> int:
    return main(["learn", str(folder / "small"), *map(str, arguments)])


def test_learn_list_undo(folder: Path, capsys: Capture) -> None:
    assert learn(folder, "--source", folder / "source", "--target", folder / "target", "--user", "eve") == 0
    output = capsys.readouterr()
    assert [line.split(",")[0] for line in output.out.splitlines()] == ["1 learnt", "2 learnt"]
    assert "2 learnt, 1 empty" in output.err
    assert learn(folder, "--list") == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [(row[0], *row[2:]) for row in rows] == [
        ("1", "eve", "learnt", SOURCE[0], TARGET[0]),
        ("2", "eve", "learnt", SOURCE[2], TARGET[2]),
    ]
    assert learn(folder, "--undo", "2") == 0
    assert capsys.readouterr().out == "2 undone\n"
    assert learn(folder, "--since", "2020-01-01") == 0
    assert capsys.readouterr().out == "1 undone\n"


def test_export_and_learn_from_it(folder: Path, capsys: Capture) -> None:
    learn(folder, "--source", folder / "source", "--target", folder / "target")
    assert learn(folder, "--export", folder / "memory.tmx") == 0
    capsys.readouterr()
    assert learn(folder, "--target", folder / "memory.tmx", "--layer", "new") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["new:1", "new:2"]
    assert (folder / "small/corrections/layers/new/journal.jsonl").is_file()


@pytest.mark.parametrize("name", ["day.tsv", "day.CSV"])
def test_a_table_has_both_sides(folder: Path, capsys: Capture, name: str) -> None:
    sep = "," if name.endswith("CSV") else "\t"
    rows = [("es", "en"), *((source, target) for source, target in zip(SOURCE, TARGET, strict=True) if source)]
    (folder / name).write_text("".join(f"{source}{sep}{target}\n" for source, target in rows))
    assert learn(folder, "--target", folder / name) == 0
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()] == ["1 learnt", "2 learnt"]


def test_a_stream_of_corrections(folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a dingsda\ta gizmo\na dingsda\n\nx\t\n")))
    assert main(["translate", str(folder / "small"), "--learn"]) == 0
    assert capsys.readouterr().out.splitlines()[1:3] == ["a gizmo", ""]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give one of --target, --undo, --since, --list, --export"),
        (["--list", "--undo", "1"], "give one of"),
        (["--target", "target"], "--target needs --source"),
        (["--source", "source", "--target", "short"], "short: has 1 lines, but source has 3"),
        (["--undo", "5"], "there is no correction 5"),
        (["--since", "monday"], "'monday' is not a time"),
        (["--list", "--layer", "a/b"], "is not a layer name"),
        (["--source", "source", "--target", "target", "--list"], "give one of"),
    ],
)
def test_bad_input(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(folder)
    Path("short").write_text("x\n")
    assert main(["learn", "small", *arguments]) == 2
    assert message in one_line(capsys)


def test_tmx_needs_languages(folder: Path, capsys: Capture) -> None:
    (folder / "small/card.json").unlink()
    assert learn(folder, "--export", folder / "x.tmx") == 2
    assert "its languages have no codes" in one_line(capsys)


def test_a_second_writer_is_refused(folder: Path, capsys: Capture) -> None:
    with held_elsewhere(folder / "small/corrections"):
        assert learn(folder, "--source", folder / "source", "--target", folder / "target") == 2
        assert "another process is writing to this journal" in capsys.readouterr().err
    assert learn(folder, "--source", folder / "source", "--target", folder / "target") == 0


@pytest.mark.parametrize("way", ["kill", "disk full"])
def test_faults_leave_a_journal_that_is_right(folder: Path, way: str) -> None:
    """At every event: what is in the journal afterwards is a beginning of what belongs there."""
    arguments = ["learn", "small", "--source", "source", "--target", "target"]
    small = folder / "small"
    for at in range(1, 30):
        import shutil

        shutil.rmtree(small / "corrections", ignore_errors=True)
        ended = faults.run(arguments, folder, faults.Fault(at, way))
        assert "Traceback" not in ended.said
        from hopefear.learning.journal import Journal

        sources = [record.source for record in Journal(small / "corrections").read()]
        assert sources == [SOURCE[0], SOURCE[2]][: len(sources)]
        if ended.code == 0:
            assert len(sources) == 2
            break
    else:
        raise AssertionError("the command never came to its end")
    assert at > 1
