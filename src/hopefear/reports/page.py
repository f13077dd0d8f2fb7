"""The page: HTML around the pictures. Everything is in one file, and every text is escaped.

Style and script are the files of ``static/``, joined in the order of their names. Data for the script are packed: JSON,
deflated, in base64, so that ten thousand sentences make a page of a few megabytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import hopefear
from hopefear.evaluation.comparison import METRIC_NAMES
from hopefear.util.svg import Curve, line_chart, look, numbered, outside, robust_span, style, tag

MINUS = "\N{MINUS SIGN}"
WIDE, NARROW = 560, 350  # the widths that charts are drawn for: of a screen, of a phone


@dataclass(frozen=True)
class Section:
    """A section with a heading and a sentence that says how to read it (markup)."""

    name: str
    title: str
    lead: str
    content: str
    short: str  # in the list of sections

    @property
    def markup(self) -> str:
        return (
            f'<section id="{self.name}" aria-labelledby="{self.name}-title"><h2 id="{self.name}-title">'
            f'{escape(self.title)}</h2><p class="lead">{self.lead}</p>{self.content}</section>'
        )


def section(name: str, title: str, lead: str, *content: str, short: str = "") -> Section:
    """A section of the page; ``short`` is its name in the contents."""
    return Section(name, title, lead, "".join(content), short or title)


def document(title: str, top: str, sections: Iterable[Section | None], data: Mapping[str, Any] | None = None) -> str:
    """The whole page. A content security policy lets only our own script run, and nothing be fetched.

    ``top`` is what comes first (markup).
    """
    script = f'"use strict";\n(function () {{\n{_static(".js")}}})();'
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'; img-src data:"
    shown = [section for section in sections if section is not None]
    day = time.strftime("%Y-%m-%d", time.gmtime())
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{style()}{_static('.css')}</style>\n</head>\n"
        f'<body class="framed">\n<a class="skip" href="#main">to the content</a>{_navigation(shown)}'
        f'<main id="main" tabindex="-1"><header class="top" id="verdict">{top}</header>'
        f"{''.join(section.markup for section in shown)}</main>"
        f"<footer>Made by hopefear {escape(hopefear.__version__)} on {day}. This page holds everything it shows and "
        f"loads nothing from the network.</footer>\n{packed(data or {})}\n<script>{script}</script>\n</body>\n</html>\n"
    )


@cache
def _static(ending: str) -> str:
    """The files of ``static/`` of one kind, joined."""
    paths = sorted(files("hopefear.reports").joinpath("static").iterdir(), key=lambda path: path.name)
    return "".join(path.read_text(encoding="utf-8") for path in paths if path.name.endswith(ending))


def _navigation(sections: Sequence[Section]) -> str:
    links = "".join(f'<li><a href="#{section.name}">{escape(section.short)}</a></li>' for section in sections)
    return (
        '<nav class="sections" aria-label="sections"><div class="bar"><span class="brand">hopefear</span>'
        '<button type="button" class="menu" aria-expanded="false" aria-controls="sections">Sections</button></div>'
        f'<ul id="sections"><li><a href="#verdict">Verdict</a></li>{links}</ul>'
        '<p class="keys"><button type="button">Keyboard <kbd>?</kbd></button></p></nav>'
    )


def packed(data: Mapping[str, Any]) -> str:
    """Data for the script, which no text in it can end or become."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    return f'<script type="text/plain" id="data">{base64.b64encode(zlib.compress(text, 9)).decode()}</script>'


def unpacked(page: str) -> Any:
    """The data of a page."""
    match = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(zlib.decompress(base64.b64decode(match[1]))) if match else None


def headed(alone: bool, title: str, content: str) -> str:
    """With the metric's name, if the page has runs of several: these are never under one heading."""
    return content if alone or not content else f"<h3>{escape(title)}</h3>{content}"


def card(*content: str) -> str:
    """A box around content."""
    return tag("div", inside="".join(content), class_="card")


def figure(name: str, draw: Callable[[int], str], *, key: str = "", note: str = "", title: str = "") -> str:
    """A chart, drawn for a screen and for a phone, with what belongs to it (markup); the script adds downloads."""
    head = f"<h3>{escape(title)}</h3>" if title else ""
    charts = "".join(f'<div class="{kind}">{draw(width)}</div>' for kind, width in (("wide", WIDE), ("narrow", NARROW)))
    return f'<div class="figure" id="{name}">{head}{key}{charts}{note}</div>'


def chart(
    name: str, title: str, x: str, y: str, curves: Sequence[Curve], x_names: Sequence[str] = (), heading: str = ""
) -> str:
    """Curves on one axis, with a legend whose names hide and show them. Curves far from all others are cut off."""
    shown = [curve for curve in curves if len(curve.x)]
    low, high = robust_span(shown)
    beyond = outside(shown, low, high)
    note = ""
    if beyond:
        names = ", ".join(f"{escape(curve.name)} ({_ends(curve.y)})" for curve in beyond)
        note = f'<p class="small faint">Beyond the axis: {names}.<span class="needs-js"> Press the names of others to '
        note += "hide them, and the axis follows.</span></p>"

    def draw(width: int) -> str:
        height = 300 if width == WIDE else 260
        clip = f"{name}-{width}"
        return line_chart(title, x, y, curves, name=clip, x_names=x_names, span=(low, high), width=width, height=height)

    return figure(name, draw, key=legend(shown) if len(shown) > 1 else "", note=note, title=heading)


def _ends(values: Sequence[float]) -> str:
    low, high = (plain_number(value, 1) for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def legend(curves: Sequence[Curve]) -> str:
    """The names of the curves with their colours."""
    items = []
    for i, curve in numbered(curves):
        colour, dash = look(i)
        mark = tag("path", d="M0 5h22", stroke=colour, stroke_width="3", stroke_dasharray=dash)
        if curve.points:
            mark = tag("circle", cx=11, cy=5, r=4, fill=colour)
        sign = tag("svg", inside=mark, viewBox="0 0 22 10", width=22, height=10, aria_hidden="true")
        items.append(f'<li data-toggle="{i}">{sign}<span>{escape(curve.name)}</span></li>')
    return f'<ul class="key toggles">{"".join(items)}</ul>'


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", *, name: str = "", more: str = ""
) -> str:
    """Cells are markup; the first column is a heading of its row. ``name`` is that of the file it is saved to."""
    head = "".join(f'<th scope="col">{column}</th>' if column else "<td></td>" for column in columns)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>' + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>" for row in rows
    )
    title = f"<caption>{caption}</caption>" if caption else ""
    saved = f' data-name="{escape(name)}"' if name else ""
    return (
        f'<div class="table"{saved}{more}><div class="scroll" tabindex="0" role="region" aria-label="table '
        f'{escape(name)}"><table class="numbers">{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
        "</div></div>"
    )


def panels(name: str, label: str, names: Sequence[str], contents: Sequence[str], runs: Sequence[int] = ()) -> str:
    """One panel per run, with buttons to choose; without a script all of them are shown.

    ``runs`` are the runs' numbers on the page, if not all of them have a panel.
    """
    if len(contents) == 1:
        head = f"<h3>{escape(names[0])}</h3>" if runs else ""
        return head + contents[0]
    numbers = list(runs) or list(range(len(contents)))
    choices = "".join(
        f'<label><input type="radio" name="{name}" value="{k}"{" checked" if i == 0 else ""}>'
        f"<span>{escape(run)}</span></label>"
        for i, (k, run) in enumerate(zip(numbers, names, strict=True))
    )
    shown = "".join(
        f'<div class="panel" data-panel="{name}" data-run="{k}"><h3 class="run">{escape(run)}</h3>{content}</div>'
        for k, run, content in zip(numbers, names, contents, strict=True)
    )
    return f'<fieldset class="tabs" data-tabs="{name}"><legend>{escape(label)}</legend>{choices}</fieldset>{shown}'


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign, and a real minus."""
    return f"{value:+.{digits}f}".replace("-", MINUS)


def plain_number(value: float, digits: int = 2) -> str:
    """A number with a real minus."""
    return f"{value:.{digits}f}".replace("-", MINUS)


def escape_metric(key: str) -> str:
    """The name of a metric as it is written."""
    return escape(METRIC_NAMES.get(key, key))


def small_number(value: float) -> str:
    """Four significant digits, with a real minus."""
    return f"{value:.4g}".replace("-", MINUS)


def definitions(rows: Mapping[str, str]) -> str:
    """Names and values; values are markup."""
    inside = "".join(f"<dt>{escape(name)}</dt><dd>{value}</dd>" for name, value in rows.items())
    return f"<dl>{inside}</dl>"
