"""Tables as candidate lists: every way in gives the same pool, and every fault one line with its place."""

import gzip
import json
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import hopefear as hf
from hopefear.formats.table import TableSpec, read_table

ROWS = [
    # prompt, candidate, judge, length, reward
    ("a", "yes it is", 0.5, 3, 1.0),
    ("a", "no", -0.25, 1, 0.0),
    ("b", 'he said "hm, no"', 1.5, 4, 0.0),
    ("b", "line\nbreak", 2.5, 2, 1.0),
    ("b", "so", 0.125, 1, 0.25),
    ("c", "alone", 3.0, 1, 1.0),
]
NAMES = ("prompt", "candidate", "judge", "length", "reward")
OPTIONS: dict[str, Any] = {"group": "prompt", "text": "candidate", "outcome": "reward"}


def frame() -> dict[str, list[Any]]:
    return {name: list(column) for name, column in zip(NAMES, zip(*ROWS, strict=True), strict=True)}


def write_csv(path: Path, rows: Any = ROWS, names: Any = NAMES, delimiter: str = ",") -> Path:
    import csv

    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
    return path


def write_jsonl(path: Path, rows: Any = ROWS, names: Any = NAMES) -> Path:
    path.write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    return path


def contents(pool: hf.Pool) -> list[Any]:
    """Everything in a pool of lists, in plain values."""
    return [
        (
            pool.ids[i],
            [pool.text(i, j) for j in range(pool[i].edge_count)],
            pool[i].dense.tolist(),
            pool[i].numbers.tolist(),
            pool.references(i),
        )
        for i in range(len(pool))
    ] + [pool.feature_names, pool.number_names]


def expected() -> list[Any]:
    groups: dict[str, list[Any]] = {}
    for row in ROWS:
        groups.setdefault(row[0], []).append(row)
    lists: Any = [
        (
            name,
            [" ".join(row[1].split()) for row in rows],
            [[row[2], float(row[3])] for row in rows],
            [[row[4]] for row in rows],
            [],
        )
        for name, rows in groups.items()
    ]
    return [*lists, ["judge", "length"], ["reward"]]


@pytest.fixture(params=["pyarrow", "plain"])
def _reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "plain":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    else:
        pytest.importorskip("pyarrow")


@pytest.mark.usefixtures("_reader")
@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl", "t.csv.gz", "t.txt"])
def test_every_file_gives_the_same_pool(tmp_path: Path, name: str) -> None:
    path = tmp_path / name.removesuffix(".gz")
    if "jsonl" in name:
        write_jsonl(path)
    else:
        write_csv(path, delimiter="\t" if ".tsv" in name or ".txt" in name else ",")
    if name.endswith(".gz"):
        packed = path.with_name(name)
        packed.write_bytes(gzip.compress(path.read_bytes()))
        path = packed
    assert contents(hf.Pool.from_table(path, **OPTIONS)) == expected()


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather"])
def test_arrow_files(tmp_path: Path, ending: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table, path = pyarrow.table(frame()), tmp_path / f"t.{ending}"
    if ending == "parquet":
        import pyarrow.parquet as parquet

        parquet.write_table(table, path)
    elif ending == "feather":
        import pyarrow.feather as feather

        feather.write_feather(table, str(path))
    else:
        with pyarrow.OSFile(str(path), "wb") as file, pyarrow.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)
    assert contents(hf.Pool.from_table(path, **OPTIONS)) == expected()


def frames() -> list[str]:
    return ["dict", "numpy", "pandas", "polars", "pyarrow", "duckdb"]


@pytest.mark.parametrize("kind", frames())
def test_every_frame_gives_the_same_pool(kind: str) -> None:
    data: Any = frame()
    if kind == "numpy":
        data = {name: np.array(values) for name, values in data.items()}
    elif kind == "duckdb":
        duckdb, pandas = pytest.importorskip("duckdb"), pytest.importorskip("pandas")
        known = pandas.DataFrame(data)
        data = duckdb.sql("select * from known")
        assert len(known)
    elif kind != "dict":
        module = pytest.importorskip(kind)
        data = module.table(data) if kind == "pyarrow" else module.DataFrame(data)
    assert contents(hf.Pool.from_table(data, **OPTIONS)) == expected()


@pytest.mark.usefixtures("_reader")
def test_wide_tables_hold_lists(tmp_path: Path) -> None:
    rows = [
        {
            "prompt": name,
            "candidate": [row[1] for row in ROWS if row[0] == name],
            "judge": [row[2] for row in ROWS if row[0] == name],
            "length": [row[3] for row in ROWS if row[0] == name],
            "reward": [row[4] for row in ROWS if row[0] == name],
            "ref": ["right", "correct"],
        }
        for name in "abc"
    ]
    path = tmp_path / "wide.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    pool = hf.Pool.from_table(path, references="ref", **OPTIONS)
    assert [content[:4] for content in contents(pool)[:3]] == [content[:4] for content in expected()[:3]]
    assert pool.references(1) == ["right", "correct"]
    rows[1]["judge"] = [1.0]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(hf.InputError, match=r"wide.jsonl:2: judge has 1 values, candidate has 3"):
        hf.Pool.from_table(path, **OPTIONS)


@pytest.mark.usefixtures("_reader")
def test_groups_and_texts_stay_as_they_are_written(tmp_path: Path) -> None:
    path = write_csv(
        tmp_path / "t.csv", [("01", "1.50", 1, 2), ("01", "2", 2, 3), ("1", "003", 3, 4)], ("g", "t", "a", "b")
    )
    pool = hf.Pool.from_table(path, group="g", text="t")
    assert pool.ids == ["01", "1"]
    assert [pool.text(0, 0), pool.text(1, 0)] == ["1.50", "003"]


@pytest.mark.usefixtures("_reader")
def test_a_type_that_changes_late_in_the_file(tmp_path: Path) -> None:
    rows = [(i // 4, i % 7, i) for i in range(200_000)]
    rows[-1] = (rows[-1][0], 0.5, 7)  # type: ignore[assignment]
    pool = hf.Pool.from_table(write_csv(tmp_path / "t.csv", rows, ("g", "a", "b")), group="g")
    assert len(pool) == 50_000
    assert pool[-1].dense[-1].tolist() == [0.5, 7.0]
    rows[-1] = (rows[-1][0], "much", 7)  # type: ignore[assignment]
    with pytest.raises(hf.InputError, match=r"t.csv:200001: a is 'much', which is not a number"):
        hf.Pool.from_table(write_csv(tmp_path / "t.csv", rows, ("g", "a", "b")), group="g", features=["a", "b"])


def test_features_by_name_and_pattern() -> None:
    data = {"g": [1, 1], "lm_a": [1.0, 2], "lm_b": [3.0, 4], "other": [5.0, 6], "word": ["x", "y"], "y": [0, 1]}
    table = read_table(data)
    assert table.feature_names(TableSpec("g", outcome="y")) == ["lm_a", "lm_b", "other"]
    assert table.feature_names(TableSpec("g", ["other", "lm_*"])) == ["other", "lm_a", "lm_b"]
    with pytest.raises(hf.InputError, match=r"no column 'lm_c' for --features. Did you mean 'lm_b'|'lm_a'"):
        table.feature_names(TableSpec("g", ["lm_c"]))


def test_truth_values_are_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("g,a,right\n1,0.5,true\n1,0.25,false\n")
    for data in (path, {"g": [1, 1], "a": [0.5, 0.25], "right": [True, False]}):
        assert hf.Pool.from_table(data, group="g", outcome="right")[0].numbers.tolist() == [[1.0], [0.0]]


GAPS = {"g": [1, 1, 2, 2, 3], "a": [1.0, None, 3.0, 4.0, None], "b": [1.0, 2.0, 3.0, float("nan"), 5.0]}


@pytest.mark.usefixtures("_reader")
@pytest.mark.parametrize("kind", ["dict", "csv", "jsonl"])
def test_missing_numbers(tmp_path: Path, kind: str) -> None:
    data: Any = GAPS
    rows = list(zip(*GAPS.values(), strict=True))
    if kind == "csv":
        shown = [[1, "1.0", "1.0"], [1, "", "2.0"], [2, "3.0", "3.0"], [2, "4.0", "NaN"], [3, "N/A", "5.0"]]
        data = write_csv(tmp_path / "t.csv", shown, tuple(GAPS))
    if kind == "jsonl":
        data = write_jsonl(tmp_path / "t.jsonl", rows, tuple(GAPS))
    place = {"dict": "table: row 1", "csv": "t.csv:3", "jsonl": "t.jsonl:2"}[kind]
    with pytest.raises(hf.InputError, match=rf'{place}: a is missing, as are 2 more. Fill it, or set missing="mean"'):
        hf.Pool.from_table(data, group="g")
    messages: list[str] = []
    spec = TableSpec("g", missing="drop")
    dropped = read_table(data, spec).pool(spec, messages.append)
    assert dropped.ids == ["1", "2"]
    assert [dropped[i].dense.tolist() for i in range(2)] == [[[1.0, 1.0]], [[3.0, 3.0]]]
    assert len(messages) == 1
    assert "1 group without a complete candidate, left out" in messages[0]
    pool = hf.Pool.from_table(data, group="g", missing="indicator")
    assert pool.feature_names == ["a", "b", "a_missing", "b_missing"]
    assert_array_equal(pool[1].dense, [[3, 3, 0, 0], [4, 0, 0, 1]])
    assert_array_equal(pool[2].dense, [[0, 5, 1, 0]])


def test_a_missing_outcome_is_an_error() -> None:
    with pytest.raises(hf.InputError, match=r"row 1: y is missing. Every candidate needs its outcome"):
        hf.Pool.from_table({"g": [1, 1], "a": [1, 2], "y": [1, None]}, group="g", outcome="y", missing="drop")


@pytest.mark.usefixtures("_reader")
@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("q,a\n1,2\n", {}, "t.csv: no column 'g' for group. There are: q, a"),
        ("g,a,b\n1,2,3\n1,x,4\n", {"features": ["a"]}, "t.csv:3: a is 'x', which is not a number"),
        ("g,a\n1,2\n1,inf\n", {}, "t.csv:3: a is infinite. Write a finite number"),
        ("g,a\n1,2\n1,3,4\n", {}, "t.csv:3: has 3 values, and the first line names 2 columns"),
        ("g,a\n1,2\n,3\n", {}, "t.csv:3: the group 'g' is missing. Fill it"),
        ("g,a,a\n1,2,3\n", {}, "t.csv: two columns are called 'a'. Rename one"),
        ("g,a\n", {}, "t.csv: there are no rows"),
        ("", {}, "t.csv: the file is empty"),
        ("g,t\n1,x\n", {}, "t.csv: no column of numbers is left. Choose columns with features"),
        ('g,a\n1,"2\n1,3\n', {}, "t.csv:2: not CSV (unexpected end of data)"),
        ("g,a\n1,2\n\n1,x\n", {"features": "a"}, "t.csv:4: a is 'x'"),
        ('g,t,a\n1,"x\ny",2\n1,z,w\n', {"features": "a"}, "t.csv:4: a is 'w'"),
        ("g,t,a\n1,x,2\n1,y,3\n1,x,2\n", {"text": "t"}, "t.csv:4: the same candidate as line 2. Leave one out"),
        ("g,a,b\n1,.51,1\n1,.3,3\n1,.51,1\n2,.7,1\n2,.8,2\n2,.9,4\n2,.4,1\n2,.2,1\n2,.1,2\n3,.11,1\n3,.12,1\n", {},
         "t.csv:4: the same candidate as line 2"),
        ("g,a\n" + 2 * "1,.51\n1,.3\n2,.7\n2,.8\n3,.11\n3,.12\n", {}, "t.csv:8: the same candidate as line 2"),
        ("g,a,b\n1,2,3\n1,x,4\n1,5,6\n", {}, "t.csv:3: a is 'x', which is not a number"),
        ("g,a\n1,1_000\n1,2\n", {"features": "a"}, "t.csv:2: a is '1_000', which is not a number"),
    ],
)  # fmt: skip
def test_faults_have_a_place_and_a_cure(tmp_path: Path, text: str, options: Any, message: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(hf.InputError) as error:
        hf.Pool.from_table(path, group="g", **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_equal_grades_are_no_duplicates() -> None:
    data = {"g": [1, 1, 1, 2, 2, 2], "judge": [1, 5, 5, 3, 3, 3], "y": [0, 1, 1, 0, 0, 1]}
    assert hf.Pool.from_table(data, group="g", outcome="y")[1].edge_count == 3


def test_the_outcome_among_the_features_is_noticed() -> None:
    messages: list[str] = []
    data = {"g": [1, 1, 2, 2], "a": [1.0, 2, 0, 5], "twice": [2.0, 4, 7, 5], "y": [1.0, 2, 3, 2]}
    spec = TableSpec("g", outcome="y")
    read_table(data).pool(spec, messages.append)
    assert len(messages) == 1
    assert "twice agrees with the outcome 'y'. Did the outcome leak into the features?" in messages[0]


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.jsonl", "t.xlsx"])
def test_files_whose_suffix_is_wrong(tmp_path: Path, name: str) -> None:
    if name.endswith(("parquet", "arrow")):
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    path.write_bytes(b"PAR1 this is no table")
    with pytest.raises(hf.InputError) as error:
        hf.Pool.from_table(path, group="g")
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("g,t,a\n1,caf\u00e9,2\n".encode("latin-1"))
    with pytest.raises(hf.InputError, match=r"the text is not UTF-8"):
        hf.Pool.from_table(path, group="g", text="t")


def test_what_is_no_table() -> None:
    with pytest.raises(hf.InputError, match=r"a table is a file, a frame or a dict of arrays, not int"):
        hf.Pool.from_table(3, group="g")
    with pytest.raises(hf.InputError, match=r"column 'a' has 1 rows, others have more"):
        hf.Pool.from_table({"g": [1, 2], "a": [1]}, group="g")
    with pytest.raises(hf.InputError, match=r"missing is 'ignore'. Choose one of error, zero, mean, drop, indicator"):
        hf.Pool.from_table({"g": [1, 2], "a": [1, 2]}, group="g", missing="ignore")
    with pytest.raises(hf.InputError, match=r"Pool.from_table"):
        hf.Pool.from_table({"g": [1, 2], "a": [1, 2]}, grup="g")


def test_without_pyarrow_parquet_says_what_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    with pytest.raises(hf.InputError, match=r"pip install 'hopefear\[tables\]'"):
        hf.Pool.from_table(tmp_path / "t.parquet", group="g")


def test_a_pool_behaves_like_a_sequence() -> None:
    pool = hf.Pool.from_table(frame(), **OPTIONS)
    assert repr(pool) == "<Pool of 3 sentences, 6 candidates, 2 features, numbers: reward>"
    assert [forest.edge_count for forest in pool] == [2, 3, 1]
    assert contents(pool[1:]) == [*expected()[1:3], *expected()[3:]]
    assert contents(pool[::-1])[:3] == expected()[2::-1]
    for indices in ([0, 2], (0, 2), range(0, 3, 2), np.array([0, 2], np.int32), np.array([0, 2]), [np.int8(0), -1]):
        assert pool.subset(indices).ids == ["a", "c"]
    for wrong in ([0.5], ["a"], np.array([0.0, 1.0])):
        with pytest.raises(hf.InputError, match=r"chosen by a whole number"):
            pool.subset(wrong)
    with pytest.raises(hf.InputError, match=r"out of range"):
        pool.subset([3])


def test_a_pool_is_pickled_as_plain_bytes(tmp_path: Path) -> None:
    pool = hf.Pool.from_table({**frame(), "ref": ["r1 x", "r1 x", "r2", "r2", "r2", "r3"]}, references="ref", **OPTIONS)
    copy = pickle.loads(pickle.dumps(pool))
    assert contents(copy) == contents(pool)
    assert isinstance(copy, hf.Pool)


def test_a_pool_as_a_frame_and_back() -> None:
    pytest.importorskip("pyarrow")
    pool = hf.Pool.from_table({**frame(), "ref": ["r1", "r1", "r2", "r2", "r2", "r3"]}, references="ref", **OPTIONS)
    table = pool.to_arrow()
    assert table.column_names == ["group", "text", "reference_0", "judge", "length", "reward"]
    again = hf.Pool.from_table(table, group="group", text="text", references="reference_0", outcome="reward")
    assert contents(again) == contents(pool)
    pytest.importorskip("pandas")
    assert pool.to_pandas()["judge"].tolist() == [row[2] for row in ROWS]


def test_a_header_that_is_no_csv(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"q,te\rxt,lm\n1,a,2\n")
    with pytest.raises(hf.InputError, match=r"t\.csv:1: not CSV"):
        read_table(tmp_path / "t.csv")
