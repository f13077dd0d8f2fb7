"""Forests: the native file, those of decoders, PLF, and lattices of recognisers (docs/formats.md)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from hopefear._core import (
    FOREST_MAGIC,
    Forest,
    ForestFileWriter,
    ForestParser,
    Pool,
    forest_file_from_bytes,
    format_forests,
    read_forest_file,
    write_forest_file,
)
from hopefear.errors import InputError, input_error
from hopefear.formats.references import attach
from hopefear.util.files import (
    DOCUMENT,
    PACKED,
    UNLIMITED,
    PathLike,
    PathsLike,
    atomic_folder,
    atomic_write,
    iter_bytes,
    os_error,
    output,
    path_name,
    printable,
    within,
)

FOREST_FORMATS = ("native", "moses", "cdec", "travatar", "cicada", "plf", "kaldi", "openfst", "slf")
_LATTICES = ("kaldi", "openfst", "slf")  # with a table of symbols: kaldi:words.txt


def _check(format: str | None, known: Sequence[str] = FOREST_FORMATS) -> None:
    if format is None:
        return
    name, colon, _ = format.partition(":")
    if name not in known or (colon and name not in _LATTICES):
        raise InputError(f"forests: there is no format {format!r}. Choose one of {', '.join(known)}")


def _parser(format: str | None) -> tuple[ForestParser, str | None]:
    """A reader, which knows the table of symbols behind the format's colon, and the format's name."""
    parser = ForestParser()
    name, _, symbols = (format or "").partition(":")
    if symbols:
        parser.symbols(b"".join(iter_bytes(symbols)), path_name(symbols))
    return parser, name or None


def read_forests(
    path: PathsLike,
    references: PathsLike | None = None,
    format: str | None = None,
    sources: PathLike | None = None,
    verify: bool = True,
) -> Pool:
    """The forests of a tuning set, with the references in these files.

    ``path`` is a file with all sentences, or a folder (or a list) of files with one sentence each; in a folder they are
    called ``0.json.gz``, ``1.json.gz``, ... and other files are passed over. Without ``format`` the first bytes tell
    what a file is. A native file is mapped, not read; ``verify=False`` leaves its checksums alone.

    >>> hf.write_forests(hf.Hiero("translator").decode(["Das Haus steht hier."]), "dev.forests")
    >>> hf.read_forests("dev.forests")
    <Pool of 1 sentence, 153 edges, 13 features>
    """
    _check(format)
    single = isinstance(path, str | os.PathLike)
    folder = single and Path(path).is_dir()  # type: ignore[arg-type]
    if single and not folder:
        pool = _read_file(path, format, verify)  # type: ignore[arg-type]
        name = path_name(path)  # type: ignore[arg-type]
    else:
        files = _numbered(Path(path)) if folder else list(path)  # type: ignore[arg-type]
        if not files:
            raise InputError("forests: no file was given. Give at least one")
        (parser, format), pool = _parser(format), Pool()
        for number, file in enumerate(files, 1):
            for _ in _parsed(parser, file, format):
                parser.collect(pool)
            if parser.sentences != number:
                finding = f"has {parser.sentences - number + 1} sentences. A folder has one sentence per file"
                raise input_error(path_name(file), None, finding)
        parser.finish()
        parser.collect(pool)
        name = path_name(path if single else files[-1])  # type: ignore[arg-type]
    _no_repeated(pool, name)
    attach(pool, name, references, sources)
    return pool


def _no_repeated(pool: Pool, name: str) -> None:
    """Raise an InputError for two sentences with the same id, as in concatenated archives."""
    ids = pool.ids
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = next(sentence_id for sentence_id in ids if sentence_id in seen or seen.add(sentence_id))  # type: ignore[func-returns-value]
        raise input_error(name, None, f"{printable(repr(twice))} occurs twice. Give each sentence once")


def _numbered(folder: Path) -> list[PathLike]:
    """The files of a folder whose names begin with their sentence's number, none missing; or lattices, by name."""
    numbered: dict[int, Path] = {}
    try:
        names = sorted(file.name for file in folder.iterdir())
    except OSError as error:
        raise os_error(folder, error) from None
    for name in names:
        match = re.match(r"([0-9]{1,18})(\.|$)", name)
        if match is None:
            continue
        number = int(match[1])
        if number in numbered:
            finding = f"{numbered[number].name} and {name} are both sentence {number}. Keep one"
            raise input_error(path_name(folder), None, finding)
        numbered[number] = folder / name
    if not numbered:
        if lattices := [name for name in names if re.search(r"\.(slf|lat|htk|fst)(\.|$)", name)]:
            return [folder / name for name in lattices]
        raise input_error(
            path_name(folder), None, 'no file is named after a sentence, such as "0.json.gz". Check the path'
        )
    for number in range(len(numbered)):
        if number not in numbered:
            finding = f"sentence {number} has no file, but there is {numbered[max(numbered)].name}"
            raise input_error(path_name(folder), None, f"{finding}. Number them from 0 without a gap")
    return [numbered[number] for number in range(len(numbered))]


def _read_file(path: PathLike, format: str | None, verify: bool) -> Pool:
    parser, format = _parser(format)
    if format in (None, "native") and os.fspath(path) != "-":
        try:
            with Path(path).open("rb") as file:
                native = file.read(len(FOREST_MAGIC)) == FOREST_MAGIC and Path(path).is_file()
        except (OSError, ValueError):
            native = False  # iter_bytes reports why
        if native:
            return read_forest_file(os.fsdecode(path), path_name(path), verify)
    pool = Pool()
    pieces = iter_bytes(path, UNLIMITED)
    start = b""
    for piece in pieces:
        start += piece
        if len(start) >= len(FOREST_MAGIC):
            break
    if start[: len(FOREST_MAGIC)] == FOREST_MAGIC:
        return forest_file_from_bytes(start + b"".join(pieces), path_name(path), verify)
    if format == "native":
        return forest_file_from_bytes(start, path_name(path), verify)  # raises
    for _ in _parsed_pieces(parser, path, _chained(start, pieces), format):
        parser.collect(pool)
    parser.finish()
    parser.collect(pool)
    return pool


_EMPTY = "((('*EPS*',0,1),),)"


def plf_lattices(lines: Sequence[str], name: str, before: int = 0) -> Pool:
    """Lattices in PLF, one per line, ``before`` lines into the file called ``name``; an empty line is an empty one."""
    parser, pool = ForestParser(), Pool()
    parser.begin_file(name, "plf", before)
    parser.feed("".join(f"{line if line.strip() else _EMPTY}\n" for line in lines).encode())
    parser.end_file()
    parser.finish()
    parser.collect(pool)
    return pool


def _chained(start: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield start
    yield from pieces


def _parsed(parser: ForestParser, path: PathLike, format: str | None) -> Iterator[None]:
    return _parsed_pieces(parser, path, iter_bytes(path, UNLIMITED), format)


def _parsed_pieces(parser: ForestParser, path: PathLike, pieces: Iterator[bytes], format: str | None) -> Iterator[None]:
    """Reads a file, with a pause after each piece of it."""
    started = False
    before = parser.sentences
    for piece in within(path, pieces, DOCUMENT):  # a forest may be one line
        if not started:
            start = piece.removeprefix(b"\xef\xbb\xbf").lstrip()
            if not start:
                continue
            parser.begin_file(path_name(path), format or _recognised(path, start))
            started = True
        parser.feed(piece)
        yield
    if not started:
        raise input_error(path_name(path), None, "the file is empty. Was the decoder interrupted?")
    parser.end_file()
    if parser.sentences == before:
        raise input_error(path_name(path), None, "there is no forest in this file. Was the decoder interrupted?")
    yield


def _recognised(path: PathLike, start: bytes) -> str:
    if start[:1] == b"(":
        return "plf"
    if start.startswith(b"VERSION=") or (start[:1] == b"#" and b"\nVERSION=" in start[:65536]):
        return "slf"
    if start[:1] == b"#":
        return "moses"
    if _KALDI.match(start):
        return "kaldi"
    if _OPENFST.match(start):
        return "openfst"
    if start[:1] == b"{" or re.match(rb"[0-9]+ \|\|\| *\{", start):
        return "cdec"  # or Travatar or Cicada, by the keys
    if start.startswith(FOREST_MAGIC):
        raise input_error(path_name(path), None, "a native file holds all sentences. Give the file, not its folder")
    finding = f"{start[:20].decode('utf-8', 'backslashreplace')!r} is not how a file of forests begins"
    raise input_error(path_name(path), 1, f"{finding}. Give its format: {', '.join(FOREST_FORMATS)}")


_KALDI = re.compile(rb"\S+ *\r?\n[0-9]+\s+[0-9]+\s+\S+(\s+\S+)?\s+[-+0-9.e]+,[-+0-9.e]+")
_OPENFST = re.compile(rb"[0-9]+[ \t]+[0-9]+[ \t]+\S+([ \t]+\S+){0,2}[ \t]*\r?(\n|$)")


_JSON = re.compile(rb'([0-9]+ *\|\|\| *)?\{\s*"(rules|nodes|features)":\s*\[')


def forests_begin(path: PathLike, start: bytes | None = None) -> bool:
    """Whether a file, whose first bytes may be known already, begins as files of forests do."""
    start = next(iter_bytes(path), b"") if start is None else start
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(FOREST_MAGIC) or text[:1] == b"(" or text.startswith((b"# target", b"VERSION=")):
        return True
    if text[:1] == b"#":
        return b"\nVERSION=" in text[:65536]
    return any(shape.match(text) for shape in (_JSON, _KALDI, _OPENFST))


@contextmanager
def forest_writer(path: PathLike) -> Iterator[ForestFileWriter]:
    """A native file that takes pool after pool, all of one decoder.

        with forest_writer("dev.forests") as writer:
            writer.add(decoder.decode(lines))

    Memory does not grow with the number of sentences. The file appears when the block ends well.
    """
    _no_packing(path)
    ours = True  # not an error of the block
    try:
        with atomic_write(path, "wb") as file:
            writer = ForestFileWriter(file.fileno(), path_name(path), str(Path(os.path.realpath(path)).parent))
            ours = False
            yield writer
            ours = True
            writer.finish()
    except OSError as error:
        if not ours:
            raise
        raise os_error(path, error) from None


def joining(pool: Pool, like: Pool) -> Pool:
    """The pool over the words and features of another, which get what is new to them in the order of this one."""
    words, features = (
        np.array([own.add(name) for name in names], np.int32)
        for own, names in ((like.vocab, pool.vocab.names()), (like.features, pool.features.names()))
    )
    renumbered = not np.array_equal(features, np.arange(len(features)))
    joined = like[:0]
    for i, number in enumerate(pool.ids):
        f = pool[i]
        words_here = np.where(f.words < 0, f.words, words[np.maximum(f.words, 0)])  # below 0 are places of tails
        ids, values = f.sparse_ids, f.sparse_values
        if renumbered and len(ids):  # features numbered in the order of their occurrence are in the order of their ids
            ids = features[ids]
            edges = np.repeat(np.arange(len(f.sparse_begin) - 1), np.diff(f.sparse_begin))
            order = np.lexsort((ids, edges))
            ids, values = ids[order], values[order]
        forest = Forest.from_arrays(
            f.edge_begin, f.tail_begin, f.tails, f.word_begin, words_here, f.dense, like.vocab, like.features,
            sparse_begin=f.sparse_begin, sparse_ids=ids, sparse_values=values, spans=f.spans,
        )  # fmt: skip
        joined.append(number, forest, pool.source(i), pool.references(i))
    return joined


def _no_packing(path: PathLike) -> None:
    if Path(path).suffix in PACKED:
        finding = "a native file is mapped, not unpacked. Choose a name without that suffix"
        raise input_error(path_name(path), None, finding)


def write_forests(pool: Pool, path: PathLike, format: str = "native") -> None:
    """Lists, lattices or forests as a file or a folder.

    ``native``, ``travatar``, ``cicada`` and ``plf`` are files, all but the first with one sentence per line. ``moses``,
    and ``cdec`` unless the name has a suffix such as .json, are folders with one file per sentence. What a format
    cannot say is an InputError, and then nothing is written.

    >>> forests = hf.Hiero("translator").decode(["Das Haus steht hier.", "Ein rotes Boot."])
    >>> hf.write_forests(forests, "forests", format="cdec")
    >>> hf.read_forests("forests")
    <Pool of 2 sentences, 221 edges, 6 features>
    """
    _check(format, FOREST_FORMATS[:6])
    if format == "native":
        _no_packing(path)
        try:
            with atomic_write(path, "wb") as file:
                write_forest_file(pool, file.fileno(), path_name(path))
        except OSError as error:
            raise os_error(path, error) from None
        return
    try:
        if format == "moses" or (format == "cdec" and not Path(path).suffix and os.fspath(path) != "-"):
            _write_folder(pool, Path(path), format, ".gz" if format == "moses" else ".json.gz")
            return
        with output(path, "wb") as file:
            for number in range(len(pool)):
                file.write(format_forests(pool, number, number + 1, format))
    except InputError as error:
        if str(error).startswith("sentence "):
            raise input_error(path_name(path), None, str(error)) from None
        raise


def _write_folder(pool: Pool, folder: Path, format: str, suffix: str) -> None:
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise input_error(path_name(folder), None, "already exists. Remove it or choose another name")
        with atomic_folder(folder) as new:
            for number in range(len(pool)):
                with output(new / f"{number}{suffix}", "wb") as file:
                    file.write(format_forests(pool, number, number + 1, format))
    except OSError as error:
        raise os_error(folder, error) from None
