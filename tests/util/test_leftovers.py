"""What an unpacked archive or a clone can hold under names of ours: nothing of it leads anywhere."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hopefear.util import leftovers
from hopefear.util.atomic import atomic_folder, atomic_write
from hopefear.util.leftovers import LIST, MARK, PART, sweep


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if this process had not looked into any folder yet."""
    monkeypatch.setattr(leftovers, "_SWEPT", set())


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A folder of the user's, outside of the one that is swept."""
    folder = tmp_path / "mine"
    (folder / "old" / "chapters").mkdir(parents=True)
    (folder / "thesis.txt").write_text("mine")
    (folder / "old" / "thesis.txt").write_text("mine")
    (folder / "old" / "chapters" / "1.txt").write_text("mine")
    return folder


def tree(folder: Path) -> list[tuple[str, object]]:
    """All paths below a folder with what they hold."""

    def content(path: Path) -> object:
        if path.is_symlink():
            return path.readlink()
        return path.read_bytes() if path.is_file() else path.stat().st_mode

    return sorted((str(path), content(path)) for path in _below(folder))


def _below(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        yield from (Path(root, name) for name in [*folders, *files])


def planted(folder: Path, name: str = "m", *, marked: bool = False) -> Path:
    """A folder as a killed process leaves it; ``marked``: with a forged mark."""
    aside = folder / f".{name}.abcdefgh{PART}"
    aside.mkdir(parents=True)
    if marked:
        (aside / MARK).write_text(f"{aside.stat().st_ino} {aside.name}\n")
    return aside


def listed(aside: Path, *names: str) -> None:
    (aside / LIST).write_text("".join(f"{name}\0" for name in names))


def test_what_was_killed_while_it_made_its_mark_is_removed(tmp_path: Path) -> None:
    (planted(tmp_path) / MARK).write_text("")
    planted(tmp_path, "n")
    sweep(tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [MARK, "thesis.txt"])
def test_an_empty_mark_removes_nothing(name: str, tmp_path: Path, mine: Path) -> None:
    aside = planted(tmp_path)
    (aside / "thesis.txt").write_text("mine")
    if name == MARK:
        (aside / MARK).write_text("")
    else:
        (aside / MARK).symlink_to(mine / "thesis.txt")
    before = tree(tmp_path)
    sweep(tmp_path)
    assert tree(tmp_path) == before


def test_a_folder_for_whose_mark_there_is_no_room_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(number: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"), atomic_folder(tmp_path / "m"):
        pass
    assert not list(tmp_path.iterdir())


def old_is_a_link(folder: Path, mine: Path, marked: bool) -> None:
    aside = planted(folder, marked=marked)
    (aside / "old").symlink_to(mine)
    listed(aside, "thesis.txt", "old")


def displaced_is_a_link(folder: Path, mine: Path, marked: bool) -> None:
    aside = planted(folder, marked=marked)
    (aside / "displaced").symlink_to(mine)
    listed(aside, "thesis.txt", "old")


def links_in_old(folder: Path, mine: Path, marked: bool) -> None:
    aside = planted(folder, marked=marked)
    (folder / "m").mkdir()
    (aside / "old").mkdir()
    (aside / "old" / "a").symlink_to(mine)
    (aside / "old" / "b").symlink_to(mine / "thesis.txt")
    (aside / "old" / "deep").mkdir()
    (aside / "old" / "deep" / "c").symlink_to(mine)
    listed(aside, "a", "b", "deep")


def names_that_lead_out(folder: Path, mine: Path, marked: bool) -> None:
    aside = planted(folder, marked=marked)
    (folder / "m").mkdir()
    (aside / "old").mkdir()
    outside = os.path.relpath(mine / "thesis.txt", aside / "old")
    listed(aside, str(mine / "thesis.txt"), outside, "..", ".", "", "../../../mine", str(mine))


def target_is_a_link(folder: Path, mine: Path, marked: bool) -> None:
    aside = planted(folder, marked=marked)
    (folder / "m").symlink_to(mine)
    (aside / "old").mkdir()
    (aside / "old" / "new.txt").write_text("planted")
    (aside / "displaced").mkdir()
    (aside / "displaced" / "newer.txt").write_text("planted")


def target_is_above(folder: Path, mine: Path, marked: bool) -> None:
    aside = planted(folder, "..", marked=marked)
    (aside / "old").mkdir()
    (aside / "old" / "planted").write_text("planted")
    (aside / "displaced").mkdir()
    listed(aside, "thesis.txt")


def target_is_here(folder: Path, mine: Path, marked: bool) -> None:
    aside = planted(folder, ".", marked=marked)
    (aside / "displaced").mkdir()
    (aside / "displaced" / "planted").write_text("planted")


def aside_is_a_link(folder: Path, mine: Path, marked: bool) -> None:
    folder.mkdir()
    if marked:
        (mine / MARK).write_text(f"{mine.stat().st_ino} .m.abcdefgh{PART}\n")
    (folder / f".m.abcdefgh{PART}").symlink_to(mine)
    listed(mine, "thesis.txt", "chapters")


def aside_is_a_link_to_a_file(folder: Path, mine: Path, marked: bool) -> None:
    folder.mkdir()
    (folder / f".m.abcdefgh{PART}").symlink_to(mine / "thesis.txt")


def list_is_a_link(folder: Path, mine: Path, marked: bool) -> None:
    """The names in a file of the user's would say what is removed."""
    aside = planted(folder, marked=marked)
    (folder / "m").mkdir()
    (aside / "old").mkdir()
    (aside / "old" / "mine").write_text("kept")
    (aside / LIST).symlink_to(mine / "thesis.txt")


def list_is_a_pipe(folder: Path, mine: Path, marked: bool) -> None:
    aside = planted(folder, marked=marked)
    (folder / "m").mkdir()
    (aside / "old").mkdir()
    os.mkfifo(aside / LIST)


def hard_links(folder: Path, mine: Path, marked: bool) -> None:
    aside = planted(folder, marked=marked)
    (folder / "m").mkdir()
    (aside / "old").mkdir()
    (aside / "old" / "a").hardlink_to(mine / "thesis.txt")
    (aside / LIST).hardlink_to(mine / "old" / "thesis.txt")
    (folder / f".n.abcdefgh{PART}").hardlink_to(mine / "thesis.txt")


def mark_is_a_link(folder: Path, mine: Path, marked: bool) -> None:
    aside = planted(folder)
    (mine / "mark").write_text(f"{aside.stat().st_ino} {aside.name}\n")
    (aside / MARK).symlink_to(mine / "mark")
    (aside / "old").symlink_to(mine)


def one_in_another(folder: Path, mine: Path, marked: bool) -> None:
    outer = planted(folder, marked=marked)
    (folder / "m").mkdir()
    (outer / "old").mkdir()
    inner = planted(outer / "old", "n", marked=marked)
    (inner / "old").symlink_to(mine)
    listed(inner, "thesis.txt")


PLANTED = [
    old_is_a_link,
    displaced_is_a_link,
    links_in_old,
    names_that_lead_out,
    target_is_a_link,
    target_is_above,
    target_is_here,
    aside_is_a_link,
    aside_is_a_link_to_a_file,
    list_is_a_link,
    list_is_a_pipe,
    hard_links,
    mark_is_a_link,
    one_in_another,
]


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("plant", PLANTED)
def test_nothing_outside_is_touched(
    plant: Callable[[Path, Path, bool], None], marked: bool, deep: bool, tmp_path: Path, mine: Path
) -> None:
    folder = tmp_path / "e"
    plant(folder, mine, marked)
    before, above = tree(mine), sorted(path.name for path in tmp_path.iterdir())
    inside, links = tree(folder), (mine / "thesis.txt").stat().st_nlink
    with atomic_write(folder / "out") as file:
        file.write("text")
    with atomic_folder(folder / "more") as new:
        (new / "a").write_text("1")
    sweep(folder, deep=deep)
    assert tree(mine) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == above
    assert (mine / "thesis.txt").stat().st_nlink == links
    if not marked:  # not ours: it stays as it is
        added = {str(folder / name) for name in ("out", "more", "more/a")}
        assert [entry for entry in tree(folder) if entry[0] not in added] == inside


def test_a_folder_of_the_users_with_such_a_name_stays(tmp_path: Path) -> None:
    aside = planted(tmp_path)
    (aside / "thesis.txt").write_text("mine")
    sweep(tmp_path)
    assert (aside / "thesis.txt").read_text() == "mine"


def test_a_copy_of_a_left_over_is_not_ours(tmp_path: Path) -> None:
    original = planted(tmp_path / "a", marked=True)
    (original / "new").mkdir()
    (tmp_path / "b").mkdir()
    shutil.copytree(original, copy := tmp_path / "b" / original.name)
    sweep(tmp_path, deep=True)
    assert copy.is_dir() and not original.exists()


def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f".m.abcdefgh{PART}")
    sweep(tmp_path)
    assert (tmp_path / f".m.abcdefgh{PART}").exists()


def test_what_another_user_left_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    aside = planted(tmp_path, marked=True)
    (tmp_path / f".n.abcdefgh{PART}").write_text("half")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    sweep(tmp_path)
    assert aside.exists() and (tmp_path / f".n.abcdefgh{PART}").exists()


def test_another_file_system_is_not_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    aside = planted(tmp_path, marked=True)
    (aside / "new" / "mounted").mkdir(parents=True)
    (aside / "new" / "mounted" / "thesis.txt").write_text("mine")
    mounted, fstat = (aside / "new" / "mounted").stat().st_ino, os.fstat

    def elsewhere(descriptor: int) -> os.stat_result:
        about = fstat(descriptor)
        return os.stat_result((*about[:2], about.st_dev + (about.st_ino == mounted), *about[3:10]))

    monkeypatch.setattr(os, "fstat", elsewhere)
    sweep(tmp_path)
    assert (aside / "new" / "mounted" / "thesis.txt").read_text() == "mine"


def test_folders_without_end_are_left(tmp_path: Path) -> None:
    aside = planted(tmp_path, marked=True)
    descriptor = os.open(aside, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("x", dir_fd=descriptor)
        inner = os.open("x", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
    sweep(tmp_path)
    with atomic_write(tmp_path / "out") as file:
        file.write("text")
    assert (tmp_path / "out").read_text() == "text"
    subprocess.run(["rm", "-rf", str(aside)], check=True)  # deeper than Python can go


def test_a_folder_killed_before_its_mark_is_swept(tmp_path: Path) -> None:
    aside = planted(tmp_path)
    sweep(tmp_path)
    assert not aside.exists()


@pytest.mark.parametrize("step", ["old", "displaced"])
def test_what_a_killed_exchange_left_is_brought_back(tmp_path: Path, step: str) -> None:
    aside = planted(tmp_path, marked=True)
    (aside / step).mkdir()
    (aside / step / "thesis.txt").write_text("mine")
    (aside / step / "model").write_text("old")
    listed(aside, "model")
    if step == "old":
        (tmp_path / "m").mkdir()
    sweep(tmp_path)
    assert (tmp_path / "m" / "thesis.txt").read_text() == "mine" and not aside.exists()
    assert (tmp_path / "m" / "model").exists() == (step == "displaced")
