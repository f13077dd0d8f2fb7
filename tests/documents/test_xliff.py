"""XLIFF: which targets are filled, and with which elements."""

from __future__ import annotations

from hopefear.documents.segment import Segment
from hopefear.documents.xliff import read_xliff
from tests.documents.samples import XLIFF12, XLIFF20


def test_what_is_filled() -> None:
    document = read_xliff(XLIFF12.encode(), "a.xliff")
    assert [s.plain for s in document.segments] == [
        "Ein rotes Haus & mehr",
        "Neu  hier",
        'fett und <mrk mtype="protected">IKEA</mrk>',
    ]
    assert [s.plain for s in read_xliff(XLIFF20.encode(), "a.xlf").segments] == ["Ein rotes Haus"]
    assert len(read_xliff(XLIFF12.encode(), "a.xliff", everything=True).segments) == 4
    assert [document.place(i) for i in range(3)] == ["a.xliff:5", "a.xliff:8", "a.xliff:11"]


def test_pairs_and_single_elements() -> None:
    first, second, third = read_xliff(XLIFF12.encode(), "a.xliff").segments
    assert [(tag.text, tag.kind) for tag in first.tags] == [
        ('<g id="1">', "open"),
        ("</g>", "close"),
        ('<x id="2"/>', "empty"),
    ]
    assert [(tag.text, tag.kind) for tag in second.tags] == [('<ph id="1">{0}</ph>', "empty")]
    assert [(tag.text, tag.kind) for tag in third.tags] == [
        ('<bpt id="1">&lt;b></bpt>', "open"),
        ('<ept id="1">&lt;/b></ept>', "close"),
    ]
    assert [keep.text for keep in third.keeps] == ['<mrk mtype="protected">IKEA</mrk>']


def test_a_target_stands_below_its_source() -> None:
    document = read_xliff(XLIFF12.encode(), "a.xliff")
    written = document.write([Segment(("A < b",)), Segment(("new",)), None]).decode()
    assert "</source>\n    <target>A &lt; b</target>\n" in written
    assert '<target state="translated"> new </target>' in written
    assert "<target></target>" in written  # the last one failed


def test_a_prefix_and_segments_of_a_unit() -> None:
    text = (
        '<x:xliff xmlns:x="urn:oasis:names:tc:xliff:document:1.2" version="1.2"><x:file><x:body><x:trans-unit id="1">'
    )
    text += '<x:source>A. B.</x:source><x:seg-source><x:mrk mtype="seg" mid="1">A.</x:mrk> B.</x:seg-source>'
    text += "</x:trans-unit></x:body></x:file></x:xliff>"
    document = read_xliff(text.encode(), "a.xliff")
    assert document.segments[0].text == '<x:mrk mtype="seg" mid="1">A.</x:mrk> B.'
    assert "</x:seg-source><x:target><x:mrk" in document.write(document.segments).decode()


def test_numbered_characters_have_their_own_number() -> None:
    text = '<xliff version="1.2"><trans-unit><source>a &#150; &#x41; &apos;</source></trans-unit></xliff>'
    assert read_xliff(text.encode(), "a.xliff").segments[0].plain == "a \x96 A '"
