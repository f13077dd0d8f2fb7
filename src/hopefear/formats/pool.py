"""What a pool does with tables, frames and pickles: the Python half of the class ``Pool``, which is compiled."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import fields
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool, forest_file_from_bytes, write_forest_file
from hopefear.errors import InputError, python_messages
from hopefear.formats.arrow_tables import pyarrow_for
from hopefear.formats.table import Table, TableSpec, Warn, read_table
from hopefear.formats.table_columns import as_objects
from hopefear.util.messages import some, suggestion
from hopefear.util.values import package

MOST_COLUMNS = 5000
GROUP = "group"  # the column of the sentence in tables that are made of lists


@python_messages()
def from_table(table: Any = None, group: Any = None, *, warn: Warn | None = None, **options: Any) -> Pool:
    """Candidate lists from a table; the options are those of :class:`hopefear.formats.table.TableSpec`."""
    known = [declared.name for declared in fields(TableSpec)]
    if wrong := next((name for name in options if name not in known), None):
        raise InputError(f"Pool.from_table() has no option {wrong!r}.{suggestion(wrong, known)}")
    if table is None or group is None:
        raise InputError("Pool.from_table() needs a table, and group: the column that says which candidates compete")
    spec = TableSpec(group, **options)
    return read_table(table, spec).pool(spec, warn)


def as_table(pool: Pool, name: str) -> Table:
    """Lists as a table: the groups are their ids; no features are made up, and no outcomes."""
    rows = np.diff(pool.row_begin())
    features, numbers = _matrices(pool)
    columns: dict[str, Any] = {GROUP: as_objects(np.repeat(np.array(pool.ids, dtype=object), rows).tolist())}
    columns |= dict(zip(pool.feature_names, features.T, strict=True)) | dict(
        zip(pool.number_names, numbers.T, strict=True)
    )
    return Table(columns, name, duplicates=True)  # samples may well repeat


def to_arrow(pool: Pool) -> Any:
    """A pyarrow.Table with a row for each candidate: group, text, features, numbers; references if there are any."""
    pyarrow = pyarrow_for("Pool.to_arrow")
    rows = np.diff(pool.row_begin())
    names = pool.feature_names
    if len(names) > MOST_COLUMNS:
        raise InputError(f"{len(names)} features are too many for columns of a table: {MOST_COLUMNS} at most")
    ids = pyarrow.array(pool.ids)
    columns: dict[str, Any] = {
        GROUP: ids.take(pyarrow.array(np.repeat(np.arange(len(pool)), rows))),
        "text": [pool.text(i, j) for i in range(len(pool)) for j in range(int(rows[i]))],
    }
    features, numbers = _matrices(pool)
    texts = [pool.references(i) for i in range(len(pool))]
    for k in range(max(map(len, texts), default=0)):
        column = [references[k] if k < len(references) else None for references in texts]
        columns[f"reference_{k}"] = pyarrow.array(column, pyarrow.string()).take(
            pyarrow.array(np.repeat(np.arange(len(pool)), rows))
        )
    for name, values in [*zip(names, features.T, strict=True), *zip(pool.number_names, numbers.T, strict=True)]:
        if name in columns:
            raise InputError(f"two columns of the table would be called {name!r}. Rename the feature")
        columns[name] = np.ascontiguousarray(values)
    return pyarrow.table(columns)


def _matrices(pool: Pool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Features and numbers of all candidates, list after list."""
    count = int(np.diff(pool.row_begin()).sum())
    features = np.zeros((count, len(pool.feature_names)))
    numbers = np.zeros((count, len(pool.number_names)))
    first = 0
    for forest in pool:
        own = slice(first, first + forest.edge_count)
        features[own, : pool.dense_width] = forest.dense
        numbers[own] = forest.numbers
        if len(forest.sparse_ids):
            row = np.repeat(np.arange(own.start, own.stop), np.diff(forest.sparse_begin))
            np.add.at(features, (row, forest.sparse_ids), forest.sparse_values)
        first = own.stop
    return features, numbers


def means_of(pool: Pool) -> dict[str, float]:
    """The mean of each feature that all candidates of lists have."""
    count = int(pool.row_begin()[-1]) if pool.is_lists and len(pool) else 0
    total = np.zeros(pool.dense_width)
    for forest in pool if count else ():
        total += np.asarray(forest.dense).sum(axis=0)
    return dict(zip(pool.feature_names, (total / count).tolist(), strict=False)) if count else {}


def evenly_spaced(pool: Pool, most: int) -> Pool:
    """At most ``most`` sentences, evenly spaced."""
    return pool if len(pool) <= most else pool.subset(np.linspace(0, len(pool) - 1, most).astype(np.int64))


def chosen(pool: Pool, features: Sequence[str] = (), outcome: Sequence[str] = ()) -> Pool:
    """Lists with these features only (names or patterns; none: all), and with these columns as outcomes."""
    if not pool.is_lists:
        raise InputError("features and outcomes can be chosen for lists, not for forests")
    names, numbers = pool.feature_names, pool.number_names
    for name in outcome:
        if name not in (*names, *numbers):
            raise InputError(f"no column {name!r} for --outcome.{suggestion(name, [*names, *numbers])}")
    wanted = [name for name in names if name not in outcome and _matches(name, features)]
    if not wanted:
        raise InputError(f"no feature is left: of {some(names)}, none matches {some(features)}")
    dense, values = _matrices(pool)
    indices = [names.index(name) for name in wanted]
    own = {name: values[:, k] for k, name in enumerate(numbers)}
    columns = [own[name] if name in own else dense[:, names.index(name)] for name in outcome]
    outcomes = np.column_stack(columns) if columns else values
    made = Pool()
    for name in wanted:
        made.features.add(name)
    made.number_names = list(outcome) or numbers
    begin = pool.row_begin()
    sizes = np.diff(begin)
    texts = [pool.text(i, j) for i in range(len(pool)) for j in range(int(sizes[i]))]
    references = [pool.references(i) for i in range(len(pool))]
    made.append_lists(pool.ids, begin, np.ascontiguousarray(dense[:, indices]), outcomes, texts, references)
    return made


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def to_pandas(pool: Pool) -> Any:
    """As ``to_arrow``, a pandas.DataFrame."""
    package("pandas", "Pool.to_pandas needs pandas", "pandas")
    return to_arrow(pool).to_pandas()


def reduce(pool: Pool) -> tuple[Any, tuple[bytes]]:
    """For pickle: the bytes of a native file of forests, which are checked when they are read and execute nothing."""
    with tempfile.TemporaryFile() as file:
        write_forest_file(pool, file.fileno(), "pool")
        file.seek(0)
        return restored, (file.read(),)


def restored(data: bytes) -> Pool:
    """The pool of these bytes."""
    return forest_file_from_bytes(data, "pickled pool", True)
