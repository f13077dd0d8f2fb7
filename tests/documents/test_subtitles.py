"""Subtitles: times stay, lines are broken again, tags move."""

from __future__ import annotations

from hopefear.documents.segment import Segment
from hopefear.documents.subtitles import read_srt, read_vtt
from tests.documents.samples import SRT, VTT


def test_each_cue_is_a_text_but_each_speaker_has_one() -> None:
    assert [s.text for s in read_srt(SRT.encode(), "a.srt").segments] == [
        "<i>Ein Mann</i> geht durch die Stadt.",
        "Wohin?",
        "{\\an8}Nach Hause.",
    ]
    assert [s.text for s in read_vtt(VTT.encode(), "a.vtt").segments] == [
        "<v Anna>Ein & Mann</v> geht durch die <c.rot>rote</c> Stadt."
    ]


def test_a_translation_has_as_many_lines_of_about_the_same_length() -> None:
    document = read_srt(SRT.encode(), "a.srt")
    italic, end = document.segments[0].tags
    new = [Segment((italic, "A man", end, " walks slowly through the whole city.")), None, None]
    assert "\n<i>A man</i> walks slowly\nthrough the whole city.\n\n2\n" in document.write(new).decode()


def test_a_line_that_ends_a_sentence_keeps_its_end() -> None:
    cue = "1\n00:00:01,000 --> 00:00:03,000\nEin Mann geht.\nEine Frau rennt\nschnell.\n"
    document = read_srt(cue.encode(), "a.srt")
    assert [segment.text for segment in document.segments] == ["Ein Mann geht.", "Eine Frau rennt schnell."]
    written = document.write([Segment(("A man is walking.",)), Segment(("She runs fast.",))]).decode()
    assert written.endswith("\nA man is walking.\nShe runs\nfast.\n")
    italic = cue.replace("Ein Mann", "<i>Ein Mann").replace("schnell.", "schnell.</i>")
    (whole,) = read_srt(italic.encode(), "a.srt").segments
    assert whole.text == "<i>Ein Mann geht. Eine Frau rennt schnell.</i>"


def test_sounds_and_songs_are_texts_of_their_own() -> None:
    times = "1\n00:00:01,000 --> 00:00:03,000\n"
    document = read_srt(f"{times}♪ Ein Mann\nsingt ♪\n[MUSIK]\nEin Kind (lacht)\n".encode(), "a.srt")
    assert [segment.text for segment in document.segments] == ["Ein Mann singt", "[MUSIK]", "Ein Kind (lacht)"]
    written = document.write([Segment(("A man",)), Segment(("[MUSIC]",)), None]).decode()
    assert written == f"{times}♪ A\nman ♪\n[MUSIC]\nEin Kind (lacht)\n"
    (italic,) = read_srt(f"{times}<i>♪ Er singt ♪</i>\n".encode(), "a.srt").segments
    assert [tag.kind for tag in italic.tags] == ["open", "open", "close", "close"]


def test_an_arrow_does_not_look_like_a_time() -> None:
    document = read_srt(SRT.encode(), "a.srt")
    written = document.write([Segment(("a --> b",)), None, None]).decode()
    assert written.count("-->") == 2


def test_vtt_escapes() -> None:
    document = read_vtt(VTT.encode(), "a.vtt")
    assert "A &amp;\nB &lt;C\n" in document.write([Segment(("A & B <C",))]).decode()


def test_a_cue_with_a_blank_line_inside() -> None:
    text = SRT.replace("geht\n", "geht\n\n")
    assert [s.plain for s in read_srt(text.encode(), "a.srt").segments][:2] == ["Ein Mann geht", "durch die Stadt."]
