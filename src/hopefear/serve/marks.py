"""What a page underlines: spans that stayed as they were, and terms of the glossary, on both sides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hopefear.documents.protect import Protector
from hopefear.documents.segment import Keep
from hopefear.translator.glossary import Term
from hopefear.translator.translation import Translation

_WORD = re.compile(r"\w+")


@dataclass
class Marker:
    """Finds the marks of one translator. ``protector`` knows what stays as it is."""

    protector: Protector
    terms: Sequence[Term] = ()
    _by_word: dict[str, list[Term]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        for term in self.terms:
            if match := _WORD.search(term.source):
                self._by_word.setdefault(match[0].lower(), []).append(term)

    def marks(self, translation: Translation) -> list[dict[str, Any]]:
        """Spans of both sides: ``side``, ``begin``, ``end`` in characters, ``kind`` (kept or term)."""
        marks: list[dict[str, Any]] = []
        for kind, pairs in (("kept", self._kept(translation)), ("term", self._terms(translation))):
            for source, target in pairs:
                marks.append({"side": "source", "begin": source[0], "end": source[1], "kind": kind})
                marks.append({"side": "target", "begin": target[0], "end": target[1], "kind": kind})
        return marks

    def _kept(self, translation: Translation) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """Protected spans that stand in the translation, each at a place of its own."""
        begin = 0
        taken: list[tuple[int, int]] = []
        for part in self.protector.parts(translation.source):
            text = part if isinstance(part, str) else part.text
            span = (begin, begin + len(text))
            begin = span[1]
            if isinstance(part, Keep) and (target := _target(translation, span, text, taken)):
                taken.append(target)
                yield span, target

    def _terms(self, translation: Translation) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
        """Terms of which both sides stand there, as words of their own but for an open ending."""
        taken: list[tuple[int, int]] = []
        for word in _WORD.finditer(translation.source) if self._by_word else ():
            for term in self._candidates(word[0].lower()):
                pattern = r"\s+".join(re.escape(part).replace(r"\*", r"\w*") for part in term.source.split())
                match = re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE).match(translation.source, word.start())
                if match and (target := _target(translation, match.span(), term.target, taken)):
                    taken.append(target)
                    yield match.span(), target
                    break

    def _candidates(self, word: str) -> Iterator[Term]:
        """Terms that begin with a word or, with an open ending, with its beginning."""
        yield from self._by_word.get(word, ())
        for length in range(len(word) - 1, 0, -1):
            yield from (term for term in self._by_word.get(word[:length], ()) if "*" in term.source)


def _target(
    translation: Translation, span: tuple[int, int], text: str, taken: Sequence[tuple[int, int]]
) -> tuple[int, int] | None:
    """Where a text stands in the translation: aligned with a span of the source, or else anywhere."""
    lower, wanted = translation.text.lower(), text.lower()
    if len(lower) != len(translation.text):  # capitals that are longer as small letters
        lower, wanted = translation.text, text
    links = [link for link in translation.alignment if link[0] < span[1] and span[0] < link[1]]
    for begin in [*(link[2] for link in links), lower.find(wanted)]:
        end = begin + len(text)
        free = all(end <= other[0] or other[1] <= begin for other in taken)
        if begin >= 0 and lower[begin:end] == wanted and free:
            return begin, end
    return None
