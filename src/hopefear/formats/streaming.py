"""Candidate lists of any length piece by piece: pools of some sentences each, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hopefear._core import NbestParser, Pool, format_nbest
from hopefear.errors import InputError
from hopefear.formats import nbest
from hopefear.util.files import PathLike, output, path_name

SENTENCES = 256  # of a piece, about


def iter_pools(path: PathLike, format: str | None = None, missing: str = "error") -> Iterator[Pool]:
    """The sentences of a list in order, as pools over the same words and features, which grow from piece to piece."""
    parser = NbestParser(missing=missing)
    pool = Pool()
    for _ in nbest._parsed(parser, path, format, missing=missing):
        parser.collect(pool)
        if len(pool) >= SENTENCES:
            yield pool
            pool = Pool()
    parser.finish()
    parser.collect(pool)
    if len(pool):
        yield pool


class PoolWriter:
    """Writes pools as one list, in the format that the name of the file tells (``write_nbest``)."""

    def __init__(self, path: PathLike, write: Callable[[bytes], object]) -> None:
        self.path, self.written = path, 0
        self.format = "jsonl" if ".jsonl" in path_name(path) else "moses"
        self._write = write

    def add(self, pool: Pool) -> None:
        if self.format != "jsonl" and pool.number_names:
            raise InputError(f"{path_name(self.path)}: moses lists cannot store metric columns. Write JSONL instead")
        self._write(format_nbest(pool, 0, len(pool), self.format, None, self.written))
        self.written += len(pool)


@contextmanager
def pool_writer(path: PathLike) -> Iterator[PoolWriter]:
    """The file appears complete or not at all."""
    with output(path, "wb") as file:
        yield PoolWriter(path, file.write)
