import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import hopefear as hf
from hopefear.formats import read_nbest, write_nbest

BLANKS = " \t\n\v\f\r"
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=BLANKS), min_size=1, max_size=5)
names = words.filter(lambda name: not name.endswith("="))
values = st.floats(allow_nan=False, allow_infinity=False)
candidates = st.tuples(st.lists(words, max_size=5), st.dictionaries(names, values, max_size=4))
lists = st.lists(st.lists(candidates, min_size=1, max_size=4), min_size=1, max_size=4)

Candidates = list[tuple[list[str], dict[str, float]]]


def make(path: Path, sentences: list[Candidates]) -> hf.Pool:
    lines = [{"candidates": [{"text": " ".join(w), "features": f} for w, f in candidates]} for candidates in sentences]
    path.write_text("\n".join(json.dumps(line) for line in lines))
    return read_nbest(path)


def content(pool: hf.Pool) -> list[list[tuple[str, dict[str, float]]]]:
    """Every candidate's words and non-zero features, by name."""
    out = []
    for i in range(len(pool)):
        f = pool[i]
        rows = []
        for e in range(f.edge_count):
            h = dict(zip(pool.feature_names, f.dense[e].tolist(), strict=False))
            if f.sparse_begin.size:
                for k in range(f.sparse_begin[e], f.sparse_begin[e + 1]):
                    h[pool.feature_names[f.sparse_ids[k]]] = float(f.sparse_values[k])
            rows.append((pool.text(i, e), {name: value for name, value in h.items() if value}))
        out.append(rows)
    return out


@settings(derandomize=True, deadline=None)
@given(lists)
@pytest.mark.parametrize("format", ["moses", "cdec", "jsonl"])
def test_write_read_equal(tmp_path_factory: pytest.TempPathFactory, format: str, sentences: list[Candidates]) -> None:
    folder = tmp_path_factory.mktemp("lists")
    pool = make(folder / "in.jsonl", sentences)
    expected = [[(" ".join(w), {n: v for n, v in f.items() if v}) for w, f in candidates] for candidates in sentences]
    assert content(pool) == expected
    path = folder / "out.gz"
    if format != "jsonl" and any("|||" in w for candidates in sentences for w, _ in candidates):
        with pytest.raises(hf.InputError, match="Write JSONL instead"):
            write_nbest(pool, path, format)
        return
    write_nbest(pool, path, format)
    assert content(read_nbest(path)) == expected


def test_jsonl_keeps_everything(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(
        '{"id": "a", "source": "x \\"y\\"", "references": ["r 1", "r2"], '
        '"candidates": [{"text": "t", "features": {"f": 1e300}, "metrics": {"m": 0.1, "n": -2}}]}\n'
    )
    pool = read_nbest(tmp_path / "in.jsonl")
    write_nbest(pool, tmp_path / "out.jsonl.xz")
    again = read_nbest(tmp_path / "out.jsonl.xz")
    assert (again.ids, again.source(0), again.references(0)) == (["a"], 'x "y"', ["r 1", "r2"])
    assert again.number_names == ["m", "n"]
    np.testing.assert_array_equal(again[0].numbers, pool[0].numbers)
    with pytest.raises(hf.InputError, match="cannot store metric columns"):
        write_nbest(pool, tmp_path / "out.moses")
    assert not (tmp_path / "out.moses").exists()


def test_scores(tmp_path: Path) -> None:
    (tmp_path / "n").write_text("0 ||| a ||| f=1 g=0.1 ||| 0\n")
    pool = read_nbest(tmp_path / "n")
    write_nbest(pool, tmp_path / "out", format="cdec", weights={"g": 3.0, "other": 5.0})
    assert (tmp_path / "out").read_text() == "0 ||| a ||| f=1 g=0.1 ||| 0.30000000000000004\n"
    write_nbest(pool, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "0 ||| a ||| f= 1 g= 0.1 ||| 0\n"


IDS = ["0", 1, "2", 7, "x", "12"]


def test_ids_stay_strings_or_numbers(tmp_path: Path) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    candidates = [{"text": "a b", "features": {"f": 1.0}}, {"text": "b", "features": {"f": 2.0}}]
    path.write_text("".join(json.dumps({"id": each, "candidates": candidates}) + "\n" for each in IDS))

    def ids() -> list[object]:
        return [json.loads(line)["id"] for line in out.read_text().splitlines()]

    write_nbest(read_nbest(path), out)
    assert ids() == IDS
    write_nbest(read_nbest(path).kbest({"f": 1.0}, 1), out)
    assert ids() == IDS
    write_nbest(read_nbest(path).subset(range(1, 4)), out)
    assert ids() == IDS[1:4]
    hf.add_features(list=path, out=out, consensus="bleu")
    assert ids() == IDS
    hf.convert(path, out, to="jsonl")
    assert ids() == IDS
    with pytest.warns(UserWarning, match="s1 and s2 are the same list"):
        hf.combine(lists=[path, path], out=out)
    assert ids() == IDS
