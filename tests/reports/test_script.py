"""Functions of the report's script that need no document, in a JavaScript engine: also where there is no browser."""

from __future__ import annotations

import csv
import difflib
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from hopefear.util.svg import nice_ticks
from tests.reports.pages import HOSTILE

racer = pytest.importorskip("py_mini_racer")
SCRIPT = Path(__file__).parents[2] / "src" / "hopefear" / "reports" / "static" / "1-pure.js"


@pytest.fixture(scope="module")
def engine() -> Any:
    context = racer.MiniRacer()
    context.eval(SCRIPT.read_text(encoding="utf-8"))
    return context


def called(engine: Any, name: str, *arguments: object) -> Any:
    given = ", ".join(json.dumps(argument) for argument in arguments)
    return json.loads(engine.eval(f"JSON.stringify({name}({given}))"))


words = st.lists(st.sampled_from(["a", "b", "c", "d", "<b>"]), max_size=12).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(words, words)
def test_a_diff_has_both_texts_and_as_many_words_in_common_as_there_are(engine: Any, one: str, other: str) -> None:
    parts = called(engine, "diff", one, other)
    for kinds, text in (("=-", one), ("=+", other)):
        assert " ".join(words for kind, words in parts if kind in kinds) == text
    a, b = one.split(), other.split()
    longest = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, left in enumerate(a):
        for j, right in enumerate(b):
            longest[i + 1][j + 1] = longest[i][j] + 1 if left == right else max(longest[i][j + 1], longest[i + 1][j])
    same = sum(len(words.split()) for kind, words in parts if kind == "=")
    assert (
        same
        == longest[-1][-1]
        >= sum(block.size for block in difflib.SequenceMatcher(None, a, b, False).get_matching_blocks())
    )


@settings(max_examples=60, deadline=None)
@given(st.floats(-1e4, 1e4), st.floats(1e-3, 1e4), st.integers(2, 8))
def test_ticks_are_those_of_the_charts(engine: Any, low: float, size: float, count: int) -> None:
    assert called(engine, "ticks", low, low + size, count) == pytest.approx(nice_ticks(low, low + size, count))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=2, max_size=2), min_size=1))
def test_csv_is_read_back(engine: Any, rows: list[list[str]]) -> None:
    text = called(engine, "csvOf", rows)
    read = list(csv.reader(io.StringIO(text, newline="")))
    for row, back in zip(rows, read, strict=True):
        for cell, again in zip(row, back, strict=True):
            assert again.removeprefix("'") == cell.replace("\N{MINUS SIGN}", "-").removeprefix("'")


def test_csv_has_no_formula(engine: Any) -> None:
    """A text that a spreadsheet would compute; numbers stay numbers."""
    text = called(engine, "csvOf", [["=1+1", "@x", "-2.5", "\N{MINUS SIGN}2.5", "+cmd", 'a"b,c']])
    assert next(csv.reader(io.StringIO(text))) == ["'=1+1", "'@x", "-2.5", "-2.5", "'+cmd", 'a"b,c']


def test_rows_are_sorted_by_their_numbers(engine: Any) -> None:
    rows = ["12.5 \N{PLUS-MINUS SIGN} 1", "\N{MINUS SIGN}3", "", "1,200", "0.1 (p = .3)", ".05", "< .001"]
    order = "sorted({}, (one) => one, {})"
    up = json.loads(engine.eval(f"JSON.stringify({order.format(json.dumps(rows), 'false')})"))
    assert up == [rows[1], rows[6], rows[5], rows[4], rows[0], rows[3], ""]
    down = json.loads(engine.eval(f"JSON.stringify({order.format(json.dumps(rows), 'true')})"))
    assert down == [*reversed(up[:-1]), ""]  # what is empty stays last
    names = json.loads(engine.eval(f"JSON.stringify({order.format(json.dumps(['run 10', 'b', 'run 9']), 'false')})"))
    assert names == ["b", "run 9", "run 10"]


def test_words_of_a_search_are_found_where_they_are(engine: Any) -> None:
    assert called(engine, "hitsOf", "The cat, the Hat", ["the", "hat"]) == [[0, 3], [9, 12], [13, 16]]
    assert called(engine, "hitsOf", "aaa", ["aa", "a"]) == [[0, 2], [2, 3]]
    assert called(engine, "hitsOf", HOSTILE, ["<script>"]) == [[0, 8]]
    assert called(engine, "wordsOf", "  The  CAT ") == ["the", "cat"]


@pytest.mark.parametrize("top", [0, 59, 61, 1234, 599_400, 10**9])
def test_the_window_covers_what_is_in_sight(engine: Any, top: int) -> None:
    first, last = called(engine, "windowOf", top, 600, 60, 10_000, 6)
    assert 0 <= first <= last <= 10_000 and last - first <= 600 / 60 + 13
    if top <= 10_000 * 60 - 600:
        assert first * 60 <= top and last * 60 >= top + 600
