"""Weights: one ``name value``, ``name=value`` or Moses' ``name= v v`` per line; written with every digit that matters.

In memory, weights are a mapping from names, or a vector over the names of features in their order.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import FeatureTable, read_feature_table
from hopefear.errors import InputError, input_error
from hopefear.formats.file_kinds import explained
from hopefear.formats.weights_json import parsed
from hopefear.util.files import PathLike, is_plain, iter_lines, output, path_name
from hopefear.util.messages import plural, some
from hopefear.util.values import parsed_number

_LARGE = 50_000_000  # bytes of a file of weights from which their names are not kept


class ManyWeights(Mapping[str, float]):
    """Weights that are found by name but are too many to keep the names."""

    def __init__(self, table: FeatureTable, templates: Iterable[str] = ()) -> None:
        self.table = table
        self.templates = frozenset(templates)  #: the names up to the first bracket

    def __getitem__(self, name: str) -> float:
        return self.table.get(name)

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[str]:
        raise InputError("these weights do not store names: look up the weight of a name")


def read_many_weights(path: PathLike) -> Mapping[str, float]:
    """The weights in a file; of a large one only the values are kept, not the names."""
    if not is_plain(path) or Path(path).stat().st_size < _LARGE:
        return read_weights(path)
    return ManyWeights(*read_feature_table(str(path)))


def weight_vector(weights: Mapping[str, float], names: Sequence[str]) -> NDArray[np.float64]:
    """Weights as a vector over these names; features without a weight get 0."""
    return np.array([weights.get(name, 0.0) for name in names], dtype=np.float64)


def check_names(
    path: PathLike, weights: Mapping[str, float], names: Iterable[str], missing: str, whose: str | None = None
) -> str | None:
    """A warning about weights that belong to none of these features; with ``whose``, an error if no weight does.

    ``missing`` and ``whose`` end the sentences: "... for features that the lists do not have", "... belongs to a
    feature of model. Use the weights of this model".
    """
    known = set(names)
    strangers = [name for name in weights if name not in known]
    if whose is not None and strangers and len(strangers) == len(weights):
        finding = f"none of its {plural(len(weights), 'weight')} belongs to a feature of {whose}"
        raise input_error(path_name(path), None, finding)
    finding = f"{path_name(path)}: {plural(len(strangers), 'weight')} for features {missing}: {some(strangers)}"
    return finding if strangers else None


#: Sections of moses.ini before Moses 2, and what the lists of that time call their features.
_OLD_SECTIONS = {
    "weight-d": "d",
    "weight-l": "lm",
    "weight-t": "tm",
    "weight-w": "w",
    "weight-i": "I",
    "weight-generation": "g",
    "weight-lex": "lex",
    "weight-lr": "lr",
    "weight-e": "e",
}


def read_weights(path: PathLike) -> dict[str, float]:
    """The weights in a file. ``#`` opens a comment; of a moses.ini only the section ``[weight]`` is read, or the
    sections ``[weight-d]``, ``[weight-l]``, ... of an old one.

    A file that begins with a brace is JSON: what a result saved, or an object of names and numbers.
    A name that comes again as ``name= v`` has several values, as in Moses' ``run1.dense``: ``name_0``, ``name_1``, ...

    >>> write_weights({"lm": 0.5, "tm": 1.0}, "weights.txt")
    >>> read_weights("weights.txt")
    {'lm': 0.5, 'tm': 1.0}
    """
    with explained(weights=[path]):
        return _weights_in(path)


def _weights_in(path: PathLike) -> dict[str, float]:
    lines = iter_lines(path)
    first = next(lines, "")
    if first.lstrip("\ufeff \t").startswith("{"):
        return dict(parsed("\n".join([first, *lines]).encode(), path)["weights"])
    given: dict[str, list[float]] = {}
    lists: set[str] = set()  # names that may come again
    name = path_name(path)
    section: str | None = None
    for number, line in enumerate(chain([first], lines), 1):
        words = _words(line)
        if not words:
            continue
        if len(words) == 1 and words[0].startswith("[") and words[0].endswith("]"):
            section = words[0][1:-1]
            continue
        if section not in (None, "weight", *_OLD_SECTIONS):
            continue
        try:
            if section in _OLD_SECTIONS:
                words = [f"{_OLD_SECTIONS[section]}=", *words]
            more = words[0].endswith("=") and (len(words) == 2 or section in _OLD_SECTIONS)
            for feature, value in _entries(words) if len(words) <= 2 or not more else _each(words):
                if feature in given and not (more and feature in lists):
                    raise ValueError(f"the weight of {feature[:40]!r} is given twice. Keep one")
                lists |= {feature} if more else set()
                given.setdefault(feature, []).append(value)
        except ValueError as error:
            raise input_error(name, number, str(error)) from None
    if not given:  # also an empty file
        raise input_error(name, None, 'no weights in this file. Write lines such as "LM0 0.5"')
    weights: dict[str, float] = {}
    for feature, values in given.items():
        for numbered, value in _numbered(feature, values):
            if numbered in weights:
                raise input_error(name, None, f"the weight of {numbered[:40]!r} is given twice. Keep one")
            weights[numbered] = value
    return weights


def _each(words: list[str]) -> list[tuple[str, float]]:
    """Several values of one name."""
    return [(words[0][:-1], _number(word, words[0][:-1])) for word in words[1:]]


def _numbered(feature: str, values: Sequence[float]) -> list[tuple[str, float]]:
    """``name`` for one value, ``name_0``, ``name_1``, ... for several."""
    return [(feature, values[0])] if len(values) == 1 else [(f"{feature}_{k}", v) for k, v in enumerate(values)]


def matched_numbers(
    path: PathLike, weights: Mapping[str, float], names: Iterable[str]
) -> tuple[Mapping[str, float], str | None]:
    """Weights whose numbers count from where those of the features do, and a word about it if that was not so.

    Moses numbers the values of one feature from 1 in hypergraphs (``TM0_1``) and from 0 elsewhere. Where both sides
    have the same number of values, they are the same values; where they do not, this is an InputError.
    """
    if isinstance(weights, ManyWeights):
        return weights, None
    here, there = _by_stem(weights), _by_stem(names)
    renamed: dict[str, str] = {}
    for stem in here.keys() & there.keys():
        mine, theirs = here[stem], there[stem]
        starts = mine[0], theirs[0]
        if starts not in ((0, 1), (1, 0)) or min(len(mine), len(theirs)) < 2:
            continue
        if any(numbers != list(range(numbers[0], numbers[0] + len(numbers))) for numbers in (mine, theirs)):
            continue
        if len(mine) != len(theirs):
            finding = (
                f"{stem} has the numbers {mine[0]} to {mine[-1]} here and {theirs[0]} to {theirs[-1]} in the features"
            )
            raise input_error(path_name(path), None, f"{finding}. Renumber the weights")
        renamed |= {f"{stem}_{k}": f"{stem}_{k - starts[0] + starts[1]}" for k in mine}
    if not renamed:
        return weights, None
    example = min(renamed)
    note = f"numbers begin at a different value than those of the features: {example} is {renamed[example]}, and so on"
    return {renamed.get(name, name): value for name, value in weights.items()}, f"{path_name(path)}: {note}"


def _by_stem(names: Iterable[str]) -> dict[str, list[int]]:
    """The numbers that stand behind each name, ascending."""
    by_stem: dict[str, list[int]] = {}
    for name in names:
        if match := re.fullmatch(r"(.+)_(0|[1-9][0-9]{0,8})", name):
            by_stem.setdefault(match[1], []).append(int(match[2]))
    return {stem: sorted(numbers) for stem, numbers in by_stem.items()}


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
        return _numbered(first[:-1], values)
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
        value = parsed_number(text)
    except ValueError:
        raise ValueError(f"{finding}, which is not a number. Write a number") from None
    if not math.isfinite(value):
        raise ValueError(f"{finding}. Write a finite number")
    return value


def write_weights(weights: Any, path: PathLike) -> None:
    """One ``name value`` per line, in the order of the mapping; every name and value reads back as it was.

    ``weights`` may be a result, which has them.

    >>> write_weights(hf.Reranker({"lm": 0.5}), "weights.txt")
    >>> open("weights.txt").read()
    'lm 0.5\\n'
    """
    weights = getattr(weights, "weights", weights)
    lines = []
    if next(iter(weights), "").startswith("\ufeff"):  # at the start of a file that is a byte order mark
        lines.append("\n")
    for feature, value in weights.items():
        value = float(value)
        if not math.isfinite(value):
            raise InputError(f"the weight of {feature!r} is {value}. Only finite weights are written")
        if not feature or any(blank in feature for blank in " \t\r\n\v\f"):
            raise InputError(f"the feature name {feature!r} is empty or has a blank in it. Rename the feature")
        ends = "=" if feature == "#" or feature.endswith("=") else ""  # such a name needs Moses' form
        lines.append(f"{feature}{ends} {value!r}\n")
    try:
        text = "".join(lines).encode()
    except UnicodeEncodeError as error:
        name = error.object[error.object.rfind("\n", 0, error.start) + 1 :].split(" ", 1)[0]
        raise InputError(f"the feature name {name!r} has half a surrogate pair in it. Rename the feature") from None
    with output(path, "wb") as file:
        file.write(text)
