"""A package with a trainer, a metric, a format and a command of its own: installed, it works by name everywhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent / "plugin"
Run = Callable[..., subprocess.CompletedProcess[str]]

LIST = """\
0;-1;2;das ist gut
0;-2;3;this is good
0;-3;1;it is Good
1;-1;0;rain
1;-4;1;it rains
2;-1;1;no
2;-2;2;yes it is
3;-1;1;what
3;-2;2;who is it
"""
REFS = "this is good\nit rains\nyes it is\nwho is it\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as an installer leaves it: the modules, and the metadata with the entry points."""
    folder = tmp_path_factory.mktemp("site")
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    shutil.copytree(PACKAGE / "hopefear_mine", folder / "hopefear_mine")
    metadata = folder / f"hopefear_mine-{project['version']}.dist-info"
    metadata.mkdir()
    name_and_version = f"Name: {project['name']}\nVersion: {project['version']}\n"
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\n" + name_and_version)
    groups = (
        "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in points.items()), ""])
        for group, points in project["entry-points"].items()
    )
    (metadata / "entry_points.txt").write_text("\n".join(groups))
    return folder


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "dev.mine").write_text(LIST)
    (tmp_path / "refs").write_text(REFS)
    return tmp_path


@pytest.fixture
def run(here: Path, site: Path) -> Run:
    def run(*arguments: str, code: int = 0, path: Path | None = site) -> subprocess.CompletedProcess[str]:
        paths = [str(path or ""), os.environ.get("PYTHONPATH", "")]
        command = [sys.executable, "-m", "hopefear.cli.main", *arguments]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        ended = subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True)
        assert ended.returncode == code, ended.stderr
        return ended

    return run


TUNE = ["tune", "--nbest", "dev.jsonl", "--refs", "refs", "--holdout", "0", "--out", "run"]


def test_a_format(run: Run, here: Path) -> None:
    run("convert", "dev.mine", "dev.jsonl", "--from", "mine", "--refs", "refs")
    first = json.loads((here / "dev.jsonl").read_text().splitlines()[0])
    assert [candidate["text"] for candidate in first["candidates"]] == ["das ist gut", "this is good", "it is Good"]
    assert first["candidates"][1]["features"] == {"lm": -2, "tm": 3}
    (here / "comma").write_text(LIST.replace(";", ","))
    run("convert", "comma", "again.jsonl", "--from", "mine:,", "--refs", "refs")
    assert (here / "again.jsonl").read_bytes() == (here / "dev.jsonl").read_bytes()
    (here / "dev.mine").write_text("0;-1;2\n")
    assert (
        "dev.mine:1: expected ID;LM;TM;TEXT" in run("convert", "dev.mine", "x.jsonl", "--from", "mine", code=2).stderr
    )
    wrong = run("convert", "dev.mine", "x.jsonl", "--from", "nobodys", code=2).stderr
    assert "there is no format 'nobodys'" in wrong and ", mine" in wrong


def test_a_trainer_and_a_metric_leave_a_run_like_ours(run: Run, here: Path) -> None:
    run("convert", "dev.mine", "dev.jsonl", "--from", "mine")
    options = ["--trainer", "mine", "--set", "epochs=3", "--metric", "mine:lowercase=true", "--replicates", "2"]
    ended = run(*TUNE, *options, "--json")
    assert json.loads(ended.stdout)["dev"]["mine"] == 100.0
    record = json.loads((here / "run" / "run.json").read_text())
    assert record["trainer"]["name"] == "mine" and record["trainer"]["options"]["epochs"] == 3
    assert record["measure"] == {"name": "mine", "options": {"lowercase": True}}
    weights = (here / "run" / "weights.txt").read_bytes()
    run(*TUNE, *options, "--resume")
    run(*TUNE, *options, "--overwrite", "--jobs", "1")
    assert (here / "run" / "weights.txt").read_bytes() == weights
    assert (
        "lowercase (true, now false)" in run(*TUNE, "--trainer", "mine", "--metric", "mine", "--resume", code=2).stderr
    )
    run("report", "run", "--out", "page.html")
    assert "mine" in (here / "page.html").read_text()
    best = run("rerank", "--nbest", "dev.mine", "--format", "mine", "--weights", "run/weights.txt").stdout
    (here / "best").write_text(best)
    scored = json.loads(run("score", "best", "--refs", "refs", "--metric", "mine", "--json").stdout)["systems"][0]
    assert scored["mine"] == 100.0 and scored["signature"].startswith("nrefs:1|lowercase:False|")
    assert "mine" in run("trainers").stdout and "rounds of the search" in run("trainers", "mine").stdout


def test_a_command(run: Run) -> None:
    assert run("mine", "dev.mine", "--format", "mine").stdout == "9\n"
    ended = run("mine", "dev.mine", "--format", "mine", "--quiet")
    assert (ended.stdout, ended.stderr) == ("9\n", "")
    assert "Count the candidates of lists." in run("--help").stdout
    text = run("mine", "--help").stdout
    assert "Its format. [seen from the file]" in text and "hopefear mine dev.nbest" in text
    assert "no such command 'mine'" in run("mine", "dev.mine", code=2, path=None).stderr


def test_modules_that_are_not_installed(run: Run, here: Path) -> None:
    run("convert", "dev.mine", "dev.jsonl", "--from", "mine")
    for name in ("trainer", "metric"):
        shutil.copyfile(PACKAGE / "hopefear_mine" / f"{name}.py", here / f"my_{name}.py")
    options = ["--trainer", "my_trainer:Mine", "--metric", "my_metric:Mine:lowercase=true"]
    run(*TUNE, *options, path=None)
    record = json.loads((here / "run" / "run.json").read_text())
    assert record["measure"] == {"name": "my_metric:Mine", "options": {"lowercase": True}}
    run("report", "run", "--out", "page.html", path=None)
    for wrong, finding in (
        ("my_metric:Yours", "the module my_metric has no 'Yours'"),
        ("my_trainer:Mine", "Mine is not a Metric"),
        ("nowhere:Mine", "there is no module 'nowhere'"),
    ):
        assert finding in run(*TUNE, "--trainer", "mert", "--metric", wrong, "--overwrite", code=2).stderr


def test_a_package_that_is_broken(run: Run, site: Path, here: Path) -> None:
    """Nothing of it is imported until it is named, and then it is named in one line."""
    broken = here / "broken"
    shutil.copytree(site, broken)
    for name in ("trainer", "metric", "format", "command"):
        (broken / "hopefear_mine" / f"{name}.py").write_text("raise ValueError('half written')\n")
    run("score", "refs", "--refs", "refs", path=broken)
    assert "could not be loaded: half written" in " ".join(run("--help", path=broken).stdout.split())
    (here / "dev.jsonl").touch()
    for arguments in (
        ["mine", "x"],
        [*TUNE, "--trainer", "mine"],
        ["score", "refs", "--refs", "refs", "--metric", "mine"],
        ["convert", "dev.mine", "x.jsonl", "--from", "mine"],
    ):
        told = run(*arguments, code=2, path=broken).stderr
        assert "hopefear-mine could not be loaded: half written" in told and told.count("\n") == 1
