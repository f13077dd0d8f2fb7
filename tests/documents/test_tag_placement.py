"""Tags in a translation: well formed, each exactly once, around the words that they belong to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from hopefear.documents.segment import Segment, Tag, well_formed
from hopefear.documents.tag_placement import place_tags


def shown(source: str, target: str, links: str) -> str:
    """The target with the tags of the source; words stand between blanks, tags stick to them."""
    words: list[str] = []
    tags: list[tuple[int, Tag]] = []
    for part in Segment.of(source).parts:
        if isinstance(part, Tag):
            tags.append((len(words), part))
        else:
            assert isinstance(part, str)
            words += part.split()
    there = target.split()
    pairs = [(int(s), int(t)) for s, t in (pair.split("-") for pair in links.split())]
    result = ""
    placed = place_tags(tags, pairs, len(words), len(there))
    for i, word in enumerate([*there, ""]):
        here = [tag for position, tag in placed if position == i]
        closing = 0
        while closing < len(here) and here[closing].kind == "close":
            closing += 1
        result += "".join(tag.text for tag in here[:closing]) + (" " if i and word else "")
        result += "".join(tag.text for tag in here[closing:]) + word
    return result


@pytest.mark.parametrize(
    ("source", "target", "links", "expected"),
    [
        ("ein <b>rotes</b> Haus", "a red house", "0-0 1-1 2-2", "a <b>red</b> house"),
        ("una casa <b>roja</b>", "a red house", "0-0 1-2 2-1", "a <b>red</b> house"),
        # two words that come apart: the cover, for not more than half of it is foreign
        ("<b>hat gekauft</b> ein Auto", "has a bought car", "0-0 1-2 2-1 3-3", "<b>has a bought</b> car"),
        # scattered further: the better part
        ("<b>a b c</b> d e f g h", "a d e f g h b c", "0-0 1-6 2-7 3-1 4-2 5-3 6-4 7-5", "a d e f g h <b>b c</b>"),
        # siblings change places
        ("<b>casa</b> <i>roja</i>", "red house", "0-1 1-0", "<i>red</i> <b>house</b>"),
        # a sibling lies in the middle: nobody crosses anybody
        ("<b>a c</b> <i>b</i>", "a b c", "0-0 1-2 2-1", "<b>a</b> <i>b</i> c"),
        ("<a><b>x</b> y</a> z", "z y x", "0-2 1-1 2-0", "z <a>y <b>x</b></a>"),
        ("x <br/>y z", "z y x", "0-2 1-1 2-0", "z <br/>y x"),
        ("x y<br/>", "y x", "0-1 1-0", "y x<br/>"),
        ("<br/>x y", "x y", "", "<br/>x y"),
        # no alignment at all: the same share
        ("<b>x y</b>", "p q r", "", "<b>p q r</b>"),
        ("<b>x y</b> u v", "p q r s", "", "<b>p q</b> r s"),
        # everything is bold, and so is what has no link
        ("<b>x y</b>", "p q .", "0-0 1-1", "<b>p q .</b>"),
        ("x <b></b>y", "y x", "0-1 1-0", "<b></b>y x"),
        # an image between two bold words that become one
        ("<b>x</b><br/><i>y</i>", "p", "0-0 1-0", "<b>p</b><br/><i></i>"),
    ],
)
def test_examples(source: str, target: str, links: str, expected: str) -> None:
    assert shown(source, target, links) == expected


def test_parts_of_pairs_that_reach_beyond_the_sentence() -> None:
    close, opening = Tag("</b>", "close", 1), Tag("<i>", "open", 2)
    tags = [(1, close), (2, opening)]
    assert place_tags(tags, [(0, 0), (1, 1), (2, 2)], 3, 3) == [(1, close), (2, opening)]
    assert place_tags(tags, [(0, 2), (1, 1), (2, 0)], 3, 3) == [(0, close), (3, opening)]


def test_tags_that_cross_stand_alone() -> None:
    b, i, b_end, i_end = Tag("<b>", "open", 1), Tag("<i>", "open", 2), Tag("</b>", "close", 1), Tag("</i>", "close", 2)
    placed = place_tags([(0, b), (1, i), (2, b_end), (3, i_end)], [(0, 0), (1, 1), (2, 2)], 3, 3)
    assert sorted(tag.text for _, tag in placed) == ["</b>", "</i>", "<b>", "<i>"]


@st.composite
def sentences(draw: Any) -> tuple[list[tuple[int, Tag]], list[tuple[int, int]], int, int]:
    """Well-formed tags (some of whose partners are in other sentences), and any links."""
    n, m = draw(st.integers(0, 7)), draw(st.integers(0, 7))
    tags: list[tuple[int, Tag]] = []
    opened: list[int] = []
    number = 0
    bottom_closed = True
    for position in range(n + 1):
        for action in draw(st.lists(st.sampled_from(["open", "close", "empty", "before"]), max_size=3)):
            number += 1
            if action == "open":
                tags.append((position, Tag(f"<{number}>", "open", number)))
                opened.append(number)
            elif action == "close" and opened:
                tags.append((position, Tag(f"</{opened[-1]}>", "close", opened.pop())))
            elif action == "empty":
                tags.append((position, Tag(f"<{number}/>", "empty", number)))
            elif action == "before" and not opened and bottom_closed:
                tags.append((position, Tag(f"</{number}>", "close", number)))
    links = draw(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=12))
    return tags, links, n, m


@settings(max_examples=1500, deadline=None)
@given(sentences())
def test_each_tag_is_there_once_and_well_formed(
    case: tuple[list[tuple[int, Tag]], list[tuple[int, int]], int, int],
) -> None:
    tags, links, n, m = case
    placed = place_tags(tags, links, n, m)
    assert sorted(tag.text for _, tag in placed) == sorted(tag.text for _, tag in tags)
    positions = [position for position, _ in placed]
    assert positions == sorted(positions) and all(0 <= p <= m for p in positions)
    assert well_formed(completed([tag for _, tag in tags]))
    assert well_formed(completed([tag for _, tag in placed]))


def completed(tags: list[Tag]) -> list[Tag]:
    """With the partners that other sentences have: first what was open before, in whatever order closes it."""
    opened = {tag.id for tag in tags if tag.kind == "open"}
    closed = {tag.id for tag in tags if tag.kind == "close"}
    before = [Tag("", "open", tag.id) for tag in tags if tag.kind == "close" and tag.id not in opened]
    after = [Tag("", "close", tag.id) for tag in tags if tag.kind == "open" and tag.id not in closed]
    return [*reversed(before), *tags, *reversed(after)]


@settings(max_examples=500, deadline=None)
@given(sentences())
def test_a_translation_word_by_word_moves_nothing(
    case: tuple[list[tuple[int, Tag]], list[tuple[int, int]], int, int],
) -> None:
    tags, _, n, _ = case
    assert place_tags(tags, [(k, k) for k in range(n)], n, n) == tags


@settings(max_examples=800, deadline=None)
@given(sentences(), st.randoms())
def test_tags_of_any_kind_in_any_order_come_out_once(case: Any, random: Any) -> None:
    tags, links, n, m = case
    shuffled = [tag for _, tag in tags]
    random.shuffle(shuffled)
    placed = place_tags([(p, tag) for (p, _), tag in zip(tags, shuffled, strict=True)], links, n, m)
    assert sorted(tag.text for _, tag in placed) == sorted(tag.text for _, tag in tags)
