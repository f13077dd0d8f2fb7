"""Options: values of a known set, and values as text, from a command line or a TOML file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hopefear.errors import InputError, OptionError


def check_choice(name: str, value: object, known: Sequence[str]) -> None:
    """Complain about a value that is not among the known ones."""
    if value not in known:
        raise InputError(f"{name}: {value!r} is not known. Choose one of {', '.join(known)}")


def value_of(text: str, default: Any, what: str) -> Any:
    """A value in the type of its default."""
    try:
        if isinstance(default, bool):
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]
        if isinstance(default, int):
            return int(text)
        if isinstance(default, float):
            return float(text)
    except (KeyError, ValueError):
        kind = {bool: "true or false", int: "a whole number", float: "a number"}[type(default)]
        raise OptionError(f"{what}: {text!r} is not {kind}.") from None
    return text
