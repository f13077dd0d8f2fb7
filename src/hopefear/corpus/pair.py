"""A sentence and its translation, with where they come from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """A sentence pair of a corpus."""

    source: str
    target: str
    document: str | None  #: the document that it is part of, where the corpus has documents
    domain: str  #: the name of the corpus
    origin: str  #: file:line


def one_line(text: str) -> str:
    """A text with single blanks for every kind of white space."""
    return " ".join(text.split())
