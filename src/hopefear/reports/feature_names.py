"""Names of features as people read them."""

from __future__ import annotations

import re
from urllib.parse import unquote


def readable(name: str) -> str:
    """The name of a feature without its escapes: ``lex(%2C,;)`` is lex(“,”, “;”). Words that are plain stay bare."""
    head, bracket, rest = name.partition("(")
    if not bracket or not rest.endswith(")") or "%" not in rest:
        return name
    parts = re.split(r"([,|])", rest[:-1])  # words, and between them what separates words and phrases
    words = [unquote(part) for part in parts[::2]]
    shown = [word if word.isalnum() or not word else f"“{word}”" for word in words]
    between = [", " if separator == "," else " | " for separator in parts[1::2]]
    return f"{head}({''.join(a + b for a, b in zip(shown, [*between, ''], strict=True))})"
