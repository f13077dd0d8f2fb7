"""Feature functions of the user's own: the values of a slow twin, kept on disk, computed anew when the code changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import hopefear as hf
from hopefear.data.forests import forest_pool

RECORDS = [
    {
        "source": "wer ist es ?",
        "references": ["who is it ?"],
        "candidates": [{"text": "who is it ?", "lm": -2.0}, {"text": "it is", "lm": -1.0}],
    },
    {
        "source": "ja .",
        "references": ["yes ."],
        "candidates": [{"text": "yes .", "lm": -1.0}, {"text": "yes ?", "lm": -0.5}],
    },
]


def questions(edge: hf.Edge) -> float:
    return -abs(edge.text.count("?") - edge.source.count("?"))


class Counting:
    """Notes what it is called for."""

    calls: ClassVar[list[str]] = []

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = factor

    def __call__(self, edge: hf.Edge) -> float:
        Counting.calls.append(edge.text)
        return self.factor * len(edge.words)


def columns(pool: hf.Pool, name: str) -> list[float]:
    place = pool.feature_names.index(name)
    return [float(row[place]) for forest in pool for row in forest.dense]


def test_candidates_of_lists() -> None:
    pool = hf.read_nbest(RECORDS)
    more = hf.with_functions(pool, {"questions": questions, "lm2": lambda edge: 2 * edge.features["lm"]})
    assert more.feature_names == ["lm", "questions", "lm2"]
    assert columns(more, "questions") == [0, -1, 0, -1]
    assert columns(more, "lm2") == [-4.0, -2.0, -2.0, -1.0]
    assert [more.text(i, j) for i in range(2) for j in range(2)] == ["who is it ?", "it is", "yes .", "yes ?"]
    assert hf.rerank(more, {"questions": 1.0}) == ["who is it ?", "yes ."]
    assert hf.tune(more, trainer="mert").rerank(more) == ["who is it ?", "yes ."]


def test_edges_of_forests() -> None:
    """A count of words is a sum over edges: of every derivation it is the length of its text."""
    pool = forest_pool(4, 60, seed=3)
    more = hf.with_functions(pool, {"words": lambda edge: sum(word is not None for word in edge.words)})
    for old, new in zip(pool, more, strict=True):
        assert old.count_derivations() == new.count_derivations()
        for derivation in new.kbest({pool.feature_names[0]: 1.0}, 20):
            assert derivation.features.get("words", 0.0) == len(derivation.text.split())
    old = columns(pool, pool.feature_names[0])
    assert columns(more, pool.feature_names[0]) == old
    shortest = [derivation.text for derivation in more.viterbi({"words": -1.0})]
    for forest, text in zip(pool, shortest, strict=True):
        lengths = [len(each.text.split()) for each in forest.kbest({pool.feature_names[0]: 1.0}, 200)]
        assert len(text.split()) <= min(lengths)


def test_what_an_edge_is() -> None:
    """Gaps, source words and features, as the arrays of the forest have them."""
    pool, seen = hf.Pool(), []
    vocab, features = pool.vocab, pool.features
    the, old, house = (vocab.add(word) for word in ("the", "old", "house"))
    features.add("lm")
    forest = hf.Forest.from_arrays(
        np.array([0, 1, 2], np.int32),
        np.array([0, 0, 1], np.int32),
        np.array([0], np.int32),
        np.array([0, 1, 4], np.int32),
        np.array([house, the, old, -1], np.int32),
        np.array([[-1.0], [-2.0]]),
        vocab,
        features,
        spans=np.array([1, 2, 0, 2], np.int32),
    )
    pool.append("0", forest, "alte Haus")

    def see(edge: hf.Edge) -> float:
        seen.append(edge)
        return 0.0

    hf.with_functions(pool, {"x": see})
    assert {edge.source for edge in seen} == {"alte Haus"}
    assert [edge.words for edge in seen] == [("house",), ("the", "old", None)]
    assert [edge.text for edge in seen] == ["house", "the old _"]
    assert [edge.span for edge in seen] == [(1, 2), (0, 2)]
    assert [dict(edge.features) for edge in seen] == [{"lm": -1.0}, {"lm": -2.0}]


def test_a_cache_is_used_and_notices_changes(tmp_path: Path) -> None:
    pool = hf.read_nbest(RECORDS)
    Counting.calls.clear()
    first = hf.with_functions(pool, {"n": Counting()}, cache=tmp_path)
    assert len(Counting.calls) == 4
    again = hf.with_functions(pool, {"n": Counting()}, cache=tmp_path)
    assert len(Counting.calls) == 4 and columns(first, "n") == columns(again, "n") == [4, 2, 2, 2]
    assert columns(hf.with_functions(pool, {"n": Counting(3.0)}, cache=tmp_path), "n") == [12, 6, 6, 6]
    assert len(Counting.calls) == 8
    larger = hf.read_nbest([*RECORDS, {"source": "", "candidates": [{"text": "new", "lm": 0.0}]}])
    assert columns(hf.with_functions(larger, {"n": Counting()}, cache=tmp_path), "n")[-1] == 1
    assert Counting.calls[8:] == ["new"]


SCRIPT = """
import sys
import hopefear as hf
WORDS = {WORDS}
FACTOR = {FACTOR}
def helper(word):
    return {BODY}
def function(edge):
    print("called", file=sys.stderr)
    return FACTOR * sum(helper(word) for word in edge.words)
pool = hf.read_nbest([{{"candidates": [{{"text": "a b c", "lm": 1.0}}]}}])
print(hf.with_functions(pool, {{"f": function}}, cache="cache")[0].dense[0, 1])
"""


def test_a_cache_of_another_process(tmp_path: Path) -> None:
    """Sets have another order in every process; a helper, or a value of the module, that changed is noticed."""

    def run(words: str = '{"a", "b", "x", "y"}', factor: str = "1", body: str = "word in WORDS") -> tuple[str, bool]:
        script = SCRIPT.format(WORDS=words, FACTOR=factor, BODY=body)
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout.strip(), "called" in done.stderr

    assert run() == ("2.0", True)
    assert run() == ("2.0", False)
    assert run(factor="2") == ("4.0", True)
    assert run(words='{"a"}') == ("1.0", True)
    assert run(body="word not in WORDS") == ("1.0", True)
    assert run() == ("2.0", False)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda edge: "many", "sentence 1, candidate 0: f returned 'many'. Return a number"),
        (lambda edge: float("nan"), "f returned nan. Return a finite number"),
        (lambda edge: None, "f returned None"),
    ],
)
def test_what_is_no_number(function: object, said: str) -> None:
    assert callable(function)
    pool = hf.read_nbest([{"id": "1", "candidates": [{"text": "a", "lm": 1.0}]}])
    with pytest.raises(hf.InputError, match=said):
        hf.with_functions(pool, {"f": function})


def test_other_mistakes(tmp_path: Path) -> None:
    pool = hf.read_nbest(RECORDS)
    with pytest.raises(hf.InputError, match="there is already a feature 'lm'"):
        hf.with_functions(pool, {"lm": questions})
    with pytest.raises(hf.InputError, match="what the function uses cannot be compared with another run"):
        hf.with_functions(pool, {"f": len}, cache=tmp_path)


def test_what_was_computed_before_an_error_is_kept(tmp_path: Path) -> None:
    def function(edge: hf.Edge) -> float:
        Counting.calls.append(edge.text)
        if edge.text == "yes ." and Path(tmp_path / "broken").exists():
            raise OSError("the scorer is away")
        return 1.0

    Counting.calls.clear()
    (tmp_path / "broken").touch()
    pool = hf.read_nbest(RECORDS)
    with pytest.raises(OSError, match="the scorer is away"):
        hf.with_functions(pool, {"f": function}, cache=tmp_path / "cache")
    (tmp_path / "broken").unlink()
    assert columns(hf.with_functions(pool, {"f": function}, cache=tmp_path / "cache"), "f") == [1, 1, 1, 1]
    assert Counting.calls == ["who is it ?", "it is", "yes .", "yes .", "yes ?"]
