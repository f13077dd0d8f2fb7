"""The report of a run of ``hopefear train``: sentences are decoded again, and their derivations are drawn."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hopefear.cli.main import main
from hopefear.experiments import Lab
from hopefear.experiments.material import main_system, tasks
from hopefear.report.gather import Reader
from hopefear.report.numbers import averaged_curve
from tests.report.test_report import parsed


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    lab = Lab(folder / "lab", size="tiny", jobs=2)
    task = tasks(lab)[0]
    model = main_system(lab).model.path
    data = ["--source", str(task.dev[0]), "--refs", *map(str, task.dev[1])]
    dev = ["--dev-source", str(task.test[0]), "--dev-refs", *map(str, task.test[1])]
    options = ["--trainer", "mira", "--set", "epochs=2", "--jobs", "2", "--quiet", "--out", str(folder / "run")]
    assert main(["train", str(model), *data, *dev, *options]) == 0
    return folder / "run"


def test_clouds_and_trees(trained: Path, tmp_path: Path) -> None:
    assert main(["report", str(trained), "--out", str(tmp_path / "r.html"), "--quiet"]) == 0
    found = parsed(tmp_path / "r.html")
    assert {"sentence", "translations", "surface", "length", "curves"} <= set(found.ids)
    data = json.loads(next(text for text in found.text if text.startswith('{"metric"')))
    sentences = data["runs"][0]["sentences"]
    assert len(sentences) > 5
    for one in sentences:
        for when in ("before", "after"):
            assert set(one[when]["trees"]) == set(one[when]["marks"]) == {"best", "hope", "fear"}


def test_what_was_said_before_is_what_the_run_saw(trained: Path) -> None:
    run = Reader(jobs=1).read(trained)
    examples = json.loads((trained / "examples.json").read_text())
    assert set(run.said_before.values()) <= {one["before"] for one in examples}
    assert len(averaged_curve(run).x) == len(run.record["epochs"])


def test_without_the_model(trained: Path, tmp_path: Path) -> None:
    shutil.copytree(trained, tmp_path / "run")
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    record["model"] = "nowhere"
    (tmp_path / "run" / "run.json").write_text(json.dumps(record))
    assert main(["report", str(tmp_path / "run"), "--out", str(tmp_path / "r.html"), "--quiet"]) == 0
    found = parsed(tmp_path / "r.html")
    assert "sentence" not in found.ids and "scores" in found.ids
    assert "nowhere is gone" in "".join(found.text)
