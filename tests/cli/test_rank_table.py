"""``rerank --table`` and ``score --table``."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.cli.main import main

Capture = pytest.CaptureFixture[str]
CSV = 'q,note,a,b,y\n1,"x, ""y""",1.50,2,0.5\n1,007,3,1,1\n2,z,1,1,0\n2,z2,1,1,1\n1,late,0,9,0\n'
WEIGHTS = {"a": 2.0, "b": 0.5}
SCORES = [4.0, 6.5, 2.5, 2.5, 4.5]
RANKS = [3, 1, 1, 2, 2]  # of equal scores the earlier row is better


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(CSV)
    hf.write_weights(WEIGHTS, "w.txt")


RERANK = ["rerank", "--group", "q", "--weights", "w.txt", "--table"]


def test_csv_in_csv_out(capsys: Capture) -> None:
    assert main([*RERANK, "t.csv"]) == 0
    out, err = capsys.readouterr()
    rows = list(csv.reader(io.StringIO(out)))
    assert rows[0] == ["q", "note", "a", "b", "y", "score", "rank"]
    assert [row[:5] for row in rows] == list(csv.reader(io.StringIO(CSV)))
    assert [float(row[5]) for row in rows[1:]] == SCORES
    assert [int(row[6]) for row in rows[1:]] == RANKS
    assert err == ""
    assert main([*RERANK, "t.csv", "--out", "ranked.csv"]) == 0
    assert Path("ranked.csv").read_text() == out


def test_json_lines(capsys: Capture) -> None:
    lines = ['{"q": 1, "a": 1.50, "b": 2}', '{"b": 1, "a": 3, "q": 1}']
    Path("t.jsonl").write_text("\n".join(lines) + "\n")
    assert main([*RERANK, "t.jsonl"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == '{"q": 1, "a": 1.50, "b": 2, "score": 4.0, "rank": 2}'
    assert json.loads(second) == {"q": 1, "a": 3, "b": 1, "score": 6.5, "rank": 1}


def test_wide_tables_get_lists(capsys: Capture) -> None:
    rows = [{"q": "x", "a": [1, 2], "b": [4, 0]}, {"q": "y", "a": [0.5], "b": [1]}]
    Path("t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main([*RERANK, "t.jsonl"]) == 0
    record = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["score"], row["rank"]) for row in record] == [([4.0, 4.0], [1, 2]), ([1.5], [1])]


def test_parquet_in_parquet_out(capsys: Capture) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    parquet.write_table(pyarrow.table({"q": [1, 1], "a": [1.5, 3.0], "b": [2, 1]}), "t.parquet")
    assert main([*RERANK, "t.parquet"]) == 2
    assert "a table in parquet is not text. Give --out FILE" in capsys.readouterr().err
    assert main([*RERANK, "t.parquet", "--out", "r.csv"]) == 2
    assert not Path("r.csv").exists()
    assert main([*RERANK, "t.parquet", "--out", "r.parquet"]) == 0
    frame = parquet.read_table("r.parquet")
    assert frame.column_names == ["q", "a", "b", "score", "rank"]
    assert frame["score"].to_pylist() == [4.0, 6.5]
    assert frame["rank"].to_pylist() == [2, 1]


def test_missing_scores(capsys: Capture) -> None:
    Path("t.csv").write_text("q,a,b\n1,1,\n1,2,3\n")
    assert main([*RERANK, "t.csv"]) == 2
    assert "t.csv:2: b is missing" in capsys.readouterr().err
    assert main([*RERANK, "t.csv", "--missing", "drop"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["1,1,,,", "1,2,3,5.5,1"]
    hf.write_weights({**WEIGHTS, "b_missing": 10.0}, "w.txt")
    assert main([*RERANK, "t.csv", "--missing", "indicator"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["1,1,,12.0,1", "1,2,3,5.5,2"]


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        ([*RERANK, "t.csv", "--group", "query"], "t.csv: no column 'query' for --group"),
        (["rerank", "--table", "t.csv", "--weights", "w.txt"], "--table needs --group"),
        (["rerank", "--weights", "w.txt"], "give one of --nbest, --forests, --table"),
        ([*RERANK, "t.csv", "--features", "a", "note"], "t.csv:2: note is 'x, \"y\"', which is not a number"),
        ([*RERANK, "ranked.csv"], "ranked.csv: already has a column 'score'. Rename it"),
        (
            [*RERANK, "t.csv", "--weights", "other.txt"],
            "other.txt: none of its 1 weight belongs to a feature of the table",
        ),
        (["score", "--table", "t.csv", "--outcome", "y"], "--table needs --group"),
        (["score", "--table", "t.csv", "--group", "q"], "--table needs --outcome, or --text and --references"),
        (
            ["score", "--table", "t.csv", "two.csv", "--group", "q", "--outcome", "y"],
            "two.csv: has other groups than t.csv",
        ),
        (["score", "--table", "t.csv", "--group", "q", "--outcome", "z"], "t.csv: no column 'z' for --outcome"),
        (["score", "t.csv", "--table", "t.csv", "--group", "q"], "leave out HYP and --refs"),
        (["score", "t.csv", "--refs", "t.csv", "--by", "a"], "--by works only with --table"),
    ],
)
def test_faults(capsys: Capture, arguments: list[str], output: str) -> None:
    assert main([*RERANK, "t.csv", "--out", "ranked.csv"]) == 0
    Path("other.txt").write_text("stranger 1\n")
    Path("two.csv").write_text("q,a,y\n1,1,1\n3,1,0\n")
    capsys.readouterr()
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert output in err
    assert err.count("\n") == 1


def test_the_best_candidates_are_scored(capsys: Capture) -> None:
    score = ["score", "--group", "q", "--outcome", "y", "--json", "--table"]
    assert main([*score, "t.csv"]) == 0
    assert json.loads(capsys.readouterr().out)["systems"][0]["y"] == 0.25  # the first rows
    assert main([*score, "t.csv", "--by", "b"]) == 0
    assert json.loads(capsys.readouterr().out)["systems"][0]["y"] == 0.0
    assert main([*RERANK, "t.csv", "--out", "ranked.csv"]) == 0
    assert main([*score, "t.csv", "ranked.csv"]) == 0
    first, second = json.loads(capsys.readouterr().out)["systems"]
    assert (first["y"], second["y"]) == (0.25, 0.5)
    assert second["comparison"]["y"]["delta"] == 0.25
    assert main(["score", "--group", "q", "--outcome", "y", "--table", "t.csv", "ranked.csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["t.csv", "0.2500"]


def test_texts_of_a_table_are_scored_as_files_are(capsys: Capture) -> None:
    texts = ["a small house .", "the house is small .", "it rains .", "rain"]
    rows: list[Any] = [("s", texts[0], "the house is small .", 1), ("s", texts[1], "the house is small .", 2)]
    rows += [("t", texts[2], "it rains .", 2), ("t", texts[3], "it rains .", 1)]
    with Path("u.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("g", "hyp", "ref", "s"), *rows])
    table = ["score", "--table", "u.csv", "--group", "g", "--text", "hyp", "--references", "ref", "--metric", "chrf"]
    assert main([*table, "--by", "s"]) == 0
    output = capsys.readouterr().out
    Path("hyp").write_text(f"{texts[1]}\n{texts[2]}\n")
    Path("ref").write_text("the house is small .\nit rains .\n")
    assert main(["score", "hyp", "--refs", "ref", "--metric", "chrf"]) == 0
    assert capsys.readouterr().out == output


def test_the_same_from_python() -> None:
    frame = {"q": [1, 1, 2, 2, 1], "a": [1.5, 3, 1, 1, 0], "b": [2, 1, 1, 1, 9], "y": [0.5, 1, 0, 1, 0]}
    ranked = hf.rerank(table=frame, group="q", weights=WEIGHTS)
    np.testing.assert_array_equal(ranked.score, SCORES)
    np.testing.assert_array_equal(ranked.rank, RANKS)
    assert ranked.best.tolist() == [1, 2]
    scored = hf.score(table=[{**frame, "score": ranked.score}], group="q", outcome=["y"])
    assert scored.record()[0]["y"] == 0.5
    Path("l.txt").write_text("0 ||| good one ||| a= 1 ||| 0\n0 ||| bad one ||| a= 2 ||| 0\n")
    assert hf.rerank(nbest="l.txt", weights={"a": -1.0}) == ["good one"]
    Path("best").write_text("good one\n")
    assert hf.score(hyp="best", refs="best").record()[0]["bleu"] >= 0
    import inspect

    assert "trainer" in inspect.signature(hf.tune).parameters
    assert callable(hf.report)
