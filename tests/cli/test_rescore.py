"""rescore as a command."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import hopefear as hf
from hopefear.cli.main import main
from tests.decode.test_rescoring import random_names, small_forest
from tests.forest.pools import random_pool

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def forests(tmp_path: Path) -> Path:
    rng = random.Random(4)
    pool = random_pool(0)
    for i in range(4):
        pool.append(str(i), small_forest(pool, rng))
    hf.write_forests(pool, tmp_path / "forests")
    names = random_names(rng)
    (tmp_path / "features").write_text("lex(a,b)\n" + "".join(f"{name}\n" for name in names))
    (tmp_path / "weights").write_text("a 1\nb -0.5\n" + "".join(f"{name} {rng.gauss(0, 1)}\n" for name in names))
    return tmp_path


def rescore(folder: Path, *arguments: object) -> int:
    return main(["rescore", "--forests", str(folder / "forests"), "--weights", *map(str, arguments)])


def test_prints_the_best_and_writes_forests(forests: Path, capsys: Capture) -> None:
    out = forests / "larger"
    assert rescore(forests, forests / "weights", "--features", forests / "features", "--out", out) == 0
    output = capsys.readouterr()
    weights = hf.read_weights(forests / "weights")
    names = [name for name in weights if "(" in name]
    wanted = hf.rescore(hf.read_forests(forests / "forests"), weights, sorted(names))
    assert output.out.splitlines() == [d.text for d in wanted.viterbi(weights)]
    assert output.err == ""
    assert [d.text for d in hf.read_forests(out).viterbi(weights)] == output.out.splitlines()
    assert rescore(forests, forests / "weights") == 0
    assert capsys.readouterr().out == output.out


def test_bad_input(forests: Path, capsys: Capture) -> None:
    (forests / "others").write_text("nobody 1\n")
    (forests / "some").write_text("a 1\nnobody 2\nbigram(the,few) 1\n")
    assert rescore(forests, forests / "some") == 0
    assert "1 weight for features that are not there: nobody" in capsys.readouterr().err
    for arguments, message in (
        ([forests / "others"], "to add. Name some by --features, --lm or --scores"),
        ([forests / "others", "--features", forests / "features"], "none of its 1 weight belongs"),
        ([forests / "some", "--lm", "big"], "write NAME=FILE"),
        ([forests / "some", "--lm", "big=nowhere"], "no such file"),
        ([forests / "some", "--lm", f"big={forests / 'some'}"], "Is this an ARPA file?"),
    ):
        assert rescore(forests, *arguments) == 2
        output = capsys.readouterr()
        assert message in output.err and len(output.err.splitlines()) == 1 and output.out == ""


def test_scores_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line for each candidate of a list, or for each edge of a lattice."""
    monkeypatch.chdir(tmp_path)
    Path("list").write_text("0 ||| a ||| lm= 1 ||| 0\n0 ||| b ||| lm= 0 ||| 0\n1 ||| c ||| lm= 0 ||| 0\n")
    Path("scores").write_text("0\n2.5\n1\n")
    Path("weights").write_text("lm 1\nx 1\n")
    command = ["rescore", "--nbest", "list", "--weights", "weights", "--scores", "x=scores", "--out", "out.nbest"]
    assert main(command) == 0
    assert capsys.readouterr().out == "b\nc\n"
    assert Path("out.nbest").read_text().splitlines()[1] == "0 ||| b ||| lm= 0 x= 2.5 ||| 2.5"
    Path("lat").write_text("u\n0 1 a 1,2,\n0 1 b 1,2,\n1\n")
    Path("weights").write_text("graph 1\nacoustic 1\nwords 0\nx 1\n")
    assert main(["rescore", "--forests", "lat", "--weights", "weights", "--scores", "x=scores"]) == 0
    assert capsys.readouterr().out == "b\n"
    Path("scores").write_text("1\n")
    assert main(command) == 2
    assert "1 scores, but there are 3 candidates or edges" in capsys.readouterr().err
