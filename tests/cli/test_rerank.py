import gzip
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hopefear.cli.main import main
from hopefear.data.lists import Synthetic

Capture = pytest.CaptureFixture[str]

LIST = """\
0 ||| das  ist gut ||| lm= -1 tm= 2 ||| 0
0 ||| this is good ||| lm= -2 tm= 3 ||| 0
0 ||| it is good ||| lm= -2 tm= 3 ||| 0
1 |||  ||| lm= 0 tm= 0 ||| 0
1 ||| größer ||| lm= 0 tm= -1 ||| 0
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("list").write_text(LIST)
    Path("weights").write_text("lm 1\ntm 1\n")
    return tmp_path


def rerank(weights: str, capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    Path("weights").write_text(weights)
    code = main(["rerank", "--nbest", "list", "--weights", "weights", *arguments])
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    ("weights", "best"),
    [
        ("lm 1\ntm 1\n", ["das  ist gut", ""]),  # a tie of three: the first; texts as they are
        ("lm 1\ntm 2\n", ["this is good", ""]),
        ("lm 1\ntm -1\n", ["das  ist gut", "größer"]),
        ("lm= 0\ntm=-1\n", ["das  ist gut", "größer"]),
    ],
)
def test_the_best_candidate_of_every_sentence(files: Path, capsys: Capture, weights: str, best: list[str]) -> None:
    assert rerank(weights, capsys) == (0, "".join(text + "\n" for text in best), "")


def test_weights_and_features_that_do_not_meet_are_named(files: Path, capsys: Capture) -> None:
    code, out, err = rerank("tm 1\nx1 1\nx2 1\n", capsys)
    assert (code, out) == (2, "") and "2 weights for features that the list does not have: x1, x2. Use the" in err
    code, out, err = rerank("tm 1\nx1 0\n", capsys)
    assert (code, out) == (0, "this is good\n\n")
    assert err == (
        "warning: weights: 1 weight for features that the list does not have: x1\n"
        "warning: 1 feature of the list without a weight, taken as 0: lm\n"
    )


@pytest.mark.parametrize(
    ("weights", "output"),
    [
        ("x1 1\nx2 1\n", "weights: none of its 2 weights belongs to a feature of the list, which has lm, tm."),
        ("lm 1\ntm nan\n", "weights:2: the weight of 'tm' is 'nan'"),
        ("lm 1\ntm inf\n", "weights:2: the weight of 'tm' is 'inf'"),
        ("lm one\n", "weights:1: the weight of 'lm' is 'one'"),
        ("", "weights: no weights in this file"),
    ],
)
def test_bad_weights(files: Path, capsys: Capture, weights: str, output: str) -> None:
    code, out, err = rerank(weights, capsys)
    assert (code, out) == (2, "")
    assert output in err
    assert err.count("\n") == 1


def test_an_error_late_in_the_list_prints_nothing(files: Path, capsys: Capture) -> None:
    with Path("list").open("a") as file:
        file.write("2 ||| half a li")
    code, out, err = rerank("lm 1\ntm 1\n", capsys)
    assert (code, out) == (2, "")
    assert err.startswith("hopefear: list:6: ")


def test_a_missing_file_suggests_another(files: Path, capsys: Capture) -> None:
    assert main(["rerank", "--nbest", "lists", "--weights", "weights"]) == 2
    assert capsys.readouterr().err == "hopefear: lists: no such file. Did you mean 'list'?\n"


def test_standard_input_packed(files: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hopefear.cli.main", "rerank", "--nbest", "-", "--weights", "weights"],
        input=gzip.compress(LIST.encode()),
        capture_output=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"das  ist gut\n\n", b"")


def test_several_files_are_parts_of_one_list(files: Path, capsys: Capture) -> None:
    Path("more").write_text("2 ||| more ||| lm= 0 tm= 0 ||| 0\n")
    assert main(["rerank", "--weights", "weights", "--nbest", "list", "more"]) == 0
    assert capsys.readouterr().out == "das  ist gut\n\nmore\n"


def test_features_that_turn_up_late(files: Path, capsys: Capture) -> None:
    """Sparse features beyond the first block of the weight vector."""
    rows = [f"{i} ||| bad{i} ||| lm= 0 ||| 0\n{i} ||| good{i} ||| lm= 0 f{i}= 1 ||| 0\n" for i in range(300)]
    Path("list").write_text("".join(rows))
    code, out, err = rerank("lm 1\n" + "".join(f"f{i} {1 if i % 2 else -1}\n" for i in range(300)), capsys)
    assert (code, err) == (0, "")
    assert out.split() == [f"good{i}" if i % 2 else f"bad{i}" for i in range(300)]


def test_the_initial_weights_give_the_first_candidates(files: Path, capsys: Capture) -> None:
    data = Synthetic(sentences=20, candidates=30, sparse=500)
    data.write("d")
    assert main(["rerank", "--nbest", "d/nbest.txt", "--weights", "d/initial.txt"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [sentence.texts[0] for sentence in data]
    assert "features of the list without a weight" in err


def test_a_closed_pipe_ends_quietly(files: Path) -> None:
    Path("list").write_text("".join(f"{i} ||| {'word ' * 20}||| lm= 0 tm= 0 ||| 0\n" for i in range(20000)))
    process = subprocess.Popen(
        [sys.executable, "-m", "hopefear.cli.main", "rerank", "--nbest", "list", "--weights", "weights"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert isinstance(process.stdout, io.BufferedReader)
    os.read(process.stdout.fileno(), 10)
    process.stdout.close()
    assert process.wait() == 1
    assert process.stderr is not None
    assert b"Broken" not in process.stderr.read()
    process.stderr.close()


FOREST = (
    '{"rules":[1,"[X] ||| a",2,"[X] ||| b",3,"[X] ||| [1] c"],"features":["lm","tm"],"edges":[{"tail":[],"feats":[0,1],'
    '"rule":1},{"tail":[],"feats":[0,2,1,-3],"rule":2}],"node":{"in_edges":[0,1]},"edges":[{"tail":[0],"feats":[1,1],'
    '"rule":3}],"node":{"in_edges":[2]}}\n'
)


def test_the_best_strings_of_forests(files: Path, capsys: Capture) -> None:
    Path("forests").write_text(FOREST * 2)
    assert main(["rerank", "--forests", "forests", "--weights", "weights"]) == 0
    assert capsys.readouterr() == ("a c\na c\n", "")
    Path("weights").write_text("lm 1\ntm 0.1\n")
    assert (
        main(["rerank", "--forests", "forests", "--weights", "weights", "--nbest-out", "best.nbest", "--k", "5"]) == 0
    )
    assert capsys.readouterr() == ("b c\nb c\n", "")
    assert Path("best.nbest").read_text().splitlines()[:3] == [
        "0 ||| b c ||| lm= 2 tm= -2 ||| 1.8",
        "0 ||| a c ||| lm= 1 tm= 1 ||| 1.1",
        "1 ||| b c ||| lm= 2 tm= -2 ||| 1.8",
    ]


def test_forests_given_as_a_list_are_named_as_such(files: Path, capsys: Capture) -> None:
    import hopefear as hf

    Path("forests").write_text(FOREST)
    hf.write_forests(hf.read_forests("forests"), "native.forests")
    for wrong in ("native.forests", "forests"):
        assert main(["rerank", "--nbest", wrong, "--weights", "weights"]) == 2
        assert capsys.readouterr().err.rstrip().endswith("forests, not lists. Use --forests in place of --nbest")
    assert hf.rerank(forests="native.forests", weights={"lm": 1.0, "tm": 0.0}) == ["b c"]


def test_the_best_of_lists_as_lists(files: Path, capsys: Capture) -> None:
    assert main(["rerank", "--nbest", "list", "--weights", "weights", "--nbest-out", "out.jsonl", "--k", "1"]) == 0
    assert capsys.readouterr().out == "das  ist gut\n\n"
    assert Path("out.jsonl").read_text().count('"text"') == 2


def test_minimum_bayes_risk(files: Path, capsys: Capture) -> None:
    from tests.reference.consensus import expected_gains

    texts = ["das  ist gut", "this is good", "it is good"]
    scores = [1.0, 1.0, 1.0]
    for metric in ("bleu", "chrf", "ter"):
        gains = expected_gains(metric, [" ".join(text.split()) for text in texts], [score / 3 for score in scores])
        code, out, err = rerank("lm 1\ntm 1\n", capsys, "--mbr", metric, "--scale", "0.7")
        assert (code, err) == (0, "")
        assert out.splitlines()[0] == texts[gains.index(max(gains))]
    code, _, err = rerank("lm 1\ntm 1\n", capsys, "--scale", "0.7")
    assert (code, err) == (2, "hopefear: --scale works only with --mbr. See: hopefear rerank --help\n")
    code, _, err = rerank("lm 1\ntm 1\n", capsys, "--mbr", "rouge")
    assert code == 2 and "rouge" in err


def test_minimum_bayes_risk_of_forests(files: Path, capsys: Capture) -> None:
    Path("forests").write_text(FOREST)
    assert main(["rerank", "--forests", "forests", "--weights", "weights", "--mbr", "bleu", "--scale", "0"]) == 0
    assert capsys.readouterr().out in ("a c\n", "b c\n")
    Path("weights").write_text("lm 1\ntm 0.1\n")
    for metric in ("bleu", "chrf", "ter"):
        assert main(["rerank", "--forests", "forests", "--weights", "weights", "--mbr", metric, "--scale", "50"]) == 0
        assert capsys.readouterr() == ("b c\n", "")
