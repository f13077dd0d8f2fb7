"""Scores that another program gives to candidates, once or in a loop."""

import sys
from pathlib import Path

import pytest

import hopefear as hf
from hopefear.cli.main import main
from hopefear.train.scorer_command import ScorerCommand

Capture = pytest.CaptureFixture[str]

LIST = "".join(
    f"{i} ||| good {i} ||| lm= {j} ||| 0\n" if j == 1 else f"{i} ||| bad {i} {j} ||| lm= {j} ||| 0\n"
    for i in range(12)
    for j in range(3)
)
SCORER = """
import sys
with open(sys.argv[2], "w") as out:
    for line in open(sys.argv[1]):
        with open("seen", "a") as log:
            log.write(line)
        print(float(line.startswith("good")), file=out)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("list").write_text(LIST)
    Path("refs").write_text("".join(f"good {i}\n" for i in range(12)))
    Path("scorer.py").write_text(SCORER)
    Path("decode.py").write_text("import sys\nprint(open('list').read(), end='')\n")
    return tmp_path


def command(text: str) -> str:
    return f"{sys.executable} {text}"


def test_lists_are_scored_before_tuning(here: Path, capsys: Capture) -> None:
    options = ["--refs", "refs", "--metric", "wer", "--trainer", "mert", "--quiet"]
    scorer = ["--scorer-command", command("scorer.py {candidates} {scores}")]
    assert main(["tune", "--nbest", "list", *options, *scorer, "--out", "run"]) == 0
    weights = hf.read_weights("run/weights.txt")
    assert set(weights) == {"lm", "scorer"}
    assert weights["scorer"] > abs(weights["lm"])
    assert hf.read_run("run").settings["scorer_command"] == scorer[1]


def test_a_loop_scores_what_is_new(here: Path, capsys: Capture) -> None:
    options = ["--refs", "refs", "--metric", "wer", "--trainer", "mert", "--iterations", "3", "--quiet", "--jobs", "1"]
    scorer = command("scorer.py {candidates} {scores}")
    loop = ["--decoder-command", command("decode.py {weights}"), "--scorer-command", scorer]
    assert main(["tune", *loop, *options, "--out", "run"]) == 0
    record = hf.read_run("run")
    assert record.final["dev"]["wer"] == 0
    assert hf.read_weights("run/weights.txt")["scorer"] > 0
    assert len(Path("seen").read_text().splitlines()) == 36  # each candidate once, though it was decoded again


def test_several_scores_with_names(here: Path) -> None:
    Path("two.py").write_text("import sys\nfor line in open(sys.argv[1]):\n    print(f'a=1 b={len(line)}')\n")
    scorer = ScorerCommand(command("two.py {candidates}"))
    pool = scorer.scored(hf.read_nbest("list"))
    assert pool.feature_names == ["lm", "a", "b"]
    assert pool[0].dense[:, 1:].tolist() == [[1, 8], [1, 7], [1, 8]]


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("true {candidates}", "scores: 0 lines for 36 candidates. Write one per candidate"),
        ("sed s/.*/x/ {candidates}", "scores:1: the score scorer is 'x', which is not a number"),
        ("awk '{print NR; if (NR == 2) print NR}' {candidates}", "37 lines for 36 candidates"),
        ("awk '{print NR == 2 ? \"1 2\" : 1}' {candidates}", "scores:2: the scores are scorer_0, scorer_1, but"),
        ("exit 3 # {candidates}", "scorer: failed with exit code 3"),
        ("echo 1", "has no {candidates}"),
    ],
)
def test_bad_scorers(here: Path, text: str, finding: str) -> None:
    with pytest.raises(hf.InputError) as raised:
        scorer = ScorerCommand(text)
        scorer.check()
        scorer.scored(hf.read_nbest("list"))
    assert finding in str(raised.value)
