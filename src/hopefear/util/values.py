"""Plain values: conversion for JSON, and from the command line or a TOML file."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from hopefear.errors import InputError, OptionError


def plain(value: Any) -> Any:
    """NumPy numbers become plain ones, what is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, str) or value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return str(value)


def parsed_number(text: str) -> float:
    """The number that a text is; a ValueError if it is none, as are 1_000 and the digits of other scripts."""
    if "_" in text or not text.isascii():
        raise ValueError(f"{text!r} is not a number")
    return float(text)


def finite_number(text: str) -> float:
    """The finite number that a text is; a ValueError if it is none."""
    value = parsed_number(text)
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not finite")
    return value


def check_choice(name: str, value: object, known: Sequence[str]) -> None:
    """Raise an InputError for a value that is not among the known ones."""
    if value not in known:
        raise InputError(f"{name}: {value!r} is not known. Choose one of {', '.join(known)}")


def package(name: str, what: str, install: str) -> Any:
    """A package that only some features need, or a line that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(f"{what}. Install it: pip install {install}") from None


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
