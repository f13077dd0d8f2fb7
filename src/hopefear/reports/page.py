"""The page: HTML around the pictures. Everything is in one file, and every text is escaped."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from hopefear.reports.examined import METRIC_NAMES
from hopefear.util.svg import Curve, line_chart, look, numbered, outside, robust_span, style, tag

MINUS = "\N{MINUS SIGN}"


def document(title: str, body: str, data: Any) -> str:
    """The whole page. A content security policy lets only our own script run, and nothing be fetched."""
    folder = files("hopefear.reports")
    script = folder.joinpath("page.js").read_text(encoding="utf-8")
    css = folder.joinpath("page.css").read_text(encoding="utf-8")
    allowed = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'; img-src data:"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{style()}{css}</style>\n</head>\n<body>\n{body}\n"
        f"{data_script(data)}\n<script>{script}</script>\n</body>\n</html>\n"
    )


def data_script(data: Any) -> str:
    """Data for the script, which no text in it can end or become."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f'<script type="application/json" id="data">{text}</script>'


def section(name: str, title: str, lead: str, *content: str) -> str:
    """A section with a heading and a sentence that says how to read it (markup)."""
    return (
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{escape(title)}</h2>'
        f'<p class="lead">{lead}</p>{"".join(content)}</section>'
    )


def headed(alone: bool, title: str, content: str) -> str:
    """With the metric's name, if the page has runs of several: these are never under one heading."""
    return content if alone or not content else f"<h3>{escape(title)}</h3>{content}"


def card(*content: str) -> str:
    return tag("div", inside="".join(content), class_="card")


def scrolled(chart: str) -> str:
    """A chart that keeps its letters readable on a phone, and is pushed sideways there."""
    return f'<div class="scroll large">{chart}</div>'


def chart(name: str, title: str, x: str, y: str, curves: Sequence[Curve], x_names: Sequence[str] = ()) -> str:
    """A line chart with its legend, whose entries the script makes buttons. A curve far from all others is cut off."""
    low, high = robust_span(curves)
    beyond = outside(curves, low, high)
    note = ""
    if beyond:
        names = ", ".join(f"{escape(one.name)} ({_ends(one.y)})" for one in beyond)
        note = f'<p class="small faint">Beyond the axis: {names}.<span class="needs-js"> Press the names of others to '
        note += "hide them, and the axis follows.</span></p>"
    drawn = line_chart(title, x, y, curves, name=name, x_names=x_names, span=(low, high))
    return f'<div class="figure" id="{name}">{legend(curves) if len(curves) > 1 else ""}{scrolled(drawn)}{note}</div>'


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


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Cells are markup; the first column is a heading of its row."""
    head = "".join(f'<th scope="col">{column}</th>' for column in columns)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>' + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>" for row in rows
    )
    title = f"<caption>{caption}</caption>" if caption else ""
    return f'<div class="scroll"><table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


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
    return f"{value:+.{digits}f}".replace("-", MINUS)


def plain_number(value: float, digits: int = 2) -> str:
    return f"{value:.{digits}f}".replace("-", MINUS)


def escape_metric(key: str) -> str:
    """The name of a metric as it is written."""
    return escape(METRIC_NAMES.get(key, key))


def p_text(p: float) -> str:
    """A p-value as it is written: p = .07"""
    return f"p = {p:.2g}".replace("= 0.", "= .")


def small_number(value: float) -> str:
    return f"{value:.4g}".replace("-", MINUS)


def diff_markup(parts: Sequence[Sequence[str]]) -> str:
    """Words only before struck out, words only after underlined."""
    names = {"=": "span", "-": "del", "+": "ins"}
    return " ".join(tag(names[kind], text) for kind, text in parts if text) or '<span class="faint">(empty)</span>'


def definitions(rows: Mapping[str, str]) -> str:
    """Names and values; values are markup."""
    inside = "".join(f"<dt>{escape(name)}</dt><dd>{value}</dd>" for name, value in rows.items())
    return f"<dl>{inside}</dl>"
