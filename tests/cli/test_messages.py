"""Mistakes of a new user, each answered in one line with its cure."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from hopefear.cli.main import explain, main
from hopefear.data.lists import Synthetic
from tests.cli.capture import Capture, one_line

HOPEFEAR = [sys.executable, "-m", "hopefear.cli.main"]
REFS = ["--refs", "data/ref.0", "data/ref.1"]
TUNE = ["tune", "--trainer", "kbmira", "--out", "run"]
LISTS = [*TUNE, "--nbest", "data/nbest.txt", *REFS]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    Synthetic(sentences=12, candidates=4, references=2, dense=3).write(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (
            [*TUNE, "--nbest", "data/ref.0", "--refs", "data/nbest.txt"],
            "data/ref.0: has no candidates, and data/nbest.txt has. Were --nbest and --refs swapped?",
        ),
        (["score", "data/nbest.txt", "--refs", "data/ref.0"], "data/nbest.txt is a candidate list, not text: the best"),
        ([*TUNE, "--forests", "data/nbest.txt", *REFS], "Use --nbest in place of --forests"),
        (["report", "data"], "data: is not a run directory: it has no run.json. Give the --out of a tune or"),
        (["report", "data/ref.0"], "data/ref.0: is not a run directory"),
        (
            ["score", "data/ref.0", "--refs", "data/ref.1", "--metric", "bleu", "chrf"],
            "chrf: no such file. If it is a metric, write --metric chrf; repeat --metric for each metric.",
        ),
        ([*LISTS, "--metric", "bleu,chrf"], "named one by one: --metric bleu --metric chrf. See: hopefear tune --help"),
        (["score", "data/ref.0", "--refs", "data/ref.1", "--metric", "bleu,ter"], "--metric bleu --metric ter."),
        ([*LISTS, "--set", "C", "0.1"], "write --set name=value. Did you mean --set C=0.1? See: hopefear tune --help"),
        ([*LISTS, "--set", "C", "passes=3"], "--set C: write --set name=value. See"),
        ([*LISTS, "--set", "c=0.1"], "kbmira has no option 'c'. Did you mean 'C'? See: hopefear tune --help"),
        ([*LISTS, "--set", "quux=0.1"], "kbmira has no option 'quux'. See: hopefear trainers kbmira."),
        ([*LISTS, "--trainer", "KBMIRO"], "there is no trainer 'KBMIRO'. Did you mean 'kbmira'?"),
        (
            [*LISTS, "--metric", "comet"],
            "there is no metric 'comet', and the candidates have no columns of numbers. Your own scores come as "
            '"metrics" in JSON lines, or with --table and --outcome.',
        ),
        ([*LISTS, "--metric", "blue"], "Did you mean 'bleu'?"),
        ([*LISTS, "--dev-nbest", "data/nbest.txt"], "sentence 0 has no reference, and bleu needs one. Give --dev-refs"),
        (
            ["translate", "data", "data/source.txt"],
            "the text comes from standard input: hopefear translate data < data/source.txt. Documents need a folder",
        ),
    ],
)
def test_the_cure_is_the_right_one(arguments: list[str], output: str, capsys: Capture, here: Path) -> None:
    assert main(arguments) == 2
    assert output in one_line(capsys)
    assert [path.name for path in here.iterdir()] == ["data"]


def test_forests_given_as_lists(capsys: Capture, here: Path) -> None:
    from hopefear.formats import read_nbest, write_forests

    write_forests(read_nbest("data/nbest.txt"), "dev.forests")
    assert main([*TUNE, "--nbest", "dev.forests", *REFS]) == 2
    assert "dev.forests: has forests, not lists. Use --forests in place of --nbest" in one_line(capsys)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16(encoding: str, capsys: Capture, here: Path) -> None:
    for name in ("nbest.txt", "ref.0"):
        (here / name).write_bytes(("\ufeff" + (here / "data" / name).read_text()).encode(encoding))
    for arguments in (
        [*TUNE, "--nbest", "nbest.txt", *REFS],
        [*TUNE, "--nbest", "data/nbest.txt", "--refs", "ref.0"],
        ["score", "ref.0", "--refs", "data/ref.1"],
    ):
        assert main(arguments) == 2
        assert "is UTF-16. Convert it: iconv -f UTF-16 -t UTF-8" in one_line(capsys)


def test_a_gz_that_is_none(capsys: Capture, here: Path) -> None:
    for content in (b"<html>404</html>\n", b"PK\x03\x04\xff\xff\n"):
        (here / "dev.gz").write_bytes(content)
        assert main([*TUNE, "--nbest", "dev.gz", *REFS]) == 2
        assert "dev.gz: its name ends in .gz, but its content does not." in one_line(capsys)
    (here / "dev.gz").write_bytes((here / "data" / "nbest.txt").read_bytes())
    assert main([*TUNE, "--nbest", "dev.gz", *REFS, "--quiet"]) == 0


def test_run_json_stands_for_its_run(capsys: Capture, here: Path) -> None:
    assert main([*LISTS, "--quiet"]) == 0
    assert main(["report", "run/run.json", "--sentences", "0", "--quiet"]) == 0
    assert (here / "report.html").exists()
    capsys.readouterr()
    assert main(["report", "."]) == 2
    assert "There is one in run." in one_line(capsys)


def test_several_metrics_after_one_flag(capsys: Capture) -> None:
    assert main([*LISTS, "--metric", "bleu", "chrf", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "bleu|" in out
    assert "chrf|" in out


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_only_resumable_commands_suggest_resume(error: BaseException) -> None:
    for command in ("build", "score", "report", "generate", "rerank", "weigh"):
        assert "--resume" not in explain(error, f"hopefear {command}")[1]
    for command in ("tune", "train"):
        assert "--resume continues" in explain(error, f"hopefear {command}")[1]


def test_resume_without_a_run_warns(capsys: Capture) -> None:
    assert main([*LISTS, "--quiet", "--resume"]) == 0
    assert "warning: --resume: there is no run in run, so a new one starts\n" in capsys.readouterr().err
    assert main([*LISTS, "--quiet", "--resume"]) == 0
    assert "a new one" not in capsys.readouterr().err


def test_help_is_a_command(capsys: Capture) -> None:
    assert main(["help"]) == 0
    assert "Usage: hopefear COMMAND" in capsys.readouterr().out
    assert main(["help", "tune"]) == 0
    assert "Usage: hopefear tune" in capsys.readouterr().out
    assert main(["help", "tuna"]) == 2
    assert "Did you mean 'tune'?" in one_line(capsys)


def shell(command: str) -> tuple[int, str, str]:
    done = subprocess.run(["bash", "-c", command, "bash", *HOPEFEAR], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_closed_streams() -> None:
    score = '"$@" score data/ref.0 --refs data/ref.1'
    (Path("w.txt")).write_text("f0 1\n")
    code, out, err = shell('"$@" rerank --nbest - --weights w.txt <&-')
    assert (code, out, err) == (2, "", "hopefear: standard input is closed. Give it a file: < FILE\n")
    code, out, err = shell(f"{score} >&-")
    assert (code, out, err) == (2, "", "hopefear: standard output is closed. Send it to a file, or to /dev/null\n")
    code, out, err = shell(f"{score} 2>&- <&-")
    assert (code, err) == (0, "")
    assert out.startswith("BLEU|")
    assert shell('"$@" score nowhere --refs data/ref.1 2>&-') == (2, "", "")


def test_training_on_the_build_text_is_warned_of(capsys: Capture) -> None:
    draw = random.Random(1)
    old, new = ([" ".join(f"w{draw.randrange(30)}" for _ in range(8)) for _ in range(40)] for _ in range(2))
    for name, lines in (("old", old), ("new", new)):
        Path(name).write_text("\n".join(lines) + "\n")
    assert main(["build", "--source", "old", "--target", "old", "--out", "model", "--quiet"]) == 0
    train = ["train", "model", "--trainer", "mira", "--set", "epochs=1", "--quiet"]
    assert main([*train, "--source", "old", "--refs", "old", "--out", "known"]) == 0
    assert "old: 36 of 36 longer sentences seem to be text that model was built from" in capsys.readouterr().err
    assert main([*train, "--source", "new", "--refs", "new", "--out", "unknown"]) == 0
    assert "built from" not in capsys.readouterr().err
