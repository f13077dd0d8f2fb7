"""train as a command."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hopefear.cli.main import main
from hopefear.formats import read_weights

Capture = pytest.CaptureFixture[str]


def arguments(task: Path, *more: object, trainer: str = "mira") -> list[str]:
    data = ["--source", task / "tune.source", "--refs", task / "tune.ref.0", task / "tune.ref.1"]
    return [str(each) for each in ("train", task / "model", *data, "--trainer", trainer, "--pop-limit", 20, *more)]


def dev(task: Path, name: str = "dev") -> list[Path | str]:
    return [f"--{name}-source", task / "dev.source", f"--{name}-refs", task / "dev.ref.0", task / "dev.ref.1"]


def test_a_run(task: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "run"
    more = [*dev(task), *dev(task, "test"), "--set", "epochs=2", "eta=0.05"]
    assert main(arguments(task, *more, "--out", out)) == 0
    output = capsys.readouterr()
    table = [line.split() for line in output.out.splitlines()]
    assert table[0] == ["bleu", "dev", "test"]
    assert float(table[1][1]) < float(table[2][-1])
    record = json.loads((out / "run.json").read_text())
    assert record["status"] == "done"
    assert record["final"]["dev"]["bleu"] == pytest.approx(float(table[2][-2]), abs=0.005)
    assert [epoch["epoch"] for epoch in record["epochs"]] == [0, 1, 2]
    options = record["trainer"]["options"]
    assert record["trainer"]["name"] == "mira"
    assert {"epochs": 2, "eta": 0.05, "mu": -1.0}.items() <= options.items()  # all of them, set or not
    assert record["settings"]["trainer"] == record["trainer"]
    assert record["metric"].startswith("bleu|case:mixed|")
    roles = ["source", "refs", "refs", "dev_source", "dev_refs", "dev_refs", "test_source", "test_refs", "test_refs"]
    assert [epoch["role"] for epoch in record["inputs"]] == roles
    examples = json.loads((out / "examples.json").read_text())
    assert set(examples[0]) == {"line", "source", "references", "before", "after"}
    weights = read_weights(out / "weights.txt")
    assert any(name.startswith("lex(") for name in weights)
    # and the model translates with them
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((task / "dev.source").read_bytes())))
    assert main(["translate", str(task / "model"), "--weights", str(out / "weights.txt"), "--pop-limit", "20"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[:3]] == [epoch["after"].split() for epoch in examples[:3]]


def test_without_development_data_a_tenth_is_kept_aside(task: Path, tmp_path: Path) -> None:
    assert main(arguments(task, "--set", "epochs=1", "--out", tmp_path / "run", trainer="arow")) == 0
    assert json.loads((tmp_path / "run" / "run.json").read_text())["sentences"] == {"train": 22, "dev": 2}
    assert main(arguments(task, "--set", "epochs=1", "--holdout", 0, "--out", tmp_path / "all", trainer="arow")) == 0
    final = json.loads((tmp_path / "all" / "run.json").read_text())["final"]
    assert final["dev"]["bleu"] > final["before"]["dev"]["bleu"]  # of what was learnt from


def test_starts_from_what_the_model_was_built_with(task: Path, tmp_path: Path) -> None:
    more = [*dev(task), "--set", "epochs=1", "--initial", task / "model"]
    assert main(arguments(task, *more, "--out", tmp_path / "own")) == 0
    record = json.loads((tmp_path / "own" / "run.json").read_text())
    own = json.loads((task / "model" / "model.json").read_text())["weights"]
    assert record["initial"] == {name: value for name, value in own.items() if value}
    assert main(arguments(task, *more[:-1], task / "dev.source", "--out", tmp_path / "no")) == 2
    assert main(arguments(task, *more[:-1], task, "--out", tmp_path / "no")) == 2  # a folder that is no model


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_killed_and_resumed(task: Path, tmp_path: Path, number: signal.Signals) -> None:
    """Killed at any moment; --resume ends with the weights of an uninterrupted run."""
    more = [*dev(task), "--set", "epochs=40", "--checkpoint-every", 0]
    assert main(arguments(task, *more, "--out", tmp_path / "whole")) == 0
    command = [sys.executable, "-m", "hopefear.cli.main", *arguments(task, *more, "--out", tmp_path / "cut")]
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    checkpoint = tmp_path / "cut" / "checkpoint" / "learners.npz"
    while not checkpoint.exists() and child.poll() is None:
        time.sleep(0.01)
    child.send_signal(number)
    assert child.wait() == (-number if number == signal.SIGKILL else 130)
    assert json.loads((tmp_path / "cut" / "run.json").read_text())["status"] == "running"
    assert main(arguments(task, *more, "--out", tmp_path / "cut")) == 2  # not without --resume
    assert main(arguments(task, *more, "--out", tmp_path / "cut", "--resume")) == 0
    weights = [(tmp_path / name / "weights.txt").read_bytes() for name in ("whole", "cut")]
    assert weights[0] == weights[1]


@pytest.mark.parametrize("trainer", ["kbmira", "mert"])
def test_batch_trainers_go_round_our_decoder(task: Path, tmp_path: Path, trainer: str, capsys: Capture) -> None:
    more = [*dev(task), "--iterations", 2, "--kbest", 30]
    more += ["--set", "restarts=2"] if trainer == "mert" else []
    assert main(arguments(task, *more, "--out", tmp_path / "run", trainer=trainer)) == 0
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["final"]["dev"]["bleu"] >= record["final"]["before"]["dev"]["bleu"]
    assert not any("lex(" in name for name in read_weights(tmp_path / "run" / "weights.txt"))


def test_asynchronous_processes(task: Path, tmp_path: Path) -> None:
    more = [*dev(task), "--set", "epochs=1", "--parallel", "async", "--learners", 2]
    assert main(arguments(task, *more, "--out", tmp_path / "run")) == 0
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["settings"]["learners"] == 2
    assert record["epochs"][1]["sentences"] == 24


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (["--set", "eta=x"], "eta"),
        (["--set", "speed=1"], "has no option 'speed'"),
        (["--set", "mu=1"], "mu must be 0 or less"),
        (["--dev-source", "{task}/dev.source"], "--dev-source and --dev-refs go together"),
        (["--features", "magic"], "has no features 'magic'"),
        (["--simulate-learners", "2", "--parallel", "mix"], "--simulate-learners cannot be combined"),
        (["--cluster", "auto", "--parallel", "none"], "--cluster needs --parallel"),
        (["--initial", "{task}/strange"], "none of its 1 weight belongs to a feature"),
        (["--holdout", "1"], "held-out share"),
        (["--trainer", "mirra"], "Did you mean 'mira'?"),
        (["--trainer", "pro", "--parallel", "mix"], "pro is a batch trainer"),
        (["--source", "{task}/empty"], "is empty"),
        (["--source", "{task}/blank"], "tune.ref.0: has 24 lines, and"),
        (["--source", "{task}/blanks"], "nothing to learn from"),
    ],
)
def test_bad_input_is_one_line(task: Path, tmp_path: Path, capsys: Capture, more: list[str], text: str) -> None:
    (task / "strange").write_text("nobody 1\n")
    (task / "empty").write_text("")
    (task / "blank").write_text(" \n\n")
    (task / "blanks").write_text("\n" * 24)
    given = arguments(task, "--out", tmp_path / "run", *(each.format(task=task) for each in more))
    assert main(given) == 2
    error = capsys.readouterr().err.strip().splitlines()
    assert text in error[-1]
    assert "Traceback" not in "".join(error)


def test_tune_sends_online_trainers_to_train(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "list").write_text("0 ||| a ||| f=1 ||| 0\n")
    assert main(["tune", "--nbest", str(tmp_path / "list"), "--trainer", "arow", "--out", str(tmp_path / "run")]) == 2
    assert "hopefear train MODEL --trainer arow" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def _plf(line: str, score: float, other: str | None = None) -> str:
    """A line as a lattice in PLF; with another word as well at each place, which has the score 0."""
    columns = []
    for word in line.split():
        arcs = [f"('{word}',{score},1)", *([f"('{other}',0,1)"] if other else [])]
        columns.append(f"({','.join(arcs)},)")
    return f"({','.join(columns)},)\n" if columns else "()\n"


@pytest.mark.parametrize("trainer", ["mira", "kbmira"])
def test_lattices_with_one_path_are_text(task: Path, tmp_path: Path, trainer: str) -> None:
    lines = (task / "tune.source").read_text().splitlines()
    lattices = tmp_path / "tune.plf"
    lattices.write_text("".join(_plf(line, 0) for line in lines))
    few = ["--set", "epochs=1"] if trainer == "mira" else ["--iterations", 1, "--kbest", 5]
    given = arguments(task, *few, "--jobs", 1, trainer=trainer)
    assert main([*given, "--out", str(tmp_path / "text")]) == 0
    given[given.index("--source") + 1] = str(lattices)
    assert main([*given, "--input", "plf", "--out", str(tmp_path / "plf")]) == 0
    text, plf = (read_weights(tmp_path / name / "weights.txt") for name in ("text", "plf"))
    assert {name: value for name, value in plf.items() if name != "Feature_0"} == text


def test_the_scores_of_lattices_are_learnt(task: Path, tmp_path: Path) -> None:
    lines = (task / "tune.source").read_text().splitlines()
    other = lines[0].split()[0]
    (tmp_path / "tune.plf").write_text("".join(_plf(line, 1, other) for line in lines))
    given = arguments(task, "--set", "epochs=2", "--jobs", 1, "--out", tmp_path / "run")
    given[given.index("--source") + 1] = str(tmp_path / "tune.plf")
    assert main([*given, "--input", "plf"]) == 0
    assert read_weights(tmp_path / "run" / "weights.txt")["Feature_0"] > 0
