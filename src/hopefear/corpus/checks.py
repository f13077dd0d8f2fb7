"""Mistakes that a corpus shows only when it is read: the same text twice, sides swapped, a side that is empty."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from hopefear.corpus.languages import look_swapped, looks_like
from hopefear.corpus.pair import Pair
from hopefear.errors import input_error

SEEN = 2000  # pairs of a file that are looked at before any goes on
_ENOUGH = 5  # pairs that tell that a file is the same on both sides


def checked(pairs: Iterator[Pair], name: str, languages: tuple[str, str], other: str | None = None) -> Iterator[Pair]:
    """The pairs of one file, or of two, unless the file as a whole is a mistake."""
    head = list(itertools.islice(pairs, SEEN))
    if not head:
        raise input_error(name, None, "has no sentence pairs. Give a file with sentence pairs")
    check_sides(head, name, languages, other)
    yield from head
    seen = [any(pair.source for pair in head), any(pair.target for pair in head)]
    for pair in pairs:
        if not all(seen):
            seen = [seen[0] or bool(pair.source), seen[1] or bool(pair.target)]
        yield pair
    _check_full(seen, name, languages, other)


def check_sides(head: Sequence[Pair], name: str, languages: tuple[str, str], other: str | None) -> None:
    """Complains about sides that are one text, swapped, or in other languages."""
    whole = [pair for pair in head if pair.source and pair.target]
    if len(head) < SEEN:
        _check_full([any(pair.source for pair in head), any(pair.target for pair in head)], name, languages, other)
    if len(whole) >= _ENOUGH and all(pair.source == pair.target for pair in whole):
        finding = "both sides are the same text" + (f" as in {other}" if other else "")
        raise input_error(name, None, f"{finding}. Give a text and its translation")
    source, target = languages
    if look_swapped((p.source for p in whole), (p.target for p in whole), source, target):
        finding = f"what should be {source} is {target}, and the other way round"
        if name.lower().endswith((".tmx", ".xlf", ".xliff")):
            raise input_error(name, None, f"{finding}. Its languages are exchanged: correct the codes in the file")
        cure = "Swap --source and --target, or the columns"
        raise input_error(name, None, f"{finding}. {cure}; or translate the other way: --from {target} --to {source}")
    sides = (source, [pair.source for pair in whole]), (target, [pair.target for pair in whole])
    for (language, texts), file in zip(sides, (name, other or name), strict=True):
        if found := looks_like(texts, language):
            finding = f"what should be {language} is {found}"
            raise input_error(file, None, f"{finding}. Check --from and --to, and which columns or files are which")


def _check_full(seen: Sequence[bool], name: str, languages: tuple[str, str], other: str | None) -> None:
    for full, language, file in zip(seen, languages, (name, other or name), strict=True):
        if not full:
            finding = f"every sentence is empty on the side of {language}"
            raise input_error(file, None, f"{finding}. Check the file and the languages")
