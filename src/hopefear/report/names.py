"""Names of features as people read them."""

from __future__ import annotations

from urllib.parse import unquote


def readable(name: str) -> str:
    """The name of a feature without its escapes: ``lex(%2C,;)`` is lex(“,”, “;”). Words that are plain stay bare."""
    head, bracket, rest = name.partition("(")
    if not bracket or not rest.endswith(")") or "%" not in rest:
        return name
    words = [unquote(part) for part in rest[:-1].split(",")]
    return f"{head}({', '.join(word if word.isalnum() else f'“{word}”' for word in words)})"
