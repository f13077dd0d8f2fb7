"""Helpers for the text of messages: plurals, lists of names, suggestions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

NAMED = 5  # as many of the names are shown


def plural(number: int, noun: str) -> str:
    """``1 weight``, ``2 weights``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def some(names: Iterable[str], most: int = NAMED) -> str:
    """The first few of many names, and how many more there are."""
    names = list(names)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def listed(names: Sequence[str], word: str = "and") -> str:
    """``a, b and c``."""
    *most, last = names
    return f"{', '.join(most)} {word} {last}" if most else last


def suggestion(name: str, known: Iterable[str]) -> str:
    """A sentence that suggests what may have been meant, with a blank before it, or nothing."""
    import difflib

    spelled = {other.lower(): other for other in known if other != name}
    close = difflib.get_close_matches(name.lower(), list(spelled), n=1, cutoff=0.6)
    return f" Did you mean {spelled[close[0]]!r}?" if close else ""


def digits_for(scores: Iterable[float]) -> int:
    """Decimals that tell scores apart: four where all lie between -1 and 1 (COMET), else two."""
    return 4 if all(abs(score) <= 1 for score in scores) else 2


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of cells as lines: the first column to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def printable(text: str) -> str:
    """Text of others for a terminal: control characters, which could move the cursor or worse, are spelled out."""
    return text.translate(_CONTROL)


_CONTROL = {code: f"\\x{code:02x}" for code in [*range(32), *range(127, 160)]}
