"""Markdown: blocks and what stands inside them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from hopefear.documents.markdown import read_markdown
from hopefear.documents.segment import Segment, well_formed
from hopefear.documents.sentences import split_segment
from tests.documents.samples import MARKDOWN


def texts(page: str) -> list[str]:
    return [segment.text for segment in read_markdown(page.encode(), "a.md").segments]


def loud(page: str) -> str:
    document = read_markdown(page.encode(), "a.md")
    new = [Segment(tuple(p.upper() if isinstance(p, str) else p for p in s.parts)) for s in document.segments]
    return document.write(new).decode()


def test_the_texts_of_a_page() -> None:
    assert texts(MARKDOWN) == [
        "Ein **Haus**",
        'Ein *rotes* Haus mit `code x` und [ein Link](http://x.y/z "Titel"), das weiter geht und ![ein Bild](a.png) '
        "hat. *nicht betont* snake_case  \nNeue Zeile © <b>fett</b> [Ref][eins], [nichts] https://a.b/c_d_e.",
        "Punkt eins geht weiter hier",
        "erledigt **ganz**",
        "Absatz in der Liste",
        "Ein Zitat, das weiter geht.",
        "Name",
        "Wert",
        "Ein Haus",
        "a | b",
        "Titel",
        "Erstens __fett__",
        "Zweitens ***beides***",
        "Ein <b>Block</b>",
        "Eine Notiz.",
        "Text[^1] mit $a_b$ und [![Bild](x.png)](y) *offen.",
    ]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("# Ein *Titel* #\n", "# EIN *TITEL* #\n"),
        ("- [ ] tun\n", "- [ ] TUN\n"),
        ("wort\n: was es\n  heißt\n", "WORT\n: WAS ES\n  HEISST\n"),
        ("ein satz.[^1] noch einer.\n", "EIN SATZ.[^1] NOCH EINER.\n"),
        ("> > tief\n", "> > TIEF\n"),
        ("12) zwölf\n", "12) ZWÖLF\n"),
        ("a `b c` d\n", "A `b c` D\n"),
        ("``a ` b`` c\n", "``a ` b`` C\n"),
        ("[a b](<x y> 'z') c\n", "[A B](<x y> 'z') C\n"),
        ("![a](b) c\n", "![A](b) C\n"),
        ("[a]\n\n[a]: b\n", "[A][a]\n\n[a]: b\n"),
        ("a <span class='x y'>b</span>\n", "A <span class='x y'>B</span>\n"),
        ("<https://a.b> c\n", "<https://a.b> C\n"),
        ("a\\\nb\n", "A\\\nB\n"),
        ("a \\* b\n", "A \\* B\n"),
        ("a &nbsp; b\n", "A &nbsp; B\n"),
        ("2 * 3 * vier\n", "2 * 3 * VIER\n"),
        ("| a \\| b | `c|d` e |\n|--|:-:|\n| f | g |\n", "| A \\| B | `c|d` E |\n|--|:-:|\n| F | G |\n"),
        ("Wort\n---\n", "WORT\n---\n"),
        ("{{ x }} a {% b %}\n", "{{ x }} A {% b %}\n"),
    ],
)
def test_markup_stays(page: str, expected: str) -> None:
    assert loud(page) == expected


@pytest.mark.parametrize(
    "page",
    [
        "---\na: b\n---\n",
        "+++\na = 1\n+++\n",
        "```\ncode\n```\n",
        "~~~~ x\ncode\n~~~\ncode\n~~~~\n",
        "> ```\n> code\n> ```\n",
        "    code\n\n    mehr\n",
        "\tcode\n",
        "[a]: b 'c'\n",
        "***\n",
        "| --- |\n",
        "$$\na\n$$\n",
        "<!-- a\n\nb -->\n",
        "<script>\na\n\nb\n</script>\n",
        "<pre>\na\n\nb\n</pre>\n",
        "![](a.png)\n",
        "`a`\n",
        "::: note\n",
    ],
)
def test_what_stays(page: str) -> None:
    assert texts(page) == []


def test_a_fence_that_is_never_closed_goes_to_the_end() -> None:
    assert texts("```\ncode\n\nText\n") == []


def test_a_paragraph_is_broken_at_its_width_again() -> None:
    page = "> Ein Absatz der hier\n> gebrochen ist und 1. mit\n> `code x` weiter geht\n"
    document = read_markdown(page.encode(), "a.md")
    (segment,) = document.segments
    written = document.write([Segment((*segment.parts, " bis zum Ende"))]).decode()
    assert written == "> Ein Absatz der hier\n> gebrochen ist und 1. mit\n> `code x` weiter geht bis\n> zum Ende\n"


def test_no_new_line_starts_a_list() -> None:
    document = read_markdown(b"aaa bbb ccc\nddd\n", "a.md")
    assert document.write([Segment(("aaaa bbbbbb - cc 1. d # e",))]) == b"aaaa bbbbbb - cc 1. d #\ne\n"


PIECES = [
    "# ",
    "- ",
    "> ",
    "\n",
    "\n\n",
    "    ",
    "*",
    "**",
    "_",
    "`",
    "```",
    "[",
    "](x)",
    "](",
    "]",
    "![",
    "<b>",
    "</b>",
    "|",
    "---",
]
PIECES += ["Wort", " ein ", "\\", "&amp;", "~~", "1. ", "$$", "  \n", "<div>", "é"]


@settings(max_examples=600, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_any_soup_comes_out_as_it_was(pieces: list[str]) -> None:
    page = "".join(pieces)
    document = read_markdown(page.encode(), "a.md")
    assert document.write(document.segments).decode() == page
    new = []
    for segment in document.segments:
        assert well_formed(segment.tags)
        new.append(Segment((*segment.parts, " mehr")))
    assert document.write(new).decode().count("mehr") == len(new)


def test_hostile_pages_come_to_an_end() -> None:
    for hostile in (
        "[",
        "](",
        "*a",
        "_ a_",
        "`",
        "`` ` ",
        "<a ",
        "![](",
        "> ",
        "- ",
        "|",
        "\\",
        "$a",
        "<!--",
        "[a][b]",
        "<i></b>",
    ):
        page = (hostile * (40_000 // len(hostile))).encode()
        document = read_markdown(page, "a.md")
        assert document.write(document.segments) == page


def test_a_footnote_stays_with_its_sentence() -> None:
    (segment,) = read_markdown(b"Ein Satz.[^1] Noch *einer*.\n", "a.md").segments
    assert [part.text for part, _ in split_segment(segment, "de")] == ["Ein Satz.[^1]", "Noch *einer*."]
