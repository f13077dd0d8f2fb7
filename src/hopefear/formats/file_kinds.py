"""The kind of a file by its first bytes, so that an error can say which file was given for which option.

    with explained(lists=["dev.nbest"], texts=["ref.0"]):
        pool = read_nbest("dev.nbest", ["ref.0"])

Nothing is looked at unless reading fails.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from hopefear._core import FOREST_MAGIC
from hopefear.errors import InputError, input_error
from hopefear.util.files import PathLike, iter_bytes, packed_in_name_only, path_name

START = 1 << 16  # bytes that are read to detect the kind
RECORDS = ("run.json", "weigh.json", "compare.json")


def kind_of(path: PathLike) -> str:
    """``lists``, ``forests`` or ``text``; empty if the kind cannot be detected."""
    if os.fspath(path) == "-" or not Path(path).is_file():
        return ""
    start = b""
    with suppress(InputError):
        start = next(iter_bytes(path), b"")[:START]
    if start.startswith(FOREST_MAGIC):
        return "forests"
    line = start.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")[0]
    if line.count(b"|||") >= 2 or (line.startswith(b"{") and b'"candidates"' in line):
        return "lists"
    return "text" if line and b"\0" not in line and line[:1] not in b"{[" else ""


@contextmanager
def explained(
    *,
    lists: Sequence[PathLike] = (),
    texts: Sequence[PathLike] = (),
    forests: Sequence[PathLike] = (),
    weights: Sequence[PathLike] = (),
) -> Iterator[None]:
    """If reading fails because a file is not of the kind that its option takes, the error says so."""
    try:
        yield
    except InputError as error:
        raise _confusion(str(error), lists, texts, forests) or _no_weights(weights) or error from None


def _no_weights(paths: Sequence[PathLike]) -> InputError | None:
    """If a file that should have weights has candidates, or the record of a run."""
    for path in paths:
        if Path(path).name in RECORDS and Path(path).is_file():
            return input_error(path_name(path), None, "is the record of a run, without its weights. Give its folder")
        if (kind := kind_of(path)) in ("lists", "forests"):
            return input_error(path_name(path), None, f"has {kind} of candidates, not weights. Give a file of weights")
    return None


def _confusion(
    detail: str, lists: Sequence[PathLike], texts: Sequence[PathLike], forests: Sequence[PathLike]
) -> InputError | None:
    for path in (*lists, *texts, *forests):
        if ending := packed_in_name_only(path):
            finding = f"its name ends in {ending}, but its content does not. Rename it, copy it or make it again"
            if path in texts or kind_of(path) != "lists":
                return input_error(path_name(path), None, finding)
    plain = next((path for path in lists if kind_of(path) == "text"), None)
    listed = next((path for path in texts if kind_of(path) == "lists"), None)
    if plain is not None and listed is not None:
        finding = f"has no candidates, and {path_name(listed)} has. Were --nbest and --refs swapped?"
        return input_error(path_name(plain), None, finding)
    if listed is not None:
        finding = f"{detail.rpartition('. ')[0] or detail}. {path_name(listed)} is a candidate list, not text"
        return InputError(f"{finding}: the best of each sentence are what hopefear rerank prints")
    for path in lists:
        if kind_of(path) == "forests":
            return input_error(path_name(path), None, "has forests, not lists. Use --forests in place of --nbest")
    for path in forests:
        if kind_of(path) == "lists":
            return input_error(path_name(path), None, "has lists, not forests. Use --nbest in place of --forests")
    return None
