"""Markup of the page."""

from __future__ import annotations

import base64
import hashlib
import re

from hopefear.reports.page import (
    NARROW,
    WIDE,
    chart,
    document,
    packed,
    panels,
    plain_number,
    section,
    signed,
    table,
    unpacked,
)
from hopefear.util.svg import Curve


def test_data_cannot_end_its_script() -> None:
    data = {"a": "</script><script>x\u2028&", "b": [1.5, None, "\u00e4"]}
    text = packed(data)
    assert text.count("<") == 2 and text.isascii()
    assert unpacked(text) == data


def test_one_run_needs_no_buttons() -> None:
    assert panels("w", "run", ["a"], ["<p>x</p>"]) == "<p>x</p>"
    assert panels("w", "run", ["<a>"], ["<p>x</p>"], [2]) == "<h3>&lt;a&gt;</h3><p>x</p>"  # one of several runs
    several = panels("w", "run", ["a", "<b>"], ["1", "2"], [0, 3])
    assert several.count("checked") == 1 and 'value="3"' in several and "<b>" not in several


def test_a_row_has_its_heading() -> None:
    assert table(["run", "bleu"], [["a", "1"], ["b", "2"]]).count('scope="row"') == 2


def test_numbers_have_a_minus_and_not_a_hyphen() -> None:
    assert signed(-1.234) == "\N{MINUS SIGN}1.23" and signed(1.234) == "+1.23"
    assert plain_number(-0.5, 1) == "\N{MINUS SIGN}0.5"


def test_every_section_is_in_the_list() -> None:
    text = document("x", "", [section("a", "Title <a>", "lead", "inside"), None, section("b", "B", "", short="Bee")])
    assert re.findall(r'<li><a href="#(\w+)">(.*?)</a>', text) == [
        ("verdict", "Verdict"), ("a", "Title &lt;a&gt;"), ("b", "Bee")
    ]  # fmt: skip


def test_a_chart_is_drawn_for_a_screen_and_for_a_phone() -> None:
    text = chart("c", "t", "x", "y", [Curve("a", [1, 2, 3], [3, 4, 5]), Curve("once", [1], [5], level=True)])
    assert [int(width) for width in re.findall(r'viewBox="0 0 (\d+)', text) if width != "22"] == [WIDE, NARROW]
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(set(ids)) == len(ids)
    assert (
        len(re.findall(r'<polyline points="58,[\d.]+ (?:546|336),[\d.]+"', text)) == 2
    )  # a level goes from end to end


def test_a_policy_lets_our_script_run_and_no_other() -> None:
    text = document("<title>", "<p>body</p>", [])
    assert "<title>&lt;title&gt;</title>" in text and "default-src" in text
    script = text[text.rindex("<script>") + len("<script>") : text.rindex("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"sha256-{digest}" in text
