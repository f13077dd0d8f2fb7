"""TREC runs with judgements, and LETOR files, as tables."""

from pathlib import Path

import numpy as np
import pytest

import hopefear as hf
from hopefear.errors import InputError
from hopefear.formats.letor import is_letor, read_letor
from hopefear.formats.trec import read_trec

RUN_A = "q1 Q0 d1 1 3.0 A\nq1 Q0 d2 2 1.5 A\nq2 Q0 d9 1 4 A\nq3 Q0 d1 1 4 A\n"
RUN_B = "q1 Q0 d3 1 9 B\nq1 Q0 d1 2 8 B\nq2 Q0 d8 1 7 B\n"
QRELS = "q1 0 d1 1\nq1 0 d7 2\nq2 0 d8 1\nq9 0 d1 1\n"


def files(folder: Path, a: str = RUN_A, b: str = RUN_B, qrels: str = QRELS) -> tuple[list[str], str]:
    for name, text in (("a.run", a), ("b.run", b), ("qrels.txt", qrels)):
        (folder / name).write_text(text)
    return [str(folder / "a.run"), str(folder / "b.run")], str(folder / "qrels.txt")


def test_runs_become_columns(tmp_path: Path) -> None:
    table = read_trec(*files(tmp_path))
    rows = list(zip(*(table.columns[name].tolist() for name in table.columns), strict=True))
    assert list(table.columns) == ["query", "document", "grade", "retrieved", "a", "b"]
    assert rows == [
        ("q1", "d1", 1.0, 1.0, 3.0, 8.0),
        ("q1", "d2", 0.0, 1.0, 1.5, 8.0),  # not in b: its lowest score
        ("q1", "d3", 0.0, 1.0, 1.5, 9.0),
        ("q1", "d7", 2.0, 0.0, 1.5, 8.0),  # relevant, and in no run
        ("q2", "d8", 1.0, 1.0, 4.0, 7.0),
        ("q2", "d9", 0.0, 1.0, 4.0, 7.0),
    ]


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"a": "q1 Q0 d1 1 3.0\n"}, "a.run:1: has 5 words"),
        ({"a": "q1 Q0 d1 1 x A\n"}, "a.run:1: score 'x'"),
        ({"a": RUN_A + "q1 Q0 d1 3 0 A\n"}, "a.run:5: document d1 occurs twice"),
        ({"b": ""}, "b.run: the run is empty"),
        ({"qrels": "q1 0 d1 nan\n"}, "qrels.txt:1: grade 'nan'"),
        ({"qrels": "q1 d1 1\n"}, "qrels.txt:1: has 3 words"),
        ({"qrels": "other 0 d1 1\n"}, "judges no query"),
    ],
)
def test_bad_files(tmp_path: Path, change: dict[str, str], finding: str) -> None:
    with pytest.raises(InputError) as caught:
        read_trec(*files(tmp_path, **change))
    assert finding in str(caught.value)


def test_letor(tmp_path: Path) -> None:
    path = tmp_path / "t.letor"
    path.write_text("# head\n2 qid:1 1:0.5 3:1 # doc\n0 qid:1 3:2\n\n1 qid:x 1:-1\n")
    table = read_letor(path)
    assert is_letor(path)
    assert is_letor("t.svmrank.gz")
    assert not is_letor("t.csv")
    assert list(table.columns) == ["query", "grade", "f1", "f3"]
    assert table.columns["query"].tolist() == ["1", "1", "x"]
    np.testing.assert_array_equal(table.columns["f1"], [0.5, 0, -1])
    np.testing.assert_array_equal(table.columns["f3"], [1, 2, 0])


@pytest.mark.parametrize("line", ["1 1:2", "x qid:1 1:2", "1 qid:1 1:nan", "1 qid:1 1", "1 qid:1 -1:2", "1 qid:1 a:2"])
def test_bad_letor(tmp_path: Path, line: str) -> None:
    path = tmp_path / "t.letor"
    path.write_text(f"1 qid:1 1:1\n{line}\n")
    with pytest.raises(InputError, match=r"t\.letor:2: "):
        read_letor(path)


def test_weigh_fuses_runs(tmp_path: Path) -> None:
    """One run is good, one is noise: the good one gets the weight, and nDCG is that of the whole order."""
    random = np.random.default_rng(1)
    lines: dict[str, list[str]] = {"good": [], "noise": [], "qrels": []}
    for q in range(40):
        for d in range(8):
            grade = int(random.integers(0, 3))
            lines["qrels"].append(f"q{q} 0 d{d} {grade}")
            lines["good"].append(f"q{q} Q0 d{d} 1 {grade + random.normal():.4f} x")
            lines["noise"].append(f"q{q} Q0 d{d} 1 {random.normal():.4f} x")
    for name, text in lines.items():
        (tmp_path / f"{name}.run").write_text("\n".join(text) + "\n")
    weighed = hf.weigh(
        [str(tmp_path / "good.run"), str(tmp_path / "noise.run")], qrels=str(tmp_path / "qrels.run"), metric="ndcg@5"
    )
    assert weighed.outcome == "ndcg@5"
    assert weighed.better_than_equal is True
    assert weighed.weights["good"] > 2 * abs(weighed.weights["noise"])
    assert {*weighed.compared} == {"equal", "bagged", "mert"}  # the others cannot
