"""The page in a real browser: no errors, charts drawn, the picker works, a hostile sentence does nothing."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.reports.browser import CHROMIUM, Browser

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def shown(browser: Browser, page: Path) -> Iterator[Browser]:
    browser.problems.clear()
    browser.requests.clear()
    browser.resize(1100, 900)
    browser.dark(False)
    browser.open(page)
    browser.wait("document.documentElement.classList.contains('ready')")
    yield browser
    assert browser.problems == []
    asked = [
        address for address in browser.requests if not address.startswith("data:")
    ]  # a chart that becomes a picture
    assert asked == [page.resolve().as_uri()]  # nothing but the page itself
    assert browser.run("window.hacked") is None


def test_charts_are_drawn(shown: Browser) -> None:
    sizes = shown.run(
        "[...document.querySelectorAll('svg.chart')].filter(e => e.getClientRects().length)"
        ".map(e => [e.getBoundingClientRect().width, e.querySelectorAll('*').length])"
    )
    assert len(sizes) >= 6
    assert all(width > 100 and parts > 5 for width, parts in sizes)
    assert shown.run("document.querySelectorAll('#curve-0-epoch .wide .series').length") == 1  # MERT has no epochs


def test_the_picker_shows_another_sentence(shown: Browser) -> None:
    label = "document.querySelector('.panel:not([hidden]) .cloud').getAttribute('aria-label')"
    first = shown.run(label)
    assert "hope: " in first
    shown.click(".panel:not([hidden]) .picker button:nth-child(2)")
    second = shown.run(label)
    assert second != first
    shown.press("ArrowDown")  # the keyboard moves on
    assert shown.run(label) != second
    assert shown.run("document.querySelectorAll('.panel:not([hidden]) .picker button[aria-pressed=true]').length") == 1


def test_before_and_after(shown: Browser) -> None:
    place = "document.querySelector('.panel:not([hidden]) .cloud g.move').style.transform"
    points = "[...document.querySelectorAll('.panel:not([hidden]) .cloud .dot')].map(d => d.style.transform).join()"
    before = shown.run(points)
    shown.click(".panel:not([hidden]) .stage .buttons button:last-child")
    assert shown.run(points) != before and shown.run(place)
    shown.click(".panel:not([hidden]) .stage .buttons button:first-child")
    assert shown.run(points) == before


def test_a_run_is_chosen_with_the_keyboard(shown: Browser) -> None:
    assert shown.run("document.querySelectorAll('#weights .panel:not([hidden])').length") == 1
    shown.run("document.querySelector('#weights .tabs input').focus()")
    shown.press("ArrowRight")
    assert shown.run("document.querySelector('#weights .panel:not([hidden])').dataset.run") == "1"
    assert shown.run("document.querySelector('#candidates .panel:not([hidden])').dataset.run") == "1"


ROWS = "document.querySelectorAll('.row').length"
NUMBERS = "[...document.querySelectorAll('.row .no')].map(e => Number(e.textContent))"


def pick(shown: Browser, label: str, value: str) -> None:
    """Choose in a menu, as a user does."""
    shown.run(
        f"(() => {{ const e = document.querySelector(`select[aria-label='{label}']`); e.value = {json.dumps(value)};"
        " e.dispatchEvent(new Event('change')); })()"
    )


def test_sentences_are_filtered_and_sorted(shown: Browser) -> None:
    told = "document.querySelector('.listing > p').textContent"
    assert "8 of 8 sentences (held out)" in shown.run(told)
    pick(shown, "which part", "all")
    assert "40 of 40 sentences." in shown.run(told)
    pick(shown, "their order", "place")
    assert shown.run(NUMBERS) == sorted(shown.run(NUMBERS)) and shown.run(NUMBERS)[0] == 1
    pick(shown, "which sentences", "better")
    marks = shown.run("[...document.querySelectorAll('.row .delta')].map(e => e.textContent)")
    assert marks and all(mark.startswith("+") for mark in marks)
    counts = re.match(r"(\d+) of (\d+) .* is better in (\d+), worse in 0,", shown.run(told))
    assert counts and counts[1] == counts[3] and counts[2] == "40"


def test_the_hostile_sentence_is_found_and_read_as_text(shown: Browser) -> None:
    pick(shown, "which part", "all")
    shown.run("document.querySelector('.listing input').focus()")
    shown.type("<SCRIPT>window.hacked")
    shown.wait(f"{ROWS} === 1")
    assert shown.run(
        "[...document.querySelectorAll('.detail mark')].some(e => e.textContent === '<script>window.hacked')"
    )
    assert "<script>window.hacked=1</script>" in shown.run("document.querySelector('.detail').textContent")
    assert shown.run("document.querySelectorAll('img').length") == 0
    shown.type("zzz")
    shown.wait(f"{ROWS} === 0")
    assert "No sentence" in shown.run("document.querySelector('.rows').textContent")


def test_a_sentence_has_an_address(shown: Browser, page: Path) -> None:
    shown.run("location.hash = '#sentence-17'")
    title = "document.querySelector('.detail h3 a').textContent"
    shown.wait(f"{title} === 'Sentence 17'")
    assert shown.run("document.querySelector('.row[aria-selected=true] .no').textContent") == "17"
    shown.press("j")
    after = shown.run(title)
    assert after != "Sentence 17" and shown.run("location.hash") == "#" + after.lower().replace(" ", "-")
    shown.run("location.hash = '#sentence-99999'")  # there is none
    assert shown.run(title) == after


def test_keys_do_what_their_list_says(shown: Browser) -> None:
    shown.press("?")
    listed = shown.run("[...document.querySelectorAll('dialog[open] kbd')].map(e => e.textContent)")
    assert set(listed) == {"?", "n", "p", "t", "/", "j", "k", "x"}
    shown.press("Escape")
    assert not shown.run("document.querySelector('dialog').open")
    shown.press("/")
    assert shown.run("document.activeElement.type") == "search"
    shown.press("j")  # typed, not obeyed
    shown.run("document.activeElement.blur()")
    names = "[...document.querySelectorAll('.sides b')].map(e => e.textContent).join()"
    before = shown.run(names)
    shown.press("x")
    assert shown.run(names) == ",".join(reversed(before.split(",")))
    shown.press("t")
    shown.wait("scrollY === 0")
    shown.press("n")
    shown.wait("Math.abs(document.getElementById('pairs').getBoundingClientRect().top) < 40")


def test_sections_are_all_in_reach(shown: Browser) -> None:
    """At any width: on the left, or behind the button."""
    count = shown.run("document.querySelectorAll('main > section').length") + 1
    inside = (
        "[...document.querySelectorAll('.sections li a')].filter(e => { const r = e.getBoundingClientRect();"
        " return r.width > 0 && r.left >= 0 && r.right <= innerWidth && r.bottom <= innerHeight; }).length"
    )
    shown.resize(1300, 900)
    assert shown.run(inside) == count
    shown.resize(390, 844, phone=True)
    assert shown.run(inside) == 0
    shown.click(".menu")
    assert shown.run(inside) == count and shown.run("document.querySelector('.menu').ariaExpanded") == "true"
    shown.click(".sections li:nth-child(4) a")
    assert shown.run(inside) == 0


def test_a_name_of_the_legend_hides_its_curve_and_the_axis_follows(shown: Browser) -> None:
    figure = "document.querySelector('#buckets .figure .wide')"
    ticks = f"[...{figure}.querySelectorAll('.grid-y text')].map(e => e.textContent).join()"
    places = f"[...{figure}.querySelectorAll('.series:not(.off) circle')].map(e => Number(e.getAttribute('cy'))).join()"
    before = shown.run(ticks), shown.run(places)
    shown.click("#buckets .toggles li:first-child button")
    assert shown.run(f"{figure}.querySelectorAll('.series.off').length") == 1
    pressed = "document.querySelector('#buckets .toggles button').getAttribute('aria-pressed')"
    assert shown.run(pressed) == "false"
    assert shown.run(places) != before[1]
    heights = [float(y) for y in shown.run(places).split(",")]
    frame = [float(number) for number in shown.run(f"{figure}.querySelector('svg.chart').dataset.frame").split()]
    assert all(frame[2] - 0.2 <= y <= frame[2] + frame[3] + 0.2 for y in heights)  # within the axis
    shown.click("#buckets .toggles li:first-child button")
    assert (shown.run(ticks), shown.run(places)) == before


def test_any_two_systems_are_compared(shown: Browser) -> None:
    names = "[...document.querySelectorAll('.listing select')].slice(0, 2).map(e => e.selectedOptions[0].textContent)"
    assert sorted(shown.run(names)) == ["kbmira", "mert"]
    pick(shown, "the first system", "2")
    assert shown.run(names)[0] == "before training"
    sides = shown.run("[...document.querySelectorAll('.sides > div')].map(e => e.querySelector('p + p').textContent)")
    assert (
        shown.run("document.querySelectorAll('.sides > div:first-child ins, .sides > div:last-child del').length") == 0
    )
    assert all(sides)
    change = "document.querySelector('.row[aria-selected=true] .delta').textContent"
    first = shown.run(change)
    shown.click(".listing button[title='swap the two systems']")
    assert shown.run(change) == first.translate(str.maketrans("+\N{MINUS SIGN}", "\N{MINUS SIGN}+"))


SAVED = (
    "window.saved = []; URL.createObjectURL = (blob) => { blob.arrayBuffer().then((b) => saved.push("
    "[blob.type, [...new Uint8Array(b)]])); return '#saved'; };"
)


def saved(shown: Browser, selector: str) -> tuple[str, bytes]:
    """What a button makes, read where it would be saved."""
    shown.run(SAVED)
    shown.click(selector)
    shown.wait("saved.length === 1")
    kind, content = shown.run("saved[0]")
    return kind, bytes(content)


def test_tables_are_sorted_filtered_and_saved(shown: Browser) -> None:
    first = "[...document.querySelectorAll('#table tbody tr')].map(e => e.cells[0].textContent)"
    names = shown.run(first)
    shown.click("#table thead th button")
    assert shown.run(first) == sorted(names)
    assert shown.run("document.querySelector('#table thead th').ariaSort") == "ascending"
    shown.click("#table thead th button")
    assert shown.run(first) == sorted(names, reverse=True)
    shown.click("#table thead th button")
    assert shown.run(first) == names
    kind, content = saved(shown, "#table .save")
    lines = list(csv.reader(content.decode().splitlines()))
    assert kind == "text/csv" and lines[0][:3] == ["feature", "kbmira before", "kbmira weight"]
    assert [line[0] for line in lines[1:]] == names and float(lines[1][2])
    assert shown.run("[...document.querySelectorAll('.table')].every(e => e.querySelector('.save'))")
    values = "[...document.querySelectorAll('#scores tbody tr')].map(e => parseFloat(e.cells[3].textContent))"
    shown.click("#scores thead th:nth-child(4) button")
    assert shown.run(values) == sorted(shown.run(values), reverse=True)


def test_every_chart_is_saved_as_it_is_seen(shown: Browser) -> None:
    assert shown.run(
        "[...document.querySelectorAll('.figure')].every(e => e.querySelectorAll('.saves button').length === 2)"
    )
    kind, content = saved(shown, "#scores-0 .saves button:first-child")
    svg = ElementTree.fromstring(content)
    assert kind == "image/svg+xml" and svg.get("width") == "560" and b"var(--" not in content
    kind, content = saved(shown, "#scores-0 .saves button:last-child")
    assert kind == "image/png" and content.startswith(b"\x89PNG") and int.from_bytes(content[16:20]) == 3 * 560


def test_print_has_all_runs_with_their_names(shown: Browser) -> None:
    shown.print()
    seen = "e => e.getClientRects().length > 0"
    names = shown.run(f"[...document.querySelectorAll('#weights h3.run')].filter({seen}).map(e => e.textContent)")
    assert names == ["kbmira", "mert"]
    named = shown.run(
        f"[...document.querySelectorAll('#weights .toggles button')].filter({seen}).map(e => e.textContent)"
    )
    assert named == ["kbmira", "mert"]
    assert not shown.run(f"[...document.querySelectorAll('nav, .tabs, .tools, .picker')].some({seen})")
    assert shown.run(f"[...document.querySelectorAll('#weights .figure svg.chart')].filter({seen}).length") >= 3
    shown.print(False)


def test_sentences_are_printed(shown: Browser) -> None:
    shown.run("dispatchEvent(new Event('beforeprint'))")
    assert shown.run("document.querySelectorAll('.expanded li').length") == 8  # all, not those in sight
    shown.run("dispatchEvent(new Event('afterprint'))")
    assert shown.run("document.querySelectorAll('.expanded li').length") == 0


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 1300, 1900])
def test_nothing_is_wider_than_the_screen(shown: Browser, dark: bool, width: int) -> None:
    shown.resize(width, 800, phone=width < 600)
    shown.dark(dark)
    assert shown.run("document.documentElement.scrollWidth") <= width
    charts = "[...document.querySelectorAll('.chart')].filter(e => e.getClientRects().length)"
    assert shown.run(f"{charts}.every(e => e.getBoundingClientRect().right <= innerWidth)")
    ground = shown.run("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") is not dark
    small = (
        f"Math.min(...{charts}.filter(e => e.closest('.figure')).map(e => parseFloat(e.getAttribute('font-size')) *"
        " e.getBoundingClientRect().width / e.viewBox.baseVal.width))"
    )
    assert shown.run(small) > 9  # letters that can be read


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1300])
def test_axe_finds_nothing(shown: Browser, dark: bool, width: int) -> None:
    axe = pytest.importorskip("axe_core_python")
    shown.resize(width, 800, phone=width < 600)
    shown.dark(dark)
    shown.run(Path(axe.__file__).with_name("axe.min.js").read_text(encoding="utf-8") + ";0")
    violations = shown.run("axe.run().then(r => r.violations.map(v => [v.id, v.nodes.map(n => n.html)]))")
    assert violations == []


def test_every_control_can_be_reached_by_tab_and_has_a_name(shown: Browser) -> None:
    seen: set[str] = set()
    for _ in range(75):
        shown.press("Tab")
        seen.add(
            shown.run(
                "(e => e.tagName + (e.closest('.picker') ? '.picker' : e.closest('.listing') ? '.listing' : ''))"
                "(document.activeElement)"
            )
        )
    assert {"A", "BUTTON", "INPUT.listing", "SELECT.listing", "DIV.listing", "BUTTON.picker"} <= seen
    unnamed = (
        "[...document.querySelectorAll('button, select, input, a')].filter(e => !(e.textContent.trim() ||"
        " e.getAttribute('aria-label') || e.labels && e.labels.length)).length"
    )
    assert shown.run(unnamed) == 0
