"""k-best lists: Moses text, cdec and Joshua text, JSONL (docs/formats.md)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from hopefear._core import FOREST_MAGIC, NbestParser, NbestSentence, Pool, format_nbest, merged
from hopefear.errors import InputError, input_error
from hopefear.formats.references import attach
from hopefear.formats.weights import weight_vector
from hopefear.util.files import PathLike, PathsLike, iter_bytes, output, path_list, path_name

NBEST_FORMATS = ("moses", "cdec", "jsonl")


def _check(format: str | None) -> None:
    if format is not None and format not in NBEST_FORMATS:
        raise InputError(f"candidates: no format is called {format!r}. Choose one of {', '.join(NBEST_FORMATS)}")


def _as_list(paths: PathsLike) -> list[PathLike]:
    found = path_list(paths)
    if not found:
        raise InputError("candidates: no file was named. Name at least one")
    return found


def read_nbest(
    paths: PathsLike,
    references: PathsLike | None = None,
    format: str | None = None,
    sources: PathLike | None = None,
    merge: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Pool:
    """The candidates of a tuning set, with the references in these files.

    ``format`` is ``moses``, ``cdec`` (Joshua's too) or ``jsonl``; without it, the first character of the file tells.
    Several files are parts of one list, in order; with ``merge`` they are lists of the same sentences, whose candidates
    are joined under their ids without duplicates, those of the first file first. ``progress`` is called from time to
    time with the number of bytes read so far. Raises InputError with file, line and cure.
    """
    files = _as_list(paths)
    if merge:
        pools = [read_nbest(path, None, format, progress=progress) for path in files]
        shortest, longest = min(pools, key=len), max(pools, key=len)
        if len(shortest) != len(longest):
            finding = f"has {len(shortest)} sentences, but {path_name(files[pools.index(longest)])} has {len(longest)}"
            raise input_error(
                path_name(files[pools.index(shortest)]), None, f"{finding}. Merge lists of the same sentences"
            )
        pool = merged(pools, in_order=True)
    else:
        parser = NbestParser(by_position=references is not None)
        pool = Pool()
        done = 0
        for path in files:
            for size in _parsed(parser, path, format):
                parser.collect(pool)
                done += size
                if progress is not None:
                    progress(done)
        parser.finish()
        parser.collect(pool)
    attach(pool, path_name(files[-1]), references, sources)
    return pool


def _parsed(parser: NbestParser, path: PathLike, format: str | None) -> Iterator[int]:
    """Reads a file, with a pause after each piece of it that tells the size of the piece."""
    _check(format)
    started = False
    for piece in iter_bytes(path):
        if piece and not started:
            parser.begin_file(path_name(path), format or _recognised(path, piece))
            started = True
        parser.feed(piece)
        yield len(piece)
    if not started:
        parser.begin_file(path_name(path), format or "moses")
    parser.end_file()
    yield 0


def _recognised(path: PathLike, piece: bytes) -> str:
    """The format of a list that begins with these bytes."""
    start = piece.removeprefix(b"\xef\xbb\xbf").lstrip()
    if piece.startswith(FOREST_MAGIC[: len(piece)]) or _FOREST.match(start):
        raise input_error(path_name(path), None, "holds forests, not lists. Give it as --forests")
    first = start.partition(b"\n")[0].rstrip()
    if start[:1] == b"[" or (start[:1] == b"{" and first[-1:] in b"{[,:"):
        return "json"
    return "jsonl" if start[:1] == b"{" else "moses"


_FOREST = re.compile(rb'\(\(|# target|([0-9]+ \|\|\| *)?\{ *"(rules|nodes|features)": *\[')


def iter_nbest(paths: PathsLike, format: str | None = None) -> Iterator[NbestSentence]:
    """One sentence at a time, in bounded memory, with the text of each candidate as the file has it."""
    parser = NbestParser(stream=True)
    for path in _as_list(paths):
        for _ in _parsed(parser, path, format):
            yield from parser.ready()
    parser.finish()
    yield from parser.ready()


def write_nbest(
    pool: Pool, path: PathLike, format: str | None = None, weights: Mapping[str, float] | None = None
) -> None:
    """Candidate lists as text; each number reads back as the same double.

    Without ``format`` it is JSONL if the name contains ``.jsonl``, else Moses' format. ``weights`` fill the score
    column of Moses and cdec lists; features that they do not name count nothing.
    """
    _check(format)
    if format is None:
        format = "jsonl" if ".jsonl" in os.path.basename(os.fspath(path)) else "moses"  # noqa: PTH119
    if format != "jsonl" and pool.number_names:
        raise InputError(f"{path_name(path)}: {format} lists have no place for metric columns. Write JSONL instead")
    w = weight_vector(weights, pool.feature_names) if weights is not None else None
    with output(path, "wb") as file:
        for begin in range(0, len(pool), 64):
            file.write(format_nbest(pool, begin, min(begin + 64, len(pool)), format, w))


def read_lists(
    nbest: Sequence[PathLike],
    references: Sequence[PathLike] = (),
    progress: Callable[[int], object] | None = None,
    sources: PathLike | None = None,
) -> tuple[Pool, bool]:
    """Several lists are parts of one, or, if they begin with the same sentence, lists of the same sentences: merged."""

    def first_id(path: PathLike) -> str:
        try:
            return next((sentence.id for sentence in iter_nbest(path)), str(path))
        except InputError:  # a part in the middle, whose ids do not count from 0
            return str(path)

    merge = len(nbest) > 1 and "-" not in nbest and len({first_id(path) for path in nbest}) == 1
    pool = read_nbest(list(nbest), list(references) or None, sources=sources, merge=merge, progress=progress)
    return pool, merge
