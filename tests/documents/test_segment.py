"""Segments: tags of plain text, and what a translation may not do."""

from __future__ import annotations

import pytest

from hopefear.documents.segment import Keep, Segment, Tag, well_formed, whole_words


def test_tags_of_a_line() -> None:
    segment = Segment.of('Ein <b class="x">rotes</b> Haus<br> mit <i>Garten')
    assert segment.parts == (
        "Ein ",
        Tag('<b class="x">', "open", 1),
        "rotes",
        Tag("</b>", "close", 1),
        " Haus",
        Tag("<br>", "empty", 3),
        " mit ",
        Tag("<i>", "empty", 4),
        "Garten",
    )
    assert segment.plain == "Ein rotes Haus mit Garten"
    assert segment.text == 'Ein <b class="x">rotes</b> Haus<br> mit <i>Garten'
    assert segment.has_words and not Segment((Keep("x"), " 3 ")).has_words


@pytest.mark.parametrize("text", ["a < b > c", "<3 <-", "<>", "< b>", "a<b und c", "</", "1 <2> 3"])
def test_what_is_no_tag(text: str) -> None:
    assert Segment.of(text).parts == (text,)


def test_tags_that_cross_are_no_pairs_of_each_other() -> None:
    assert [tag.kind for tag in Segment.of("<b>x<i>y</b>z</i>").tags] == ["open", "empty", "close", "empty"]
    assert well_formed(Segment.of("<b>x<i>y</i></b>").tags)


SOURCE = Segment(("a ", Tag("<b>", "open", 1), "b ", Keep("%s"), Tag("</b>", "close", 1)))


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        (SOURCE.parts, None),
        ((Tag("<b>", "open", 1), "x", Tag("</b>", "close", 1), Keep("%s"), "y"), None),
        (("x", Keep("%s"), Tag("<b>", "open", 1)), "lost the tag </b>"),
        ((*SOURCE.parts, Tag("<b>", "open", 1)), "has the tag <b> once too often"),
        ((Tag("<b>", "open", 1), Tag("</b>", "close", 1)), "lost the protected %s"),
        ((*SOURCE.parts, Keep("%s")), "has the protected %s once too often"),
        ((Tag("</b>", "close", 1), Keep("%s"), Tag("<b>", "open", 1)), "has tags that cross each other"),
    ],
)
def test_faults_of_a_translation(parts: tuple[str | Keep | Tag, ...], fault: str | None) -> None:
    assert SOURCE.fault_of(Segment(parts)) == fault


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("zwei <b>H</b>unde da", "zwei <b>Hunde</b> da"),
        ("zwei Hun<em>de</em>, <i><b>z</b></i>wei", "zwei <em>Hunde</em>, <i><b>zwei</b></i>"),
        ("<span class=first>E</span>in Haus", "<span class=first>Ein</span> Haus"),
        ("<span>Home</span>page", "<span>Home</span>page"),
        ("Home<span>neu</span> <b>Ein</b>Haus", "Home<span>neu</span> <b>Ein</b>Haus"),
        ("<b>ein</b><b>haus</b> Ma<br>nn M<sup>me</sup> <b>5</b>er", None),
    ],
)
def test_words_that_are_formatted_in_part(text: str, wanted: str | None) -> None:
    whole = whole_words(Segment.of(text))
    assert whole.text == (wanted or text) and well_formed(whole.tags)


def test_runs_of_word_that_part_a_word() -> None:
    bold = Tag("<w:rPr><w:b/></w:rPr>", "open", 1), Tag("</rPr>", "close", 1)
    assert whole_words(Segment(("H", bold[0], "unde", bold[1]))).parts == (bold[0], "Hunde", bold[1])
    raised = Tag('<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>', "open", 1)
    assert whole_words(Segment(("H", raised, "unde", bold[1]))).parts == ("H", raised, "unde", bold[1])
