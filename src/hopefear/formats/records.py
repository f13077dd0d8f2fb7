"""Candidate lists that are not files: objects in memory, and datasets of Hugging Face, in memory or on disk.

    Records([{"prompt": "...", "candidates": [{"text": "...", "comet": 0.8}, ...]}, ...])

Readers take :class:`Records` where they take the path of a list. Its pieces are JSON lines, so that objects in memory
mean the same as in a file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hopefear._core import Pool, format_nbest
from hopefear.errors import InputError, input_error
from hopefear.formats.json_rows import objects
from hopefear.formats.nested import INNER, LISTS, is_cell, list_key
from hopefear.util.files import PathLike, path_name, read_whole
from hopefear.util.values import plain

TOGETHER = 64  # sentences in a piece
TABLES = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".ipc")  # endings of files that are tables for sure
STATE = "state.json"  # what a folder of save_to_disk has


class Records(os.PathLike[str]):
    """Lists in memory; in messages they are called ``the candidates``."""

    def __init__(self, data: Pool | Iterable[Mapping[str, Any]]) -> None:
        self.data = data if isinstance(data, Pool) else list(data)

    def __fspath__(self) -> str:
        return "the candidates"

    def pieces(self) -> Iterator[bytes]:
        """JSON lines."""
        count = len(self.data)
        for begin in range(0, count, TOGETHER):
            end = min(begin + TOGETHER, count)
            if isinstance(self.data, Pool):
                yield format_nbest(self.data, begin, end, "jsonl", None)
            else:
                yield "".join(_line(self, number, self.data[number]) for number in range(begin, end)).encode()


def _line(where: PathLike, number: int, record: Any) -> str:
    if not isinstance(record, Mapping):
        finding = f"entry {number} is {type(record).__name__}. Give a dict for each sentence"
        raise input_error(path_name(where), None, finding)
    return json.dumps(plain(record), ensure_ascii=False) + "\n"


def lists_in(data: Any) -> Pool | list[Mapping[str, Any]] | None:
    """A pool, or the records of data in memory that hold a list of candidates each; nothing of rows and paths."""
    if isinstance(data, Pool):
        return data
    if isinstance(data, list | tuple):
        return list(data) if data and isinstance(data[0], Mapping) and _has_list(data[0]) else None
    names = getattr(data, "column_names", None) or getattr(data, "columns", None)
    if isinstance(data, Mapping | str | os.PathLike) or names is None or not set(LISTS) & set(map(str, names)):
        return None
    rows: list[Mapping[str, Any]] = data.to_dict("records") if hasattr(data, "iloc") else _arrow(data).to_pylist()
    return lists_in(rows)


def _has_list(record: Mapping[str, Any]) -> bool:
    """Whether a record holds candidates, or the answer of a server that does; there may be none of them."""
    empty = any(isinstance(record.get(name), list) and not record[name] for name in LISTS)
    return empty or list_key(record) is not None or isinstance(record.get("response"), Mapping)


def _arrow(data: Any) -> Any:
    from hopefear.formats.arrow_tables import pyarrow_for

    pyarrow = pyarrow_for("This frame")
    if is_dataset(data):
        return data.with_format("arrow")[:]
    return data if hasattr(data, "to_pylist") else pyarrow.table(data)


def is_dataset(data: Any) -> bool:
    """Whether this is a dataset of Hugging Face: an object, or a folder that ``save_to_disk`` wrote."""
    if isinstance(data, str | os.PathLike):
        return not isinstance(data, Records) and any(
            (Path(data) / name).is_file() for name in (STATE, "dataset_dict.json")
        )
    return hasattr(data, "with_format") and hasattr(data, "column_names")


def dataset_table(data: Any) -> Any:
    """The pyarrow.Table of a dataset."""
    from hopefear.formats.arrow_tables import pyarrow_for

    pyarrow: Any = pyarrow_for("A dataset")
    if not isinstance(data, str | os.PathLike):
        return data.with_format("arrow")[:]
    folder = Path(data)
    if not (folder / STATE).is_file():
        splits = sorted(path.name for path in folder.iterdir() if (path / STATE).is_file())
        if len(splits) == 1:
            return dataset_table(folder / splits[0])
        cure = f"Choose one: {', '.join(str(folder / split) for split in splits)}"
        raise input_error(path_name(data), None, f"holds several datasets. {cure}")
    try:
        files = [entry["filename"] for entry in json.loads(read_whole(folder / STATE))["_data_files"]]
        tables = []
        for name in files:
            with pyarrow.memory_map(os.fspath(folder / Path(name).name)) as file:
                tables.append(pyarrow.ipc.open_stream(file).read_all())
        return pyarrow.concat_tables(tables)
    except (ValueError, KeyError, TypeError, OSError, pyarrow.ArrowException) as error:
        finding = f"cannot be read as a dataset ({type(error).__name__})"
        raise input_error(path_name(data), None, f"{finding}. Save it again with save_to_disk") from None


def dataset_pieces(path: PathLike) -> Iterator[bytes]:
    """A dataset of candidate lists on disk, as JSON lines."""
    for batch in dataset_table(path).to_batches(max_chunksize=TOGETHER):
        yield "".join(_line(path, 0, row) for row in batch.to_pylist()).encode()


def is_table(path: PathLike) -> bool:
    """Whether a file has a row per candidate, not a list per entry, judging by its name or its first object."""
    ending = "".join(Path(path).suffixes[-2:]).lower()
    if any(suffix in ending for suffix in TABLES):
        return True
    if is_dataset(path):
        return not set(LISTS) & set(dataset_table(path).column_names)
    if not any(suffix in ending for suffix in (".json", ".ndjson")) or not Path(path).is_file():
        return False
    try:
        _, first = next(objects(path), (0, {"": ()}))
    except InputError:
        return False
    return all(name in INNER or is_cell(value) for name, value in first.items())


def several(data: Any) -> Any:
    """Data in memory in a form that readers know: a frame, a dict of columns, or a list of dicts.

    What iterators give, one record, the objects of a client of vLLM or OpenAI, a list of candidates for each prompt
    (in a list or in a dict by prompt) and a lazy frame are brought into one of these. All else stays as it is.
    """
    if isinstance(data, Pool | str | os.PathLike):
        return data
    if hasattr(data, "read") and hasattr(data, "readline"):
        raise InputError("this is an open file. Give its path")
    if fields := getattr(getattr(data, "dtype", None), "names", None):  # a structured array of NumPy
        return {name: data[name] for name in fields}
    if hasattr(data, "collect_schema") and hasattr(data, "collect"):  # a lazy frame of polars
        return data.collect()
    if _is_object(data):
        return [_as_dict(data)]
    if isinstance(data, Mapping):
        values = list(data.values())
        if values and all(map(is_dataset, values)):  # the splits of a dataset
            if len(values) > 1:
                raise InputError(f"there are several datasets: {', '.join(map(str, data))}. Give one of them")
            return values[0]
        return _by_prompt(data)
    streamed = not hasattr(data, "__len__") and hasattr(data, "__iter__") and not hasattr(data, "__arrow_c_stream__")
    if isinstance(data, tuple) or streamed:
        data = list(data)
    if not isinstance(data, list) or not data:
        return data
    if isinstance(data[0], list | tuple) and data[0] and isinstance(data[0][0], Mapping):
        return [{"candidates": list(candidates)} for candidates in data]
    return [_as_dict(item) if _is_object(item) else item for item in data]


def _by_prompt(data: Mapping[Any, Any]) -> Any:
    """One record as a list; a list of candidates for each key as records; columns as they are."""
    key = list_key(data)
    if key is not None and isinstance(data[key][0], Mapping):
        return [data]
    lists = [value for value in data.values() if isinstance(value, list) and value and isinstance(value[0], Mapping)]
    if not lists or len(lists) < len(data):
        return data
    return [{"id": str(name), "candidates": candidates} for name, candidates in data.items()]


def _is_object(value: Any) -> bool:
    """Whether this is an answer of a client library, whose attributes hold what JSON would."""
    if isinstance(value, Mapping | str | os.PathLike | Pool):
        return False
    return hasattr(value, "model_dump") or any(isinstance(getattr(value, name, None), list) for name in LISTS)


def _as_dict(value: Any, depth: int = 8) -> Any:
    """Objects as JSON has them: by their own method, or by their attributes."""
    if depth == 0 or value is None or isinstance(value, str | int | float):
        return value
    if hasattr(value, "model_dump"):  # pydantic
        return value.model_dump()
    if isinstance(value, Mapping):
        return {str(name): _as_dict(item, depth - 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_dict(item, depth - 1) for item in value]
    attributes = getattr(value, "__dict__", None)
    if attributes is None:
        attributes = {name: getattr(value, name) for name in getattr(value, "__slots__", ()) if hasattr(value, name)}
    return {name: _as_dict(item, depth - 1) for name, item in attributes.items() if not name.startswith("_")}
