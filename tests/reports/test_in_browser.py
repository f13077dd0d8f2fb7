"""The page in a real browser: no errors, charts drawn, the picker works, a hostile sentence does nothing."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.reports.browser import CHROMIUM, Browser

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def shown(browser: Browser, page: Path) -> Iterator[Browser]:
    browser.problems.clear()
    browser.requests.clear()
    browser.resize(1100, 900)
    browser.dark(False)
    browser.open(page)
    yield browser
    assert browser.problems == []
    assert browser.requests == [page.resolve().as_uri()]  # nothing but the page itself
    assert browser.run("window.hacked") is None


def test_charts_are_drawn(shown: Browser) -> None:
    sizes = shown.run(
        "[...document.querySelectorAll('svg.chart')].filter(e => e.getClientRects().length)"
        ".map(e => [e.getBoundingClientRect().width, e.querySelectorAll('*').length])"
    )
    assert len(sizes) >= 6
    assert all(width > 100 and parts > 5 for width, parts in sizes)
    assert shown.run("document.querySelectorAll('#curves .figure .series').length") == 1  # MERT has no epochs


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
    assert shown.run("document.querySelector('#sentence .panel:not([hidden])').dataset.run") == "1"


def test_translations_are_filtered(shown: Browser) -> None:
    visible = "[...document.querySelectorAll('#changes-0 > li')].filter(e => e.getClientRects().length)"
    count = visible + ".map(e => e.dataset.way)"
    assert len(shown.run(count)) <= 20
    shown.click("[data-changes=changes-0] button[data-show=better]")
    assert set(shown.run(count)) <= {"better"}


def test_the_hostile_sentence_is_read_as_text(shown: Browser) -> None:
    """Also in the picker, where the script puts it in."""
    found = shown.run(
        "(() => { for (const b of document.querySelectorAll('.picker button')) { if (b.textContent.includes('hacked'))"
        " { b.click(); return document.querySelector('.stage').textContent; } } return null; })()"
    )
    if found is not None:
        assert "<script>window.hacked=1</script>" in found
    assert shown.run("document.body.textContent.includes('<script>window.hacked=1</script>')")
    assert shown.run("document.querySelectorAll('img').length") == 0


def test_a_name_of_the_legend_hides_its_curve_and_the_axis_follows(shown: Browser) -> None:
    figure = "document.querySelector('#buckets .figure')"
    ticks = f"[...{figure}.querySelectorAll('.grid-y text')].map(e => e.textContent).join()"
    places = f"[...{figure}.querySelectorAll('.series:not(.off) circle')].map(e => Number(e.getAttribute('cy'))).join()"
    before = shown.run(ticks), shown.run(places)
    shown.click("#buckets .toggles li:first-child button")
    assert shown.run(f"{figure}.querySelectorAll('.series.off').length") == 1
    assert shown.run(f"{figure}.querySelector('.toggles button').getAttribute('aria-pressed')") == "false"
    assert shown.run(places) != before[1]
    heights = [float(y) for y in shown.run(places).split(",")]
    frame = [float(number) for number in shown.run(f"{figure}.querySelector('svg.chart').dataset.frame").split()]
    assert all(frame[2] - 0.2 <= y <= frame[2] + frame[3] + 0.2 for y in heights)  # within the axis
    shown.click("#buckets .toggles li:first-child button")
    assert (shown.run(ticks), shown.run(places)) == before


def test_any_two_runs_are_compared(shown: Browser) -> None:
    names = shown.run("[...document.querySelectorAll('#versus select')].map(e => e.selectedOptions[0].textContent)")
    assert sorted(names) == ["kbmira", "mert"]
    change = "document.querySelector('#versus .delta').textContent"
    first = shown.run(change)
    shown.run(
        "document.querySelectorAll('#versus select').forEach((e, k) => {"
        " e.value = String(1 - k); e.dispatchEvent(new Event('change')); })"
    )
    assert shown.run("document.querySelector('#versus .pair b').textContent") == names[0]
    flip = str.maketrans("+\N{MINUS SIGN}", "\N{MINUS SIGN}+")
    assert shown.run(change) == first.translate(flip)


def test_weights_are_searched_and_saved(shown: Browser) -> None:
    rows = "[...document.querySelectorAll('#table tbody th')].map(e => e.textContent)"
    names = shown.run(rows)
    shown.run(
        "{ const e = document.querySelector('#table input'); e.value = "
        f"{json.dumps(names[0][:3])}; e.dispatchEvent(new Event('input')); }}"
    )
    assert shown.run(rows) == [name for name in names if names[0][:3].lower() in name.lower()]
    # What the button makes, read where it would be saved.
    shown.run(
        "window.saved = []; const made = URL.createObjectURL;"
        "URL.createObjectURL = (blob) => { blob.text().then((text) => saved.push(text)); return '#saved'; };"
    )
    shown.click("#table .tools button")
    text = shown.run("new Promise((done) => setTimeout(() => done(saved[0]), 200))")
    lines = list(csv.reader(text.splitlines()))
    assert lines[0][:3] == ["feature", "kbmira before", "kbmira weight"] and lines[1][0] in names
    assert len({len(line) for line in lines}) == 1 and float(lines[1][2])


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
    widths = shown.run(
        f"[...document.querySelectorAll('.figure svg.chart')].filter({seen})"
        ".map(e => e.getBoundingClientRect().width / e.closest('section').getBoundingClientRect().width)"
    )
    assert widths and min(widths) > 0.99  # across the page
    shown.print(False)


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_needs_no_sideways_scrolling(shown: Browser, dark: bool) -> None:
    shown.resize(360, 740, phone=True)
    shown.dark(dark)
    assert shown.run("document.documentElement.scrollWidth") <= 360
    ground = shown.run("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") is not dark


def test_every_control_can_be_reached_by_tab(shown: Browser) -> None:
    seen: set[str] = set()
    for _ in range(40):
        shown.press("Tab")
        seen.add(
            shown.run("document.activeElement.tagName + (document.activeElement.closest('.picker') ? '.picker' : '')")
        )
    assert {"A", "BUTTON.picker", "INPUT"} <= seen
