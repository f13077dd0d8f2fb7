"""Corrections as a translation memory: TMX 1.4, which every CAT tool and ``hopefear build`` read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from hopefear import __version__
from hopefear.learning.corrections import Correction
from hopefear.util.files import PathLike, atomic_write

_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_tmx(path: PathLike, corrections: Iterable[Correction], source: str, target: str) -> int:
    """Writes those that were learnt from and not undone; how many these are. ``source``, ``target``: language codes."""
    units = [tmx_unit(correction, source, target) for correction in corrections if correction.status == "learnt"]
    with atomic_write(path) as file:
        file.writelines(tmx(units, source))
    return len(units)


def tmx(units: Iterable[str], source: str) -> Iterator[str]:
    """The text of a file with these units."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n'
    head = f'creationtool="hopefear" creationtoolversion={quoteattr(__version__)} segtype="block" o-tmf="hopefear"'
    more = f'adminlang="en" srclang={quoteattr(source)} datatype="plaintext"'
    yield f"<header {head} {more}/>\n<body>\n"
    yield from units
    yield "</body>\n</tmx>\n"


def tmx_unit(correction: Correction, source: str, target: str) -> str:
    """A correction as a translation unit."""
    date = re.sub(r"[-:]|\.\d+", "", correction.time)
    author = f" creationid={quoteattr(_clean(correction.user))}" if correction.user else ""
    project = f'<prop type="project">{escape(_clean(correction.project))}</prop>' if correction.project else ""
    sides = "".join(
        f"<tuv xml:lang={quoteattr(language)}><seg>{escape(_clean(text))}</seg></tuv>"
        for language, text in ((source, correction.source), (target, correction.correction))
    )
    return f'<tu tuid="{correction.id}" creationdate="{date}"{author}>{project}{sides}</tu>\n'


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)
