"""k-best lists: text of Moses and its kin, JSON, and what other programs write (docs/formats.md)."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hopefear._core import NbestParser, NbestSentence, Pool, format_nbest, merged
from hopefear.errors import InputError, input_error, python_messages
from hopefear.formats.forests import forests_begin
from hopefear.formats.lattices import edge_features
from hopefear.formats.list_formats import FOREIGN, recognised
from hopefear.formats.listed import Candidate, Input, Listed, statistics
from hopefear.formats.missing import alike, check_policy, complete
from hopefear.formats.records import Records, dataset_pieces, is_dataset, lists_in, several
from hopefear.formats.references import References, are_texts, attach
from hopefear.formats.weights import weight_vector
from hopefear.util import plugins
from hopefear.util.files import (
    DOCUMENT,
    LONGEST,
    UNLIMITED,
    PathLike,
    PathsLike,
    iter_bytes,
    output,
    path_name,
    read_references,
    within,
)

#: Formats that are written as well, and those that are read in addition. Some take an argument: ``flat:10``.
NBEST_FORMATS = ("moses", "cdec", "jsonl")
LIST_FORMATS = (*NBEST_FORMATS, "joshua", "marian", "travatar", "json", *FOREIGN)
Lists = PathsLike | Pool | Iterable[Mapping[str, Any]]  # files, or what is in memory already
GROUP = "hopefear.formats"  # entry points of packages that add readers such as those of hopefear.formats.list_formats


def list_formats() -> list[str]:
    """All formats of lists that are read, ours and those of installed packages."""
    return list(dict.fromkeys([*LIST_FORMATS, *plugins.entry_points(GROUP)]))


def is_list_format(format: str) -> bool:
    """Whether there is a format of lists of this name; an argument may follow it."""
    name = format.partition(":")[0]
    return name in LIST_FORMATS or name in plugins.entry_points(GROUP)


def _reader(format: str) -> Callable[[Input], Iterator[Listed]] | None:
    """The reader of a format that is not the core's own."""
    name = format.partition(":")[0]
    if name in LIST_FORMATS:
        return _with_statistics if format.startswith("travatar:") else FOREIGN.get(name)
    reader: Callable[[Input], Iterator[Listed]] = plugins.load(GROUP, name)
    return reader


def _check(format: str | None) -> None:
    if format is not None and not is_list_format(format):
        known = ", ".join(list_formats())
        raise InputError(f"candidates: there is no format {format!r}. Choose one of {known}")


def _as_list(paths: Lists) -> list[PathLike]:
    if isinstance(paths, str | os.PathLike):
        return [paths]
    given = several(paths)
    if (lists := lists_in(given)) is not None:
        return [Records(lists)]
    if not isinstance(given, list) or not all(isinstance(path, str | os.PathLike) for path in given):
        cure = "A table with a row for each candidate is read by Pool.from_table, with group"
        raise InputError(f"candidates: there is no list of them in this {type(paths).__name__}. {cure}")
    if not given:
        raise InputError("candidates: no file was given. Give at least one")
    return given


@python_messages()
def read_nbest(
    paths: Lists,
    references: References | None = None,
    format: str | None = None,
    sources: PathLike | None = None,
    merge: bool = False,
    progress: Callable[[int], object] | None = None,
    missing: str = "error",
) -> Pool:
    """The candidates of a tuning set, with references: files, or texts for each translator or for each sentence.

    >>> pool = read_nbest([{"id": "0", "candidates": [{"text": "a cat", "lm": -2.5}, {"text": "cat", "lm": -1.5}]}])
    >>> pool.feature_names, pool.text(0, 1)
    (['lm'], 'cat')

    ``format`` is one of ``LIST_FORMATS``; without it, the beginning of the file tells.
    Several files are parts of one list, in order; with ``merge`` they are lists of the same sentences, whose candidates
    are joined under their ids without duplicates, those of the first file first. ``progress`` is called from time to
    time with the number of bytes read so far. ``missing`` says what becomes of scores that a candidate lacks and others
    of its sentence have: ``error``, ``zero`` or ``mean`` (``hopefear.formats.missing``). Raises InputError with file,
    line and cure.
    """
    check_policy(missing)
    files = _as_list(paths)
    if merge:
        pools = [read_nbest(path, None, format, progress=progress, missing=missing) for path in files]
        shortest, longest = min(pools, key=len), max(pools, key=len)
        if len(shortest) != len(longest):
            finding = f"has {len(shortest)} sentences, but {path_name(files[pools.index(longest)])} has {len(longest)}"
            raise input_error(
                path_name(files[pools.index(shortest)]), None, f"{finding}. Merge lists of the same sentences"
            )
        pool = merged(alike(pools, files, missing), in_order=True)
    else:
        parser = NbestParser(by_position=references is not None, missing=missing)
        pool = Pool()
        done = 0
        for path in files:
            for size in _parsed(parser, path, format, references, missing):
                parser.collect(pool)
                done += size
                if progress is not None:
                    progress(done)
        parser.finish()
        parser.collect(pool)
    attach(pool, path_name(files[-1]), references, sources)
    return pool


def _parsed(
    parser: NbestParser,
    path: PathLike,
    format: str | None,
    references: References | None = None,
    missing: str = "error",
) -> Iterator[int]:
    """Reads a file piece by piece, and yields the size of each."""
    _check(format)
    in_memory = isinstance(path, Records)
    if not in_memory and os.path.isdir(path) and not is_dataset(path):  # noqa: PTH112
        format = format or _folder(path)
        if (read := _reader(format)) is None:
            raise input_error(path_name(path), None, f"is a folder, and lists in {format} are files. Give a file")
        yield from _foreign(parser, Input(path), format, read, references, missing)
        return
    pieces = path.pieces() if isinstance(path, Records) else _pieces(path)
    start = next((piece for piece in pieces if piece), b"")
    format = format or _recognised(path, start)
    pieces = within(path, itertools.chain([start], pieces), DOCUMENT if format == "json" else LONGEST)
    if read := _reader(format):
        yield from _foreign(parser, Input(path, pieces=pieces), format, read, references, missing)
        return
    parser.begin_file(path_name(path), format)
    for piece in pieces:
        parser.feed(piece)
        yield len(piece)
    parser.end_file()
    yield 0


def _pieces(path: PathLike) -> Iterator[bytes]:
    return dataset_pieces(path) if is_dataset(path) else iter_bytes(path, UNLIMITED)


def _foreign(
    parser: NbestParser,
    data: Input,
    format: str,
    read: Callable[[Input], Iterator[Listed]],
    references: References | None,
    missing: str,
) -> Iterator[int]:
    """A list of another program, by way of JSONL."""
    name, _, data.argument = format.partition(":")
    if references is not None and name in ("flat", "nemo"):
        data.sentences = len(references) if are_texts(references) else len(read_references(references)[0])  # type: ignore[arg-type]
    parser.begin_file(data.name, "jsonl")
    for sentence in read(data):
        if name not in ("mert", "travatar"):  # these may leave out zeros
            complete(sentence, missing, data.name)
        line = sentence.encoded()
        parser.feed(line)
        yield len(line)
    parser.end_file()
    yield 0


def _with_statistics(data: Input) -> Iterator[Listed]:
    """A list of Travatar with the file of ``batch-tune -stat_in``: a line of statistics for each candidate."""
    parser = NbestParser(stream=True, missing="zero")
    parser.begin_file(data.name, "moses")
    for piece in data.pieces or iter_bytes(data.path):
        parser.feed(piece)
    parser.end_file()
    parser.finish()
    given = Input(data.argument)
    rows = iter(given.lines)
    for sentence in parser.ready():
        listed = Listed(int(sentence.id))
        forest = sentence.forest
        names = [forest.features[k] for k in range(forest.dense.shape[1])]
        for j in range(len(sentence)):
            line, text = next(rows, (0, ""))
            if not text.strip():
                given.fail(line or None, "there are fewer lines than candidates. Use the statistics of this list")
            values = [given.number(line, value, "a statistic") for value in text.split()]
            features = dict.fromkeys(names, 0.0) | edge_features(forest, j)
            listed.candidates.append(Candidate(sentence.text(j), features, statistics(values)))
        yield listed
    if next(rows, None) is not None:
        given.fail(None, "there are more lines than candidates. Use the statistics of this list")


def _folder(path: PathLike) -> str:
    """The format of a folder."""
    names = {entry.name for entry in Path(path).iterdir()}
    if "1best_recog" in names or any("output." in name for name in names):
        return "espnet"
    if names & {"acwt", "lmwt", "ac_cost", "lm_cost"}:
        return "kaldi-nbest"
    raise input_error(path_name(path), None, "is a folder. Give its format: espnet or kaldi-nbest; or a file in it")


def _recognised(path: PathLike, piece: bytes) -> str:
    """The format of a list that begins with these bytes."""
    start = piece.removeprefix(b"\xef\xbb\xbf").lstrip()
    if forests_begin(path, piece):
        raise input_error(path_name(path), None, "has forests, not lists. Use --forests in place of --nbest")
    if format := recognised(start):
        return format
    first = start.partition(b"\n")[0].rstrip()
    if start[:1] == b"[" or (start[:1] == b"{" and first[-1:] in b"{[,:"):
        return "json"
    return "jsonl" if start[:1] == b"{" else "moses"


def iter_nbest(
    paths: Lists, format: str | None = None, references: References | None = None, missing: str = "error"
) -> Iterator[NbestSentence]:
    """One sentence at a time, in bounded memory, with the text of each candidate as the file has it.

    >>> [sentence.text(0) for sentence in iter_nbest([{"id": "0", "candidates": [{"text": "a cat", "lm": -2.5}]}])]
    ['a cat']
    """
    with python_messages():
        parser = NbestParser(stream=True, missing=check_policy(missing))
        for path in _as_list(paths):
            for _ in _parsed(parser, path, format, references, missing):
                yield from parser.ready()
        parser.finish()
        yield from parser.ready()


def write_nbest(
    pool: Lists, path: PathLike, format: str | None = None, weights: Mapping[str, float] | None = None
) -> None:
    """Candidate lists as text; each number reads back as the same double.

    Without ``format`` it is JSONL if the name contains ``.jsonl``, else Moses' format. ``weights`` fill the score
    column of Moses and cdec lists; features that they do not name count nothing.

    >>> write_nbest([{"candidates": [{"text": "a cat", "lm": -2.5}]}], "list")
    >>> open("list").read()
    '0 ||| a cat ||| lm= -2.5 ||| 0\\n'
    """
    if format is not None and format not in NBEST_FORMATS:
        raise InputError(f"candidates: there is no format {format!r}. Choose one of {', '.join(NBEST_FORMATS)}")
    pool = pool if isinstance(pool, Pool) else read_nbest(pool)
    if format is None:
        format = "jsonl" if ".jsonl" in os.path.basename(os.fspath(path)) else "moses"  # noqa: PTH119
    if format != "jsonl" and pool.number_names:
        raise InputError(f"{path_name(path)}: {format} lists cannot store metric columns. Write JSONL instead")
    w = weight_vector(weights, pool.feature_names) if weights is not None else None
    with output(path, "wb") as file:
        for begin in range(0, len(pool), 64):
            file.write(format_nbest(pool, begin, min(begin + 64, len(pool)), format, w))


def read_lists(
    nbest: Sequence[PathLike],
    references: Sequence[PathLike] = (),
    progress: Callable[[int], object] | None = None,
    sources: PathLike | None = None,
    format: str | None = None,
    missing: str = "error",
) -> tuple[Pool, bool]:
    """Several lists are parts of one, or, if they begin with the same sentence, lists of the same sentences: merged."""

    def first_id(path: PathLike) -> str:
        try:
            return next((sentence.id for sentence in iter_nbest(path, format, references or None, "zero")), str(path))
        except InputError:  # a part in the middle, whose ids do not count from 0
            return str(path)

    merge = len(nbest) > 1 and "-" not in nbest and len({first_id(path) for path in nbest}) == 1
    pool = read_nbest(list(nbest), list(references) or None, format, sources, merge, progress, missing)
    return pool, merge
