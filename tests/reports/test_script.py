"""The report's script in a JavaScript engine with a stand-in for the document: also where there is no browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.reports.pages import HOSTILE

racer = pytest.importorskip("py_mini_racer")
SCRIPT = Path(__file__).parents[2] / "src" / "hopefear" / "reports" / "page.js"
DOM = Path(__file__).with_name("dom.js")


@pytest.fixture
def engine(page: Path) -> Any:
    """A document with the data of the page and one picker, after the script has run."""
    text = page.read_text(encoding="utf-8")
    found = re.search(r'id="data">(.*?)</script>', text, re.S)
    assert found
    data = json.loads(found[1])
    data["runs"][0]["sentences"][0]["source"] = HOSTILE
    context = racer.MiniRacer()
    context.eval(DOM.read_text(encoding="utf-8"))
    context.eval(f"box('script', {{id: 'data'}}).textContent = {json.dumps(json.dumps(data))};")
    context.eval(
        "const sentence = box('div', {class: 'sentence'}, {sentences: '0'});"
        "for (const name of ['picker', 'stage']) { const e = new Element('div'); e.setAttribute('class', name);"
        " sentence.append(e); }"
        "box('fieldset', {class: 'tabs'}, {tabs: 'a'});"
        "for (const run of ['0', '1']) box('div', {class: 'panel'}, {run, panel: 'a'});"
    )
    context.eval(SCRIPT.read_text(encoding="utf-8"))
    return context


def test_the_script_draws_a_cloud(engine: Any) -> None:
    assert engine.eval("document.querySelectorAll('.dot').length") > 10
    assert engine.eval("document.querySelectorAll('.mark').length") == 3
    assert engine.eval("document.querySelectorAll('.panel').map(p => p.hidden).join()") == "false,true"


def test_another_sentence_is_picked(engine: Any) -> None:
    label = "document.querySelector('.cloud').getAttribute('aria-label')"
    first = engine.eval(label)
    engine.eval("document.querySelector('.picker').children[1].click()")
    assert engine.eval(label) != first
    assert engine.eval("document.querySelector('.picker').children[1].getAttribute('aria-pressed')") == "true"


def test_points_move_between_before_and_after(engine: Any) -> None:
    places = "document.querySelectorAll('.dot').map(d => d.style.transform).join()"
    before = engine.eval(places)
    buttons = "document.querySelector('.stage').querySelectorAll('button')"
    engine.eval(f"{buttons}[1].click()")
    assert engine.eval(places) != before
    engine.eval(f"{buttons}[0].click()")
    assert engine.eval(places) == before


def test_text_stays_text(engine: Any) -> None:
    """A hostile sentence is the text of one node, and makes no element."""
    assert HOSTILE in engine.eval("document.querySelector('.picker').children[0].textContent")
    assert engine.eval("[...root.all()].filter(e => e.name === 'script' || e.name === 'img').length") == 1  # the data
    assert engine.eval("typeof hacked") == "undefined"


def test_a_point_is_read_out(engine: Any) -> None:
    engine.eval("document.querySelector('.cloud').fire('pointerdown', {clientX: 640, clientY: 60})")
    engine.eval("document.querySelector('.cloud').fire('pointermove', {clientX: 0, clientY: 0})")
    assert engine.eval("document.querySelector('.said').textContent.length") > 10


def test_arrow_keys_walk(engine: Any) -> None:
    engine.eval("document.querySelector('.picker').children[0].focus()")
    engine.eval("document.querySelector('.picker').fire('keydown', {key: 'ArrowDown', preventDefault() {}})")
    assert engine.eval("document.querySelector('.picker').children[1].getAttribute('aria-pressed')") == "true"
