"""LETOR and SVMrank files as a table: ``grade qid:query number:value number:value # comment``.

The columns are ``query``, ``grade`` and one ``fN`` per feature. Features that a line leaves out are 0, as in SVMrank.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hopefear.errors import InputError, input_error
from hopefear.formats.table import Table
from hopefear.formats.table_columns import as_objects
from hopefear.formats.trec import GRADE, GROUP
from hopefear.util.files import PACKED, open_text, path_name
from hopefear.util.values import finite_number

ENDINGS = (".letor", ".svmrank", ".svm", ".libsvm")


def is_letor(source: Any) -> bool:
    """Whether a file is LETOR or SVMrank, by its name."""
    if not isinstance(source, str | Path):
        return False
    path = Path(source)
    return (path.with_suffix("") if path.suffix in PACKED else path).suffix.lower() in ENDINGS


def read_letor(path: str | Path) -> Table:
    """The file as a table."""
    name = path_name(str(path))
    queries: list[str] = []
    grades: list[float] = []
    rows: list[int] = []
    ids: list[int] = []
    values: list[float] = []
    with open_text(str(path)) as file:
        for number, line in enumerate(file, 1):
            words = line.partition("#")[0].split()
            if not words:
                continue
            if "\0" in line:
                raise input_error(name, number, "has a null byte. Is this a text file?")
            if len(words) < 2 or not words[1].startswith("qid:"):
                raise input_error(name, number, "no query: a line is grade qid:query number:value ...")
            try:
                grades.append(finite_number(words[0]))
                before = len(ids)
                for word in words[2:]:
                    key, _, value = word.partition(":")
                    if (feature := _whole(key)) in ids[before:]:
                        raise input_error(name, number, f"feature {feature} occurs twice. Keep one")
                    ids.append(feature)
                    values.append(finite_number(value))
                    rows.append(len(queries))
            except InputError:
                raise
            except ValueError:
                raise input_error(name, number, "expected a finite number. Fix the line") from None
            queries.append(words[1].removeprefix("qid:"))
    if not queries:
        raise input_error(name, None, "the file is empty")
    if not ids:
        raise input_error(name, None, "no line has a feature")
    known = sorted({*ids})
    matrix = np.zeros((len(queries), len(known)))
    matrix[rows, np.searchsorted(known, ids)] = values
    features = {f"f{key}": matrix[:, j] for j, key in enumerate(known)}
    columns = {GROUP: as_objects(queries), GRADE: np.array(grades), **features}
    return Table(columns, name, lambda row: row + 1, duplicates=True)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError(text)
    return int(text)
