"""A run that is not finished is looked at, and its page is written again as it goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hopefear.cli.main import main
from hopefear.reports.gather import RunReader
from hopefear.reports.make import watched
from hopefear.reports.numbers import learning_curve
from tests.reports.pages import parsed


@pytest.fixture
def running(runs: Path, tmp_path: Path) -> Path:
    """A run that has begun: its record and the first lines of its log."""
    path = tmp_path / "run"
    path.mkdir()
    record = json.loads((runs / "kbmira" / "run.json").read_text())
    unknown: dict[str, object] = {"status": "running", "final": {}, "epochs": [], "warnings": [], "findings": []}
    (path / "run.json").write_text(json.dumps(record | unknown))
    lines = (runs / "kbmira" / "log.jsonl").read_text().split("\n")
    (path / "log.jsonl").write_text("\n".join(lines[:4]) + '\n{"event": "epo')
    return path


def test_the_epochs_of_the_log_are_shown(running: Path, runs: Path) -> None:
    run = RunReader(jobs=1, unfinished=True).read(running)
    assert not run.finished and run.stopped and not run.weights
    whole = RunReader(jobs=1).read(runs / "kbmira")
    told = {(one.seed, each["epoch"]): each["score"] for one in run.replicates for each in one.history}
    known = {(one.seed, each["epoch"]): each["score"] for one in whole.replicates for each in one.history}
    assert 0 < len(told) < len(known) and told.items() <= known.items()
    assert learning_curve(run).x


def test_the_page_is_written_again_until_the_run_is_done(running: Path, runs: Path, tmp_path: Path) -> None:
    lines = (runs / "kbmira" / "log.jsonl").read_text().split("\n")
    seen: list[int] = []

    def written(path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        parsed(path)
        seen.append(text.count('<circle cx="'))
        assert ("data-reload=" in text) == (len(seen) < 3)
        if len(seen) == 1:
            assert "not finished" in text and "was stopped" in text
            (running / "log.jsonl").write_text("\n".join(lines[:9]) + "\n")
        elif len(seen) == 2:
            shutil.rmtree(running)
            shutil.copytree(runs / "kbmira", running)

    for out in watched([running, runs / "mert"], tmp_path / "r.html", sentences=2, jobs=1, every=0.0):
        written(out)
    assert out == tmp_path / "r.html" and len(seen) == 3
    text = out.read_text(encoding="utf-8")
    assert "not finished" not in text and 'class="verdict"' in text


def test_a_run_that_has_only_just_begun(running: Path, tmp_path: Path) -> None:
    record = json.loads((running / "run.json").read_text())
    bare = {key: record[key] for key in ("format", "status", "kind", "settings", "seed")}
    (running / "run.json").write_text(json.dumps(bare))
    (running / "log.jsonl").unlink()

    path = next(iter(watched([running], tmp_path / "r.html", jobs=1)))
    assert "was stopped" in "".join(parsed(path).text)


def test_the_command_ends_when_the_runs_do(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "r.html"
    assert main(["report", str(runs / "mert"), "--watch", "--sentences", "0", "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert said.out == f"{out}\n" and "finished" in said.err


def test_without_watch_an_unfinished_run_is_refused(running: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(running), "--out", str(running.parent / "r.html")]) == 2
    assert "--watch" in capsys.readouterr().err
