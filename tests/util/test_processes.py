import gc
import os
import signal
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hopefear.errors import InputError
from hopefear.util import processes
from hopefear.util.processes import Say, Task, TaskError, close_in_children, close_private, cores, run_tasks
from tests.orphans import is_running, kill_while, process_in, wait_for


def square(number: int, delay: float = 0.0) -> Task:
    def task(say: Say) -> dict[str, Any]:
        say({"at": number})
        time.sleep(delay)
        return {"square": number**2, "process": os.getpid()}

    return task


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_results_come_in_the_order_of_the_tasks(jobs: int) -> None:
    received: list[tuple[int, int]] = []
    tasks = [square(n, delay=0.2 if n == 0 else 0.0) for n in range(5)]
    results = run_tasks(tasks, jobs, lambda i, message: received.append((i, message["at"])))
    assert [result["square"] for result in results] == [0, 1, 4, 9, 16]
    assert sorted(received) == [(n, n) for n in range(5)]
    assert len({result["process"] for result in results}) == 5


class Waiting:
    """Garbage of a library whose destructor waits for a thread, which forked processes do not have."""

    ended: ClassVar[list[int]] = []

    def __init__(self) -> None:
        self.cycle = self

    def __del__(self) -> None:
        Waiting.ended.append(os.getpid())


def test_garbage_of_the_parent_is_not_collected_in_a_child() -> None:
    def collect(say: Say) -> dict[str, Any]:
        gc.collect()
        return {"ended": Waiting.ended}

    gc.disable()
    try:
        Waiting()
        [result] = run_tasks([collect], 1)
    finally:
        gc.enable()
    assert result["ended"] == []
    gc.collect()
    assert Waiting.ended == [os.getpid()]


def test_where_there_is_no_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "FORKS", False)
    received: list[int] = []
    assert [r["square"] for r in run_tasks([square(2), square(3)], 2, lambda i, said: received.append(i))] == [4, 9]
    assert received == [0, 1]


def test_long_messages_and_many_of_them_arrive_whole() -> None:
    def task(say: Say) -> dict[str, Any]:
        for i in range(200):
            say({"i": i, "text": "x" * 1000 * (i % 7)})
        return {"weights": {f"größe{i}": i / 3 for i in range(50_000)}}

    received: list[int] = []
    results = run_tasks([task, task], 2, lambda i, message: received.append(message["i"]))
    assert sorted(received) == sorted([*range(200)] * 2)
    assert results[0] == results[1] == {"weights": {f"größe{i}": i / 3 for i in range(50_000)}}


def fail(error: BaseException) -> Task:
    def task(say: Say) -> dict[str, Any]:
        raise error

    return task


def die(say: Say) -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


@pytest.mark.parametrize(
    ("task", "error", "message"),
    [
        (fail(InputError("dev: bad. Fix it")), InputError, "dev: bad. Fix it"),
        (fail(ZeroDivisionError("oh")), TaskError, "ZeroDivisionError: oh"),
        (die, InputError, "task 2 was killed by signal 9"),
        (fail(MemoryError("much")), MemoryError, "much"),
        (fail(OSError(28, "No space left", "a file")), OSError, "No space left: 'a file'"),
    ],
)
def test_a_failure_ends_the_others(task: Task, error: type[Exception], message: str, tmp_path: Path) -> None:
    def sleeper(say: Say) -> dict[str, Any]:
        (tmp_path / "sleeper").write_text(f"{os.getpid()}\n")
        time.sleep(600)
        return {}

    def failing(say: Say) -> dict[str, Any]:
        process_in(tmp_path / "sleeper")  # the other one has begun
        return task(say)

    with pytest.raises(error, match=message):
        run_tasks([sleeper, failing], 2)
    with pytest.raises(ChildProcessError):  # it is gone, and nobody waits for its exit code
        os.waitpid(process_in(tmp_path / "sleeper"), os.WNOHANG)


def test_cores() -> None:
    assert cores() >= 1


def test_tasks_die_with_their_parent(tmp_path: Path) -> None:
    def task(say: Say) -> dict[str, Any]:
        (tmp_path / "task").write_text(f"{os.getpid()}\n")
        time.sleep(600)
        return {}

    started = kill_while(lambda: run_tasks([task]), tmp_path / "task")
    wait_for(lambda: not is_running(started))


def test_a_private_file_is_closed_in_forked_processes(tmp_path: Path) -> None:
    private = os.open(tmp_path, os.O_RDONLY)
    close_in_children(private)

    def task(say: Say) -> dict[str, Any]:
        return {"open": Path(f"/proc/self/fd/{private}").exists()}

    assert run_tasks([task]) == [{"open": False}]
    close_private(private)
    assert private not in processes._PRIVATE
