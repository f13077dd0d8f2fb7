"""Temporary files that killed processes left behind: hidden names that only hopefear makes, and only it removes.

A folder may come from anywhere, as an unpacked archive or a clone, with names that look like ours and lead elsewhere.
So everything here goes through descriptors: no link is followed, no other file system is entered, no name is taken from
a file. A folder counts as ours by a mark in it that names the folder and its inode, which no archive can know.
"""

# ruff: noqa: PTH208 -- folders are descriptors here

from __future__ import annotations

import fcntl
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

PART = ".hopefear.part"  # ends the names of what is being written
MARK = ".made-by-hopefear"
LIST = "ours"  # the names that an exchange removes, each before a null byte
_NAME = re.compile(rf"\.(.+)\.[a-z0-9_]{{8}}{re.escape(PART)}", re.DOTALL)  # what tempfile makes of prefix and suffix
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe must not hold us up
_MOST = 1 << 24  # bytes of a list
_SWEPT: set[Path] = set()  # folders in which this process has looked for what others left behind


@dataclass(frozen=True)
class LeftOver:
    """A hidden file or folder, by descriptors: the folder that has it, and itself, locked while it is written."""

    parent: int
    name: str
    lock: int

    @property
    def target(self) -> str:
        """The name that it was made for."""
        match = _NAME.fullmatch(self.name)
        return match[1] if match else ""

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(os.fstat(self.lock).st_mode)

    @property
    def mark(self) -> bytes:
        """The content of the mark in the folder: a copy of the folder has another inode, and is not ours."""
        return os.fsencode(f"{os.fstat(self.lock).st_ino} {self.name}\n")

    def sign(self) -> None:
        """Put the mark into a new folder."""
        mark = os.open(MARK, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=self.lock)
        try:
            os.write(mark, self.mark)
            os.fsync(mark)
        finally:
            os.close(mark)

    def remove(self) -> None:
        """Remove it; what an exchange of folders had not finished is finished first. What is not ours stays."""
        about = os.fstat(self.lock)
        if about.st_uid != os.geteuid() or self.target in ("", ".", ".."):
            return
        if not self.is_folder:
            if stat.S_ISREG(about.st_mode) and about.st_nlink == 1:
                os.unlink(self.name, dir_fd=self.parent)
        elif _content(self.lock, MARK) != self.mark:
            with suppress(OSError):  # killed before the mark was written, or no room for it: an empty folder or mark
                if os.listdir(self.lock) == [MARK] and _is_empty_file(self.lock, MARK):
                    os.unlink(MARK, dir_fd=self.lock)
                os.rmdir(self.name, dir_fd=self.parent)
        elif _settled(self):
            for entry in sorted(os.listdir(self.lock), key=lambda name: (name == LIST) + 2 * (name == MARK)):
                delete(self.lock, entry)
            os.rmdir(self.name, dir_fd=self.parent)


def _settled(left: LeftOver) -> bool:
    """The end of an exchange, also of one that was killed: nothing of what is not ours is lost."""
    if _is_folder(left.lock, "displaced") and not exists(left.parent, left.target):  # killed between two renames
        move(left.lock, "displaced", left.parent, left.target)
    ours = set(_content(left.lock, LIST).split(b"\0"))
    for name in ("displaced", "old"):
        if not _is_folder(left.lock, name):
            continue
        with folder(left.lock, name) as old:
            for entry in os.listdir(old):
                if os.fsencode(entry) in ours:
                    delete(old, entry)
            if not (others := os.listdir(old)):
                continue
            with folder(left.parent, left.target) as directory:
                for entry in others:
                    if not exists(directory, entry):
                        move(old, entry, directory, entry)
            if os.listdir(old):
                return False
    return True


@contextmanager
def folder(parent: int, name: str) -> Iterator[int]:
    """A folder in a folder, no link, as a descriptor."""
    descriptor = os.open(name, _FOLDER, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def exists(parent: int, name: str) -> bool:
    """Whether a folder has an entry of this name, even a broken link."""
    try:
        os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def move(source: int, name: str, to: int, as_name: str) -> None:
    """Rename from one folder into another."""
    os.rename(name, as_name, src_dir_fd=source, dst_dir_fd=to)


def delete(parent: int, name: str) -> None:
    """Remove an entry of a folder and all below it; links are removed, not followed, and other file systems left."""
    if not _is_folder(parent, name):
        os.unlink(name, dir_fd=parent)
        return
    with folder(parent, name) as inner:
        if os.fstat(inner).st_dev != os.fstat(parent).st_dev:
            raise OSError(f"{name} is another file system")
        for entry in os.listdir(inner):
            delete(inner, entry)
    os.rmdir(name, dir_fd=parent)


def _is_folder(parent: int, name: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def _is_empty_file(parent: int, name: str) -> bool:
    about = os.stat(name, dir_fd=parent, follow_symlinks=False)
    return stat.S_ISREG(about.st_mode) and about.st_nlink == 1 and about.st_size == 0


def _content(parent: int, name: str) -> bytes:
    """The bytes of a plain file of ours; of anything else, nothing."""
    try:
        descriptor = os.open(name, _FILE, dir_fd=parent)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        plain = stat.S_ISREG(about.st_mode) and about.st_nlink == 1 and about.st_uid == os.geteuid()
        return file.read(_MOST) if plain else b""


def locked(parent: int, name: str, surely: bool = False) -> LeftOver:
    """A file or folder, locked and still there; unless ``surely``, a file system without locks will do."""
    lock = os.open(name, _FILE, dir_fd=parent)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if surely or isinstance(error, BlockingIOError):
                raise
        if not os.path.samestat(os.fstat(lock), os.stat(name, dir_fd=parent, follow_symlinks=False)):
            raise FileNotFoundError(2, "another took its place", name)
    except OSError:
        os.close(lock)
        raise
    return LeftOver(parent, name, lock)


def sweep(folder: str | os.PathLike[str], deep: bool = False) -> None:
    """Remove what killed processes left half-written in a folder, once per process; ``deep``: in all below it too."""
    folder = Path(os.path.realpath(folder))
    if (not deep and folder in _SWEPT) or not folder.is_dir():
        return
    _SWEPT.add(folder)
    for _, folders, files, descriptor in os.fwalk(folder):  # does not follow links
        for name in [*folders, *files]:
            if _NAME.fullmatch(name):
                with suppress(OSError, RecursionError):  # gone, locked by its writer, or not ours to remove
                    left = locked(descriptor, name, surely=True)
                    try:
                        left.remove()
                    finally:
                        os.close(left.lock)
        folders[:] = [name for name in folders if deep and not _NAME.fullmatch(name)]
