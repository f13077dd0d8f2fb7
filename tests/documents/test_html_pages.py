"""HTML: what is translated, what stays, what is written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from hopefear.documents.html_pages import read_html
from hopefear.documents.segment import Segment, well_formed
from tests.documents.samples import PAGE


def texts(page: str) -> list[str]:
    return [segment.text for segment in read_html(page.encode(), "a.html").segments]


def loud(page: str) -> str:
    document = read_html(page.encode(), "a.html")
    new = [Segment(tuple(p.upper() if isinstance(p, str) else p for p in s.parts)) for s in document.segments]
    return document.write(new).decode()


def test_the_texts_of_a_page() -> None:
    assert texts(PAGE) == [
        "Ein & Haus",
        "Das ist gut",
        "Ein <b>rotes</b> Haus",
        'Ein <a href="x" title="Der Titel">Link</a>, <code>a &lt; b</code> und <img src=y alt=\'Ein "Bild"\'> © 2024',
        "Der Titel",
        'Ein "Bild"',
        "Alles fett",
        "Eins",
        'Zwei <span class="notranslate">drei</span> vier',
        "Absenden",
        "Bitte hier",
        "AT&T 3 < 4 <!-- Kommentar --> weiter",
        "ja",
        "Drücken",
    ]


def test_tags_of_a_translation_stay_whole() -> None:
    assert loud("<p>Ein <b>rotes</b> Haus</p>") == "<p>EIN <b>ROTES</b> HAUS</p>"
    assert loud("<p>Ein <a title='x y'>Link</a> da</p>") == "<p>EIN <a title='X Y'>LINK</a> DA</p>"
    assert (
        loud("<p title=ja>a &amp; b&nbsp;&copy;&#x20ac; &lt;c&gt;")
        == '<p title="JA">A &amp; B&nbsp;&copy;&#x20ac; &lt;C&gt;'
    )
    assert loud('<p title="a&quot;b">') == '<p title="A&quot;B">'


@pytest.mark.parametrize(
    "page",
    [
        "<script>Ein Text</script>",
        "<style>Ein Text</style>",
        "<pre>Ein <b>Text</b></pre>",
        "<p><code>Ein Text</code></p>",
        '<p translate="no">Ein Text</p>',
        "<div class='a notranslate'><p title='Nein'>Ein Text</p></div>",
        "<svg><text>Ein Text</text></svg>",
        "<textarea>Ein Text</textarea>",
        "<!-- Ein Text -->",
        "<p>12 &amp; 34</p>",
        "<input type=text value='Ein Text'>",
        "<meta name=viewport content='Ein Text'>",
        "<script>a</SCRIPT >",
        "<?php echo 'Ein Text' ?>",
    ],
)
def test_what_stays(page: str) -> None:
    assert texts(page) == []
    assert loud(page) == page


def test_paragraphs_need_no_end() -> None:
    assert texts("<p>Eins<p>Zwei<ul><li>Drei<li>Vier</ul>Fünf<br>Sechs") == [
        "Eins",
        "Zwei",
        "Drei",
        "Vier",
        "Fünf<br>Sechs",
    ]


def test_white_space_of_the_source_is_one_blank() -> None:
    assert texts("<p>\n  Ein\n   Haus\n</p>") == ["Ein Haus"]


def test_line_numbers() -> None:
    document = read_html(b"<p>\r\n<b>\r\nEins</b>\r\n<p>Zwei", "a.html")
    assert [document.place(i) for i in range(2)] == ["a.html:3", "a.html:4"]


PIECES = [
    "<b>",
    "</b>",
    "<i x='1'>",
    "</i>",
    "<p>",
    "</p>",
    "<br>",
    "Ein ",
    "Wort",
    " ",
    "&amp;",
    "<",
    ">",
    "<!--",
    "-->",
]
PIECES += [
    "<code>",
    "</code>",
    "<pre>",
    "</pre>",
    '<a title="',
    '">',
    "</a>",
    "<script>",
    "</script>",
    "&",
    "\n",
    "é",
    "'",
]


@settings(max_examples=600, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14))
def test_any_soup_comes_out_as_it_was(pieces: list[str]) -> None:
    page = "".join(pieces)
    document = read_html(page.encode(), "a.html")
    assert document.write(document.segments).decode() == page
    for segment in document.segments:
        assert well_formed(segment.tags)
    again = read_html(loud(page).encode(), "a.html")
    assert [s.plain.upper() for s in again.segments] == [s.plain.upper() for s in document.segments]


def test_hostile_pages_come_to_an_end() -> None:
    for hostile in (
        "<a ",
        '<a x="',
        "<",
        "<!--",
        "<b>",
        "&amp",
        "<b x='1'",
        "</",
        "<![CDATA[",
        "<p translate=no>",
        "<i></b>",
    ):
        page = (hostile * (100_000 // len(hostile))).encode()
        document = read_html(page, "a.html")
        assert document.write(document.segments) == page
