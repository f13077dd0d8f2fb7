"""Tables over Arrow and pandas: columns become arrays when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hopefear.errors import InputError, input_error
from hopefear.formats.table import Table
from hopefear.formats.table_columns import Column, as_objects, column_of


def pyarrow_for(what: str) -> Any:
    """pyarrow, or an error that says why it is needed."""
    pyarrow = import_pyarrow()
    if pyarrow is None:
        raise InputError(f"{what} needs pyarrow. Install it: pip install 'hopefear[tables]'")
    return pyarrow


def import_pyarrow() -> Any:
    """pyarrow, or None if it is not installed."""
    try:
        import pyarrow
    except ImportError:
        return None
    return pyarrow


class _ArrowColumns(Mapping[str, Column]):
    """The columns of an Arrow table, which become arrays when they are asked for."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __getitem__(self, name: str) -> Column:
        return self._array(self.table.column(name))

    def part(self, name: str, rows: slice) -> Column:
        """Some rows of a column; the others are not touched."""
        return self._array(self.table.column(name).slice(rows.start, rows.stop - rows.start))

    def _array(self, column: Any) -> Column:
        pyarrow = pyarrow_for("This table")
        types = pyarrow.types
        if types.is_dictionary(column.type):
            try:
                column = column.cast(column.type.value_type)
            except pyarrow.ArrowNotImplementedError:  # categories of polars
                return as_objects(column.to_pylist())
        if types.is_decimal(column.type) or (column.null_count and types.is_integer(column.type)):
            column = column.cast("float64", safe=False)
        if types.is_boolean(column.type):
            column = column.cast("float64") if column.null_count else column.cast("int8")
        if (
            types.is_integer(column.type) or types.is_floating(column.type)
        ) and not column.null_count:  # one piece is not copied
            pieces = [_view(piece) for piece in column.chunks] or [np.zeros(0, column.type.to_pandas_dtype())]
            values: Column = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        else:
            try:
                values = column.to_numpy()
            except pyarrow.ArrowNotImplementedError:  # lists of texts, as polars has them
                return as_objects(column.to_pylist())
        if values.dtype == np.float16:
            values = values.astype(np.float64)
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self.table.column_names)

    def __len__(self) -> int:
        return int(self.table.num_columns)

    def __contains__(self, name: object) -> bool:
        return name in self.table.column_names


def _view(array: Any) -> Column:
    """Numbers of which none is missing, where they are. (pyarrow's to_numpy loads pandas, if that is installed.)"""
    dtype = np.dtype(array.type.to_pandas_dtype())
    view: Column = np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)
    return view


def from_arrow(table: Any, name: str, line_of: Callable[[int], int] | None = None) -> Table:
    """A table over an Arrow table."""
    check_names(table.column_names, name)
    return Table(_ArrowColumns(table), name, line_of, table)


def from_pandas(frame: Any, name: str) -> Table:
    """A table over a pandas.DataFrame: its columns, and those levels of its index that have a name."""
    pyarrow = pyarrow_for("This frame")
    levels = [level for level in frame.index.names if level is not None and level not in frame.columns]
    if levels:
        frame = frame.reset_index(level=levels)
    check_names([str(label) for label in frame.columns], name)
    try:
        return from_arrow(pyarrow.Table.from_pandas(frame, preserve_index=False), name)
    except (pyarrow.ArrowException, TypeError):  # values of several types, or sparse ones
        objects = frame.astype(object).where(frame.notna(), None)
        return Table({str(label): column_of(objects[label].tolist()) for label in frame.columns}, name)


def check_names(names: Sequence[str], name: str) -> None:
    """Complain about two columns of one name."""
    twice = next((label for label in names if names.count(label) > 1), None)
    if twice is not None:
        raise input_error(name, None, f"two columns are called {twice!r}. Rename one")
