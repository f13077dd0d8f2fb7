"""Data to be scored, in every form that a reranker takes, and the same data in another order."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.formats.nbest import read_nbest
from hopefear.formats.records import Records, is_dataset, is_table, lists_in, several
from hopefear.formats.table import Table, read_table


def opened(data: Any) -> Any:
    """Data in a form to score: lists of candidates as a pool, a file of rows as a table, a pandas Series as a dict."""
    if isinstance(data, str | os.PathLike):
        return read_table(data) if is_table(data) else read_nbest(data)
    if hasattr(data, "iloc") and not hasattr(data, "columns"):
        return data.to_dict()
    data = several(data)
    lists = lists_in(data)
    return data if lists is None else lists if isinstance(lists, Pool) else read_nbest(Records(lists))


def is_matrix(data: Any) -> bool:
    """Whether these are rows of numbers without names."""
    return isinstance(data, list) and bool(data) and isinstance(data[0], list | tuple | np.ndarray)


def is_columns(data: Mapping[str, Any]) -> bool:
    """Whether a dict holds columns, and not one row."""
    return any(hasattr(value, "__len__") and not isinstance(value, str | Mapping) for value in data.values())


def reordered(data: Any, table: Table, order: NDArray[np.int64], more: Mapping[str, NDArray[Any]]) -> Any:
    """Data of the same kind in another order, with more columns."""
    if hasattr(data, "iloc"):  # pandas
        return data.assign(**more).iloc[order]
    if hasattr(data, "with_columns") and hasattr(data, "select"):  # polars
        return type(data)({**{name: data[name] for name in data.columns}, **more})[order.tolist()]
    if is_dataset(data):
        for name, values in more.items():
            data = data.add_column(name, values)
        return data.select(order)
    if hasattr(data, "append_column"):  # pyarrow
        for name, values in more.items():
            data = data.append_column(name, [values])
        return data.take(order)
    return {name: column[order] for name, column in {**table.columns, **more}.items()}
