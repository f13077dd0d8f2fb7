"""A corpus of any kind as sentence pairs.

    for pair in read_pairs(["memory.tmx", "europarl.zip", "x.de", "x.en"], "de", "en"):
        print(pair.source, pair.target)

What a file is, its content tells: TMX, XLIFF, PO, JSON lines, Parquet, a zip of these; tables by their tabs or a name
in .csv; all else is plain text, whose name ends in its language. Everything is read as a stream.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hopefear.corpus.checks import checked
from hopefear.corpus.entries import Entry, is_zip, kind_of, open_entry, text_lines, zip_entries
from hopefear.corpus.languages import check_languages, is_language, primary
from hopefear.corpus.pair import Pair, one_line
from hopefear.corpus.po import read_po
from hopefear.corpus.tables import Columns, delimiter_of, read_delimited, read_json_lines, read_parquet
from hopefear.corpus.tmx import read_tmx
from hopefear.corpus.xliff import read_xliff
from hopefear.errors import InputError, input_error
from hopefear.runs.session import SILENT, Session
from hopefear.util.files import PACKED, PathLike, is_remote, path_name

_BOTH_SIDES = (".tmx", ".tsv", ".csv", ".xliff", ".xlf", ".po", ".jsonl", ".ndjson", ".json", ".parquet", ".zip")
_ENDINGS = (*_BOTH_SIDES, ".txt")


def read_pairs(
    paths: Sequence[PathLike],
    source_language: str,
    target_language: str,
    *,
    source_files: Sequence[PathLike] = (),
    target_files: Sequence[PathLike] = (),
    columns: Columns = None,
    run: Session = SILENT,
) -> Iterator[Pair]:
    """The pairs of all files, in their order; then those of ``source_files`` with their ``target_files``.

    Two plain files make a corpus if their names differ in the language only (``x.de x.en``); ``x`` names both. Sides
    may be empty: cleaning counts these. ``columns``: names or numbers of the columns of tables.
    """
    languages = check_languages(source_language, target_language)
    if len(source_files) != len(target_files):
        counts = f"{len(source_files)} source, {len(target_files)} target"
        raise InputError(f"{counts} files were given. Each source file needs its target file, in the same order")
    if not paths and not source_files:
        raise InputError("no corpus was given. Give files, or --source and --target")
    plan = _Plan(languages, columns, run)
    for path in paths:
        plan.add(path)
    plan.pair_up()
    for source, target in zip(source_files, target_files, strict=True):
        plan.add_sides(source, target)
    return plan.pairs()


def has_both_sides(path: PathLike) -> bool:
    """Whether a file has sentences and their translations, by the end of its name."""
    return path_name(path).lower().endswith(_BOTH_SIDES)


@dataclass
class _Half:
    """One side of a corpus of two plain files."""

    entry: Entry
    stem: str
    side: int
    place: int  # among the parts of the plan


class _Plan:
    """The parts of a corpus in their order, found before any is read to its end."""

    def __init__(self, languages: tuple[str, str], columns: Columns, run: Session) -> None:
        self._languages, self._columns, self._run = languages, columns, run
        self._parts: list[Callable[[], Iterator[Pair]] | None] = []
        self._halves: list[_Half] = []
        self._domains: set[str] = set()

    def pairs(self) -> Iterator[Pair]:
        for part in self._parts:
            if part is not None:
                yield from part()

    def add(self, path: PathLike) -> None:
        """A file, or what two plain files have in common."""
        if not is_remote(path) and not Path(path).exists() and (files := self._both(os.fspath(path))):
            for each in files:
                self._add_entry(open_entry(each))
        elif not is_remote(path) and Path(path).is_dir():
            for inside in self._files_in(Path(path)):
                self.add(inside)
        elif is_zip(path):
            entries = zip_entries(path)
            if not entries:
                raise input_error(path_name(path), None, "the zip is empty. Download or make it again")
            whole = {kind_of(entry) for entry in entries} != {"text"} or self._no_halves(entries)
            for entry in entries:
                if whole or self._language_at_end(entry.file)[1] is not None:
                    self._add_entry(entry)
        else:
            self._add_entry(open_entry(path))

    def add_sides(self, source: PathLike, target: PathLike) -> None:
        """Two files of lines, whatever their names; names that contradict the languages are refused."""
        for path, own, other in ((source, *self._languages), (target, *self._languages[::-1])):
            if self._language_of_name(path) == other and other != own:
                given = f"{path_name(path)}: by its name it is {other}, and it was given as {own}"
                raise InputError(f"{given}. Swap --source and --target, or --from and --to")
        if _same_file(source, target):
            raise input_error(path_name(source), None, "the same file is given for both sides. Give two files")
        first, second = open_entry(source), open_entry(target)
        for entry in (first, second):
            self._refuse_other_kinds(entry, "is given as one side of plain text. Give it without --source and --target")
        self._parts.append(self._part_of_sides(first, second, self._domain(self._language_at_end(first.file)[0])))

    def pair_up(self) -> None:
        """Find the counterpart of each plain file."""
        halves, self._halves = self._halves, []
        rest: list[_Half] = []
        while halves:
            half = halves.pop(0)
            match = next((h for h in halves if h.side != half.side and h.stem == half.stem), None)
            if match is None:
                rest.append(half)
            else:
                halves.remove(match)
                self._put(half, match)
        if len(rest) == 2 and {half.side for half in rest} == {0, 1}:  # the only ones left: x.oracle.es and x.en
            self._put(rest[0], rest[1])
        elif rest:
            code = self._languages[1 - rest[0].side]
            finding = f"plain text in {self._languages[rest[0].side]} without its counterpart in {code}"
            raise input_error(rest[0].entry.name, None, f"{finding}. Give that file too, or use --source and --target")

    def _put(self, one: _Half, other: _Half) -> None:
        source, target = sorted((one, other), key=lambda half: half.side)
        stem = source.stem if source.stem == target.stem else _common_start(source.stem, target.stem)
        self._parts[one.place] = self._part_of_sides(source.entry, target.entry, self._domain(stem))

    def _files_in(self, folder: Path) -> list[Path]:
        """The files of a folder, by their names, that have both languages or one of them."""
        files = [file for file in sorted(folder.iterdir()) if file.is_file() and not file.name.startswith(".")]
        own = [file for file in files if self._is_corpus(file.name.removesuffix(file.suffix * (file.suffix in PACKED)))]
        if not own:
            finding = f"is a folder without a corpus in {' or '.join(self._languages)}. Name a file"
            raise input_error(path_name(folder), None, finding)
        return own

    def _is_corpus(self, name: str) -> bool:
        return name.lower().endswith(_BOTH_SIDES) or self._language_at_end(name)[1] is not None

    def _both(self, prefix: str) -> list[str]:
        """The files of both languages whose names begin so."""
        files: list[str] = []
        for language in self._languages:
            names = [
                f"{prefix}.{language}{packed}"
                for packed in ("", *PACKED)
                if Path(f"{prefix}.{language}{packed}").exists()
            ]
            files += names[:1]
        return files if len(files) == 2 else []

    def _no_halves(self, entries: Sequence[Entry]) -> bool:
        return all(self._language_at_end(entry.file)[1] is None for entry in entries)

    def _add_entry(self, entry: Entry) -> None:
        kind = kind_of(entry)
        stem, side = self._language_at_end(entry.file)
        if kind == "text" and side is None:
            kind = "table" if delimiter_of(entry) else kind
        if kind in ("tmx", "xliff", "po", "jsonl", "parquet", "table"):
            read = self._reader(entry, kind, self._domain(_stem(entry.file)))
            self._parts.append(lambda: checked(read(), entry.name, self._languages))
            return
        self._refuse_other_kinds(entry, "")
        if side is not None:
            self._parts.append(None)
            self._halves.append(_Half(entry, stem, side, len(self._parts) - 1))
        elif not entry.head:
            raise input_error(entry.name, None, "the file is empty. Give one with sentence pairs")
        else:
            finding = "plain text without a tab, and its name does not end in a language"
            raise input_error(entry.name, None, f"{finding}. Give both sides: --source FILE --target FILE")

    def _reader(self, entry: Entry, kind: str, domain: str) -> Callable[[], Iterator[Pair]]:
        languages, columns = self._languages, self._columns
        readers: dict[str, Callable[[], Iterator[Pair]]] = {
            "tmx": lambda: read_tmx(entry, *languages, domain, self._run),
            "xliff": lambda: read_xliff(entry, *languages, domain),
            "po": lambda: read_po(entry, *languages, domain),
            "jsonl": lambda: read_json_lines(entry, languages, domain, columns),
            "parquet": lambda: read_parquet(entry, languages, domain, columns),
            "table": lambda: read_delimited(entry, languages, domain, columns, delimiter_of(entry)),
        }
        return readers[kind]

    def _refuse_other_kinds(self, entry: Entry, why: str) -> None:
        kind = kind_of(entry)
        known = {"tmx": "TMX", "xliff": "XLIFF", "parquet": "Parquet", "zip": "a zip in a zip", "utf-16": "UTF-16"}
        if kind == "text" or (why and kind in ("po", "jsonl", "json")):
            return
        if kind in ("tmx", "xliff", "parquet") and why:
            raise input_error(entry.name, None, f"is {known[kind]}, and {why}")
        if kind == "utf-16":
            raise input_error(entry.name, None, "is UTF-16. Convert it: iconv -f UTF-16 -t UTF-8")
        if kind == "json":
            finding = 'is one JSON array. Write one object per line: jq -c ".[]" FILE'
            raise input_error(entry.name, None, finding)
        names = {"html": "HTML", "xml": "XML of another kind than TMX and XLIFF", **known}
        finding = f"is {names.get(kind, 'a binary file')}, not a corpus"
        raise input_error(entry.name, None, f"{finding}. Give TMX, TSV, CSV, XLIFF, PO, JSONL, Parquet or plain text")

    def _part_of_sides(self, source: Entry, target: Entry, domain: str) -> Callable[[], Iterator[Pair]]:
        return lambda: checked(_side_by_side(source, target, domain), source.name, self._languages, target.name)

    def _language_of_name(self, path: PathLike) -> str | None:
        name = Path(os.fspath(path)).name
        side = self._language_at_end(name.removesuffix(Path(name).suffix) if Path(name).suffix in PACKED else name)[1]
        return None if side is None else self._languages[side]

    def _language_at_end(self, file: str) -> tuple[str, int | None]:
        """A name without the language that it ends in, and which side that is, if it is one of both."""
        name = file.removesuffix(".txt")
        match = re.fullmatch(r"(?:(.*?)[._-])?([A-Za-z]{2,3}(?:[-_][A-Z]{2})?)(?:\.\d+)?", name)
        if match is None or not (is_language(match[2]) or match[2].lower() in self._languages):
            return _stem(file), None
        code = primary(match[2])
        side = self._languages.index(code) if code in self._languages else None
        return (match[1] or "", side) if side is not None else (_stem(file), None)

    def _domain(self, stem: str) -> str:
        """A name that no other part of the corpus has, fit for a feature."""
        name = re.sub(r"[^\w.-]+|^[^\w]+", "_", stem.strip("._-")).strip("._-") or "corpus"
        chosen, number = name, 1
        while chosen in self._domains:
            number += 1
            chosen = f"{name}-{number}"
        self._domains.add(chosen)
        return chosen


def _stem(file: str) -> str:
    for ending in _ENDINGS:
        file = file.removesuffix(ending)
    return file


def _common_start(one: str, other: str) -> str:
    length = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:length]


def _same_file(one: PathLike, other: PathLike) -> bool:
    try:
        return os.fspath(one) == os.fspath(other) or Path(one).samefile(other)
    except (OSError, ValueError):
        return False


def _side_by_side(source: Entry, target: Entry, domain: str) -> Iterator[Pair]:
    """The lines of two files, which must have the same number of them."""
    readers = text_lines(source), text_lines(target)
    number = 0
    while True:
        lines = [next(reader, None) for reader in readers]
        if lines[0] is None or lines[1] is None:
            break
        number += 1
        yield Pair(one_line(lines[0][1]), one_line(lines[1][1]), None, domain, f"{source.name}:{number}")
    lengths = [
        number + (line is not None) + sum(1 for _ in reader) for line, reader in zip(lines, readers, strict=True)
    ]
    if lengths[0] != lengths[1]:
        finding = f"has {lengths[1]:,} lines, {source.name} has {lengths[0]:,}"
        raise input_error(target.name, None, f"{finding}. Parallel files have the same number of lines")
