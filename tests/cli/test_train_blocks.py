"""train as a command, with models of blocks."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from hopefear.cli.main import main
from hopefear.reports.page import unpacked
from tests.models import write_block_task


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("train-blocks")
    write_block_task(folder, {"train": 120, "dev": 30}, max_phrase=3)
    return folder


def train(task: Path, trainer: str, out: Path, *more: object) -> int:
    data = ["--source", task / "train.de", "--refs", task / "train.en"]
    return main(["train", *map(str, [task / "model", *data, "--trainer", trainer, "--out", out, *more])])


def test_costmargin_and_translate(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    dev = ["--dev-source", task / "dev.de", "--dev-refs", task / "dev.en"]
    test = ["--test-source", task / "dev.de", "--test-refs", task / "dev.en"]
    options = ["--set", "iterations=3", "eta=0.01"]
    assert train(task, "costmargin", run, *dev, *test, *options, "--json") == 0
    final = json.loads(capsys.readouterr().out)
    assert final["dev"]["bleu"] == final["test"]["bleu"] > 80
    record = json.loads((run / "run.json").read_text())
    assert record["status"] == "done"
    assert [epoch["epoch"] for epoch in record["epochs"]] == [1, 2, 3]
    assert not (run / "checkpoint" / "relevant").exists()
    text = (task / "dev.de").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert main(["translate", str(task / "model"), "--weights", str(run / "weights.txt"), "--tokens"]) == 0
    got = capsys.readouterr().out.splitlines()
    wanted = (task / "dev.en").read_text().splitlines()
    assert sum(a == b for a, b in zip(got, wanted, strict=True)) > 20
    assert train(task, "costmargin", run, *dev, *test, *options) == 2  # a finished run is there
    assert train(task, "costmargin", run, *dev, *test, *options, "--resume") == 0


@pytest.mark.parametrize("trainer", ["mira", "pro"])
def test_other_trainers_learn_real_valued_features(
    trainer: str, task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    more = ["--set", "epochs=1"] if trainer == "mira" else ["--iterations", 2, "--kbest", 20]
    dev = ["--dev-source", task / "dev.de", "--dev-refs", task / "dev.en"]
    assert train(task, trainer, run, *dev, *more, "--json") == 0
    final = json.loads(capsys.readouterr().out)
    assert final["dev"]["bleu"] >= 50
    names = {line.split()[0] for line in (run / "weights.txt").read_text().splitlines()}
    assert {"lm", "phrase_ef", "swap"} <= names


def test_batch_trainers_learn_binary_features(
    task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run, dev = tmp_path / "run", ["--dev-source", task / "dev.de", "--dev-refs", task / "dev.en"]
    (tmp_path / "poor").write_text("lm -0.1\nswap 0.5\n")
    more = ["--features", "both", "--iterations", 3, "--kbest", 20, "--initial", tmp_path / "poor"]
    assert train(task, "kbmira", run, *dev, *more, "--json") == 0
    final = json.loads(capsys.readouterr().out)
    assert final["dev"]["bleu"] > max(final["before"]["dev"]["bleu"] + 5, 70)
    names = [line.split()[0] for line in (run / "weights.txt").read_text().splitlines()]
    assert {name.split("(")[0] for name in names} >= {"lm", "block", "pair", "ngram"}
    assert main(["report", str(run), "--out", str(tmp_path / "r.html"), "--quiet"]) == 0
    assert unpacked((tmp_path / "r.html").read_text())["runs"][0]["sentences"]
    capsys.readouterr()
    # and the decoder takes them
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((task / "dev.de").read_bytes())))
    assert main(["translate", str(task / "model"), "--weights", str(run / "weights.txt")]) == 0
    (tmp_path / "out").write_text(capsys.readouterr().out)
    assert main(["score", str(tmp_path / "out"), "--refs", str(task / "dev.en"), "--json"]) == 0
    scored = json.loads(capsys.readouterr().out)
    assert any(abs(value - final["dev"]["bleu"]) < 0.01 for value in _numbers(scored))


def _numbers(value: object) -> list[float]:
    if isinstance(value, dict | list):
        return [number for one in (value.values() if isinstance(value, dict) else value) for number in _numbers(one)]
    return [value] if isinstance(value, float) else []


def test_refuses(task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert train(task, "costmargin", tmp_path / "a", "--pop-limit", 3) == 2
    assert "Use --set pop_limit=VALUE" in capsys.readouterr().err
    assert train(task, "costmargin", tmp_path / "b", "--set", "ties=all") == 2
    assert "ties: 'all' is not known" in capsys.readouterr().err
    assert train(task, "costmargin", tmp_path / "c", "--refs", task / "train.en") == 2
    assert "costmargin learns from one reference per sentence" in capsys.readouterr().err
    assert train(task, "costmargin", tmp_path / "c", "--set", "real=lm,glue") == 2
    assert "real: there is no feature 'glue'" in capsys.readouterr().err
    assert not (tmp_path / "c").exists()  # and so the right command needs no --overwrite
    assert train(task, "mira", tmp_path / "d", "--features", "both") == 2
    assert "real-valued features of blocks only" in capsys.readouterr().err
