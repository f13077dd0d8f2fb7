"""Weights: ``name value``, ``name=value`` or Moses' ``name= v v`` a line; written with every digit that matters."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from hopefear.errors import InputError, input_error
from hopefear.util.files import PathLike, iter_lines, output, path_name

__all__ = ["read_weights", "write_weights"]


def read_weights(path: PathLike) -> dict[str, float]:
    """The weights in a file. ``#`` opens a comment; of a moses.ini only the section ``[weight]`` is read."""
    weights: dict[str, float] = {}
    name = path_name(path)
    section: str | None = None
    for number, line in enumerate(iter_lines(path), 1):
        words = _words(line)
        if not words:
            continue
        if len(words) == 1 and words[0].startswith("[") and words[0].endswith("]"):
            section = words[0][1:-1]
            continue
        if section not in (None, "weight"):
            continue
        try:
            for feature, value in _entries(words):
                if feature in weights:
                    raise ValueError(f"the weight of {feature[:40]!r} is given twice. Keep one")
                weights[feature] = value
        except ValueError as error:
            raise input_error(name, number, str(error)) from None
    if not weights:  # also an empty file
        raise input_error(name, None, 'no weights in this file. Write lines such as "LM0 0.5"')
    return weights


def _words(line: str) -> list[str]:
    """The words before a comment. A word ``#`` opens one; so does a first word ``#...`` unless one number follows."""
    words = re.findall(r"[^ \t\r\v\f]+", line)
    if words and words[0].startswith("#") and not (len(words) == 2 and words[0] != "#" and _NUMBER.fullmatch(words[1])):
        return []
    return words[: words.index("#")] if "#" in words else words


_NUMBER = re.compile(r"[-+]?[0-9.][0-9.eE+-]*")


def _entries(words: list[str]) -> list[tuple[str, float]]:
    first = words[0]
    if first.endswith("=") and len(first) > 1:  # name= v v
        values = [_number(word, first[:-1]) for word in words[1:]]
        if not values:
            raise ValueError(f"the weight of {first[:-1][:40]!r} is missing. Write a number after it")
        return (
            [(first[:-1], values[0])] if len(values) == 1 else [(f"{first[:-1]}_{k}", v) for k, v in enumerate(values)]
        )
    if len(words) == 2 and not first.endswith("="):  # name value
        return [(first, _number(words[1], first))]
    if len(words) == 1 and "=" in first[1:]:  # name=value
        feature, _, value = first.rpartition("=")
        if feature:
            return [(feature, _number(value, feature))]
    raise ValueError(f"{' '.join(words)[:40]!r} is not a weight. Write name value, name=value or name= value value ...")


def _number(text: str, feature: str) -> float:
    finding = f"the weight of {feature[:40]!r} is {text[:40]!r}"
    try:
        value = float(text) if "_" not in text else math.nan
    except ValueError:
        raise ValueError(f"{finding}, which is not a number. Write a number") from None
    if not math.isfinite(value):
        raise ValueError(f"{finding}. Write a finite number")
    return value


def write_weights(weights: Mapping[str, float], path: PathLike) -> None:
    """``name value`` a line, in the order of the mapping; each value reads back as the same double."""
    lines = []
    for feature, value in weights.items():
        value = float(value)
        if not math.isfinite(value):
            raise InputError(f"the weight of {feature!r} is {value}. Only finite weights are written")
        if not feature or any(blank in feature for blank in " \t\r\n\v\f"):
            raise InputError(f"the feature name {feature!r} is empty or has a blank in it. Rename the feature")
        ends = "=" if feature == "#" or feature.endswith("=") else ""  # such a name needs Moses' form
        lines.append(f"{feature}{ends} {value!r}\n")
    with output(path) as file:
        file.writelines(lines)
