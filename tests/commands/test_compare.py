"""``hopefear compare``: trainers and seeds side by side."""

import csv
import json
import re
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import hopefear as hf
from hopefear.cli.main import main
from hopefear.data.lists import Synthetic
from hopefear.evaluation.comparison import benjamini_hochberg
from hopefear.formats import read_weights
from hopefear.reports.page import unpacked
from hopefear.util.messages import digits_for
from tests.cli.capture import Capture, one_line
from tests.reports.pages import parsed


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compare")
    Synthetic(sentences=60, candidates=8, dense=6).write(folder)
    return folder


def arguments(data: Path, out: Path, *more: str) -> list[str]:
    refs = [str(data / f"ref.{i}") for i in range(4)]
    lists = ["compare", "--nbest", str(data / "nbest.txt"), "--refs", *refs]
    return [*lists, "--trainers", "kbmira,mert", "--set", "mert.restarts=1", "--seeds", "2", "--out", str(out), *more]


def test_it_writes_tables_and_a_page(data: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "run"
    assert main(arguments(data, out, "--json")) == 0
    record = json.loads(capsys.readouterr().out)
    assert record == json.loads((out / "compare.json").read_text())
    assert {trainer["name"] for trainer in record["trainers"]} == {"kbmira", "mert"}
    [pair] = record["pairs"]
    means = {trainer["name"]: trainer["score"] for trainer in record["trainers"]}
    assert pair["delta"] == pytest.approx(means[pair["first"]] - means[pair["second"]])
    assert pair["low"] <= pair["delta"] <= pair["high"]
    with (out / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["trainer"], row["seed"]) for row in rows if row["trainer"] == "mert"] == [("mert", "1"), ("mert", "2")]
    assert (out / "table.md").read_text().startswith("| trainer | dev bleu |")
    latex = (out / "table.tex").read_text()
    assert latex.count(r"\\") == 3 and r"\toprule" in latex and not re.search(r"(?<!\\)_", latex.split("\n", 1)[1])
    page = (out / "report.html").read_text()
    assert escape(record["verdict"]) in page and "<svg" in page
    for name in ("forest", "curves"):
        assert ElementTree.parse(out / "figures" / f"{name}.svg").getroot().get("viewBox")
        assert (out / "figures" / f"{name}.pdf").read_bytes().startswith(b"%PDF-1.4")
    listed = unpacked(page)
    assert listed["sentences"][0]["systems"][:2] == [trainer["name"] for trainer in record["trainers"]]
    assert len(listed["sentences"][0]["ids"]) == record["sentences"] == 12
    assert listed["weights"]["runs"] == [trainer["name"] for trainer in record["trainers"]]
    parsed(out / "report.html")


def test_weights_of_every_seed_have_the_reported_score(data: Path, tmp_path: Path) -> None:
    main(arguments(data, tmp_path / "run"))
    seeds = {path.stem: read_weights(path) for path in (tmp_path / "run" / "weights").iterdir()}
    assert set(seeds) == {"kbmira-1", "kbmira-2", "mert-1", "mert-2"}
    alone = ["tune", *arguments(data, tmp_path / "alone")[1:]]
    at = alone.index("--trainers")
    assert (
        main([*alone[:at], "--trainer", "kbmira", "--holdout", "0.2", "--seed", "1", "--out", str(tmp_path / "t")]) == 0
    )
    assert read_weights(tmp_path / "t" / "weights.txt") == seeds["kbmira-1"]


def test_an_interrupted_comparison_resumes(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    import hopefear.train.replicates as tuning

    whole = tuning.fit_replicates

    def interrupted(trainer: Any, *args: Any, **more: Any) -> Any:
        if trainer.name == "mert":
            raise KeyboardInterrupt
        return whole(trainer, *args, **more)

    monkeypatch.setattr(tuning, "fit_replicates", interrupted)
    assert main(arguments(data, tmp_path / "a")) == 130
    assert not (tmp_path / "a" / "compare.json").exists()
    monkeypatch.undo()
    assert main(arguments(data, tmp_path / "a")) == 2
    assert main(arguments(data, tmp_path / "a", "--resume")) == 0
    assert main(arguments(data, tmp_path / "b", "--jobs", "1")) == 0
    assert (tmp_path / "a" / "table.csv").read_bytes() == (tmp_path / "b" / "table.csv").read_bytes()
    assert main(arguments(data, tmp_path / "a", "--resume", "--features", "lm", "tm0")) == 2
    assert 'another features (null, now ["lm", "tm0"])' in capsys.readouterr().err
    assert main(arguments(data, tmp_path / "a", "--resume", "--seeds", "3")) == 2


def test_from_python(data: Path, tmp_path: Path) -> None:
    lists, refs = [str(data / "nbest.txt")], [str(data / f"ref.{i}") for i in range(4)]
    compared = hf.compare(nbest=lists, refs=refs, trainers=["kbmira", "pro"], seeds=1, out=str(tmp_path / "run"))
    assert [len(recipe.scores) for recipe in compared.recipes] == [1, 1]
    assert compared.pair("pro", "kbmira").delta == -compared.pair("kbmira", "pro").delta


@pytest.mark.parametrize(
    ("more", "output"),
    [
        (["--trainers", "kbmria,mert"], "no trainer 'kbmria'. Did you mean 'kbmira'?"),
        (["--set", "pro.C=1"], "write --set TRAINER.NAME=VALUE, with one of kbmira, mert"),
        (["--test-refs", "x"], "x: no such file"),
    ],
)
def test_wrong_options_take_one_line(more: list[str], output: str, data: Path, tmp_path: Path, capsys: Capture) -> None:
    given = arguments(data, tmp_path / "run")
    if more[0] == "--trainers":
        given[given.index("kbmira,mert")] = more[1]
        more = []
    assert main([*given, *more]) == 2
    assert output in one_line(capsys)
    assert not (tmp_path / "run").exists()


def test_false_discovery_rate_by_hand() -> None:
    """The example of Benjamini and Hochberg (1995), section 3.2: four of fifteen are rejected at 0.05."""
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1,
    ]
    assert sum(value <= 0.05 for value in benjamini_hochberg(p)) == 4
    assert benjamini_hochberg([0.04, 0.01]) == [0.04, 0.02]


def test_scores_between_0_and_1_have_four_digits() -> None:
    assert (digits_for([0.851, 0.853]), digits_for([34.1, 0.2])) == (4, 2)


def test_several_data_sets(data: Path, tmp_path: Path, capsys: Capture) -> None:
    refs = [str(data / f"ref.{i}") for i in range(4)]
    for name, used in (("one", refs), ("two", refs[:1])):
        (tmp_path / f"{name}.toml").write_text(
            f"nbest = {json.dumps(str(data / 'nbest.txt'))}\nrefs = {json.dumps(used)}\n"
        )
    out, files = tmp_path / "run", [str(tmp_path / "one.toml"), str(tmp_path / "two.toml")]
    options = ["--trainers", "kbmira,pro", "--seeds", "2", "--out", str(out)]
    assert main(["compare", "--data-sets", *files, *options, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)["data_sets"]
    assert list(record) == ["one", "two"]
    alone = json.loads((out / "two" / "compare.json").read_text())
    assert record["two"] == alone and len(alone["trainers"]) == 2
    assert (out / "table.md").read_text().startswith("| trainer | one bleu | two bleu |")
    assert (out / "table.tex").read_text().count(r"\\") == 3
    assert len((out / "table.csv").read_text().splitlines()) == 9
    page = (out / "report.html").read_text()
    assert escape(alone["verdict"]) in page and 'href="two/report.html"' in page
    kept = (out / "one" / "log.jsonl").read_bytes()
    assert main(["compare", "--data-sets", *files, *options, "--resume"]) == 0
    assert (out / "one" / "log.jsonl").read_bytes() == kept
    (tmp_path / "two.toml").write_text('nbst = "x"\n')
    capsys.readouterr()
    assert main(["compare", "--data-sets", *files, *options, "--overwrite"]) == 2
    assert "two.toml: a data set has no 'nbst'. Did you mean 'nbest'?" in one_line(capsys)


def test_the_experiment_is_the_argument(data: Path, tmp_path: Path, capsys: Capture) -> None:
    lines = {"nbest": [str(data / "nbest.txt")], "refs": [str(data / "ref.0")], "trainers": ["pro"], "seeds": 1}
    text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in lines.items())
    (tmp_path / "experiment.toml").write_text(text)
    assert main(["compare", str(tmp_path / "experiment.toml"), "--out", str(tmp_path / "run")]) == 0
    assert "pro scores" in capsys.readouterr().out
