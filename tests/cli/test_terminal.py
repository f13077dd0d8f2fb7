"""What a user sees on a terminal of given width: real commands in a pseudo-terminal, their screen read back."""

from __future__ import annotations

import fcntl
import itertools
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from hopefear.data.lists import Synthetic
from hopefear.util.progress import Progressing, clock_text, shortened

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("terminal")
    Synthetic(sentences=60, candidates=20, dense=8).write(path)
    return path


def on_terminal(folder: Path, width: int, *arguments: str, **environment: str) -> str:
    """Everything that a command writes to a terminal of this width."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    known = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "hopefear.cli.main", *arguments],
        cwd=folder,
        stdin=other,
        stdout=other,
        stderr=other,
        env={**known, "TERM": "xterm-256color", "LANG": "C.UTF-8", **environment},
    )
    os.close(other)
    pieces = []
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if select.select([main], [], [], 0.2)[0]:
            try:
                pieces.append(os.read(main, 65536))
            except OSError:  # the other end is closed
                break
        elif process.poll() is not None:
            break
    os.close(main)
    written = b"".join(pieces).decode()
    assert process.wait(60) == 0, written
    return written


def lines_of(written: str) -> list[str]:
    return [line for line in re.split(r"[\r\n]+", ESCAPE.sub("", written)) if line.strip()]


LISTS = ["--nbest", "nbest.txt", "--refs", "ref.0", "ref.1", "--initial", "initial.txt"]


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("command", ["mert", "kbmira", "compare"])
def test_progress_fits_the_width(folder: Path, width: int, command: str) -> None:
    out = f"{command}-{width}"
    tune = ["tune", *LISTS, "--trainer", command, "--out", out]
    compare = ["compare", *LISTS, "--trainers", "kbmira,mert", "--seeds", "2", "--out", out]
    written = on_terminal(folder, width, *(compare if command == "compare" else tune))
    progress = [line for line in lines_of(written) if line.startswith(("tune ", "compare "))]
    assert progress and all(len(line) < width for line in progress)
    assert any(re.search(r"best bleu \d+\.\d\d", line) for line in progress)
    assert not any("?" in line or "…" in line for line in progress)
    if command == "mert":
        assert any(re.search(r"\d+ ascents?  best bleu", line) for line in progress)
    else:
        assert any(re.search(r"[━─]{6,}  \d+/\d+", line) for line in progress)


def test_colours_on_a_terminal_only(folder: Path) -> None:
    arguments = ["tune", *LISTS, "--trainer", "kbmira", "--set", "passes=3"]
    coloured = on_terminal(folder, 80, *arguments, "--out", "coloured")
    assert "\x1b[1mbleu" in coloured and "\x1b[36m" in coloured
    plain = on_terminal(folder, 80, *arguments, "--out", "plain", NO_COLOR="1")
    assert "\x1b[1mbleu" not in plain and not re.search(r"\x1b\[[0-9;]*3[0-9]m", plain)
    piped = subprocess.run(
        [sys.executable, "-m", "hopefear.cli.main", *arguments, "--out", "piped"], cwd=folder, capture_output=True
    )
    assert b"\x1b" not in piped.stdout + piped.stderr


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("flag", ["--quiet", "-q", "--verbose", "-v"])
def test_quiet_and_verbose_on_both_sides(folder: Path, place: str, flag: str) -> None:
    out = f"{place}{flag}"
    tune = ["tune", *LISTS, "--trainer", "kbmira", "--set", "passes=3", "--out", out]
    arguments = [flag, *tune] if place == "before" else [*tune, flag]
    command = [sys.executable, "-m", "hopefear.cli.main", *arguments]
    ended = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    message = [line for line in ended.stderr.splitlines() if not line.startswith("warning:")]
    if flag in ("--quiet", "-q"):
        assert message == []
    else:
        assert [line for line in message if re.search(r"epoch 2: \d+\.\d\d$", line)]
        assert f"weights: {out}/weights.txt" in message


def test_a_line_of_progress() -> None:
    seconds = itertools.chain([0.0], itertools.repeat(30.0))
    progress = Progressing("tune kbmira", 60, lambda: next(seconds))
    progress.update(20, text="best bleu 38.12")
    line = progress.line(80)
    assert line.startswith("tune kbmira  ━") and line.endswith("20/60  best bleu 38.12  1:00 left") and len(line) <= 80
    assert line.count("━") * 2 == pytest.approx(line.count("─"), abs=2)
    for width in range(80, 12, -1):
        assert len(progress.line(width)) <= width and progress.line(width).startswith("tune kbmira"[:width])
    progress.total = None
    assert progress.line(80) == "tune kbmira  20  best bleu 38.12  0:30"
    progress.update(text="best bleu 38.12")
    assert progress.line(80) == "tune kbmira  best bleu 38.12  0:30"


def test_words_of_progress() -> None:
    assert [clock_text(seconds) for seconds in (0, 7.4, 67, 7559)] == ["0:00", "0:07", "1:07", "2:05:59"]
    assert [shortened("best bleu", length) for length in (9, 6, 1, 0)] == ["best bleu", "best…", "", ""]


def test_the_time_left_of_work_that_is_done_again() -> None:
    now = [0.0]
    progress = Progressing("train arow", 100, lambda: now[0])
    for seconds, done in ((50, 100), (60, 20), (70, 60)):
        now[0] = seconds
        progress.update(done)
    assert progress.time() == "0:10 left"  # 40 of 100 in ten seconds, and 40 more
