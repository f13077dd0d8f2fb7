"""Corrections as a translation memory: TMX 1.4, which every CAT tool and ``hopefear build`` read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from hopefear import __version__
from hopefear.learning.corrections import Correction
from hopefear.util.files import PathLike, atomic_write

_NOT_IN_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_tmx(path: PathLike, corrections: Iterable[Correction], source: str, target: str) -> int:
    """Writes those that were learnt from and not undone; how many these are. ``source``, ``target``: language codes."""
    count = 0
    with atomic_write(path) as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n')
        head = f'creationtool="hopefear" creationtoolversion={quoteattr(__version__)} segtype="block" o-tmf="hopefear"'
        more = f'adminlang="en" srclang={quoteattr(source)} datatype="plaintext"'
        file.write(f"<header {head} {more}/>\n<body>\n")
        for each in corrections:
            if each.status != "learnt":
                continue
            count += 1
            date = re.sub(r"[-:]|\.\d+", "", each.time)
            who = f" creationid={quoteattr(_clean(each.user))}" if each.user else ""
            file.write(f'<tu tuid="{each.id}" creationdate="{date}"{who}>')
            if each.project:
                file.write(f'<prop type="project">{escape(_clean(each.project))}</prop>')
            for language, text in ((source, each.source), (target, each.correction)):
                file.write(f"<tuv xml:lang={quoteattr(language)}><seg>{escape(_clean(text))}</seg></tuv>")
            file.write("</tu>\n")
        file.write("</body>\n</tmx>\n")
    return count


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("\ufffd", text)
