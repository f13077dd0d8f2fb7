"""Independent tasks in processes of their own, on one machine.

A task is forked, so it sees everything that was loaded before, pools and memory maps included, without a copy. What it
says (progress) and what it returns travel as JSON through a pipe. Results come in the order of the tasks, not in
that in which they end. A single task is forked too: then Ctrl-C is heard while it is deep inside the compiled core.
"""

from __future__ import annotations

import ctypes
import fcntl
import gc
import json
import os
import selectors
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from hopefear.errors import InputError

Say = Callable[[dict[str, Any]], object]
Task = Callable[[Say], dict[str, Any]]


FORKS = hasattr(os, "fork") and sys.platform != "darwin"  # where the system's own libraries survive a fork


_PRIVATE: set[int] = set()  # open files that forked processes do not keep


def close_in_children(descriptor: int) -> None:
    """Forked processes close this file when they begin; the opener closes it by :func:`close_private`."""
    _PRIVATE.add(descriptor)


def close_private(descriptor: int) -> None:
    """Close a descriptor that children do not inherit."""
    _PRIVATE.discard(descriptor)
    with suppress(OSError):  # a lock ends at once, even if a forked process still has the file
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)


def _close_private() -> None:
    for descriptor in _PRIVATE:
        with suppress(OSError):
            os.close(descriptor)
    _PRIVATE.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_private)


def fork() -> int:
    """``os.fork``, but what is garbage here is never collected in the child.

    A destructor may wait for threads, which the child does not have: those of Ray did, for ever.
    """
    process = os.fork()
    if not process:
        gc.freeze()
    return process


def die_with(parent: int) -> None:
    """Kill this process when its parent dies, so that no orphan is left. Linux only."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


class TaskError(RuntimeError):
    """A task failed for no fault of the user's."""


#: What a task can fail with, by the word for it in its pipe.
_ERRORS: dict[str, type[Exception]] = {
    "input": InputError,
    "memory": MemoryError,
    "system": OSError,
    "failed": TaskError,
}


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_tasks(
    tasks: Sequence[Task],
    jobs: int = 0,
    on_message: Callable[[int, dict[str, Any]], object] = lambda task, message: None,
) -> list[dict[str, Any]]:
    """The results of all tasks, ``jobs`` of them at a time (0: one per core).

    ``on_message`` gets the messages of task i. The first task that fails ends the others, and its error is raised here.
    """
    jobs = max(1, min(jobs or cores(), len(tasks)))
    if not FORKS:
        return [task(lambda message, i=i: on_message(i, message)) for i, task in enumerate(tasks)]  # type: ignore[misc]
    results: dict[int, dict[str, Any]] = {}
    waiting = list(range(len(tasks)))[::-1]
    children: dict[int, tuple[int, int]] = {}  # task -> process, pipe
    partial = [b""] * len(tasks)  # the beginning of a line whose end is still to come
    with selectors.DefaultSelector() as selector:
        try:
            while waiting or children:
                while waiting and len(children) < jobs:
                    i = waiting.pop()
                    children[i] = _fork(tasks[i])
                    selector.register(children[i][1], selectors.EVENT_READ, i)
                for key, _ in selector.select():
                    i = key.data
                    data = os.read(key.fd, 1 << 16)
                    *lines, partial[i] = (partial[i] + data).split(b"\n")
                    for line in lines:
                        kind, value = json.loads(line)
                        if kind == "said":
                            on_message(i, value)
                        elif kind == "done":
                            results[i] = value
                        else:
                            raise _ERRORS[kind](*value)
                    if not data:  # the task has closed its end
                        selector.unregister(key.fd)
                        _reap(i, *children.pop(i), finished=i in results)
        finally:
            for process, pipe in children.values():
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                os.close(pipe)
                os.waitpid(process, 0)
    return [results[i] for i in range(len(tasks))]


def _reap(task: int, process: int, pipe: int, finished: bool) -> None:
    os.close(pipe)
    _, status = os.waitpid(process, 0)
    if not finished:
        code = os.waitstatus_to_exitcode(status)
        if code < 0:
            raise InputError(f"task {task + 1} was killed by signal {-code}; is there enough memory? Try fewer --jobs")
        raise TaskError(f"task {task + 1} ended with {code}")


def _fork(task: Task) -> tuple[int, int]:
    sys.stdout.flush()
    sys.stderr.flush()
    read, write = os.pipe()
    parent = os.getpid()
    process = fork()
    if process:
        os.close(write)
        return process, read
    try:
        die_with(parent)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.close(read)
        with os.fdopen(write, "wb") as pipe:

            def send(kind: str, value: Any) -> None:
                pipe.write(json.dumps([kind, value]).encode() + b"\n")
                pipe.flush()

            try:
                send("done", task(lambda message: send("said", message)))
            except InputError as error:
                send("input", [str(error)])
            except MemoryError as error:
                send("memory", [str(error)])
            except OSError as error:
                name = None if error.filename is None else os.fsdecode(error.filename)
                send("system", [error.errno, error.strerror or str(error), *([name] if name else [])])
            except Exception as error:
                if os.environ.get("HOPEFEAR_DEBUG"):
                    traceback.print_exc()
                send("failed", [f"{type(error).__name__}: {error}"])
    except BaseException:  # the parent is gone
        os._exit(1)
    os._exit(0)


def give_back_memory() -> None:
    """Return free memory to the system now. glibc keeps it otherwise, in addition to what is taken next."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
