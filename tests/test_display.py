"""What notebooks show: the numbers and words of the object, and no markup but ours."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

import numpy as np
import pytest

import hopefear as hf
from hopefear.trainers import Result

EVIL = "<script>alert(1)</script>"


def lists(sentences: int = 1, candidates: int = 2) -> hf.Pool:
    rows = sentences * candidates
    table = {
        "group": [f"{EVIL}{i}" for i in range(sentences) for _ in range(candidates)],
        "text": [f"word{i} {EVIL} &amp; x" + " <b>" * (i % 2) for i in range(rows)],
        "lm": np.arange(rows, dtype=float),
        "ref": ["a <b> c"] * rows,
    }
    return hf.Pool.from_table(table, group="group", text="text", references="ref")


def forest(words: Sequence[str] = ("the", "old", "house", "home")) -> hf.Forest:
    vocab, features = hf.Vocab(), hf.Vocab()
    for word in words:
        vocab.add(word)
    features.add("lm")

    def ints(*values: int) -> np.ndarray:
        return np.array(values, dtype=np.int32)

    return hf.Forest.from_arrays(
        edge_begin=ints(0, 2, 4),
        tail_begin=ints(0, 0, 0, 1, 2),
        tails=ints(0, 0),
        word_begin=ints(0, 1, 2, 4, 7),
        words=ints(2, 3, 0, -1, 0, 1, -1),
        dense=np.array([[-1.0], [-2.0], [0.0], [-1.5]]),
        vocab=vocab,
        features=features,
        spans=ints(1, 2, 0, 2),
    )


def parsed(markup: str) -> ET.Element:
    """It is well formed, and of elements that do nothing."""
    root = ET.fromstring(f"<all>{markup}</all>")
    names = {re.sub("{.*}", "", each.tag) for each in root.iter()}
    drawing = {"svg", "style", "rect", "text", "title", "line", "g", "polyline", "circle", "path"}
    assert names <= {"all", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", *drawing}
    return root


def cells(markup: str) -> list[list[str]]:
    return [[cell.text or "" for cell in row] for row in parsed(markup).iter("tr")]


def test_a_pool_shows_its_first_sentences() -> None:
    shown = lists(sentences=7)._repr_html_()  # type: ignore[attr-defined]
    rows = cells(shown)
    assert rows[0] == ["id", "candidates", "first candidate", "reference"]
    assert rows[1] == [f"{EVIL}0", "2", f"word0 {EVIL} &amp; x", "a <b> c"]
    assert len(rows) == 6
    assert "and 2 more sentences" in shown
    assert EVIL not in shown


def test_an_empty_pool() -> None:
    assert len(cells(hf.Pool()._repr_html_())) == 1  # type: ignore[attr-defined]


def test_a_list_shows_its_candidates() -> None:
    shown = lists(candidates=12)[0]._repr_html_()  # type: ignore[attr-defined]
    assert [row[0] for row in cells(shown)[1:]] == [str(i) for i in range(10)]
    assert "2 more candidates" in shown
    assert EVIL not in shown


def test_a_forest_shows_its_edges_from_the_goal_down() -> None:
    shown = forest()._repr_html_()  # type: ignore[attr-defined]
    assert "2 nodes, 4 edges, 4 derivations" in shown
    assert cells(shown)[1:] == [
        ["1", "0 to 2", "the [0]"],
        ["1", "0 to 2", "the old [0]"],
        ["0", "1 to 2", "house"],
        ["0", "1 to 2", "home"],
    ]


def test_a_derivation_is_a_tree() -> None:
    best = forest().viterbi({"lm": 1.0})
    root = parsed(best._repr_svg_())  # type: ignore[attr-defined]
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == [f"score {best.score:.4g}", "the [0]", "house"]
    assert len([*root.iter("{http://www.w3.org/2000/svg}line")]) == 1


def test_words_of_a_derivation_are_escaped() -> None:
    shown = forest([f"{EVIL}{i}" for i in range(4)]).viterbi({"lm": 1.0})._repr_svg_()  # type: ignore[attr-defined]
    parsed(shown)
    assert "<script" not in shown


def test_a_result_shows_scores_weights_and_the_curve() -> None:
    history = [{"epoch": 1, "score": 40.0}, {"epoch": 2, "score": 42.0}, {"note": "no score"}]
    weights = {f"f{i}{EVIL}": float(i) for i in range(25)}
    shown = Result(weights, 42.0, 38.5, history, 1.25, initial={"f24": 1.0}, warnings=[EVIL])._repr_html_()
    rows = cells(shown)
    assert rows[1][:2] == [f"f24{EVIL}", "24"]
    assert len(rows) == 21
    assert "38.50 before, 42.00 after" in shown
    assert "<polyline" in shown
    assert "5 more weights" in shown
    assert "<script" not in shown


def test_a_fit_shows_itself() -> None:
    pytest.importorskip("IPython")
    from IPython.core.formatters import format_display_data

    pool = lists(sentences=20)
    result = hf.Perceptron(seed=1).fit(pool)
    for thing in (pool, pool[0], result):
        assert "text/html" in format_display_data(thing)[0]
    assert "image/svg+xml" in format_display_data(pool[0].viterbi(result.weights))[0]
