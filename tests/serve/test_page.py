"""The page in a browser: nothing from outside, no error, and what a user does with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.reports.browser import CHROMIUM, Browser
from tests.serve.conftest import Server, launched

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")

UNITS = "document.querySelectorAll('.line').length"
LIT = "[...document.querySelectorAll('.lit')].map(e => e.textContent)"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with launched() as running:
        yield running


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def page(server: Server, browser: Browser) -> Iterator[Browser]:
    browser.problems.clear()
    browser.requests.clear()
    browser.resize(1300, 900)
    browser.dark(False)
    browser.visit(server.url)
    browser.wait("document.querySelector('#from').options.length === 3")
    browser.run("document.querySelector('#from').value = 'de'")
    browser.run("document.querySelector('#from').dispatchEvent(new Event('change'))")
    yield browser
    assert browser.problems == []
    assert {urlsplit(url).netloc for url in browser.requests} == {urlsplit(server.url).netloc}
    assert browser.run("window.hacked") is None


def write(page: Browser, text: str) -> None:
    page.click("#source")
    page.type(text)
    page.wait(f"{UNITS} === {sum(1 for line in text.splitlines() if line.strip())}")
    page.wait("document.querySelector('#target').getAttribute('aria-busy') === 'false'")


def test_text_is_translated_line_by_line(page: Browser) -> None:
    write(page, "Das Haus ist rot\n\nein Hund")
    shown = page.run("[...document.querySelector('#target').children].map(e => e.textContent.trim())")
    assert shown == ["The house is red", "", "a dog"]
    assert page.run("document.querySelector('#target').lang") == "en"
    assert page.run("document.querySelector('#count').textContent").startswith("26 / ")


def test_markup_is_text(page: Browser) -> None:
    hostile = "<img src=x onerror=window.hacked=1> <script>window.hacked=1</script> verboten</textarea>"
    write(page, hostile.replace("verboten", "Haus"))
    page.run("document.querySelector('.sentence').click()")
    page.wait("document.querySelectorAll('.choices button').length === 6")
    assert "<script>window.hacked=1</script>" in page.run("document.querySelector('.sentence').textContent")
    assert page.run("document.querySelectorAll('#target img, #target script, #mirror img').length") == 0


def test_words_that_belong_together_light_up(page: Browser) -> None:
    write(page, "Das Haus ist rot")
    page.point(".sentence span:nth-of-type(2)")
    page.wait(f"{LIT}.length === 2")
    assert page.run(LIT) == ["Haus", "house"]
    box = page.run(
        "(() => { const r = document.querySelectorAll('#mirror [data-links]')[3].getBoundingClientRect();"
        " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
    )
    page.move(*box)  # over the word in the text field
    page.wait(f"{LIT}.join() === 'rot,red'")


def test_the_mirror_lies_under_the_text(page: Browser) -> None:
    """Long lines break at the same places, so that what lights up is what is pointed at."""
    write(page, "Das Haus ist rot und ein Mann ist ein Hund und das ist das Haus " * 6)
    sizes = page.run(
        "[...document.querySelectorAll('#source, #mirror')].map(e => [e.clientWidth, e.scrollHeight, e.offsetHeight])"
    )
    assert sizes[0] == sizes[1] and sizes[0][1] > 100


def test_alternatives_by_keyboard(page: Browser) -> None:
    write(page, "Das Haus")
    page.run("document.querySelector('.sentence').focus()")
    assert page.run("document.querySelector('.sentence').getAttribute('aria-expanded')") == "false"
    page.press("Enter")
    assert page.run("document.querySelector('.sentence').getAttribute('aria-expanded')") == "true"
    for _ in range(5):  # why, copy, correct, the first, the second
        page.press("Tab")
    page.press("Enter")
    assert page.run("document.querySelector('.sentence').textContent") == "The house (2)"
    assert page.run("document.activeElement.getAttribute('aria-pressed')") == "true"
    page.run("document.querySelector('.sentence').focus()")
    page.press("Enter")
    assert page.run("document.querySelector('.more').hidden")


def test_why(page: Browser) -> None:
    write(page, "Das Haus")
    page.click(".sentence")
    page.click(".explain")
    page.wait("document.querySelector('#why').open")
    assert "translation  The house" in page.run("document.querySelector('#why-text').textContent")


def test_a_correction_is_learnt_and_undone(page: Browser) -> None:
    write(page, "Das Haus")
    page.click(".sentence")
    page.click(".correct")
    assert page.run("document.activeElement.value") == "The house"
    page.run("document.activeElement.select()")
    page.type("The home")
    page.press("Enter")
    page.wait("document.querySelector('.learnt')")
    assert "learnt, 1 new phrase: haus = home" in page.run("document.querySelector('.learnt').textContent")
    assert page.run("document.querySelector('.sentence').textContent") == "The home"
    page.click(".undo")
    page.wait("document.querySelector('.actions').textContent.includes('Undone')")


def test_corrections_are_listed_searched_and_exported(page: Browser) -> None:
    write(page, "Das Haus")
    page.click(".sentence")
    page.click(".correct")
    page.run("document.activeElement.select()")
    page.type("The <b>home</b>")
    page.press("Enter")
    page.wait("document.querySelector('.learnt')")
    page.run("document.querySelector('#taught').click()")
    page.wait("document.querySelector('#corrections').open && document.querySelector('#corrections-list li')")
    shown = page.run("document.querySelector('#corrections-list li').textContent")
    assert "Das Haus" in shown and "The <b>home</b>" in shown and "learnt" in shown
    page.run("document.querySelector('#corrections-query').focus()")
    page.type("nothing like it")
    page.wait("document.querySelector('#corrections-count').textContent === '0 corrections'")
    assert page.run("document.querySelectorAll('#corrections-list li').length") == 0
    page.run("URL.createObjectURL = (blob) => { blob.text().then((text) => { window.exported = text; }); return '#'; }")
    page.run("document.querySelector('#corrections-export').click()")
    page.wait("window.exported")
    assert "<seg>The &lt;b&gt;home&lt;/b&gt;</seg>" in page.run("window.exported")
    page.run("document.querySelector('#corrections-query').value = 'haus'; listCorrections()")
    page.wait("document.querySelector('#corrections-list .undo')")
    page.run("document.querySelector('#corrections-list .undo').click()")
    page.wait("!document.querySelector('#corrections-list .undo')")


def test_escape_leaves_a_translation_as_it_was(page: Browser) -> None:
    write(page, "Das Haus")
    page.click(".sentence")
    page.click(".correct")
    page.press("Escape")
    assert page.run("document.querySelector('.correction')") is None
    assert page.run("document.querySelector('.correct').textContent") == "Correct"


def test_doubt_is_said_in_words(page: Browser) -> None:
    write(page, "Das Haus\nKrankenhaus Bahnhof\nDas Haus ist rot. Krankenhaus Bahnhof rot.")
    flags = page.run("[...document.querySelectorAll('.flag')].map(e => e.hidden ? '' : e.textContent)")
    assert flags == [
        "",
        "Check this: 100 % of the words are unknown",
        "Check what is underlined: 67 % of the words are unknown",
    ]
    assert (
        page.run("[...document.querySelectorAll('.doubt')].map(e => e.textContent).join()")
        == "Krankenhaus Bahnhof red."
    )


def test_sentences_of_a_line_are_looked_at_one_by_one(page: Browser) -> None:
    write(page, "  Das Haus ist rot.  Ein Hund ist rot! Das Haus\nEin Mann")
    shown = page.run("[...document.querySelectorAll('.words')].map(e => e.textContent)")
    assert shown == ["  the house is red.  A dog is red! The house", "A man"]
    page.click(".sentence:nth-of-type(2)")
    assert page.run("document.querySelectorAll('.sentence.open').length") == 1
    page.click(".choices li:nth-child(3) button")
    assert (
        page.run("document.querySelector('.words').textContent") == "  the house is red.  A dog is red! (3) The house"
    )
    page.point(".sentence:nth-of-type(3) span:nth-of-type(2)")
    page.wait(f"{LIT}.join() === 'Haus,house'")
    page.click("#swap")
    page.wait("document.querySelector('#source').value === '  the house is red.  A dog is red! (3) The house\\nA man'")


def test_the_other_way_round(page: Browser) -> None:
    write(page, "das Haus")
    page.click("#swap")
    page.wait("document.querySelector('#from').value === 'en' && document.querySelector('#to').value === 'de'")
    page.wait("document.querySelector('.sentence')?.textContent === 'das haus'")
    assert page.run("document.querySelector('#source').value") == "the house"


def test_an_error_is_shown(page: Browser) -> None:
    page.click("#source")
    page.type("verboten")
    page.wait("document.querySelector('#state').classList.contains('problem')")
    assert "has the word verboten" in page.run("document.querySelector('#state').textContent")
    page.problems.clear()  # the browser notes the status 400


def test_a_document(page: Browser, tmp_path: Path) -> None:
    (tmp_path / "Brief.txt").write_text("Das Haus ist rot")
    page.choose_file("#file", tmp_path / "Brief.txt")
    page.wait("document.querySelector('#documents a')")
    assert page.run("document.querySelector('#documents a').textContent") == "Download Brief.en.txt"
    text = page.run("fetch(document.querySelector('#documents a').href).then(answer => answer.text())")
    assert text == "The house is red"


def test_a_table(page: Browser, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,text\n1,Haus\n")
    page.choose_file("#file", tmp_path / "a.csv")
    page.wait("document.querySelector('#documents form')")
    assert "which column" in page.run("document.querySelector('#documents .problem').textContent")
    page.run("document.querySelector('#documents input').focus()")
    page.type("text")
    page.press("Enter")
    page.wait("document.querySelector('#documents a')?.download === 'a.en.csv'")
    page.problems.clear()  # the browser notes the status 400


def test_drag_and_drop(page: Browser) -> None:
    page.run(
        "(() => { const data = new DataTransfer(); data.items.add(new File(['ein Hund'], 'a.md'));"
        " for (const type of ['dragenter', 'dragover', 'drop'])"
        " { document.body.dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));"
        " if (type === 'dragenter') window.shown = !document.querySelector('#drop').hidden; } })()"
    )
    assert page.run("window.shown") and page.run("document.querySelector('#drop').hidden")
    page.wait("document.querySelector('#documents a')")
    assert page.run("document.querySelector('#documents a').download") == "a.en.md"


@pytest.mark.parametrize("width", [1300, 390])
def test_it_fits_and_can_be_read(page: Browser, width: int) -> None:
    page.resize(width, 844, phone=width < 500)
    write(page, "Das Haus ist rot " * 4 + "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen" * 3)
    page.click(".sentence")
    assert page.run("document.documentElement.scrollWidth") <= width
    for dark in (False, True):
        page.dark(dark)
        assert page.run(CONTRAST) == []


def test_everything_has_a_name(page: Browser) -> None:
    write(page, "Das Haus")
    page.click(".sentence")
    nameless = page.run(
        "[...document.querySelectorAll('button, select, input, textarea, a')].filter(e => !(e.textContent.trim()"
        " || e.getAttribute('aria-label') || e.labels?.length)).map(e => e.outerHTML)"
    )
    assert nameless == []
    assert page.run("document.documentElement.lang") == "en"
    assert page.run(
        "[...document.querySelectorAll('[id]')].length === new Set([...document.querySelectorAll('[id]')]"
        ".map(e => e.id)).size"
    )


#: Texts whose colour is too near that of what lies behind them (WCAG AA: 4.5 to 1).
CONTRAST = """(() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => numbers(colour).slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      const [, , , alpha = 1] = numbers(colour);
      if (alpha === 1) return colour;
    }
    return "rgb(255,255,255)";
  };
  const own = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  const hidden = "#mirror, #mirror *, [hidden] *, dialog:not([open]) *";
  return [...document.querySelectorAll("body *")]
    .filter((e) => !e.matches(hidden) && !e.disabled && own(e) && e.getClientRects().length)
    .map((e) => [e, light(getComputedStyle(e).color), light(behind(e))])
    .filter(([, a, b]) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5)
    .map(([e]) => e.outerHTML.slice(0, 100));
})()"""
