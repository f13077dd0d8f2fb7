"""A translator word by word from a small dictionary: quick, right, and with all that the server asks of one."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hopefear.errors import InputError
from hopefear.learning.corrections import Correction

WORDS = {
    "ein": "a",
    "das": "the",
    "haus": "house",
    "mann": "man",
    "ist": "is",
    "rot": "red",
    "und": "and",
    "hund": "dog",
}
TIME = "2026-01-31T12:00:00Z"
_TOKEN = re.compile(r"<[^<>]*>|\{\{\w+\}\}|\w+|\s+|.", re.DOTALL)


@dataclass(frozen=True)
class Alternative:
    text: str
    score: float


@dataclass(frozen=True)
class Quality:
    score: float
    unknown_share: float
    agreement: float


@dataclass(frozen=True)
class Translation:
    source: str
    text: str
    alternatives: tuple[Alternative, ...]
    alignment: list[tuple[int, int, int, int]]
    quality: Quality


@dataclass(frozen=True)
class Term:
    source: str
    target: str


@dataclass(frozen=True)
class Learnt:
    id: str
    status: str = "learnt"
    phrases: tuple[tuple[str, str], ...] = (("haus", "home"),)
    weights: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.id} {self.status}, 1 new phrase: haus = home"


class Taught:
    """Corrections that are remembered only."""

    def __init__(self) -> None:
        self.made: dict[str, tuple[str, str]] = {}

    def learn(self, source: str, correction: str, /, *, user: str = "", project: str = "") -> Learnt:
        identity = str(len(self.made) + 1)
        self.made[identity] = (source, correction)
        return Learnt(identity)

    def undo(self, *ids: str) -> list[str]:
        return [each for each in ids if self.made.pop(each, None)]

    def __iter__(self) -> Iterator[Correction]:
        return (Correction(name, TIME, *texts) for name, texts in self.made.items())

    def hold(self) -> None:
        """Nobody else writes."""


@dataclass
class Fake:
    """``calls`` has the number of texts of each call; each text takes ``seconds``."""

    source: str = "de"
    target: str = "en"
    name: str = "small"
    card: dict[str, Any] = field(default_factory=lambda: {"licence": "CC0"})
    words: dict[str, str] = field(default_factory=lambda: dict(WORDS))
    glossary: tuple[Term, ...] = ()
    seconds: float = 0.0
    calls: list[int] = field(default_factory=list)
    corrections: Taught | None = None

    def __call__(self, text: list[str]) -> list[str]:
        return [each.text for each in self.translations(text)]

    def translations(self, texts: Sequence[str], *, n: int = 1, format: str = "text") -> list[Translation]:
        self.calls.append(len(texts))
        if self.seconds:
            time.sleep(self.seconds * len(texts))
        if any("verboten" in text for text in texts):
            raise InputError("text 1: has the word verboten")
        if any("kaputt" in text for text in texts):
            raise ValueError("a defect of the translator")
        return [self._translation(text, n) for text in texts]

    def _translation(self, text: str, n: int) -> Translation:
        out, length, links, words, unknown = [], 0, [], 0, 0
        for match in _TOKEN.finditer(text):
            token = match[0]
            new = token
            if token.isalpha():
                words += 1
                new = self.words.get(token.lower(), token)
                unknown += token.lower() not in self.words
                if token[0].isupper() and (match.start() == 0 or token.lower() not in self.words):
                    new = new[0].upper() + new[1:]
            if not token.isspace():
                links.append((match.start(), match.end(), length, length + len(new)))
            out.append(new)
            length += len(new)
        best = "".join(out)
        others = [best, *(f"{best} ({k})" for k in range(2, n + 1))]
        share = unknown / words if words else 0.0
        quality = Quality(1.0 - share, share, 0.9)
        return Translation(text, best, tuple(Alternative(t, -float(k)) for k, t in enumerate(others)), links, quality)

    def explain(self, text: str) -> str:
        return f"source       {text}\ntranslation  {self._translation(text, 1).text}\n"

    def document(
        self, path: Path, out: Path, *, report: Callable[[str], None] | None = None, column: str | int | None = None
    ) -> None:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise InputError(f"{path}: is not UTF-8") from None
        if "schwierig" in text and report is not None:
            report(f"{path}:1: left as it was (schwierig)")
        out.write_text(self.translations([text])[0].text, encoding="utf-8")


ENGLISH = {new: old for old, new in WORDS.items()}


def german() -> Fake:
    return Fake()


def english() -> Fake:
    return Fake("en", "de", "back", words=dict(ENGLISH))
