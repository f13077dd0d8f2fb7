"""run.json: written and read by one class, and checked on reading."""

import json
from pathlib import Path
from typing import Any

import pytest

from hopefear.errors import InputError
from hopefear.runs.record import FORMAT, RunRecord, checksum, record_inputs, versions


def test_checksums_of_files_and_directories(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert checksum(tmp_path / "a")["sha256"].startswith("ba7816bf8f01cfea")
    digest = checksum(tmp_path)
    (tmp_path / "a").rename(tmp_path / "b")
    assert digest["bytes"] == 3
    assert checksum(tmp_path)["sha256"] != digest["sha256"]


def test_a_record_is_read_as_it_was_saved(tmp_path: Path) -> None:
    record = RunRecord(kind="tune", seed=3, seconds=1.5, trainer={"name": "pro"}, metric="bleu|case:mixed")
    record.initial = {"lm": 0.1 + 0.2}
    record.save(tmp_path / "run.json")
    assert RunRecord.load(tmp_path / "run.json") == record
    assert (record.metric_key, record.finished_well) == ("bleu", False)
    with pytest.raises(FileNotFoundError):
        RunRecord.load(tmp_path / "none.json")


def test_every_key_is_written(tmp_path: Path) -> None:
    """One schema, whatever made the run."""
    RunRecord().save(tmp_path / "run.json")
    record = json.loads((tmp_path / "run.json").read_text())
    assert list(record) == [
        *("format", "kind", "status", "command", "directory", "seed", "started", "finished", "seconds", "versions"),
        *("trainer", "metric", "measure", "model", "inputs", "sentences", "holdout", "settings", "initial", "epochs"),
        *("final", "means", "findings", "warnings"),
    ]
    assert record["format"] == FORMAT


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "hopefear-run-1"}, "a run of hopefear 0.1, which this version cannot read. Repeat the run"),
        ({"format": "hopefear-run-9"}, "not a run of this version of hopefear"),
        ({"status": "sleeping"}, "not a run of this version of hopefear"),
        ({"settings": []}, "settings is not an object: not a run of hopefear"),
        ({"epochs": {}}, "epochs is not a list"),
        ({"metric": 3}, "metric is not text"),
        ({"seconds": "long"}, "seconds is not a number"),
    ],
)
def test_what_is_no_record_is_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "run.json"
    RunRecord().save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError) as error:
        RunRecord.load(path)
    assert str(error.value).startswith(f"{path}: {message}") and "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null"])
def test_what_is_no_object_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(InputError, match=r"run\.json: not "):
        RunRecord.load(tmp_path / "run.json")


def test_keys_of_a_later_version_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    RunRecord(seconds=2).save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"mood": "good"}))
    assert RunRecord.load(path) == RunRecord(seconds=2)


def test_inputs_have_roles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("list", "ref.0", "ref.1"):
        Path(name).write_text(name)
    inputs = record_inputs({"nbest": ["list", "-"], "refs": ("ref.0", "ref.1"), "initial": None, "sources": "list"})
    assert [(input["role"], input["path"]) for input in inputs] == [
        ("nbest", "list"),
        ("refs", "ref.0"),
        ("refs", "ref.1"),
        ("sources", "list"),
    ]
    record = RunRecord(inputs=inputs, directory=str(tmp_path))
    assert record.files() == {"nbest": ["list"], "refs": ["ref.0", "ref.1"], "sources": ["list"]}
    monkeypatch.chdir("/")  # relative paths start where the command was given
    assert record.files()["refs"] == [str(tmp_path / "ref.0"), str(tmp_path / "ref.1")]
    (tmp_path / "ref.1").write_text("other")
    with pytest.raises(InputError, match=r"ref\.1 was changed since"):
        record.files()
    (tmp_path / "ref.1").unlink()
    with pytest.raises(InputError, match=r"ref\.1 is gone"):
        record.files()


def test_versions_of_what_may_change_a_number() -> None:
    assert {"hopefear", "python", "numpy", "scipy", "sacrebleu"} == set(versions())
