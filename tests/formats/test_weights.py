from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st

import hopefear as hf
from hopefear.formats import read_weights, write_weights
from hopefear.runs import Run


def test_three_ways_to_write_a_weight(tmp_path: Path) -> None:
    path = tmp_path / "w"
    path.write_text(
        "# tuned\nLM0 0.5\r\nWordPenalty0=-1\n\nTM= 0.1 2e-7 # four\na=b=3\nc=d 4\nOne= 1\n#hash 2\n#two words\n"
    )
    assert read_weights(path) == {
        "LM0": 0.5,
        "WordPenalty0": -1.0,
        "TM_0": 0.1,
        "TM_1": 2e-7,
        "a=b": 3.0,
        "c=d": 4.0,
        "One": 1.0,
        "#hash": 2.0,
    }


def test_moses_ini(tmp_path: Path) -> None:
    path = tmp_path / "moses.ini"
    path.write_text(
        "[input-factors]\n0\n[feature]\nKENLM name=LM0 order=3\n[weight]\nLM0= 0.5\nTM0= 1 2\n[other]\nx y z\n"
    )
    assert read_weights(path) == {"LM0": 0.5, "TM0_0": 1.0, "TM0_1": 2.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "w: no weights in this file"),
        ("# nothing\n", "w: no weights in this file"),
        ("a 1\na=2\n", "w:2: the weight of 'a' is given twice"),
        ("a x\n", "w:1: the weight of 'a' is 'x', which is not a number"),
        ("a nan\n", "w:1: the weight of 'a' is 'nan'. Write a finite number"),
        ("a 1_0\n", "w:1: the weight of 'a' is '1_0'"),
        ("a= \n", "w:1: the weight of 'a' is missing"),
        ("=1\n", "w:1: '=1' is not a weight"),
        ("a 1 2\n", "w:1: 'a 1 2' is not a weight"),
        ("lonely\n", "w:1: 'lonely' is not a weight"),
    ],
)
def test_bad_weights(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "w"
    path.write_text(text)
    with pytest.raises(hf.InputError) as raised:
        read_weights(path)
    assert str(raised.value).startswith(message.replace("w:", f"{path}:", 1))


def test_a_missing_folder_is_a_one_line_error(tmp_path: Path) -> None:
    with pytest.raises(hf.InputError, match=r"w: no such file or folder"):
        read_weights(tmp_path / "w")
    with pytest.raises(hf.InputError, match=r"no such file or folder"):
        write_weights({"a": 1.0}, tmp_path / "missing" / "w")


# Any name without ASCII blanks, often with what means something in a file of weights.
marks = st.sampled_from(
    ["#", "=", "[weight]", "[", "]", "score=", "\ufeff", "\u00a0", "\u2028", "\x85", "\x1c", "\0", "1"]
)
characters = st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n\v\f")
names = st.lists(marks | st.text(characters, min_size=1), min_size=1, max_size=4).map("".join)
some_weights = st.dictionaries(names, st.floats(allow_nan=False, allow_infinity=False), min_size=1)


@settings(derandomize=True, deadline=None)
@given(some_weights)
@example({"\ufefflm": 1.0, "tm": 2.0})  # a mark of byte order at the start of the file
@example({"#": 1.0})
@example({"score=": 1.0, "score": 2.0})
@example({"[weight]": 1.0, "[other]": 2.0, "tm": 3.0})
def test_every_double_and_every_name_survives(
    tmp_path_factory: pytest.TempPathFactory, weights: dict[str, float]
) -> None:
    path = tmp_path_factory.mktemp("weights") / "w.zst"
    write_weights(weights, path)
    read = read_weights(path)
    assert list(read.items()) == list(weights.items())


@settings(derandomize=True, deadline=None, max_examples=30)
@given(some_weights)
@example({"\ufeff#": 1.0, "=": 2.0})
def test_every_name_survives_a_run(tmp_path_factory: pytest.TempPathFactory, weights: dict[str, float]) -> None:
    path = tmp_path_factory.mktemp("runs") / "run"
    with Run.open(path) as run:
        run.finish(weights, {})
    assert list(read_weights(path / "weights.txt").items()) == list(weights.items())


def test_what_cannot_be_written(tmp_path: Path) -> None:
    for weights in ({"a b": 1.0}, {"": 1.0}, {"a": float("inf")}, {"a": 1.0, "b\ud800": 1.0}):
        with pytest.raises(hf.InputError):
            write_weights(weights, tmp_path / "w")
    assert list(tmp_path.iterdir()) == []
