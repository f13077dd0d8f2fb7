"""Candidates as users have them: a pool, a frame, rows, records or a path, and what to read of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.formats.missing import LIST_POLICIES
from hopefear.formats.nbest import read_nbest
from hopefear.formats.pool import chosen
from hopefear.formats.records import Records, is_table, lists_in, several
from hopefear.formats.references import References
from hopefear.formats.table import TableSpec, read_table
from hopefear.util.files import PathLike

Names = str | Sequence[str]


def pool_of(
    data: Any,
    group: str | None = None,
    outcome: Names = (),
    *,
    features: Names = (),
    text: str | None = None,
    references: References | None = None,
    missing: str = "error",
) -> Pool:
    """The candidates in this data. Rows need ``group``, the column that says which of them compete.

    >>> rows = [{"id": 1, "lm": -2.0, "comet": 0.8}, {"id": 1, "lm": -3.0, "comet": 0.9}]
    >>> pool_of(rows, "id", "comet").feature_names
    ['lm']
    """
    features, outcome = ([names] if isinstance(names, str) else list(names) for names in (features, outcome))
    data = several(data)
    lists = None if group else lists_in(data)
    path = isinstance(data, str | os.PathLike)
    if lists is None and path and not group and not is_table(data):
        lists = data
    if lists is None:
        if group is None:
            finding = f"there are no lists of candidates in {'this file' if path else 'this ' + type(data).__name__}"
            raise InputError(f"{finding}. If its rows are candidates, give group: the column that says which compete")
        columns = () if references is None else references
        return read_table(data).pool(TableSpec(group, features, text, columns, outcome, missing))  # type: ignore[arg-type]
    if not isinstance(lists, Pool) or references is not None:
        source = lists if isinstance(lists, str | os.PathLike) else Records(lists)
        lists = read_nbest(source, references, missing=missing if missing in LIST_POLICIES else "error")
    return chosen(lists, features, outcome) if features or outcome else lists


def lists_of(data: Any, group: str | None = None, text: str | None = None, missing: str = "error") -> PathLike:
    """Lists of candidates as what reads them in bounded memory takes it: a path, or records in memory."""
    lists = isinstance(data, Records) or (isinstance(data, str | os.PathLike) and not (group and is_table(data)))
    if lists and missing == "error":
        return data  # type: ignore[no-any-return]
    return Records(pool_of(data, group, text=text, missing=missing))
