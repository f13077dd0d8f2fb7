"""Files and folders that are whole or not there, also when the process is killed while it writes them."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from hopefear import InputError
from hopefear.util import atomic, leftovers
from hopefear.util.atomic import PART, atomic_file, atomic_folder, atomic_write, sweep
from hopefear.util.files import os_error


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if this process had not looked into any folder yet."""
    monkeypatch.setattr(leftovers, "_SWEPT", set())


def killed(work: Callable[[], object]) -> None:
    """Do this in a process of its own, which must end by SIGKILL."""
    process = os.fork()
    if process == 0:
        try:
            work()
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == -signal.SIGKILL


def die(*args: object, **more: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob(f"*{PART}"))


def write_half(path: Path) -> None:
    with atomic_write(path) as file:
        file.write("half")
        file.flush()
        die()


def fill_half(path: Path) -> None:
    with atomic_folder(path) as folder:
        (folder / "a").write_text("half")
        die()


@pytest.mark.parametrize("work", [write_half, fill_half])
def test_the_next_writer_removes_what_a_killed_one_left(tmp_path: Path, work: Callable[[Path], None]) -> None:
    killed(lambda: work(tmp_path / "out"))
    assert len(left(tmp_path)) == 1
    with atomic_write(tmp_path / "other") as file:
        file.write("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_what_is_being_written_is_left_alone(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "file") as file, atomic_folder(tmp_path / "folder") as folder:
        file.write("text")
        sweep(tmp_path, deep=True)
        (folder / "a").write_text("1")
    assert (tmp_path / "file").read_text() == "text" and (tmp_path / "folder" / "a").read_text() == "1"
    assert not left(tmp_path)


def test_a_folder_is_swept_with_all_below_it(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    killed(lambda: write_half(tmp_path / "a" / "b" / "file"))
    sweep(tmp_path)
    assert left(tmp_path)
    sweep(tmp_path, deep=True)
    assert not left(tmp_path)


def ours(folder: Path) -> list[str]:
    return ["model"]


def replace(path: Path) -> None:
    with atomic_folder(path, ours) as folder:
        (folder / "model").write_text("new")
        (folder / "more").write_text("new")


def old_folder(path: Path) -> Path:
    (path / "run").mkdir(parents=True)
    (path / "run" / "weights").write_text("mine")
    (path / "thesis.txt").write_text("mine")
    (path / "model").write_text("old")
    return path


def test_only_what_is_ours_is_removed(tmp_path: Path) -> None:
    path = old_folder(tmp_path / "m")
    replace(path)
    assert {p.name for p in path.iterdir()} == {"model", "more", "run", "thesis.txt"}
    assert (path / "model").read_text() == "new" and (path / "run" / "weights").read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_a_foreign_file_blocks_the_output(tmp_path: Path) -> None:
    path = old_folder(tmp_path / "m")
    (path / "more").write_text("mine")
    with pytest.raises(InputError, match=r"m: holds more, not made by hopefear\. Move it, or choose another --out"):
        replace(path)
    assert (path / "more").read_text() == "mine" and (path / "model").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize("can_swap", [True, False])
@pytest.mark.parametrize("step", range(1, 16))
def test_killed_anywhere_while_a_folder_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can_swap: bool, step: int
) -> None:
    """At every rename, and before and after the exchange: a model stays, and nothing of the user's is lost."""
    path = old_folder(tmp_path / "m")
    steps = iter(range(1, 100))

    def counted(function: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object) -> object:
            if next(steps) == step:
                die()
            result = function(*args)
            if next(steps) == step:
                die()
            return result

        return call

    def work() -> None:
        if not can_swap:
            atomic._swapped = lambda one, other: False
        atomic._swapped = counted(atomic._swapped)  # type: ignore[assignment]
        leftovers.delete = counted(leftovers.delete)  # type: ignore[assignment]
        leftovers.move = counted(leftovers.move)  # type: ignore[assignment]
        Path.rename = counted(Path.rename)  # type: ignore[method-assign,assignment]
        replace(path)
        die()

    killed(work)
    if can_swap:
        assert (path / "model").exists()
    sweep(tmp_path)
    assert (path / "model").read_text() in ("old", "new")
    assert (path / "more").exists() == ((path / "model").read_text() == "new")
    assert (path / "thesis.txt").read_text() == (path / "run" / "weights").read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_a_full_disk_is_named_by_the_file_that_was_asked_for(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No space") as caught, atomic_write(tmp_path / "file"):
        raise OSError(28, "No space left on device")
    assert caught.value.filename == str(tmp_path / "file") and not left(tmp_path)


def test_a_file_filled_by_another_writer(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    old = os.umask(0o077)
    try:
        with atomic_file(tmp_path / "link") as aside:
            aside.write_text("text")
    finally:
        os.umask(old)
    assert (tmp_path / "file").read_text() == "text" and (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


def test_the_folder_of_a_file_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(str(Path(f"/proc/self/fd/{number}").readlink())))
    with atomic_write(tmp_path / "file") as file:
        file.write("text")
    assert synced[-1] == str(tmp_path) and PART in synced[0]


def test_without_locks_files_are_written_and_nothing_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    other = tmp_path / f".x.abcdefgh{PART}"
    other.write_text("another machine is writing this")
    with atomic_write(tmp_path / "file") as file:
        file.write("text")
    assert (tmp_path / "file").read_text() == "text" and other.exists()


def test_a_full_disk_inside_a_new_folder_names_what_the_user_knows(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught, atomic_folder(tmp_path / "out") as folder:
        raise os_error(folder / "grammar.gz", OSError(errno.ENOSPC, "No space left on device"))
    assert str(caught.value).startswith(f"{tmp_path}/out/grammar.gz: the disk is full") and not left(tmp_path)
