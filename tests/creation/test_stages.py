"""Stages are done once."""

from pathlib import Path

import pytest

from hopefear.creation.stages import Work
from hopefear.errors import InputError
from hopefear.runs.session import SILENT


def test_stages_are_done_once(tmp_path: Path) -> None:
    done: list[int] = []

    def make() -> dict[str, object]:
        done.append(1)
        return {"value": 7}

    for _ in range(2):
        record = Work(tmp_path / "out", {"seed": 1}, SILENT).stage("one", make)
        assert record["value"] == 7
        assert record["seconds"] >= 0
    assert len(done) == 1
    Work(tmp_path / "out", {"seed": 2}, SILENT).stage("one", make)
    assert len(done) == 2


def test_a_first_stage_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> dict[str, object]:
        raise InputError("no")

    with pytest.raises(InputError):
        Work(tmp_path / "out", {}, SILENT).stage("one", fail)
    assert not list(tmp_path.iterdir())
    Work(tmp_path / "out", {}, SILENT).stage("one", dict)
    with pytest.raises(InputError):
        Work(tmp_path / "out", {}, SILENT).stage("two", fail)
    assert (tmp_path / "out.work" / "one.json").is_file()


def test_a_damaged_record_is_made_again(tmp_path: Path) -> None:
    work = Work(tmp_path / "out", {}, SILENT)
    work.stage("one", lambda: {"value": 1})
    (work.folder / "one.json").write_text('{"value": ')
    assert work.stage("one", lambda: {"value": 2})["value"] == 2


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out.work").mkdir()
    (tmp_path / "out.work" / "mine").write_text("x")
    with pytest.raises(InputError, match="was not made by hopefear"):
        Work(tmp_path / "out", {}, SILENT)
    assert (tmp_path / "out.work" / "mine").read_text() == "x"


def test_a_folder_with_settings_of_others_is_left_alone(tmp_path: Path) -> None:
    for text in ("x", "{}", "[1]"):
        (tmp_path / "out.work").mkdir(exist_ok=True)
        (tmp_path / "out.work" / "settings.json").write_text(text)
        with pytest.raises(InputError, match="was not made by hopefear"):
            Work(tmp_path / "out", {}, SILENT)
        assert (tmp_path / "out.work" / "settings.json").read_text() == text


@pytest.mark.parametrize("place", ["weights.txt", "model/card.json", "."])
def test_nothing_is_written_through_a_link(place: str, tmp_path: Path) -> None:
    """An archive can hold the stages of a command that its maker foresees, with links in them."""
    work = Work(tmp_path / "out", {}, SILENT)
    (tmp_path / "v").mkdir()
    (tmp_path / "v" / "thesis.txt").write_text("mine")
    if place == ".":
        work.folder.rename(tmp_path / "elsewhere")
        work.folder.symlink_to(tmp_path / "elsewhere")
    else:
        (work.folder / place).parent.mkdir(exist_ok=True)
        (work.folder / place).symlink_to(tmp_path / "v" / "thesis.txt")
    for settings in ({}, {"seed": 2}):
        with pytest.raises(InputError, match="is a link, through which files elsewhere would be written"):
            Work(tmp_path / "out", settings, SILENT)
    assert (tmp_path / "v" / "thesis.txt").read_text() == "mine"
