"""Our own SVG charts (``svg.py``) as PDF: one page, vector graphics, Helvetica, which every PDF reader has.

Only what those charts use is known: lines, paths of straight pieces, circles, rectangles, text, translations and
rotations. Shapes that are partly transparent are blended with the white ground.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree

from hopefear.util.svg import shades

ROUND = 0.5522847498  # of a circle by four curves
WIDTHS = (  # of Helvetica, from the blank to the tilde, in thousandths of the size
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
)  # fmt: skip
PASSED = ("fill", "font-size", "font-weight", "opacity")  # on to the parts of a group
NUMBER = r"-?(?:\d+\.?\d*|\.\d+)"


def pdf_of(svg: str) -> bytes:
    """The chart as a PDF file. The same chart gives the same bytes."""
    root = ElementTree.fromstring(svg)
    _, _, width, height = (float(value) for value in root.attrib["viewBox"].split())
    page = _Page()
    page.put("q 1 0 0 -1 0", height, "cm")
    page.draw(root, {"font-size": "12", "fill": "#000000"})
    page.put("Q")
    return _file(" ".join(page.parts).encode("cp1252"), width, height)


class _Page:
    """The drawing, as operators of PDF."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def put(self, *words: str | float) -> None:
        self.parts += [word if isinstance(word, str) else f"{word:.3f}".rstrip("0").rstrip(".") for word in words]

    def draw(self, element: ElementTree.Element, inherited: Mapping[str, str]) -> None:
        name = element.tag.rpartition("}")[2]
        if name in ("title", "style", "defs", "clipPath"):
            return
        given = {**inherited, **element.attrib}
        turn = element.get("transform")
        if turn:
            self.put("q")
            for kind, numbers in re.findall(r"(\w+)\(([^)]*)\)", turn):
                self._turn(kind, [float(value) for value in re.findall(NUMBER, numbers)])
        if name == "text":
            self._text(element.text or "", given)
        else:
            self._shape(name, given)
        passed: dict[str, str] = {key: given[key] for key in PASSED if key in given}
        for child in element:
            self.draw(child, passed)
        if turn:
            self.put("Q")

    def _turn(self, kind: str, values: list[float]) -> None:
        if kind == "translate":
            self.put("1 0 0 1", values[0], values[1] if len(values) > 1 else 0.0, "cm")
        elif kind == "rotate" and abs(values[0]) == 90:
            self.put("0 1 -1 0 0 0 cm" if values[0] > 0 else "0 -1 1 0 0 0 cm")
        else:
            raise ValueError(f"a chart has the transform {kind}")

    def _shape(self, name: str, given: Mapping[str, str]) -> None:
        def at(*keys: str) -> list[float]:
            return [float(given.get(key, 0)) for key in keys]

        if name == "line":
            x1, y1, x2, y2 = at("x1", "y1", "x2", "y2")
            way: list[str | float] = [x1, y1, "m", x2, y2, "l"]
        elif name == "rect":
            way = [*at("x", "y", "width", "height"), "re"]
        elif name == "polyline":
            points = [pair.split(",") for pair in given["points"].split()]
            way = [word for k, (x, y) in enumerate(points) for word in (float(x), float(y), "l" if k else "m")]
        elif name == "circle":
            way = list(_circle(*at("cx", "cy", "r")))
        elif name == "path":
            way = list(_path(given["d"]))
        else:
            return
        fill, stroke = (_colour(given.get(key, "none"), given) for key in ("fill", "stroke"))
        if name in ("line", "polyline") or (name == "path" and stroke):
            fill = None
        if not fill and not stroke:
            return
        self.put("q")
        if fill:
            self.put(*fill, "rg")
        if stroke:
            dashes = given.get("stroke-dasharray", "")
            cap = "1" if given.get("stroke-linecap") == "round" else "0"
            self.put(*stroke, "RG", float(given.get("stroke-width", 1)), "w", cap, "J", f"[{dashes}] 0 d")
        self.put(*way, "B" if fill and stroke else "f" if fill else "S", "Q")

    def _text(self, text: str, given: Mapping[str, str]) -> None:
        size = float(given["font-size"])
        latin = text.replace("\N{MINUS SIGN}", "\N{EN DASH}").encode("cp1252", "replace").decode("cp1252")
        width = sum(WIDTHS[ord(letter) - 32] if 32 <= ord(letter) < 127 else 556 for letter in latin) * size / 1000
        x, y = float(given.get("x", 0)), float(given.get("y", 0))
        y += float(given["dy"].removesuffix("em")) * size if "dy" in given else 0.0
        x -= {"middle": width / 2, "end": width}.get(given.get("text-anchor", ""), 0.0)
        font = "/B" if given.get("font-weight") in ("600", "700", "bold") else "/F"
        written = re.sub(r"([\\()])", r"\\\1", latin)
        colour = _colour(given["fill"], given) or (0.0, 0.0, 0.0)
        self.put("BT", *colour, "rg", font, size, "Tf 1 0 0 -1", x, y, "Tm", f"({written})", "Tj ET")


def _circle(x: float, y: float, r: float) -> Iterator[str | float]:
    k = ROUND * r
    yield from (x + r, y, "m")
    yield from (x + r, y + k, x + k, y + r, x, y + r, "c", x - k, y + r, x - r, y + k, x - r, y, "c")
    yield from (x - r, y - k, x - k, y - r, x, y - r, "c", x + k, y - r, x + r, y - k, x + r, y, "c h")


def _path(d: str) -> Iterator[str | float]:
    """Straight pieces, absolute or relative."""
    words = re.findall(rf"[A-Za-z]|{NUMBER}", d)
    x = y = 0.0
    command, k = "M", 0
    while k < len(words):
        if words[k].isalpha():
            command, k = words[k], k + 1
        kind, relative = command.upper(), command.islower()
        if kind == "Z":
            yield "h"
            continue
        if kind not in ("M", "L", "H", "V"):
            raise ValueError(f"a chart has a path with {command}")
        if kind in ("M", "L", "H"):
            x, k = float(words[k]) + (x if relative else 0.0), k + 1
        if kind in ("M", "L", "V"):
            y, k = float(words[k]) + (y if relative else 0.0), k + 1
        yield from (x, y, "m" if kind == "M" else "l")


def _colour(text: str, given: Mapping[str, str]) -> tuple[float, float, float] | None:
    """Red, green, blue; a variable has its light value."""
    if text == "none":
        return None
    known = re.fullmatch(r"var\(--([\w-]+)\)", text)
    text = shades(known[1])[0] if known else text
    opacity = float(given.get("opacity", 1))
    red, green, blue = (1 - opacity * (1 - int(text[k : k + 2], 16) / 255) for k in (1, 3, 5))
    return red, green, blue


def _file(content: bytes, width: float, height: float) -> bytes:
    """The objects of the file and the table of their places."""
    fonts = [
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica%s/Encoding/WinAnsiEncoding>>" % name for name in (b"", b"-Bold")
    ]
    page = f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {width:g} {height:g}]/Contents 4 0 R"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        page.encode() + b"/Resources<</Font<</F 5 0 R/B 6 0 R>>>>>>",
        b"<</Length %d>>\nstream\n%s\nendstream" % (len(content), content),
        *fonts,
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in places)
    size = len(objects) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
    return out + head + b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (size, len(out))
