"""Runs in other programs' books: MLflow's file store, Weights & Biases as it is called, and trackers that fail."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

import hopefear as hf
from hopefear.data.lists import Synthetic
from hopefear.runs.tracking import Tracker, flat


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> hf.Pool:
    path = tmp_path_factory.mktemp("lists")
    Synthetic(sentences=40, candidates=6, dense=4).write(path)
    return hf.read_nbest(path / "nbest.txt", [path / f"ref.{i}" for i in range(4)])


class Book(Tracker):
    """Keeps its calls."""

    name: ClassVar[str] = "book"

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []

    def begin(self, title: str, settings: Mapping[str, Any]) -> None:
        self.told.append(("begin", (title, dict(settings))))

    def scores(self, epoch: int, scores: Mapping[str, float]) -> None:
        self.told.append(("scores", (epoch, dict(scores))))

    def end(self, scores: Mapping[str, float], files: Sequence[Path], done: bool) -> None:
        self.told.append(("end", (dict(scores), [file.name for file in files], done)))


class Broken(Book):
    name: ClassVar[str] = "broken"

    def scores(self, epoch: int, scores: Mapping[str, float]) -> None:
        raise ConnectionError("no server")


def tune(pool: hf.Pool, out: Path, track: Any, **more: Any) -> Any:
    return hf.tune(pool, trainer=hf.Kbmira(passes=4), out=out, track=track, **more)


def test_a_tracker_receives_the_events_of_the_run(pool: hf.Pool, tmp_path: Path) -> None:
    book = Book()
    tuned = tune(pool, tmp_path / "run", book, replicates=2)
    first, *middle, last = book.told
    title, settings = first[1]
    assert first[0] == "begin" and title == "run"
    assert settings["trainer/name"] == "kbmira" and settings["trainer/options/passes"] == "4"
    names = {name for _, (_, scores) in middle for name in scores}
    assert {"replicate-1/score", "replicate-2/score"} <= names
    assert max(epoch for _, (epoch, _) in middle) == 4
    scores, files, done = last[1]
    assert scores["dev/bleu"] == tuned.score and files == ["weights.txt", "run.json"] and done
    assert tune(pool, tmp_path / "run", Book(), replicates=2, resume=True).weights == tuned.weights


def test_a_tracker_that_fails_does_not_end_the_run(pool: hf.Pool, tmp_path: Path) -> None:
    broken = Broken()
    with pytest.warns(UserWarning, match="track broken: ConnectionError: no server. The run continues without it"):
        tuned = tune(pool, tmp_path / "run", [broken])
    assert tuned.score > 0 and [what for what, _ in broken.told] == ["begin"]
    assert any("no server" in text for text in hf.read_run(tmp_path / "run").warnings)


def test_an_interrupted_run_is_not_done(tmp_path: Path) -> None:
    book = Book()
    with pytest.raises(KeyboardInterrupt), hf.Run.open(tmp_path / "run", kind="tune") as run:
        run.track([book], lambda event: None)
        raise KeyboardInterrupt
    assert book.told[-1] == ("end", ({}, ["run.json"], False))


def test_names(pool: hf.Pool, tmp_path: Path) -> None:
    with pytest.raises(
        hf.InputError, match=r"there is no such tracker\. Did you mean 'mlflow'\? There are: mlflow, wandb"
    ):
        tune(pool, tmp_path / "run", "mlfow")
    assert not (tmp_path / "run").exists()


def test_a_tracker_that_cannot_begin(pool: hf.Pool, tmp_path: Path) -> None:
    (tmp_path / "my_tracker.py").write_text(
        "from hopefear.runs.tracking import Tracker\n\n\nclass Mine(Tracker):\n    name = 'mine'\n\n"
        "    def __init__(self):\n        raise ConnectionError('no server')\n\n"
        "    begin = scores = end = __init__\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        with pytest.raises(hf.InputError, match=r"ConnectionError: no server\. Fix its settings, or leave it out"):
            tune(pool, tmp_path / "run", "my_tracker:Mine")
    assert not (tmp_path / "run").exists()


def test_scores_of_a_comparison_have_names() -> None:
    final = {"metric": "bleu", "trainers": [{"name": "pro", "score": 35.0}, {"name": "mert", "score": 34.0}]}
    scores = {name: value for name, value in flat(final) if isinstance(value, float)}
    assert scores == {"trainers/pro/score": 35.0, "trainers/mert/score": 34.0}


def test_mlflow(pool: hf.Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file:{tmp_path}/store")
    tuned = tune(pool, tmp_path / "run", "mlflow")
    client = mlflow.MlflowClient(f"file:{tmp_path}/store")
    experiment = client.get_experiment_by_name("hopefear")
    [run] = client.search_runs([experiment.experiment_id])
    assert run.info.run_name == "run" and run.info.status == "FINISHED"
    assert run.data.params["trainer/options/passes"] == "4"
    assert run.data.metrics["dev/bleu"] == pytest.approx(tuned.score)
    assert [each.step for each in client.get_metric_history(run.info.run_id, "replicate-1/score")] == [1, 2, 3, 4]
    assert {file.path for file in client.list_artifacts(run.info.run_id)} == {"weights.txt", "run.json"}


def test_wandb_as_it_is_called(pool: hf.Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[str, Any]] = []

    class Run:
        summary: ClassVar[dict[str, float]] = {}

        def log(self, values: dict[str, float]) -> None:
            calls.append(("log", values))

        def save(self, path: str, base_path: str) -> None:
            calls.append(("save", Path(path).name))

        def finish(self, exit_code: int) -> None:
            calls.append(("finish", exit_code))

    def init(**how: Any) -> Run:
        calls.append(("init", how))
        return Run()

    module: Any = types.SimpleNamespace(init=init, Settings=lambda **how: how)
    monkeypatch.setitem(sys.modules, "wandb", module)
    tuned = tune(pool, tmp_path / "run", "wandb")
    assert calls[0][1]["project"] == "hopefear" and calls[0][1]["config"]["trainer/name"] == "kbmira"
    assert [values["epoch"] for what, values in calls if what == "log"] == [1, 2, 3, 4]
    assert Run.summary["dev/bleu"] == tuned.score
    assert calls[-3:] == [("save", "weights.txt"), ("save", "run.json"), ("finish", 0)]


def test_wandb_offline(pool: hf.Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    tune(pool, tmp_path / "run", "wandb")
    [folder] = (tmp_path / "wandb").glob("offline-run-*")
    warnings = json.loads((tmp_path / "run" / "run.json").read_text())["warnings"]
    assert list(folder.glob("*.wandb")) and not any("track" in text for text in warnings)
