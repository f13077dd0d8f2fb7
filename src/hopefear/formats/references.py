"""References and source sentences for a pool, from files with one line per sentence."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, cast

from hopefear._core import Pool, set_references, set_sources
from hopefear.errors import InputError, input_error
from hopefear.formats.table_columns import is_missing
from hopefear.metrics import Metric
from hopefear.util.files import PathLike, PathsLike, path_list, path_name, read_lines, read_references

References = PathsLike | Sequence[Sequence[str]]  # files, or texts as ``by_translator`` takes them


def _by_id(pool: Pool, path: PathLike, lines: list[str]) -> list[str]:
    """Lines in the order of the sentences, if they begin with the ids of utterances, as in Kaldi's ``text``."""
    ids = pool.ids
    if not ids or all(name.isdigit() for name in ids):
        return lines
    rows: dict[str, int] = {}
    twice = ""
    for number, line in enumerate(lines):
        key = line.partition(" ")[0]
        if rows.setdefault(key, number) != number:
            twice = key
    if not all(name in rows for name in ids):
        return lines
    if twice:
        raise input_error(path_name(path), None, f"{twice!r} occurs twice. Keep one")
    return [lines[rows[name]].partition(" ")[2] for name in ids]


def are_texts(references: Any) -> bool:
    """Whether references are texts, and not names of files: lists of lists, a column of a frame, sentences."""
    if references is None or isinstance(references, str | os.PathLike):
        return False
    if not isinstance(references, list | tuple):
        return hasattr(references, "tolist") or hasattr(references, "to_list")  # of pandas, polars, NumPy
    if any(not isinstance(reference, str | os.PathLike) for reference in references):
        return True
    names = [reference for reference in references if isinstance(reference, str)]
    return any(" " in reference for reference in names) and not any(map(os.path.exists, names))


def are_lines(values: Any) -> bool:
    """Whether these are lines of text, and not names of files."""
    values = [values] if isinstance(values, str) else values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(values, list | tuple) or not values or not isinstance(values[0], str):
        return False
    names = [each for each in values if isinstance(each, str)]
    plain = any(" " in each for each in names) or not any(mark in each for each in names for mark in "./=")
    return plain and not any(map(os.path.exists, names))


def by_translator(references: Any, sentences: int) -> list[list[str]]:
    """References as texts: a list of lines for each translator, from that, from the references of each line, or from
    one reference for each line.

    >>> by_translator([["a cat", "cat"], ["a dog"]], 2)
    [['a cat', 'a dog'], ['cat', '']]
    """
    given = [line if isinstance(line, str) or is_missing(line) else _listed(line) for line in _listed(references)]
    if all(isinstance(line, str) or is_missing(line) for line in given):
        given = [given]
    if any(len(lines) != sentences for lines in given):
        if len(given) != sentences:
            sizes = ", ".join(str(len(lines)) for lines in given[:5])
            finding = f"there are {sentences} sentences, and the lists of references have {sizes}"
            raise InputError(f"{finding}: give a reference for each sentence")
        most = max(map(len, given))
        given = [[lines[k] if k < len(lines) else "" for lines in given] for k in range(most)]
    return [["" if is_missing(text) else str(text) for text in lines] for lines in given]


def _listed(values: Any) -> list[Any]:
    if not isinstance(values, list | tuple) and hasattr(values, "tolist"):
        return list(values.tolist())
    return list(values)


def attach(pool: Pool, name: str, references: References | None, sources: PathLike | None = None) -> None:
    """Gives the sentences of a pool, which was read from ``name``, these references and the sources in this file."""
    if are_texts(references):
        set_references(pool, by_translator(references, len(pool)))
    elif references is not None:
        references = cast(PathsLike, references)
        files = path_list(references)
        lines = [_by_id(pool, path, each) for path, each in zip(files, read_references(references), strict=True)]
        if len(lines[0]) < len(pool):
            first = path_list(references)[0]
            finding = f"the reference file is too short: it has {len(lines[0])} lines, {name} has {len(pool)} sentences"
            raise input_error(path_name(first), None, f"{finding}. Use the references of these sentences")
        if len(lines[0]) > len(pool):
            finding = f"there are only {len(pool)} sentences, but the references have {len(lines[0])} lines"
            from_one = len(pool) > 0 and pool.ids[0] == "1"
            cure = "Its ids begin with 1: is sentence 0 missing?" if from_one else "Was the file cut off?"
            raise input_error(name, None, f"{finding}. {cure}")
        set_references(pool, lines)
    if sources is not None:
        texts = read_lines(sources)
        if len(texts) != len(pool):
            finding = f"has {len(texts)} lines, but {name} has {len(pool)} sentences. Use the source of these sentences"
            raise input_error(path_name(sources), None, finding)
        set_sources(pool, texts)


def need_references(pool: Pool, metric: Metric, option: str = "--refs") -> None:
    """Raise an InputError for the first sentence without a reference, if the metric needs references."""
    if metric.columns:
        return
    without = next((i for i in range(len(pool)) if not pool.references(i)), None)
    if without is not None:
        raise InputError(f"sentence {pool.ids[without]} has no reference, and {metric.name} needs one. Give {option}")
