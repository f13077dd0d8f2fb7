"""Charts as PDF: the file is complete, and everything is drawn at its place in the SVG."""

from __future__ import annotations

import re

import pytest

from hopefear.util.pdf import WIDTHS, pdf_of
from hopefear.util.svg import Curve, line_chart, tag


def content(pdf: bytes) -> str:
    match = re.search(rb"stream\n(.*?)\nendstream", pdf, re.S)
    assert match
    return match[1].decode("cp1252")


def chart(inside: str) -> str:
    return tag("svg", inside=inside, viewBox="0 0 100 50", font_size=10)


def test_the_places_of_all_objects_are_right() -> None:
    pdf = pdf_of(line_chart("t", "x", "y", [Curve("a (b\\c)", [1, 2, 3], [1, 4, 2], [0.1, 0.2, 0.1])], standalone=True))
    start = int(re.findall(rb"startxref\n(\d+)", pdf)[0])
    assert pdf[start:].startswith(b"xref\n0 7\n")
    places = [int(one) for one in re.findall(rb"(\d{10}) 00000 n", pdf)]
    assert all(pdf[place:].startswith(b"%d 0 obj" % number) for number, place in enumerate(places, 1))
    length = re.search(rb"/Length (\d+)>>\nstream\n(.*?)\nendstream", pdf, re.S)
    assert length and int(length[1]) == len(length[2])
    assert "(a \\(b\\\\c\\))" in content(pdf)  # a name cannot end its string


def test_shapes_are_drawn_at_their_places() -> None:
    drawn = content(pdf_of(chart(tag("path", d="M10 20H30V25l5 -5z", stroke="#ff0000", stroke_width=2))))
    assert "10 20 m 30 20 l 30 25 l 35 20 l h" in drawn and "1 0 0 RG 2 w" in drawn
    assert "1 2 3 4 re f" in content(pdf_of(chart(tag("rect", x=1, y=2, width=3, height=4, fill="#000000"))))
    half = content(pdf_of(chart(tag("circle", cx=5, cy=5, r=2, fill="#000000", opacity=".5"))))
    assert "0.5 0.5 0.5 rg" in half and "7 5 m" in half
    turned = content(pdf_of(chart(tag("text", "y", transform="translate(14,20) rotate(-90)", fill="var(--ink)"))))
    assert "1 0 0 1 14 20 cm 0 -1 1 0 0 0 cm" in turned


def test_text_is_aligned_by_the_widths_of_its_letters() -> None:
    drawn = content(pdf_of(chart(tag("text", "\N{MINUS SIGN}12", x=50, y=10, text_anchor="end", fill="#000000"))))
    width = 0.556 * 30  # an en dash and two digits of size 10
    assert f"1 0 0 -1 {50 - width:.3f}".rstrip("0") in drawn and "(\N{EN DASH}12)" in drawn
    assert len(WIDTHS) == 95


def test_what_is_unknown_is_not_left_out_silently() -> None:
    with pytest.raises(ValueError, match="path with C"):
        pdf_of(chart(tag("path", d="M0 0C1 1 2 2 3 3", stroke="#000000")))
    with pytest.raises(ValueError, match="transform scale"):
        pdf_of(chart(tag("g", transform="scale(2)")))
