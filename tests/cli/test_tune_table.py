"""``tune --table``: weights from tables, and faults that leave nothing behind."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.cli.main import main
from hopefear.formats import read_weights
from tests.cli.capture import one_line

Capture = pytest.CaptureFixture[str]
TABLE = ["tune", "--table", "t.csv", "--group", "q", "--trainer", "mert"]


def rows(groups: int = 60, candidates: int = 6) -> list[dict[str, Any]]:
    """Two scores that tell something of the reward, one that does not."""
    random = np.random.default_rng(7)
    table = []
    for group in range(groups):
        for k in range(candidates):
            reward = float(random.normal())
            good, fair = reward + random.normal() * 0.4, reward + random.normal()
            noise = float(random.normal())
            table.append(
                {"q": f"q{group}", "good": good, "fair": fair, "noise": noise, "reward": reward, "text": f"w{k} x"}
            )
    return table


def write(data: list[dict[str, Any]], path: str = "t.csv") -> None:
    with Path(path).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(data[0]))
        writer.writeheader()
        writer.writerows(data)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(rows())


def test_an_outcome_is_optimised(capsys: Capture) -> None:
    assert main([*TABLE, "--outcome", "reward", "--out", "run", "--json", "--jobs", "1"]) == 0
    final = json.loads(capsys.readouterr().out)
    assert final["holdout"]["reward"] > final["before"]["holdout"]["reward"] + 0.5
    weights = read_weights("run/weights.txt")
    assert set(weights) == {"good", "fair", "noise"}
    assert weights["good"] > max(abs(weights["fair"]), abs(weights["noise"]))
    record = json.loads(Path("run/run.json").read_text())
    assert record["inputs"][0]["role"] == "table"
    assert record["settings"]["group"] == "q"
    assert main(["report", "run"]) == 0
    assert "Error surface" in Path("report.html").read_text()


def test_text_and_references_and_features_by_pattern(capsys: Capture) -> None:
    data = [{**row, "ref": "w3 x"} for row in rows(20)]
    write(data)
    options = [
        "--text",
        "text",
        "--references",
        "ref",
        "--features",
        "g*",
        "noise",
        "--metric",
        "wer",
        "--metric",
        "chrf",
    ]
    assert main([*TABLE, *options, "--out", "run", "--quiet"]) == 0
    assert set(read_weights("run/weights.txt")) == {"good", "noise"}
    assert set(json.loads(Path("run/run.json").read_text())["final"]["dev"]) == {"wer", "chrf"}


def test_the_same_from_python(capsys: Capture) -> None:
    assert main([*TABLE, "--outcome", "reward", "--features", "good", "fair", "--out", "a", "--quiet"]) == 0
    frame = {name: [row[name] for row in rows()] for name in ("q", "good", "fair", "reward")}
    tuned = hf.tune(table=frame, group="q", outcome="reward", trainer="mert", out="b")
    assert read_weights("a/weights.txt") == read_weights("b/weights.txt") == tuned.best.weights


@pytest.mark.parametrize(
    ("change", "arguments", "output"),
    [
        ({}, ["--group", "prompt"], "t.csv: no column 'prompt' for --group"),
        ({"good": "high"}, ["--features", "good"], "t.csv:12: good is 'high', which is not a number"),
        ({"good": "inf"}, [], "t.csv:12: good is infinite"),
        ({"good": ""}, [], "t.csv:12: good is missing"),
        ({"reward": ""}, [], "t.csv:12: reward is missing"),
        ({}, ["--outcome", "quality"], "no column 'quality' for --outcome"),
        ({}, ["--metric", "quality"], "there is no metric 'quality'"),
        ({}, ["--metric", "bleu"], "has no reference, and bleu needs one"),
        ({}, ["--nbest", "t.csv"], "give one of --nbest, --forests, --table, --decoder-command"),
        ({}, ["--refs", "t.csv"], "--refs works only with --nbest, --forests or --decoder-command"),
    ],
)
def test_bad_tables_leave_no_run(capsys: Capture, change: dict[str, str], arguments: list[str], output: str) -> None:
    data = rows()
    data[10] |= change
    write(data)
    assert main([*TABLE, "--outcome", "reward", *arguments, "--out", "run"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert output in err
    assert err.splitlines()[-1].startswith("hopefear")
    assert len([line for line in err.splitlines() if not line.startswith("before means")]) == 1
    assert not Path("run").exists()


def test_one_candidate_in_each_group(capsys: Capture) -> None:
    write(rows(30, 1))
    assert main([*TABLE, "--outcome", "reward", "--out", "run"]) == 2
    assert "t.csv: every group has one candidate only" in capsys.readouterr().err
    assert not Path("run").exists()


def test_a_duplicate_candidate_is_an_error(capsys: Capture) -> None:
    data = rows(30)
    write([*data[:3], data[2], *data[3:]])
    assert main([*TABLE, "--outcome", "reward", "--out", "run"]) == 2
    assert "t.csv:5: the same candidate as line 4" in capsys.readouterr().err
    assert not Path("run").exists()


def test_a_score_that_is_constant_is_refused(capsys: Capture) -> None:
    write([{**row, "same": 3} for row in rows()])
    assert main([*TABLE, "--outcome", "reward", "--out", "run"]) == 2
    assert "t.csv: same is 3 in every row" in one_line(capsys)
    assert not Path("run").exists()


def test_scores_that_are_constant_in_groups_and_leaks_are_warned_of(capsys: Capture) -> None:
    write([{**row, "same": int(row["q"][1:]), "leak": 2 * row["reward"]} for row in rows()])
    assert main([*TABLE, "--outcome", "reward", "--out", "run"]) == 0
    err = capsys.readouterr().err
    assert "leak agrees with the outcome 'reward'" in err
    assert "same in all candidates of each sentence: same" in err


def test_a_group_is_needed(capsys: Capture) -> None:
    assert main(["tune", "--table", "t.csv", "--trainer", "mert", "--out", "run"]) == 2
    assert "--table needs --group" in capsys.readouterr().err
