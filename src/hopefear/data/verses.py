"""The corpus of the demonstration: old Bible translations in the public domain, from data packages (extra ``demo``).

Young's Literal Translation (1862) keeps the word order of the Hebrew and the Greek; the World English Bible is plain
modern English. From the one to the other is a translation task that needs real reordering, and everybody can read both
sides. References are the World English Bible, the American Standard Version (1901) and the King James Version.

Whole books are kept apart for tuning, dev and test. The training text is the prose of the other books, some 20,000
verses; poetry (Psalms, Proverbs, Job) and the two longest prophets are left out, so that a model is built in a minute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hopefear.errors import InputError
from hopefear.util.files import PathLike, atomic_write
from hopefear.util.values import package

SOURCE = "ylt"
REFERENCES = ("web", "asv", "kjv")  # the first is the target of the training text

# books by their numbers in the verse ids, 1 Genesis to 66 Revelation
PARTS = {
    "tune": (8, 9, 47),  # Ruth, 1 Samuel, 2 Corinthians
    "dev": (7, 45),  # Judges, Romans
    "test": (6, 46),  # Joshua, 1 Corinthians
}
_LEFT_OUT = (18, 19, 20, 23, 24)  # Job, Psalms, Proverbs, Isaiah, Jeremiah

_NUMBER = re.compile(r"^\d+\.\s*")
_APOSTROPHE = re.compile(r"(?<=\w)`(?=\w)")


@dataclass(frozen=True)
class Verse:
    """One verse: its id (book, chapter and verse as in 41001001), the source, and the references."""

    id: int
    source: str
    references: tuple[str, ...]

    @property
    def part(self) -> str | None:
        """``train``, ``tune``, ``dev``, ``test``, or None for a book that is left out."""
        book = self.id // 1_000_000
        if book in _LEFT_OUT:
            return None
        return next((part for part, books in PARTS.items() if book in books), "train")


def _clean(text: str) -> str:
    """A verse without its number and the brackets around added words, with usual quotation marks and apostrophes."""
    text = _NUMBER.sub("", text.strip())
    text = _APOSTROPHE.sub("'", text).replace("`", '"')
    return " ".join(text.replace("[", "").replace("]", "").split())


def read_verses() -> Iterator[Verse]:
    """All verses that the four translations share, in the order of the books."""
    bibles = []
    for version in (SOURCE, *REFERENCES):
        needed = f"the demonstration needs the package pythonbible-{version}"
        bibles.append(package(f"pythonbible_{version}.plain_text_bible", needed, "'hopefear[demo]'").bible)
    shared = set.intersection(*(set(bible.get_verse_ids()) for bible in bibles))
    for verse_id in sorted(shared):
        source, *references = (_clean(bible.get_scripture(verse_id)) for bible in bibles)
        if source and all(references):
            yield Verse(verse_id, source, tuple(references))


def write_verses(folder: PathLike, overwrite: bool = False) -> dict[str, int]:
    """Plain files ``train.source``, ``train.target``, and ``PART.source``, ``PART.ref.0`` to ``.2``; lines per part."""
    folder = Path(folder)
    names = ["train.source", "train.target"]
    names += [f"{part}.{side}" for part in PARTS for side in ("source", *(f"ref.{i}" for i in range(len(REFERENCES))))]
    if not overwrite and all((folder / name).exists() for name in names):  # else it was killed while it wrote
        raise InputError(f"{folder}: already has a corpus. Choose another --out, or add --overwrite")
    folder.mkdir(parents=True, exist_ok=True)
    parts: dict[str, list[Verse]] = {"train": [], **{part: [] for part in PARTS}}
    for verse in read_verses():
        if verse.part:
            parts[verse.part].append(verse)
    for part, verses in parts.items():
        files = {f"{part}.source": [verse.source for verse in verses]}
        if part == "train":
            files["train.target"] = [verse.references[0] for verse in verses]
        else:
            for i in range(len(REFERENCES)):
                files[f"{part}.ref.{i}"] = [verse.references[i] for verse in verses]
        for name, lines in files.items():
            with atomic_write(folder / name) as file:
                file.writelines(line + "\n" for line in lines)
    return {part: len(verses) for part, verses in parts.items()}
