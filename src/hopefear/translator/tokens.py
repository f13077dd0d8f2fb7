"""A sentence as a decoder takes it: words with their places in the text, protected spans as words, tags between."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from hopefear.documents.segment import Keep, Segment, Tag
from hopefear.model.scripts import marks
from hopefear.model.text import LETTERS, TextPipeline, clean

_PIECE = re.compile(r"\S+")
#: Protected spans of these kinds are words of the language too: the decoder sees them, and a glossary has a say.
SOFT = frozenset(["name", "number"])


@dataclass(slots=True)
class Word:
    """A word of the source. ``start`` and ``stop`` are its place in the text without tags."""

    form: str  #: as it is spelled, without what cleaning takes away
    start: int
    stop: int
    keep: Keep | None = None

    @property
    def is_soft(self) -> bool:
        """Whether a glossary may have a say."""
        return self.keep is None or self.keep.kind in SOFT


@dataclass(slots=True)
class Words:
    """The words of a sentence, the gaps between them, and its tags by gap."""

    text: str  #: without tags
    words: list[Word] = field(default_factory=list)
    tags: list[tuple[int, Tag]] = field(default_factory=list)
    tag_places: list[int] = field(default_factory=list)  #: where each tag stands in the text

    def gap(self, place: int) -> str:
        """The white space before a word; for the number of words, that behind the last."""
        start = self.words[place - 1].stop if place > 0 else 0
        stop = self.words[place].start if place < len(self.words) else len(self.text)
        return self.text[start:stop]

    def forms(self) -> list[str]:
        """The words as they are spelled."""
        return [word.form for word in self.words]


def words_of(segment: Segment, pipeline: TextPipeline) -> Words:
    """The words of a segment. Where a text has no words for the pipeline, it has none here."""
    found = Words("")
    texts: list[str] = []
    at = 0
    for part in segment.parts:
        if isinstance(part, Tag):
            found.tags.append((len(found.words), part))
            found.tag_places.append(at)
            continue
        text = part if isinstance(part, str) else part.text
        if isinstance(part, Keep):
            if text:
                found.words.append(Word(_one_word(text), at, at + len(text), part))
        else:
            found.words += _words(text, at, pipeline.as_spelled)
        texts.append(text)
        at += len(text)
    found.text = "".join(texts)
    return found


def _one_word(text: str) -> str:
    """Something to call a protected span, without blanks."""
    return "_".join(clean(text).split()) or "_"


def _words(text: str, at: int, pipeline: TextPipeline) -> list[Word]:
    words = []
    for match in _PIECE.finditer(text):
        piece, places = _cleaned(match[0])
        first = at + match.start()
        position = 0
        tokens = pipeline.tokens(match[0])
        own: list[Word] = []
        for token, spelled in zip(tokens, pipeline.whole(tokens), strict=True):
            place = piece.find(spelled, position)
            if place < 0:  # cleaning changed how it is spelled
                place = min(position, len(piece) - 1)
            position = max(place + 1, min(place + len(spelled), len(piece)))
            own.append(Word(token, first + places[place], first + places[position]))
        for word, following in itertools.pairwise(own):
            word.stop = following.start  # what cleaning takes away is no white space
        if own:  # a piece of punctuation alone may have none
            own[-1].stop = at + match.end()
        words += own
    return words


@functools.cache
def _cluster() -> re.Pattern[str]:
    """A letter with all that cleaning may join to it: accents behind it, or the rest of a Korean syllable."""
    return re.compile(rf".[{marks()}\u1160-\u11ff]*", re.DOTALL)


def _cleaned(piece: str) -> tuple[str, Sequence[int]]:
    """A piece as cleaning leaves it, and the place in the piece of each of its characters, and of its end."""
    if piece.isascii() or clean(piece) == piece:
        return piece, range(len(piece) + 1)
    shown: list[str] = []
    places: list[int] = []
    for cluster in _cluster().finditer(piece):
        own = clean(cluster[0])
        shown.append(own)
        places += [cluster.start()] * len(own)
    return "".join(shown), [*places, len(piece)]


def labelled(words: Sequence[Word], pipeline: TextPipeline) -> tuple[list[str], str]:
    """The words as the model has them, and a letter for the kind of each."""
    pairs = pipeline.labelled([word.form for word in words])
    return [word for word, _ in pairs], "".join(LETTERS[kind] for _, kind in pairs)
