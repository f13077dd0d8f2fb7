"""A command of the user's, and everything that it starts: all of it ends when the command ends, or when we do.

A small process of our own starts the command. On Linux it is also the one to which orphans fall, so what left the
process group of the command, by ``setsid`` or as a daemon does, is still found below it.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from hopefear.util.processes import FORKS, die_with, fork

PATIENCE = 5.0  # seconds between asking a command to end and ending it
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_LONGEST = 2**31 - 1  # milliseconds that a system waits


def run_shell(line: str, out: int, err: int, timeout: float | None) -> int | None:
    """Run a line of shell with nothing to read; its exit code, or None if it took too long and was ended."""
    if not FORKS:
        return _run_group(line, out, err, timeout)
    life, ours = os.pipe()
    status, theirs = os.pipe()
    supervisor = fork()
    if supervisor == 0:
        _supervise(line, out, err, life, theirs)
    os.close(life)
    os.close(theirs)
    ended = False
    try:
        poller = select.poll()
        poller.register(status, select.POLLIN)
        ended = bool(poller.poll(None if timeout is None else min(1000 * timeout, _LONGEST)))
        return int(os.read(status, 16) or -signal.SIGKILL) if ended else None  # nothing: the supervisor was killed
    finally:
        if not ended:
            os.write(ours, b"x")
        os.close(ours)
        os.waitpid(supervisor, 0)
        os.close(status)


def _supervise(line: str, out: int, err: int, life: int, status: int) -> NoReturn:
    """The supervisor's main function. A byte from ``life`` asks it to end the command; end of file: we are gone."""
    try:
        os.setsid()  # Ctrl-C is not for it
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        with suppress(AttributeError, OSError):
            ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        out, err, life, status = _keep_only(out, err, life, status)
        supervisor = os.getpid()
        command = fork()
        if command == 0:
            _become(line, out, err, supervisor)
        code = _wait(command, life)
        _end_all(command)
        os.write(status, b"%d" % code)
    finally:
        os._exit(0)


def _keep_only(*files: int) -> list[int]:
    """Close all files but these, which get other numbers; the standard ones lead nowhere."""
    kept = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 3) for descriptor in files]
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(null, number)
    first = 3
    for descriptor in sorted(kept):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))
    return kept


def _become(line: str, out: int, err: int, supervisor: int) -> NoReturn:
    try:
        os.setsid()
        die_with(supervisor)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        os.execv("/bin/sh", ["/bin/sh", "-c", line])
    finally:
        os._exit(127)


def _wait(command: int, life: int) -> int:
    """The exit code of the command, which is asked to end if we are."""
    poller = select.poll()
    poller.register(life, select.POLLIN)
    pause = 20  # milliseconds
    with suppress(AttributeError, OSError):
        poller.register(os.pidfd_open(command), select.POLLIN)
        pause = 60_000
    while True:
        asked = life in dict(poller.poll(pause))
        gone, status = os.waitpid(command, os.WNOHANG)
        if gone:
            return os.waitstatus_to_exitcode(status)
        if asked and os.read(life, 1):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(command, signal.SIGTERM)
            until = time.monotonic() + PATIENCE
            while _below(os.getpid()) and time.monotonic() < until:
                time.sleep(0.02)
        if asked:
            return -signal.SIGTERM


def _end_all(command: int) -> None:
    """Kill what is left of the command and of what it started, until nothing is."""
    until = time.monotonic() + PATIENCE  # what waits for a broken disk cannot be killed
    while time.monotonic() < until:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(command, signal.SIGKILL)
        for process in _below(os.getpid()):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.005)


def _below(ancestor: int) -> list[int]:
    """The processes that descend from one and still run, where the system has /proc."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            state, parent = stat.read_text(errors="replace").rpartition(")")[2].split()[:2]
            if state not in "ZX":
                parents[int(stat.parent.name)] = int(parent)
    below, last = set[int](), {ancestor}
    while last := {process for process, parent in parents.items() if parent in last} - below:
        below |= last
    return sorted(below)


def _run_group(line: str, out: int, err: int, timeout: float | None) -> int | None:
    """``run_shell`` without fork: ends the process group of the command."""
    process = subprocess.Popen(
        line, shell=True, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
    )
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
        return None
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
