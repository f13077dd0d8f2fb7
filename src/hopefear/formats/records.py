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
from hopefear.formats.nested import INNER, LISTS, is_cell, list_key
from hopefear.util.files import PathLike, open_text, path_name, read_whole
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
        first = data[0] if data else None
        listed = isinstance(first, Mapping) and (list_key(first) or isinstance(first.get("response"), Mapping))
        return list(data) if listed else None
    names = getattr(data, "column_names", None) or getattr(data, "columns", None)
    if isinstance(data, Mapping | str | os.PathLike) or names is None or not set(LISTS) & set(map(str, names)):
        return None
    rows: list[Mapping[str, Any]] = data.to_dict("records") if hasattr(data, "iloc") else _arrow(data).to_pylist()
    return lists_in(rows)


def _arrow(data: Any) -> Any:
    from hopefear.formats.table_files import pyarrow_for

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
    from hopefear.formats.table_files import pyarrow_for

    pyarrow: Any = pyarrow_for("A dataset")
    if not isinstance(data, str | os.PathLike):
        return data.with_format("arrow")[:]
    folder = Path(data)
    if not (folder / STATE).is_file():
        splits = sorted(path.name for path in folder.iterdir() if (path / STATE).is_file())
        cure = f"Name one: {', '.join(str(folder / split) for split in splits)}"
        raise input_error(path_name(data), None, f"holds several datasets. {cure}")
    try:
        files = [each["filename"] for each in json.loads(read_whole(folder / STATE))["_data_files"]]
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
    """Whether a file has a row for each candidate, not a list in each entry: its name tells, or its first object."""
    ending = "".join(Path(path).suffixes[-2:]).lower()
    if any(each in ending for each in TABLES):
        return True
    if is_dataset(path):
        return not set(LISTS) & set(dataset_table(path).column_names)
    if not any(each in ending for each in (".jsonl", ".ndjson")) or not Path(path).is_file():
        return False
    try:
        with open_text(path) as file:
            first = json.loads(next((line for line in file if line.strip()), ""))
    except (ValueError, InputError):
        return False
    return isinstance(first, dict) and all(name in INNER or is_cell(value) for name, value in first.items())


def several(data: Any) -> Any:
    """What is given one by one, as a list; everything else as it is."""
    return list(data) if hasattr(data, "__next__") or isinstance(data, tuple) else data
