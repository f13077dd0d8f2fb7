"""``tune`` from end to end, on small lists."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hopefear import Bleu, Chrf, Kbmira
from hopefear.cli.main import main
from hopefear.commands.tune import Tune
from hopefear.data.candidates import megabytes
from hopefear.data.lists import Synthetic
from hopefear.formats import read_nbest, read_weights, write_forests
from hopefear.reports.page import unpacked
from hopefear.runs.events import Progress
from hopefear.runs.session import Session

Capture = pytest.CaptureFixture[str]
DATA = Synthetic(sentences=60, candidates=20, dense=8)
REFS = ["--refs", "ref.0", "ref.1", "ref.2", "ref.3"]
TUNE = ["tune", "--nbest", "nbest.txt", *REFS, "--initial", "initial.txt", "--trainer", "kbmira"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    DATA.write(tmp_path)
    DATA.write(tmp_path, jsonl=True)


def record(run: str = "run") -> dict[str, Any]:
    record = json.loads(Path(run, "run.json").read_text())
    assert isinstance(record, dict)
    return record


def test_scores_before_and_after_and_a_run(capsys: Capture) -> None:
    assert main([*TUNE, "--out", "run"]) == 0
    out, err = capsys.readouterr()
    head, before, after, signature, change, _, *baselines = (line.split() for line in out.splitlines())
    assert head == ["bleu", "dev", "held", "out"]
    assert change[:2] == ["held", "out:"]
    assert "6 sentences" in " ".join(change)
    assert baselines[0] == ["held", "out", "bleu", "95", "%"]
    assert [line[0] for line in baselines[1:]] == ["after", "initial", "equal", "best"]
    assert float(before[1]) < float(after[1])
    assert signature[0].startswith("bleu|case:mixed|eff:no|tok:none|smooth:exp|")
    assert err == "weights: run/weights.txt\n"
    saved = record()
    assert saved["status"] == "done"
    assert saved["seed"] == 1
    assert saved["trainer"]["name"] == "kbmira"
    assert saved["trainer"]["options"]["passes"] == 60
    assert saved["sentences"] == {"dev": 54, "holdout": 6}
    assert len(saved["holdout"]["ids"]) == 6
    assert [round(saved["final"][part]["bleu"], 2) for part in ("dev", "holdout")] == [float(after[1]), float(after[2])]
    assert round(saved["final"]["before"]["dev"]["bleu"], 2) == float(before[1])
    assert len(saved["epochs"]) == 60
    assert [Path(input["path"]).name for input in saved["inputs"]] == ["nbest.txt", *REFS[1:], "initial.txt"]
    assert set(read_weights("run/weights.txt")) == set(DATA.dense_names)
    events = [json.loads(line) for line in Path("run/log.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events] == ["start", *["epoch"] * 60, "done"]


def test_the_score_of_the_run_is_the_score_of_reranking(capsys: Capture) -> None:
    assert main([*TUNE, "--out", "run", "--holdout", "0", "--json"]) == 0
    final = json.loads(capsys.readouterr().out)
    assert final == record()["final"]
    assert set(final) == {"dev", "before"}
    assert main(["rerank", "--nbest", "nbest.txt", "--weights", "run/weights.txt"]) == 0
    Path("best").write_text(capsys.readouterr().out)
    assert main(["score", "best", *REFS, "--tokenize", "none", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["systems"][0]["bleu"] == pytest.approx(final["dev"]["bleu"], abs=1e-9)


def test_the_same_bytes_whatever_the_jobs(capsys: Capture) -> None:
    for run, jobs in (("a", "1"), ("b", "2")):
        assert main([*TUNE, "--out", run, "--jobs", jobs, "--replicates", "2", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    weights = {Path(run, "weights.txt").read_bytes() for run in "ab"}
    assert len(weights) == 1


def test_replicates_and_random_initial_models(capsys: Capture) -> None:
    assert main([*TUNE, "--out", "run", "--replicates", "3", "--random-init", "--seed", "5"]) == 0
    out = capsys.readouterr().out
    final = record()["final"]
    assert [replicate["seed"] for replicate in final["replicates"]] == [5, 6, 7]
    scores = [replicate["dev"]["bleu"] for replicate in final["replicates"]]
    assert len(set(scores)) > 1
    assert final["dev"]["bleu"] == max(scores)
    assert final["best_seed"] == 5 + scores.index(max(scores))
    assert final["mean"]["dev"]["bleu"] == pytest.approx(sum(scores) / 3)
    assert f"after, best (seed {final['best_seed']})" in out
    assert "after, mean of 3" in out


def test_a_column_of_the_lists_is_a_metric(capsys: Capture) -> None:
    assert main(["tune", "--nbest", "nbest.jsonl", "--metric", "quality", "--trainer", "pro", "--out", "run"]) == 0
    final = record()["final"]
    assert final["before"]["dev"]["quality"] + 1 < final["dev"]["quality"] <= 100
    assert capsys.readouterr().out.startswith("quality    dev  held out\n")


def test_references_may_come_with_the_lists() -> None:
    assert main(["tune", "--nbest", "nbest.jsonl", "--trainer", "kbmira", "--out", "a", "--quiet"]) == 0
    assert main(["tune", "--nbest", "nbest.txt", *REFS, "--trainer", "kbmira", "--out", "b", "--quiet"]) == 0
    assert read_weights("a/weights.txt") == read_weights("b/weights.txt")


def test_options_of_the_trainer_and_of_the_metric() -> None:
    options = ["--set", "C=0.02", "passes=3", "scaling=std", "--metric", "chrf:word_order=2", "--lowercase"]
    assert main([*TUNE, "--out", "run", *options]) == 0
    saved = record()
    assert {"C": 0.02, "passes": 3, "scaling": "std"}.items() <= saved["trainer"]["options"].items()
    assert saved["metric"].startswith("chrf|case:lc|eff:yes|nc:6|nw:2|")
    assert len(saved["epochs"]) == 3


def test_a_config_file_sets_every_option() -> None:
    refs = ", ".join(f'"{path}"' for path in REFS[1:])
    Path("c.toml").write_text(
        f'seed = 1\n[tune]\nnbest = "nbest.txt"\nrefs = [{refs}]\ninitial = "initial.txt"\ntrainer = "kbmira"\n'
        'out = "a"\nset = {C = 0.02, passes = 3}\n'
    )
    assert main(["tune", "--config", "c.toml", "--quiet"]) == 0
    assert main([*TUNE, "--out", "b", "--set", "C=0.02", "--set", "passes=3", "--quiet"]) == 0
    assert Path("a/weights.txt").read_bytes() == Path("b/weights.txt").read_bytes()


def test_lists_of_the_same_sentences_are_merged(capsys: Capture) -> None:
    lines = Path("nbest.txt").read_text().splitlines(keepends=True)
    Path("one").write_text("".join(line for i, line in enumerate(lines) if i % 20 < 12))
    Path("two").write_text("".join(line for i, line in enumerate(lines) if i % 20 >= 8))
    common = [*REFS, "--trainer", "kbmira", "--set", "passes=3"]
    assert main(["tune", "--nbest", "one", "two", *common, "--out", "a"]) == 0
    assert "2 lists of the same sentences: merged without duplicates" in capsys.readouterr().err
    assert main(["tune", "--nbest", "nbest.txt", *common, "--out", "b"]) == 0
    assert Path("a/weights.txt").read_bytes() == Path("b/weights.txt").read_bytes()


def test_parts_of_a_list_are_joined() -> None:
    lines = Path("nbest.txt").read_text().splitlines(keepends=True)
    Path("one").write_text("".join(lines[:600]))
    Path("two").write_text("".join(lines[600:]))
    common = [*REFS, "--trainer", "kbmira", "--set", "passes=3", "--quiet"]
    assert main(["tune", "--nbest", "one", "two", *common, "--out", "a"]) == 0
    assert main(["tune", "--nbest", "nbest.txt", *common, "--out", "b"]) == 0
    assert Path("a/weights.txt").read_bytes() == Path("b/weights.txt").read_bytes()


def test_another_list_to_choose_on(capsys: Capture) -> None:
    Synthetic(sentences=30, candidates=20, dense=8, seed=9).write("other")
    other = ["--dev-nbest", "other/nbest.txt", "--dev-refs", *(f"other/ref.{i}" for i in range(4))]
    assert main([*TUNE, "--out", "run", *other]) == 0
    assert capsys.readouterr().out.splitlines()[0].split() == ["bleu", "train", "dev", "held", "out"]
    assert record()["sentences"] == {"train": 54, "dev": 30, "holdout": 6}


def test_forests_instead_of_lists() -> None:
    """A list is a forest too: the same weights from both."""
    pool = read_nbest("nbest.txt", REFS[1:])
    write_forests(pool, "dev.forests")
    common = ["--trainer", "kbmira", "--set", "passes=3", "--quiet"]
    assert main(["tune", "--forests", "dev.forests", *common, "--out", "a"]) == 0
    assert main(["tune", "--nbest", "nbest.txt", *REFS, *common, "--out", "b"]) == 0
    assert Path("a/weights.txt").read_bytes() == Path("b/weights.txt").read_bytes()


def test_weights_of_strangers_are_named(capsys: Capture) -> None:
    with Path("initial.txt").open("a") as file:
        file.write("stranger 1\n")
    assert main([*TUNE, "--out", "run", "--set", "passes=1"]) == 0
    assert "initial.txt: 1 weight for features that the lists do not have: stranger" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (["--trainer", "kbmria"], "there is no trainer 'kbmria'. Did you mean 'kbmira'?"),
        (["--set", "c=1"], "--set c=1: kbmira has no option 'c'."),
        (["--set", "passes=many"], "--set passes: 'many' is not a whole number"),
        (["--set", "passes=0"], "trainer kbmira: passes must be at least 1, not 0"),
        (["--set", "seed=3"], "--set seed=3: use --seed."),
        (["--set", "C"], "--set C: write --set name=value."),
        (["--holdout", "1"], "the held-out share is 1. It must be 0 or more and less than 1"),
        (["--metric", "quality"], "there is no metric 'quality'"),
        (["--out", "nbest.txt"], "nbest.txt: is a file. --out takes a directory"),
        (["--out", "."], ".: has files but no run"),
        (["--initial", "ref.0"], "ref.0:1: "),
        (["--forests", "nbest.txt"], "give one of --nbest, --forests, --table, --decoder-command"),
        (["--replicates", "0"], "'--replicates': 0 is too small"),
        (["--iterations", "10"], "--iterations works only with --decoder-command"),
        (["--recent", "1"], "--recent works only with --decoder-command"),
        (["--decoder-timeout", "9"], "--decoder-timeout works only with --decoder-command"),
        (["--sources", "nbest.txt"], "nbest.txt: has 1200 lines, but nbest.txt has 60 sentences"),
        (["--group", "a"], "--group works only with --table"),
        (["--outcome", "a", "b"], "no column 'a' for --outcome"),
        (["--params", "ref.0"], "--params works only with --decoder-command"),
        (["--retune-every", "2"], "--retune-every works only with --params"),
        (["--max-evaluations", "9"], "--max-evaluations works only with --params"),
        (["--dev-refs", "ref.0"], "--dev-refs works only with --dev-nbest"),
    ],
)
def test_bad_input_leaves_no_run(capsys: Capture, arguments: list[str], output: str) -> None:
    assert main([*TUNE, "--out", "run", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert output in err
    assert err.count("\n") == 1
    assert not Path("run").exists()


def test_no_references(capsys: Capture) -> None:
    assert main(["tune", "--nbest", "nbest.txt", "--trainer", "mert", "--out", "run"]) == 2
    assert "sentence 0 has no reference, and bleu needs one. Give --refs" in capsys.readouterr().err


def test_nothing_to_learn(capsys: Capture) -> None:
    lines = Path("nbest.txt").read_text().splitlines(keepends=True)
    Path("nbest.txt").write_text("".join(lines[::20]))
    assert main([*TUNE, "--out", "run"]) == 2
    assert "every sentence has one candidate only: there is nothing to learn" in capsys.readouterr().err
    assert not Path("run", "weights.txt").exists()


def test_a_finished_run_is_kept_without_overwrite(capsys: Capture) -> None:
    assert main([*TUNE, "--out", "run"]) == 0
    first, weights = capsys.readouterr(), Path("run/weights.txt").read_bytes()
    assert main([*TUNE, "--out", "run"]) == 2
    assert "run: holds a finished run." in capsys.readouterr().err
    assert main([*TUNE, "--out", "run", "--resume"]) == 0
    assert capsys.readouterr() == first
    assert main([*TUNE, "--out", "run", "--resume", "--seed", "2"]) == 2
    assert "the run was started with another seed (1, now 2)" in capsys.readouterr().err
    assert Path("run/weights.txt").read_bytes() == weights
    assert main([*TUNE, "--out", "run", "--overwrite", "--seed", "2"]) == 0
    assert record()["seed"] == 2


def test_an_interrupted_run_can_be_resumed() -> None:
    """tests/train/test_replicates.py resumes it."""
    arguments = [*TUNE, "--set", "passes=400", "--replicates", "3", "--jobs", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "hopefear.cli.main", *arguments, "--out", "run"], stderr=subprocess.PIPE
    )
    done = Path("run/checkpoint/replicate-1.json")
    while not done.exists() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, output = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == b"hopefear: interrupted. --resume continues an interrupted run.\n"
    assert record()["status"] == "running"
    assert not Path("run/weights.txt").exists()


def test_before_is_the_first_candidate_of_the_first_list(capsys: Capture) -> None:
    """Lists that were merged are in no other order than they were."""
    common = [*REFS, "--trainer", "kbmira", "--set", "passes=2", "--holdout", "0", "--json", "--quiet"]
    assert main(["tune", "--nbest", "nbest.txt", *common, "--out", "one"]) == 0
    before_one = json.loads(capsys.readouterr().out)
    assert main(["tune", "--nbest", "nbest.txt", "nbest.txt", *common, "--out", "two"]) == 0
    assert json.loads(capsys.readouterr().out) == before_one
    assert read_weights("one/weights.txt") == read_weights("two/weights.txt")
    pool = read_nbest("nbest.txt", REFS[1:])
    result = Kbmira(passes=2).fit(pool)
    first = [pool.text(i, 0) for i in range(len(pool))]
    references = [[pool.references(i)[k] for i in range(len(pool))] for k in range(4)]
    assert before_one["before"]["dev"]["bleu"] == pytest.approx(Bleu().corpus_score(first, references))
    assert result.initial_score == pytest.approx(before_one["before"]["dev"]["bleu"])


def test_forests_without_weights_have_no_score_before(capsys: Capture) -> None:
    Path("dev.plf").write_text(
        "((('a',-1,1),('b',-2,1),),(('c',-1,1),('d',-1.5,1),),(('e',-1,1),),(('f',-1,1),),)\n" * 4
    )
    Path("plf.ref").write_text("b c e f\n" * 4)
    arguments = ["tune", "--forests", "dev.plf", "--refs", "plf.ref", "--trainer", "mert", "--holdout", "0"]
    assert main([*arguments, "--out", "run"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1].split() == ["before", "not", "known"]
    assert "gain" not in err
    assert record()["final"]["before"] == {}
    assert not any("gain" in finding["code"] for finding in record()["findings"])


def test_several_metrics_are_reported_and_the_first_is_optimised(capsys: Capture) -> None:
    assert main([*TUNE, "--out", "both", "--metric", "bleu", "--metric", "chrf", "--metric", "bleu"]) == 0
    out = capsys.readouterr().out
    assert [line.split("|")[0] for line in out.splitlines() if "|" in line] == ["bleu", "chrf"]
    assert main([*TUNE, "--out", "one", "--metric", "bleu", "--quiet"]) == 0
    assert read_weights("both/weights.txt") == read_weights("one/weights.txt")
    both, one = record("both")["final"], record("one")["final"]
    assert {**both["dev"], "chrf": None} == {**one["dev"], "chrf": None}
    assert set(both["before"]["holdout"]) == {"bleu", "chrf"}
    capsys.readouterr()
    assert main([*TUNE, "--out", "all", "--metric", "bleu", "--metric", "chrf", "--holdout", "0", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["rerank", "--nbest", "nbest.txt", "--weights", "all/weights.txt"]) == 0
    best = capsys.readouterr().out.split("\n")[:-1]
    references = [Path(f"ref.{k}").read_text().split("\n")[:-1] for k in range(4)]
    assert record("all")["final"]["dev"]["chrf"] == pytest.approx(Chrf().corpus_score(best, references))


def test_lists_have_sources(capsys: Capture) -> None:
    Path("src").write_text("".join(f"source {i}\n" for i in range(60)))
    assert main([*TUNE, "--out", "run", "--sources", "src"]) == 0
    assert {"sources"} <= {input["role"] for input in record()["inputs"]}
    assert main(["report", "run"]) == 0
    assert "source 1" in json.dumps(unpacked(Path("report.html").read_text()))


def test_progress_knows_its_total() -> None:
    Path("large").write_bytes(b"x" * 2_500_000)
    assert megabytes(["large", "large"]) == 5
    assert megabytes(["large", "-"]) is None
    received: list[Progress] = []
    refs = REFS[1:]
    Tune(nbest=["nbest.txt"], refs=refs, trainer="kbmira", out="run", replicates=2, jobs=1).run(
        Session(lambda event: received.append(event) if isinstance(event, Progress) else None)
    )
    assert {one.total for one in received if one.label == "tune kbmira" and "epoch" in one.text} == {120}


def test_lists_and_references_of_other_stores(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    Synthetic(sentences=8, candidates=5).write(tmp_path / "data")
    names = ("nbest.txt", "ref.0", "ref.1")
    for name in names:
        with fsspec.open(f"memory://{name}", "wb") as file:
            file.write((tmp_path / "data" / name).read_bytes())
    for out, place in (("here", f"{tmp_path}/data/"), ("far", "memory://")):
        nbest, *refs = (place + name for name in names)
        given = ["--nbest", nbest, "--refs", *refs, "--trainer", "kbmira", "--out", str(tmp_path / out)]
        assert main(["tune", *given]) == 0
    assert (tmp_path / "far" / "weights.txt").read_bytes() == (tmp_path / "here" / "weights.txt").read_bytes()
    records = [json.loads((tmp_path / out / "run.json").read_text())["inputs"] for out in ("here", "far")]
    assert [record["sha256"] for record in records[0]] == [record["sha256"] for record in records[1]]
    assert records[1][0]["path"] == "memory://nbest.txt"
