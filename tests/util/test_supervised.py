"""What a command of the user's starts ends with it, wherever it went."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hopefear.util import supervised
from hopefear.util.supervised import run_shell
from tests.orphans import is_running, kill_while, process_in, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="orphans are found on Linux only")

#: Ways to leave the process group of the command; $0 is the file for the number of what left.
ESCAPES = {
    "in the group": "sleep 600 & echo $! > {file}",
    "setsid": "setsid sh -c 'echo $$ > {file}; exec sleep 600' &",
    "daemon": "setsid sh -c '(setsid sh -c \"echo \\$\\$ > {file}; exec sleep 600\" &) & exit' & wait",
}
THERE = "while [ ! -s {file} ]; do sleep 0.01; done; "


def run(line: str, folder: Path, timeout: float | None = None) -> int | None:
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        return run_shell(line, out.fileno(), err.fileno(), timeout)


@pytest.mark.parametrize("way", ESCAPES)
def test_what_a_command_leaves_ends_with_it(way: str, tmp_path: Path) -> None:
    line = (ESCAPES[way] + "\n" + THERE + "echo done; exit 3").format(file=tmp_path / "child")
    assert run(line, tmp_path) == 3 and (tmp_path / "out").read_text() == "done\n"
    assert not is_running(process_in(tmp_path / "child"))


@pytest.mark.parametrize("way", ESCAPES)
def test_it_ends_when_we_are_killed(way: str, tmp_path: Path) -> None:
    line = (ESCAPES[way] + "\nsleep 600").format(file=tmp_path / "child")
    started = kill_while(lambda: run(line, tmp_path), tmp_path / "child")
    wait_for(lambda: not is_running(started))


@pytest.mark.parametrize("way", ESCAPES)
def test_it_ends_when_it_takes_too_long(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervised, "PATIENCE", 0.1)
    line = ("trap '' TERM; " + ESCAPES[way] + "\n" + THERE + "sleep 600").format(file=tmp_path / "child")
    assert run(line, tmp_path, 0.5) is None
    assert not is_running(process_in(tmp_path / "child"))


def test_it_is_asked_before_it_is_killed(tmp_path: Path) -> None:
    line = f"trap 'echo asked > {tmp_path}/asked; exit 1' TERM; while :; do sleep 0.01; done"
    assert run(line, tmp_path, 0.3) is None
    assert (tmp_path / "asked").exists()


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    line = (ESCAPES["setsid"] + "\nsleep 600").format(file=tmp_path / "child")

    def interrupt() -> None:
        process_in(tmp_path / "child")
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run(line, tmp_path)
    thread.join()
    assert not is_running(process_in(tmp_path / "child"))


@pytest.mark.parametrize(("line", "code"), [("exit 7", 7), ("kill -9 $$", -9), ("kill -15 $$", -15), ("true", 0)])
def test_the_exit_code(line: str, code: int, tmp_path: Path) -> None:
    assert run(line, tmp_path) == code


def test_it_has_the_signals_and_files_of_any_command(tmp_path: Path) -> None:
    """Nothing to read, no open files of ours, and the signals that a shell expects."""
    line = "cat; yes | head -1; ls /proc/self/fd | wc -l; grep SigIgn /proc/self/status"
    with (tmp_path / "held").open("w"):
        assert run(line, tmp_path) == 0
    plain = subprocess.run(line, shell=True, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    assert (tmp_path / "out").read_text() == plain.stdout and (tmp_path / "err").read_text() == plain.stderr


@pytest.mark.parametrize("forks", [True, False])
def test_where_processes_cannot_be_forked_the_group_ends(
    forks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervised, "FORKS", forks)
    monkeypatch.setattr(supervised, "PATIENCE", 0.1)
    line = (ESCAPES["in the group"] + "\n{}").replace("{file}", str(tmp_path / "child"))
    assert run(line.format("exit 4"), tmp_path) == 4
    assert run(line.format("sleep 600"), tmp_path, 0.2) is None
    wait_for(lambda: not is_running(process_in(tmp_path / "child")))
