"""Help for tests that kill a process and look for what it left running."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path


def is_running(process: int) -> bool:
    """Whether there is such a process, and not only its exit code."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(what: Callable[[], object], seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.01)


def process_in(file: Path) -> int:
    """The number that a process writes into a file, with a line end."""
    wait_for(lambda: file.exists() and file.read_text().endswith("\n"))
    return int(file.read_text())


def kill_while(work: Callable[[], object], child: Path) -> int:
    """Run this in a process, and kill that as soon as ``child`` names one that it started; the one it started."""
    process = os.fork()
    if process == 0:
        try:
            work()
        finally:
            os._exit(0)
    started = process_in(child)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return started
