"""tune as a library call: what the command does, for Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import hopefear as hf
from hopefear import read_nbest
from hopefear.cli.main import main
from hopefear.commands.tune import Tune
from hopefear.data.lists import Synthetic
from hopefear.errors import InputError, OptionError
from hopefear.evaluation.scores import score_of
from hopefear.formats import read_weights
from hopefear.metrics import Bleu
from hopefear.runs import Session, read_run
from hopefear.runs.events import Epoch, Event, Note, Progress, Warned
from hopefear.runs.session import SILENT
from hopefear.train.replicates import fit_replicates, random_initial


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pool")
    Synthetic(sentences=25, candidates=5, dense=6).write(folder)
    Synthetic(sentences=25, candidates=5, dense=6).write(folder, jsonl=True)
    return folder


@pytest.fixture(scope="module")
def pool(data: Path) -> hf.Pool:
    return read_nbest(data / "nbest.txt", [data / f"ref.{i}" for i in range(4)])


def config(data: Path, out: Path, **more: Any) -> Tune:
    common: dict[str, Any] = {"nbest": [str(data / "nbest.txt")], "refs": [str(data / f"ref.{i}") for i in range(4)]}
    common |= {"initial": str(data / "initial.txt"), "trainer": "kbmira", "set": {"passes": 3}, "out": str(out)}
    return Tune(**(common | more))


def test_the_score_of_weights_is_that_of_the_best_candidates(pool: hf.Pool) -> None:
    weights = {"lm": 0.5, "tm0": 0.3, "stranger": 7.0}
    w = np.array([weights.get(name, 0.0) for name in pool.feature_names])
    best = [pool.text(i, int(pool[i].scores(w).argmax())) for i in range(len(pool))]
    references = [[pool.references(i)[k] for i in range(len(pool))] for k in range(4)]
    assert_allclose(score_of(pool, Bleu(), weights), Bleu().corpus_score(best, references))


def test_random_models_scatter_around_the_given_one() -> None:
    drawn = np.array([list(random_initial({"a": 2.0, "b": -1.0, "c": 0.0}, seed).values()) for seed in range(4000)])
    assert_allclose(drawn.mean(axis=0), [2.0, -1.0, 0.0], atol=0.06)
    assert_allclose(drawn.std(axis=0), [1.0, 0.5, 0.0], atol=0.04)
    assert random_initial({"a": 2.0}, 3) == random_initial({"a": 2.0}, 3)


def test_the_library_does_what_the_command_does(data: Path, tmp_path: Path) -> None:
    received: list[Event] = []
    tuned = config(data, tmp_path / "a", replicates=2).run(Session(received.append))
    files = ["--nbest", data / "nbest.txt", "--refs", *(data / f"ref.{i}" for i in range(4))]
    more = ["--initial", data / "initial.txt", "--set", "passes=3", "--replicates", 2, "--quiet"]
    assert main([str(word) for word in ("tune", *files, "--trainer", "kbmira", *more, "--out", tmp_path / "b")]) == 0
    mine, theirs = read_run(tmp_path / "a"), read_run(tmp_path / "b")
    assert (tmp_path / "a" / "weights.txt").read_bytes() == (tmp_path / "b" / "weights.txt").read_bytes()
    assert mine.settings == theirs.settings
    assert mine.final == theirs.final == json.loads(json.dumps(tuned.final()))
    assert tuned.path == tmp_path / "a"
    assert read_weights(tmp_path / "a" / "weights.txt") == tuned.best.weights
    epochs = [(event.context["replicate"], event.epoch) for event in received if isinstance(event, Epoch)]
    assert sorted(epochs) == [(replicate, epoch) for replicate in (1, 2) for epoch in (1, 2, 3)]
    shown = [event.text for event in received if isinstance(event, Progress) and "epoch" in event.text]
    assert len(shown) == 6 and all(text.startswith("replicate ") for text in shown)


def test_the_record_has_everything_that_decides_the_result(data: Path, tmp_path: Path) -> None:
    config(data, tmp_path).run(SILENT)
    record = read_run(tmp_path)
    assert (record.kind, record.status, record.model, record.metric_key) == ("tune", "done", None, "bleu")
    assert record.metric == f"bleu|{Bleu().signature()}"
    assert [input["role"] for input in record.inputs] == ["nbest", *["refs"] * 4, "initial"]
    options = hf.Kbmira(passes=3).options()
    assert record.settings["trainer"] == {
        "name": "kbmira",
        "options": {name: value for name, value in options.items() if name not in ("metric", "seed", "jobs")},
    }
    assert record.settings["inputs"] == [input["sha256"] for input in record.inputs]
    assert record.files()["nbest"] == [str(data / "nbest.txt")]


def test_an_interrupted_run_resumes(data: Path, tmp_path: Path) -> None:
    def interrupt(event: Event) -> None:
        if isinstance(event, Epoch) and event.context == {"replicate": 2}:
            raise KeyboardInterrupt

    many = {"replicates": 3, "jobs": 1}
    with pytest.raises(KeyboardInterrupt):
        config(data, tmp_path / "part", **many).run(Session(interrupt))
    assert read_run(tmp_path / "part").status == "running"
    received: list[Event] = []
    tuned = config(data, tmp_path / "part", **many, resume=True).run(Session(received.append))
    assert {event.context["replicate"] for event in received if isinstance(event, Epoch)} == {2, 3}
    assert tuned.final() == config(data, tmp_path / "whole", **many).run(SILENT).final()
    weights = [(tmp_path / run / "weights.txt").read_bytes() for run in ("part", "whole")]
    assert weights[0] == weights[1]
    again = config(data, tmp_path / "part", **many, resume=True).run(SILENT)  # it is done: nothing is learnt
    assert again.final() == tuned.final()
    events = [json.loads(line)["event"] for line in (tmp_path / "part" / "log.jsonl").read_text().splitlines()]
    assert [event for event in events if event not in ("epoch", "warning")] == ["start", "stopped", "resume", "done"]


def test_replicates_without_a_folder(pool: hf.Pool) -> None:
    tuned = fit_replicates(hf.Kbmira(passes=2, jobs=1), {"dev": pool}, replicates=2, run=Session())
    assert [replicate.seed for replicate in tuned.replicates] == [1, 2]
    assert tuned.best.weights == hf.Kbmira(passes=2, seed=tuned.best.seed).fit(pool).weights
    assert tuned.over_replicates("dev")[1] >= 0


def test_foreign_weights_are_warned_of_and_not_recorded(data: Path, tmp_path: Path) -> None:
    initial = tmp_path / "initial"
    initial.write_text((data / "initial.txt").read_text() + "stranger 1\n")
    received: list[Event] = []
    config(data, tmp_path / "run", initial=str(initial)).run(Session(received.append))
    message = f"{initial}: 1 weight for features that the lists do not have: stranger"
    assert message in [event.text for event in received if isinstance(event, Warned)]
    assert message not in read_run(tmp_path / "run").warnings
    initial.write_text("stranger 1\n")
    with pytest.raises(InputError, match="none of its 1 weight belongs to a feature of the lists"):
        config(data, tmp_path / "none", initial=str(initial)).run(SILENT)
    assert not (tmp_path / "none").exists()


def test_too_few_to_keep_some_aside_is_noted(data: Path, tmp_path: Path) -> None:
    received: list[Event] = []
    config(data, tmp_path, holdout=0.01).run(Session(received.append))
    assert Note("25 sentences: too few to hold some out") in received


def test_columns_of_the_lists_are_metrics(data: Path, tmp_path: Path) -> None:
    lists = read_nbest(data / "nbest.jsonl")
    [metric] = config(data, tmp_path, metric="quality").metrics(lists)
    assert (metric.name, metric.key, metric.scale) == ("external", "quality", 100.0)  # type: ignore[attr-defined]
    assert config(data, tmp_path, metric="quality:scale=7").metrics(lists)[0].scale == 7.0  # type: ignore[attr-defined]
    assert config(data, tmp_path, metric="chrf", lowercase=True).metrics() == [hf.Chrf(lowercase=True)]
    assert config(data, tmp_path, metric="judge").metrics()[0].key == "judge"  # a decoder will write it
    with pytest.raises(OptionError, match="there is no metric 'judge'"):
        config(data, tmp_path, metric="judge").metrics(lists)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"forests": "f"}, "give one of --nbest, --forests, --table, --decoder-command"),
        ({"nbest": []}, "give one of --nbest, --forests, --table, --decoder-command"),
        ({"retune_every": 0}, "--retune-every works only with --params"),
        ({"dev_refs": ["r"]}, "--dev-refs works only with --dev-nbest"),
        ({"nbest": (), "decoder_command": "d", "dev_nbest": ["n"]}, "--dev-nbest works only with --nbest or --forests"),
        ({"nbest": (), "decoder_command": "d", "retune_every": 0}, "--retune-every works only with --params"),
    ],
)
def test_options_that_do_not_go_together(data: Path, tmp_path: Path, more: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        config(data, tmp_path, **more)
    assert config(data, tmp_path, dev_nbest=[], dev_refs=[]).dev_nbest == []  # nothing is not something
