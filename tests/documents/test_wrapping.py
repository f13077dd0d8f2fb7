"""Lines: which are one paragraph, and how text is broken."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from hopefear.documents.plain import read_text
from hopefear.documents.segment import Segment
from hopefear.documents.wrapping import in_lines, is_wrapped, lines_of, width, wrap
from tests.documents.samples import TEXT, WRAPPED

TEXTS = st.lists(st.text(alphabet="ab漢e\u0301", min_size=1, max_size=9), max_size=12).map(" ".join)


def test_width() -> None:
    assert width("abc") == 3 and width("漢字") == 4 and width("e\u0301") == 1


@settings(deadline=None)
@given(TEXTS, st.integers(1, 30))
def test_broken_lines_are_the_text_and_as_full_as_can_be(text: str, columns: int) -> None:
    lines = wrap(text, columns)
    assert " ".join(lines).split() == text.split()
    assert all(width(line) <= columns or " " not in line for line in lines)
    if len(lines) > 1:
        assert is_wrapped(lines, columns)


@settings(deadline=None)
@given(TEXTS, st.integers(1, 4))
def test_at_most_so_many_lines(text: str, count: int) -> None:
    lines = in_lines(text, count)
    assert len(lines) <= count and " ".join(lines).split() == text.split()


@given(st.text(alphabet="a\n\r\u2028\x0b", max_size=12))
def test_lines_cover_the_text(text: str) -> None:
    lines = list(lines_of(text))
    assert "".join(text[line.start : line.next] for line in lines) == text
    assert all("\n" not in text[line.start : line.stop] for line in lines)


def test_a_line_is_a_text_unless_the_file_is_broken_at_a_width() -> None:
    assert [s.plain for s in read_text(TEXT.encode(), "a.txt").segments] == [
        "Ein Haus.",
        "Noch eins am See.",
        "Und drei",
    ]
    wrapped = read_text(WRAPPED.encode(), "a.txt")
    assert [s.plain[:12] for s in wrapped.segments] == ["EIN TITEL", "Dies ist ein", "Eingerückt i"]
    again = wrapped.write([None, None, Segment((" ".join(["words"] * 20),))]).decode()
    assert again.endswith("\n\n   " + " ".join(["words"] * 13) + "\n   " + " ".join(["words"] * 7) + "\n")


def test_lines_of_a_corpus_are_never_joined() -> None:
    lines = "\n".join(" ".join(["wort"] * (3 + 7 * k % 11)) for k in range(40))
    assert len(read_text(lines.encode(), "a.txt").segments) == 40
