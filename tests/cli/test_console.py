import sys

import pytest

from hopefear.cli import console as module
from hopefear.cli.console import Console

Capture = pytest.CaptureFixture[str]


def test_plain_lines_come_now_and_then(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1000, 4))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(clock))  # type: ignore[attr-defined]
    with Console().progress("tune", 6) as progress:
        for _ in range(6):
            progress.update(text="bleu 40.0")
    assert capsys.readouterr().err == "tune: 3/6  bleu 40.0\ntune: 6/6  bleu 40.0\n"


def test_quiet_keeps_warnings_only(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BETWEEN_LINES", 0.0)
    console = Console(quiet=True)
    console.note("reading")
    with console.progress("tune", 2) as progress:
        progress.update()
    console.warn("the weight of lm ran away")
    assert capsys.readouterr().err == "warning: the weight of lm ran away\n"


def test_a_bar_on_a_terminal(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    with Console().progress("tune", 2) as progress:
        progress.update(2, text="bleu 40.0")
    out, err = capsys.readouterr()
    assert out == ""
    assert "tune" in err
    assert "2/2" in err
