"""What a report reads of a run, and what it says when inputs are gone."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

import hopefear as hf
from hopefear.cli.main import main
from hopefear.formats import read_lists
from hopefear.metrics import Bleu, Ter
from hopefear.reports.gather import RunData, RunReader
from hopefear.reports.numbers import learning_curve
from hopefear.runs import RunRecord
from tests.reports.pages import parsed


def test_inputs_that_are_gone_or_changed_leave_sections_out(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "mert", tmp_path / "mert")
    record = json.loads((tmp_path / "mert" / "run.json").read_text())
    for change, says in (({"path": "nowhere.txt"}, "is gone"), ({"sha256": "0"}, "changed")):
        other = json.loads(json.dumps(record))
        other["inputs"][0].update(change)
        (tmp_path / "mert" / "run.json").write_text(json.dumps(other))
        assert main(["report", str(tmp_path / "mert"), "--out", str(tmp_path / "r.html"), "--quiet"]) == 0
        page = parsed(tmp_path / "r.html")
        assert "sentence" not in page.ids and "weights" in page.ids
        assert says in "".join(page.text)


def test_a_decoder_in_the_loop(runs: Path, tmp_path: Path) -> None:
    """Lists of a loop are in its checkpoint: nothing else is needed for the pictures."""
    script = tmp_path / "decode.py"
    script.write_text(
        "import sys, collections\n"
        "weights = dict(line.split() for line in open(sys.argv[2]))\n"
        "found = collections.defaultdict(list)\n"
        "for line in open(sys.argv[1]):\n"
        "    number, text, features, *_ = line.rstrip('\\n').split(' ||| ')\n"
        "    pairs = (one.split('=') for one in features.replace('= ', '=').split())\n"
        "    score = sum(float(weights.get(name, 0)) * float(value) for name, value in pairs)\n"
        "    found[number].append((-score, len(found[number]), line))\n"
        "for lines in found.values():\n"
        "    sys.stdout.writelines(line for _, _, line in sorted(lines)[:8])\n"
    )
    command = f"{sys.executable} {script} {runs / 'nbest.txt'} {{weights}} > {{nbest}}"
    given = ["--refs", *(str(runs / f"ref.{r}") for r in range(4)), "--initial", str(runs / "initial.txt")]
    options = ["--trainer", "kbmira", "--set", "passes=3", "--iterations", "2", "--out", str(tmp_path / "loop")]
    options += ["--replicates", "2", "--holdout", "0.2"]
    assert main(["tune", "--decoder-command", command, *given, *options, "--quiet"]) == 0
    assert main(["report", str(tmp_path / "loop"), "--out", str(tmp_path / "r.html"), "--quiet"]) == 0
    page = parsed(tmp_path / "r.html")
    assert "candidates" in page.ids and "surface" in page.ids
    run = RunReader(jobs=1).read(tmp_path / "loop")
    assert run.missing is None and run.has_initial
    assert len(learning_curve(run).x) >= len(run.record.epochs) > 1
    for part, said in run.outputs.items():  # the decoder's own translations, as the record has them
        key, final = run.key, run.record.final
        assert score_stats(run, said.before) == pytest.approx(final["before"][part][key])
        each = [replicate[part][key] for replicate in final["replicates"]]
        assert [score_stats(run, after) for after in said.after] == pytest.approx(each)


def score_stats(run: RunData, pool: hf.Pool) -> float:
    return run.metric.score(run.metric.stats(pool, 1).sum(axis=0))


def test_metrics_that_fall_are_better(runs: Path) -> None:
    assert RunReader(jobs=1).read(runs / "ter").metric == Ter()
    assert RunReader(jobs=1).read(runs / "mert").metric == Bleu()


def copied(run: Path, to: Path, **changes: object) -> Path:
    """A run whose record has other values."""
    shutil.copytree(run, to)
    record = json.loads((to / "run.json").read_text()) | changes
    (to / "run.json").write_text(json.dumps(record))
    return to


def test_the_record_says_what_was_done(runs: Path) -> None:
    run = RunReader(jobs=1).read(runs / "kbmira")
    assert isinstance(run.record, RunRecord)
    assert (run.trainer, run.key, run.metric) == ("kbmira", "bleu", Bleu())
    assert run.options["passes"] == 5 and "C" in run.options  # also options that were left at their defaults
    assert [replicate.seed for replicate in run.replicates] == [1, 2]
    assert {part: len(pool) for part, pool in run.parts.items()} == run.record.sentences
    assert run.parts["holdout"].ids == run.record.holdout["ids"]


def test_a_replicate_whose_checkpoint_is_damaged_is_left_out(runs: Path, tmp_path: Path) -> None:
    for number, text in ((1, "{ cut"), (2, '{"seed": 2}')):
        path = copied(runs / "kbmira", tmp_path / str(number))
        (path / "checkpoint" / f"replicate-{number}.json").write_text(text)
        assert [replicate.seed for replicate in RunReader(jobs=1).read(path).replicates] == [3 - number]
    (path / "checkpoint" / "replicate-1.json").unlink()
    (only,) = RunReader(jobs=1).read(path).replicates  # none is left: the record has the best one
    assert only.history == RunReader(jobs=1).read(path).record.epochs
    assert only.weights == hf.read_weights(path / "weights.txt")


def test_lists_that_runs_share_are_read_once(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def read(*given: object, **more: object) -> object:
        asked.append(given)
        return read_lists(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("hopefear.data.candidates.read_lists", read)
    reader = RunReader(jobs=1)
    first, second = (reader.read(runs / name) for name in ("kbmira", "mert"))
    assert len(asked) == 1 and first.parts["dev"].ids == second.parts["dev"].ids


def test_lists_to_choose_on_are_the_development_part(runs: Path, tmp_path: Path) -> None:
    lists = ["--nbest", str(runs / "nbest.txt"), "--refs", str(runs / "ref.0")]
    dev = ["--dev-nbest", str(runs / "nbest.txt"), "--dev-refs", str(runs / "ref.1")]
    options = ["--trainer", "kbmira", "--set", "passes=1", "--out", str(tmp_path / "run"), "--quiet"]
    assert main(["tune", *lists, *dev, *options]) == 0
    run = RunReader(jobs=1).read(tmp_path / "run")
    assert {part: len(pool) for part, pool in run.parts.items()} == {"train": 36, "dev": 40, "holdout": 4}
    assert run.part == "dev" and run.parts["dev"].references(0) != run.parts["train"].references(0)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"status": "running"}, "not finished"),
        ({"format": "hopefear-run-1"}, "Repeat the run"),
        ({"warnings": "none"}, "warnings is not a list"),
    ],
)
def test_a_record_that_cannot_be_reported_on(
    runs: Path, tmp_path: Path, change: dict[str, object], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copied(runs / "mert", tmp_path / "run", **change)
    assert main(["report", str(path), "--out", str(tmp_path / "r.html")]) == 2
    assert says in capsys.readouterr().err


def test_lists_are_read_as_the_run_read_them(runs: Path, tmp_path: Path) -> None:
    """Its features only, missing scores filled in."""
    files = ["--nbest", str(runs / "nbest.txt"), "--refs", *(str(runs / f"ref.{r}") for r in range(4))]
    options = ["--trainer", "kbmira", "--set", "passes=2", "--features", "lm", "word*", "--missing", "mean"]
    assert main(["tune", *files, *options, "--out", str(tmp_path / "run"), "--quiet"]) == 0
    run = RunReader().read(tmp_path / "run")
    assert run.missing is None
    assert run.parts["dev"].feature_names == ["lm", "wordpenalty"] == [*run.weights]
