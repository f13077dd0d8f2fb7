"""Markup of the page."""

from __future__ import annotations

import base64
import hashlib
import json

from hopefear.reports.page import data_script, diff_markup, document, panels, plain_number, signed, table


def test_data_cannot_end_its_script() -> None:
    text = data_script({"a": "</script><script>x\u2028&"})
    assert text.count("<") == 2 and "\u2028" not in text
    assert json.loads(text.partition(">")[2].rpartition("<")[0])["a"] == "</script><script>x\u2028&"


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


def test_a_diff_of_nothing_says_so() -> None:
    assert "(empty)" in diff_markup([])
    assert diff_markup([["=", "a"], ["-", "<b>"], ["+", "c"]]) == "<span>a</span> <del>&lt;b&gt;</del> <ins>c</ins>"


def test_a_policy_lets_our_script_run_and_no_other() -> None:
    text = document("<title>", "<p>body</p>", {})
    assert "<title>&lt;title&gt;</title>" in text and "default-src" in text
    script = text[text.rindex("<script>") + len("<script>") : text.rindex("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"sha256-{digest}" in text
