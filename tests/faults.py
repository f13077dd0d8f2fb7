"""Faults at chosen moments: a command is killed, or the system refuses, at the k-th event that changes the file system.

Python tells an audit hook of every file that is opened, renamed or removed. In a forked process, :func:`run` counts the
events that change something, and makes one of them fail.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopefear.cli.main import main

CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.truncate", "ctypes.dlsym"}
WAYS = ("kill", "disk full", "broken disk", "no memory")


@dataclass(frozen=True)
class Ended:
    """How a command ended, what it said on standard error, and how many events there were."""

    code: int
    said: str
    events: int


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


def run(arguments: Sequence[str], folder: Path, at: int = 0, way: str = "kill", lasting: bool = False) -> Ended:
    """``hopefear ARGUMENTS`` in this folder, with a fault at an event (0: none); ``lasting``: at all after it too."""
    events, said = folder.with_suffix(".events"), folder.with_suffix(".said")
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        code = 70
        try:
            code = _in_child(arguments, folder, events, said, at, way, lasting)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return Ended(status, said.read_text(), int(events.read_text()) if events.exists() else 0)


def _in_child(
    arguments: Sequence[str], folder: Path, events: Path, said: Path, at: int, way: str, lasting: bool
) -> int:
    output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(output, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    sys.stdin = (folder / "stdin" if (folder / "stdin").exists() else Path(os.devnull)).open()
    os.chdir(folder)
    os.environ.pop("HOPEFEAR_DEBUG", None)
    count = [0]

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if _changes(event, args):
            count[0] += 1
            if at and (count[0] == at or (lasting and count[0] > at)):
                _fail(way)

    sys.addaudithook(hook)
    code = main(list(arguments))
    sys.stderr.flush()
    at = 0
    events.write_text(str(count[0]))
    return code
