"""Sentences: cut where they end, and joined byte for byte."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from hopefear.documents import sentences
from hopefear.documents.protect import Protector
from hopefear.documents.segment import Keep, Part, Segment, Tag, join_strings, well_formed
from hopefear.documents.sentences import simple_pieces, split_segment, split_sentences

TEXTS = st.text(alphabet="aB. !?\n\t,\u00a0。3\u0301ب؟", max_size=40)


@pytest.fixture(params=["sentencex", "own rules"])
def splitter(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "own rules":
        monkeypatch.setattr(sentences, "_splitter", lambda: None)
    else:
        pytest.importorskip("sentencex")
    return str(request.param)


@pytest.mark.parametrize("language", ["de", "de-DE", "pt_BR", "gn", "xx", ""])
def test_sentences_with_the_space_after_them(splitter: str, language: str) -> None:
    assert split_sentences("Hallo Dr. Meier! Wie geht's?  Gut.\n", language) == [
        ("Hallo Dr. Meier!", " "),
        ("Wie geht's?", "  "),
        ("Gut.", "\n"),
    ]


def test_scripts_with_other_stops(splitter: str) -> None:
    assert split_sentences("今天天气很好。我们去公园。", "zh") == [("今天天气很好。", ""), ("我们去公园。", "")]
    assert split_sentences("यह अच्छा है। वह गया।", "hi") == [("यह अच्छा है।", " "), ("वह गया।", "")]


def test_white_space_of_two_bytes_before_a_stop(splitter: str) -> None:
    """sentencex 1.0 panics at it."""
    text = "Plan\u00a0B\u00a0. Ja\u2009!"
    assert "".join(sentence + space for sentence, space in split_sentences(text, "de")) == text


def test_a_splitter_that_dies_is_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def dies(language: str, text: str) -> list[str]:
        raise PanicException

    monkeypatch.setattr(sentences, "_splitter", lambda: dies)
    assert split_sentences("Ja. Nein.", "de") == [("Ja.", " "), ("Nein.", "")]


def test_abbreviations_of_a_language() -> None:
    pytest.importorskip("sentencex")
    assert len(split_sentences("Das ist z. B. gut. Am 3. Mai kam Prof. Dr. Huber.", "de")) == 2


def test_without_the_extra_numbers_initials_and_small_letters_go_on() -> None:
    assert simple_pieces("J. Bach kam am 3. Mai an. er ging. Dann (nie.) nicht.") == [
        "J. Bach kam am 3. Mai an. er ging. ",
        "Dann (nie.) nicht.",
    ]


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from(["de", "zh", "xx", ""]))
def test_joined_sentences_are_the_text(text: str, language: str) -> None:
    pieces = split_sentences(text, language)
    assert "".join(sentence + space for sentence, space in pieces) == text
    assert all(not space.strip() for _, space in pieces)
    assert all(sentence and sentence == sentence.rstrip() for sentence, _ in pieces[1:])
    assert "".join(simple_pieces(text)) == text


def test_a_segment_is_cut_between_its_tags() -> None:
    segment = Segment.of("Das <b>ist</b> gut. <i>Ja. Nein.</i> So.<br/> Ende.")
    assert [(sentence.text, space) for sentence, space in split_segment(segment, "de")] == [
        ("Das <b>ist</b> gut.", " "),
        ("<i>Ja.", " "),
        ("Nein.</i>", " "),
        ("So.<br/>", " "),
        ("Ende.", ""),
    ]


def test_no_protected_span_is_cut() -> None:
    keep = Keep("Was? Nein! Doch.", "user")
    segment = Segment(("Sie rief: ", keep, " Er kam. ", Keep("{{x. Y}}", "placeholder"), " ging."))
    pieces = split_segment(segment, "de")
    assert [sentence.parts for sentence, _ in pieces] == [
        ("Sie rief: ", keep, " Er kam."),
        (Keep("{{x. Y}}", "placeholder"), " ging."),
    ]


@st.composite
def segments(draw: Any) -> Segment:
    parts: list[Part] = []
    opened: list[int] = []
    for number in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(["text", "keep", "open", "close", "empty"]))
        if kind == "text":
            parts.append(draw(TEXTS))
        elif kind == "keep":
            parts.append(Keep(draw(TEXTS), "user"))
        elif kind == "open":
            parts.append(Tag("<b>", "open", number))
            opened.append(number)
        elif kind == "close" and opened:
            parts.append(Tag("</b>", "close", opened.pop()))
        else:
            parts.append(Tag("<br>", "empty", number))
    parts += [Tag("</b>", "close", number) for number in reversed(opened)]
    return Segment(tuple(join_strings(parts)))


@settings(max_examples=600, deadline=None)
@given(segments())
def test_joined_sentences_are_the_segment(segment: Segment) -> None:
    pieces = split_segment(segment, "de")
    joined: list[Part] = []
    for sentence, space in pieces:
        joined += [*sentence.parts, space]
    assert (
        Segment(tuple(join_strings(joined)))
        == Segment(tuple(part for part in segment.parts if part != Keep("", "user"))).joined()
    )
    assert well_formed(part for part in joined if isinstance(part, Tag))


def test_no_sentence_ends_in_what_will_be_protected() -> None:
    segment = Segment(("Siehe ../a.txt, {{a. B}} da. Noch einer.",))
    texts = [part.text for part, _ in split_segment(segment, "de", Protector().segment)]
    assert texts == ["Siehe ../a.txt, {{a. B}} da.", "Noch einer."]
