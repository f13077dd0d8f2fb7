"""Columns of tables: what counts as a number, a label, a missing value."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear.errors import InputError
from hopefear.util.values import parsed_number

Column = NDArray[Any]
Numbers = NDArray[np.float64]
EMPTY = ("", "na", "n/a", "nan", "null", "none")  # of a number: missing
TRUTH = {"true": 1.0, "false": 0.0}
ODD_NUMBER = re.compile(r"[+-]?\d[\d.,' \u00a0\u202f]*(\s*%|,[\d.,]*)")  # 12 %, 1,234.5, 0,5


def equal_values(a: Any, b: Any) -> bool:
    """Whether two cells are equal, also where they hold lists."""
    if isinstance(a, np.ndarray | list) or isinstance(b, np.ndarray | list):
        return np.array_equal(a, b)
    return bool(a == b) or (is_missing(a) and is_missing(b))


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def as_number(value: Any) -> float | None:
    """The number that a value is, NaN if it is missing, None if it is something else."""
    if value is None:
        return math.nan
    if isinstance(value, str):
        text = value.strip().lower()
        if text in EMPTY:
            return math.nan
        if text in TRUTH:
            return TRUTH[text]
        try:
            return parsed_number(text)
        except ValueError:
            return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def label_of(value: Any) -> str:
    """A group's name: 3 and 3.0 are the same."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def as_objects(values: Sequence[Any]) -> Column:
    """An array of Python objects, lists among them."""
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def column_of(values: Iterable[Any]) -> Column:
    """Numbers as numbers, everything else as objects."""
    values = list(values)
    if all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in values):
        return np.array(values, dtype=np.float64)
    objects = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        objects[i] = value
    return objects


def array_of(values: Any, name: str) -> Column:
    """The values of a column as an array."""
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
        raise InputError(f"table: column {name!r} is {type(values).__name__}. Give an array or a list of values")
    if not isinstance(values, np.ndarray):
        values = values.to_numpy() if hasattr(values, "to_numpy") else list(values)
    if not isinstance(values, np.ndarray):
        return column_of(values)
    if values.ndim == 1:
        return values.astype(object) if values.dtype.kind in "US" else values
    if values.ndim == 2:  # a wide column: a row of numbers per group
        return as_objects(list(values))
    raise InputError(f"table: column {name!r} has {values.ndim} dimensions. Give one value per row")
