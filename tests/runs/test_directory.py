import json
import os
import signal
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hopefear.errors import InputError
from hopefear.runs import checkpoint
from hopefear.runs.directory import Run, read_run
from hopefear.runs.events import Epoch, Event, Note, Warned
from hopefear.util.atomic import PART
from hopefear.util.values import plain


def finished(path: Path, **settings: object) -> None:
    with Run.open(path, command=["hopefear", "tune"], settings={"seed": 1, **settings}) as run:
        run.finish({"lm": 0.1 + 0.2, "tm": -1e-39}, {"dev": {"bleu": np.float64(41.5)}})


def test_a_finished_run_has_its_files(tmp_path: Path) -> None:
    finished(tmp_path / "run")
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["status"] == "done"
    assert record["final"] == {"dev": {"bleu": 41.5}}
    assert record["seed"] == 1
    assert record["command"] == ["hopefear", "tune"]
    assert {"hopefear", "python", "numpy"} <= record["versions"].keys()
    assert (tmp_path / "run" / "weights.txt").read_text() == "lm 0.30000000000000004\ntm -1e-39\n"
    events = [json.loads(line)["event"] for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert events == ["start", "done"]
    assert (tmp_path / "run" / "checkpoint").is_dir()
    assert plain(asdict(read_run(tmp_path / "run"))) == record


def test_a_finished_run_is_not_touched(tmp_path: Path) -> None:
    finished(tmp_path)
    with pytest.raises(InputError, match=r"holds a finished run. --overwrite"):
        Run.open(tmp_path)
    assert read_run(tmp_path).status == "done"


def test_overwrite_removes_the_run_only(tmp_path: Path) -> None:
    finished(tmp_path)
    (tmp_path / "mine").write_text("keep")
    with Run.open(tmp_path, overwrite=True, settings={"seed": 2}):
        assert not (tmp_path / "weights.txt").exists()
    assert (tmp_path / "mine").read_text() == "keep"
    assert read_run(tmp_path).seed == 2


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_foreign_directory_is_rejected(tmp_path: Path, overwrite: bool) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(InputError, match=r"has files but no run"):
        Run.open(tmp_path, overwrite=overwrite)
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(InputError, match="not a run of this version"):
        Run.open(tmp_path, overwrite=overwrite)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["run.json", "thesis.tex"]


def test_a_file_is_no_run_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file"):
        Run.open(tmp_path / "file")
    with pytest.raises(InputError, match="not a run directory"):
        read_run(tmp_path / "file")


def test_an_interrupted_run_resumes(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), Run.open(tmp_path, settings={"seed": 1}) as run:
        checkpoint.save(run.path / "checkpoint" / "replicate-1.json", {"weights": {"lm": 0.1 + 0.2}})
        raise KeyboardInterrupt
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"time": "2026-')  # killed while writing
    with pytest.raises(InputError, match=r"holds an unfinished run. --resume continues it"):
        Run.open(tmp_path, settings={"seed": 1})
    with Run.open(tmp_path, settings={"seed": 1}, resume=True) as run:
        assert not run.finished
        assert checkpoint.load(run.path / "checkpoint" / "replicate-1.json") == {"weights": {"lm": 0.1 + 0.2}}
        assert checkpoint.load(run.path / "checkpoint" / "replicate-2.json") is None
        run.finish({"lm": 1.0}, {})
    events = [json.loads(line)["event"] for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert events == ["start", "stopped", "resume", "done"]
    with Run.open(tmp_path, settings={"seed": 1}, resume=True) as run:
        assert run.finished


def test_resume_needs_the_same_settings(tmp_path: Path) -> None:
    Run.open(tmp_path, settings={"seed": 1, "trainer": "mert"}).close()
    with pytest.raises(InputError, match=r'started with another trainer \("mert", now "pro"\)'):
        Run.open(tmp_path, settings={"seed": 1, "trainer": "pro"}, resume=True)


def test_a_setting_within_another_is_named(tmp_path: Path) -> None:
    Run.open(tmp_path, settings={"trainer": {"name": "pro", "options": {"C": 0.1}}}).close()
    with pytest.raises(InputError, match=r"started with another trainer options C \(0.1, now 0.2\)"):
        Run.open(tmp_path, settings={"trainer": {"name": "pro", "options": {"C": 0.2}}}, resume=True)
    with pytest.raises(InputError, match=r"started with another trainer options \(.*, now \{\}\)"):
        Run.open(tmp_path, settings={"trainer": {"name": "pro", "options": {}}}, resume=True)


def test_two_processes_do_not_share_a_run(tmp_path: Path) -> None:
    with Run.open(tmp_path), pytest.raises(InputError, match="another process is using it"):
        Run.open(tmp_path, resume=True)


@pytest.mark.parametrize("weight", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_not_written(tmp_path: Path, weight: float) -> None:
    with Run.open(tmp_path) as run:
        with pytest.raises(InputError, match="the weight of 'lm'"):
            run.finish({"lm": weight}, {})
        assert not (tmp_path / "weights.txt").exists()
        assert not run.finished


def test_warnings_are_kept_once_and_numbers_that_are_none_are_null(tmp_path: Path) -> None:
    with Run.open(tmp_path) as run:
        run.warn("the weight of lm ran away")
        run.warn("the weight of lm ran away")
        run.record.epochs.append({"epoch": 1, "bleu": float("nan"), "w": np.arange(2)})
        run.save()
    record = read_run(tmp_path)
    assert record.warnings == ["the weight of lm ran away"]
    assert record.epochs == [{"epoch": 1, "bleu": None, "w": [0, 1]}]


def test_events_are_logged_warnings_kept_and_all_forwarded(tmp_path: Path) -> None:
    received: list[Event] = []
    with Run.open(tmp_path) as run:

        def listen(event: Event) -> bool:
            received.append(event)
            return "stop" not in str(event)

        session = run.session(listen)
        assert session.folder == tmp_path / "checkpoint"
        epoch = Epoch(1, 2.5, {"updates": 3}, context={"replicate": 2})
        events = [Note("begin"), epoch, Warned("look"), Warned("look")]
        assert all(session.tell(event) for event in events)
        assert not session.tell(Note("stop"))
        assert received == [*events, Note("stop")]
        run.finish({"lm": 1.0}, {})
        session.tell(Epoch(2, 3.0))  # of a run that is finished nothing is logged
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["event"] for line in log] == ["start", "epoch", "warning", "done"]
    assert log[1] == {"time": log[1]["time"], "event": "epoch", "replicate": 2, "epoch": 1, "score": 2.5, "updates": 3}
    assert read_run(tmp_path).warnings == ["look"]


def test_everything_that_belongs_to_a_run_is_cleared(tmp_path: Path) -> None:
    finished(tmp_path)
    for name in ("examples.json", "stats.npz", "params.txt"):
        (tmp_path / name).write_text("")
    with Run.open(tmp_path, overwrite=True):
        left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["checkpoint", "log.jsonl", "run.json"]


def test_a_file_of_weights_is_moved(tmp_path: Path) -> None:
    with Run.open(tmp_path / "run") as run:
        (tmp_path / "many").write_text("a 1\n")
        run.finish(tmp_path / "many", {})
    assert (tmp_path / "run" / "weights.txt").read_text() == "a 1\n"
    assert not (tmp_path / "many").exists()


def test_a_run_killed_before_its_record_was_written_can_be_begun_again(tmp_path: Path) -> None:
    (tmp_path / "run" / "checkpoint").mkdir(parents=True)
    (tmp_path / "run" / "log.jsonl").write_text('{"event": "st')
    with Run.open(tmp_path / "run") as run:
        run.finish({"lm": 1.0}, {})
    assert "start" in (tmp_path / "run" / "log.jsonl").read_text().splitlines()[0]


def test_what_a_killed_run_left_half_written_is_removed_by_the_next(tmp_path: Path) -> None:
    with Run.open(tmp_path):
        (tmp_path / "checkpoint" / "deep").mkdir()
    for folder in (tmp_path, tmp_path / "checkpoint", tmp_path / "checkpoint" / "deep"):
        (folder / f".weights.txt.abcdefgh{PART}").write_text("half")
    with Run.open(tmp_path, resume=True):
        assert not list(tmp_path.rglob(f"*{PART}"))


def test_a_process_that_outlives_a_run_does_not_lock_it(tmp_path: Path) -> None:
    run = Run.open(tmp_path)
    process = os.fork()
    if process == 0:
        time.sleep(600)
        os._exit(0)
    try:
        run.close()
        Run.open(tmp_path, resume=True).close()
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


@pytest.mark.parametrize("name", ["log.jsonl", "run.json", "weights.txt", "checkpoint", "checkpoint/state.json"])
def test_a_run_directory_with_a_link_is_refused(tmp_path: Path, name: str) -> None:
    """A foreign link may lead to a file of the user's."""
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "run" / name).parent.mkdir(parents=True)
    (tmp_path / "run" / name).symlink_to(tmp_path / "mine")
    ways: tuple[dict[str, Any], ...] = ({"resume": True}, {"overwrite": True}, {})
    for how in ways:
        with pytest.raises(InputError, match=f"run/{name}: is a link, through which files elsewhere would be written"):
            Run.open(tmp_path / "run", settings={}, **how)
    assert (tmp_path / "mine").read_text() == "mine"
