"""k-best lists: Moses text, cdec and Joshua text, JSONL (docs/formats.md)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from hopefear._core import NbestParser, NbestSentence, Pool, merged, set_references, set_sources
from hopefear.errors import InputError, input_error
from hopefear.files import PathLike, iter_bytes, path_name, read_lines, read_references

__all__ = ["iter_nbest", "read_nbest"]

PathsLike = PathLike | Sequence[PathLike]


def _as_list(paths: PathsLike) -> list[PathLike]:
    found = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not found:
        raise InputError("candidates: no file was named. Name at least one")
    return found


def read_nbest(
    paths: PathsLike,
    references: PathsLike | None = None,
    format: str | None = None,
    sources: PathLike | None = None,
    merge: bool = False,
) -> Pool:
    """The candidates of a tuning set, with the references in these files.

    Several files are parts of one list, in order; with ``merge`` they are lists of the same sentences, whose candidates
    are joined under their ids without duplicates. Raises InputError with file, line and cure.
    """
    files = _as_list(paths)
    if merge:
        pools = [read_nbest(path, None, format) for path in files]
        shortest, longest = min(pools, key=len), max(pools, key=len)
        if len(shortest) != len(longest):
            finding = f"has {len(shortest)} sentences, but {path_name(files[pools.index(longest)])} has {len(longest)}"
            raise input_error(
                path_name(files[pools.index(shortest)]), None, f"{finding}. Merge lists of the same sentences"
            )
        pool = merged(pools)
        lines = None if references is None else read_references(references, len(pool))
    else:
        lines = None if references is None else read_references(references)
        parser = NbestParser(reference_count=-1 if lines is None else len(lines[0]))
        pool = Pool()
        for path in files:
            _parse(parser, path)
            parser.collect(pool)
        parser.finish()
        parser.collect(pool)
        if lines is not None and len(lines[0]) != len(pool):
            finding = f"the list ends after {len(pool)} sentences, but the references have {len(lines[0])} lines"
            raise input_error(path_name(files[-1]), None, f"{finding}. Was the file cut off?")
    if lines is not None:
        set_references(pool, lines)
    if sources is not None:
        texts = read_lines(sources)
        if len(texts) != len(pool):
            finding = f"has {len(texts)} lines, but the list has {len(pool)} sentences. Use the source of this list"
            raise input_error(path_name(sources), None, finding)
        set_sources(pool, texts)
    return pool


def _parse(parser: NbestParser, path: PathLike) -> None:
    parser.begin_file(path_name(path))
    for piece in iter_bytes(path):
        parser.feed(piece)
    parser.end_file()


def iter_nbest(paths: PathsLike, format: str | None = None) -> Iterator[NbestSentence]:
    """One sentence at a time, in bounded memory, with the text of each candidate as the file has it."""
    parser = NbestParser(stream=True)
    for path in _as_list(paths):
        parser.begin_file(path_name(path))
        for piece in iter_bytes(path):
            parser.feed(piece)
            yield from parser.ready()
        parser.end_file()
    parser.finish()
    yield from parser.ready()
