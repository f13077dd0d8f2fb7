import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.formats import iter_nbest, read_nbest

SENTENCES: list[dict[str, Any]] = [
    {
        "id": "doc1:0",
        "source": "die Katze",
        "references": ["the cat", "a  cat", ""],
        "candidates": [
            {
                "text": "the cat",
                "features": {"lm": -1.5, "len": 2},
                "metrics": {"comet": 0.8, "bleurt": 1},
                "rank": [{}],
            },
            {"features": {"len": 2, "lm": 1e-300}, "metrics": {"bleurt": -1, "comet": 0.5}, "text": "ä\tcat\nsat"},
        ],
    },
    {
        "candidates": [{"text": "", "features": {"x\u00a0y": 1}, "metrics": {"comet": 0, "bleurt": 0}}],
        "more": {"a": [1, None, True]},
    },
]


def write(path: Path, *sentences: Any) -> Path:
    path.write_text("\n".join(s if isinstance(s, str) else json.dumps(s) for s in sentences) + "\n\n")
    return path


def test_jsonl(tmp_path: Path) -> None:
    pool = read_nbest(write(tmp_path / "n", *SENTENCES))
    assert pool.ids == ["doc1:0", "1"]
    assert [pool.source(0), pool.source(1)] == ["die Katze", ""]
    assert [pool.references(0), pool.references(1)] == [["the cat", "a cat"], []]
    assert [pool.text(0, 0), pool.text(0, 1), pool.text(1, 0)] == ["the cat", "ä cat sat", ""]
    assert pool.number_names == ["comet", "bleurt"]
    np.testing.assert_array_equal(pool[0].numbers, [[0.8, 1], [0.5, -1]])
    assert pool.feature_names == ["lm", "len", "x\u00a0y"]
    w = np.array([1.0, 10.0, 100.0])
    np.testing.assert_array_equal(pool[0].scores(w), [18.5, 20])
    np.testing.assert_array_equal(pool[1].scores(w), [100])


def test_stream_of_jsonl(tmp_path: Path) -> None:
    first, second = iter_nbest(write(tmp_path / "n", *SENTENCES))
    assert [first.text(0), first.text(1), second.text(0)] == ["the cat", "ä\tcat sat", ""]
    assert first.references == ["the cat", "a  cat", ""]
    assert (first.source, first.id, second.id) == ("die Katze", "doc1:0", "1")
    np.testing.assert_array_equal(first.forest.numbers, [[0.8, 1], [0.5, -1]])


def test_reference_files_take_the_place_of_references(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("eins\nzwei\n")
    pool = read_nbest(write(tmp_path / "n", *SENTENCES), references=tmp_path / "r")
    assert [pool.references(0), pool.references(1)] == [["eins"], ["zwei"]]
    shuffled = [{"id": k, "candidates": SENTENCES[1]["candidates"]} for k in (1, 0)]
    with pytest.raises(hf.InputError, match=r"n:2: the id is 0 where the reference files have line 2"):
        read_nbest(write(tmp_path / "n", *shuffled), references=tmp_path / "r")
    assert read_nbest(tmp_path / "n").ids == ["1", "0"]


def candidate(**keys: Any) -> dict[str, Any]:
    return {"candidates": [{"text": "a", "features": {"f": 1}, **keys}]}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["{"], "n:1: the JSON text ends too soon"),
        (['{"id": 0'], "n:1: the JSON text ends too soon"),
        (['{"id": "0'], "n:1: a string has no end"),
        (['{"id" 0}'], 'n:1: expected a colon after the key "id"'),
        (["{} {}"], "n:1: something follows the JSON value"),
        (["{'a': 1}"], "n:1: a key must be a string"),
        (["{}"], 'n:1: the key "candidates" is missing'),
        ([{"candidates": []}], "n:1: there are no candidates"),
        ([{"candidates": 3}], 'n:1: "candidates" must be an array'),
        ([{"candidates": [3]}], "n:1: a candidate must be an object"),
        ([candidate(), {"id": 1.5}], 'n:2: the id must be a whole number, found "1.5"'),
        ([candidate(), {"id": None}], "n:2: the id must be a string"),
        ([candidate(), {"id": "0", **candidate()}], 'n:2: the id "0" occurs twice'),
        ([candidate(features={"f": "1"})], 'n:1: candidate 0: feature "f" is not a number'),
        ([candidate(features={"f": None})], 'n:1: candidate 0: feature "f" is not a number'),
        ([candidate(features={"f": True})], 'n:1: candidate 0: feature "f" is not a number'),
        ([candidate(features={"f": float("nan")})], 'n:1: candidate 0: feature "f" has the value "NaN"'),
        ([candidate(features={"f": float("-inf")})], 'n:1: candidate 0: feature "f" has the value "-Infinity"'),
        ([candidate(features={"f g": 1})], 'n:1: candidate 0: the feature name "f g" is empty or has a blank'),
        ([candidate(features={"": 1})], 'n:1: candidate 0: the feature name "" is empty'),
        (['{"candidates":[{"text":"a","features":{"f":1,"f":2}}]}'], 'n:1: candidate 0: feature "f" occurs twice'),
        (['{"candidates":[{"text":"a","text":"b"}]}'], 'n:1: candidate 0: the key "text" occurs twice'),
        ([candidate(text=5)], 'n:1: "text" must be a string'),
        ([{"candidates": [{"features": {}}]}], 'n:1: candidate 0: the key "text" is missing'),
        ([{"candidates": [{"text": ""}]}], 'n:1: candidate 0: the key "features" is missing'),
        ([candidate(metrics={"m": 1}), candidate()], 'n:2: candidate 0: the metric "m" is missing'),
        ([candidate(), candidate(metrics={"m": 1})], 'n:2: candidate 0: the metric "m" is not among those'),
        ([candidate(metrics={"m": "x"})], "n:1: a metric must be a number"),
        ([candidate(metrics={"m": float("nan")})], 'n:1: a metric is "NaN". Replace it by a finite number'),
        ([candidate(text="a"), '{"candidates":[{"text":"\\ud800"}]}'], "n:2: half a surrogate pair"),
        ([candidate(text="a"), '{"candidates":[{"text":"\\x"}]}'], "n:2: bad escape"),
        (["{" + '"a":' + "[" * 100_000], "n:1: the JSON text ends too soon"),
    ],
)
def test_bad_jsonl(tmp_path: Path, lines: list[Any], message: str) -> None:
    path = write(tmp_path / "n", *lines)
    with pytest.raises(hf.InputError) as raised:
        read_nbest(path, format="jsonl")
    assert str(raised.value).startswith(message.replace("n:", f"{path}:", 1))
    assert "\n" not in str(raised.value)


def test_escapes(tmp_path: Path) -> None:
    text = '{"candidates":[{"text":"\\u00e4\\ud83d\\ude00\\"\\\\ \\/b","features":{}}]}'
    assert read_nbest(write(tmp_path / "n", text)).text(0, 0) == 'ä😀"\\ /b'


def test_a_list_in_two_formats(tmp_path: Path) -> None:
    (tmp_path / "m").write_text("0 ||| a ||| f= 1 ||| 0\n")
    with pytest.raises(hf.InputError, match=r"n: one list is in two formats"):
        read_nbest([tmp_path / "m", write(tmp_path / "n", candidate())])


def test_forced_format(tmp_path: Path) -> None:
    path = write(tmp_path / "n", candidate())
    with pytest.raises(hf.InputError, match=r"n:1: expected 4 fields"):
        read_nbest(path, format="moses")
    with pytest.raises(hf.InputError, match=r"there is no format 'xml'"):
        read_nbest(path, format="xml")
