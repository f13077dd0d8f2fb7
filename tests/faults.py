"""Faults at chosen moments: a command is killed, or the system refuses, at the k-th event that changes the file system.

Python tells an audit hook of every file that is opened, renamed or removed. In a forked process, :func:`run` counts the
events that change something, and makes one of them fail. Or it is killed after a time on the processor, or has little
room to write.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopefear.cli.main import main

CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.truncate", "ctypes.dlsym"}
WAYS = ("kill", "disk full", "broken disk", "no memory")


@dataclass(frozen=True)
class Fault:
    """What goes wrong, and when: at an event from 1 on, and at all after it if ``lasting``; or after CPU seconds.

    Or there is little ``room``: bytes that are left on a small disk, if the folder is on top of one, or bytes that a
    file may have.
    """

    event: int = 0
    way: str = "kill"
    lasting: bool = False
    seconds: float = 0.0
    room: int | None = None


@dataclass(frozen=True)
class Ended:
    """How a command ended, what it printed and said on standard error, its events and CPU seconds."""

    code: int
    printed: str
    said: str
    events: int
    seconds: float

    @property
    def killed(self) -> bool:
        return self.code in (-signal.SIGKILL, -signal.SIGPROF)


def note(folder: Path, suffix: str) -> Path:
    """A file beside the folder; on no small disk."""
    beside = folder.parent if folder.parent.is_mount() else folder
    return beside.with_name(folder.name + suffix)


@contextmanager
def _filled(disk: Path, room: int | None) -> Iterator[None]:
    """A small disk, full but for some bytes."""
    if room is None or not disk.is_mount():
        yield
        return
    ballast, about = disk / "ballast", os.statvfs(disk)
    ballast.write_bytes(bytes(about.f_bavail * about.f_frsize - room))
    yield
    ballast.unlink()


def _changes(event: str, args: tuple[Any, ...]) -> bool:
    if event == "open":
        path, _, flags = args
        writes = isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))
        return writes and isinstance(path, str | bytes | os.PathLike) and not os.fsdecode(path).startswith("/dev/")
    return event in CHANGES


def _fail(way: str) -> None:
    if way == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "no memory":
        raise MemoryError
    number = errno.ENOSPC if way == "disk full" else errno.EIO
    raise OSError(number, os.strerror(number))


@dataclass(frozen=True)
class Started:
    """A command at work."""

    process: int
    folder: Path

    @property
    def said(self) -> str:
        path = note(self.folder, ".said")
        return path.read_text() if path.exists() else ""

    def wait(self, block: bool = True) -> Ended | None:
        """How it ended; without ``block``, nothing if it has not."""
        process, status, usage = os.wait4(self.process, 0 if block else os.WNOHANG)
        if not process:
            return None
        events = note(self.folder, ".events")
        return Ended(
            os.waitstatus_to_exitcode(status),
            note(self.folder, ".printed").read_text(),
            self.said,
            int(events.read_text()) if events.exists() else 0,
            usage.ru_utime + usage.ru_stime,
        )


def start(arguments: Sequence[str], folder: Path, fault: Fault = Fault()) -> Started:
    """``hopefear ARGUMENTS`` in this folder, with a fault."""
    for suffix in (".events", ".said", ".printed"):
        note(folder, suffix).unlink(missing_ok=True)
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        code = 70
        try:
            code = _in_child(arguments, folder, fault)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return Started(process, folder)


def run(arguments: Sequence[str], folder: Path, fault: Fault = Fault()) -> Ended:
    """How ``hopefear ARGUMENTS`` ended in this folder, with a fault."""
    with _filled(folder.parent, fault.room):
        ended = start(arguments, folder, fault).wait()
    assert ended is not None
    return ended


def _in_child(arguments: Sequence[str], folder: Path, fault: Fault) -> int:
    for number, suffix in ((1, ".printed"), (2, ".said")):
        os.dup2(os.open(note(folder, suffix), os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    sys.stdin = (folder / "stdin" if (folder / "stdin").exists() else Path(os.devnull)).open()
    os.chdir(folder)
    os.environ.pop("HOPEFEAR_DEBUG", None)
    count, at = [0], fault.event

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if _changes(event, args):
            count[0] += 1
            if at and (count[0] == at or (fault.lasting and count[0] > at)):
                _fail(fault.way)

    sys.addaudithook(hook)
    if fault.seconds:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, fault.seconds)
    most = resource.getrlimit(resource.RLIMIT_FSIZE)
    if fault.room is not None and not folder.parent.is_mount():
        resource.setrlimit(resource.RLIMIT_FSIZE, (fault.room, most[1]))
    code = main(list(arguments))
    resource.setrlimit(resource.RLIMIT_FSIZE, most)
    sys.stderr.flush()
    at = 0
    signal.setitimer(signal.ITIMER_PROF, 0)
    note(folder, ".events").write_text(str(count[0]))
    return code
