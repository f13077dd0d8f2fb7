"""demo: the commands that it shows exist, and it ends with the scores of the run."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from hopefear.cli.console import Console
from hopefear.cli.main import main
from hopefear.runs import Run

FINAL = {part: {"bleu": 30.0} for part in ("dev", "test")}


def test_the_commands_of_the_demonstration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    called: list[str] = []

    def call(console: Console, name: str, arguments: Sequence[str], *unsaid: str, before: str = "") -> None:
        called.append(name)
        known = {
            flag for param in importlib.import_module(f"hopefear.cli.{name}").command.params for flag in param.opts
        }
        assert {word for word in (*arguments, *unsaid) if word.startswith("--")} <= known
        if name == "train":
            with Run.open(tmp_path / "run") as run:
                run.finish({"lm": 1.0}, {**FINAL, "before": {part: {"bleu": 20.0} for part in FINAL}})

    monkeypatch.setattr("hopefear.cli.demo.call", call)
    assert main(["demo", "--out", str(tmp_path)]) == 0
    assert called == ["corpus", "build", "train", "report"]
    lines = [f"{part}: BLEU 20.00 before training, 30.00 after" for part in ("dev", "test")]
    assert capsys.readouterr().out.splitlines() == ["", *lines, f"report: {tmp_path}/report.html"]
