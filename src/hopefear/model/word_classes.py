"""Classes of words, which class features read. See docs/model-directory.md.

They are found by exchange (``core/grammar/word_classes.h``) and stored as plain text, one file for each side: a word
and the number of its class per line, with a tab between them. Words of a class stand together, frequent ones first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Grammar, ParallelText, Vocab
from hopefear.errors import input_error
from hopefear.util.files import iter_lines

FILES = ("classes.source.txt", "classes.target.txt")
MOST = 1000  #: classes
ROUNDS = 10  #: of exchange over all words, at most

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class WordClasses:
    """The class of each word, from 0."""

    source: Mapping[str, int]
    target: Mapping[str, int]

    @classmethod
    def learn(cls, text: ParallelText, number: int, jobs: int = 0, rounds: int = ROUNDS) -> WordClasses:
        """So many classes for each side of a text; ``jobs`` do not change them."""
        found = text.word_classes(number, rounds, jobs)
        sides = ((text.source, text.source_vocab), (text.target, text.target_vocab))
        return cls(*(_by_class(classes, *side) for classes, side in zip(found, sides, strict=True)))

    def of(self, text: ParallelText | Grammar) -> tuple[Ints, Ints]:
        """The classes of the words of two vocabularies; -1 for words without."""
        return _numbers(self.source, text.source_vocab), _numbers(self.target, text.target_vocab)

    def save(self, folder: Path) -> None:
        for name, classes in zip(FILES, (self.source, self.target), strict=True):
            (folder / name).write_bytes("".join(f"{word}\t{number}\n" for word, number in classes.items()).encode())

    @classmethod
    def open(cls, folder: Path) -> WordClasses:
        return cls(*(_read(folder / name) for name in FILES))


def _by_class(classes: Ints, words: Ints, vocab: Vocab) -> dict[str, int]:
    counts = np.bincount(words, minlength=len(vocab))
    order = np.lexsort((-counts, classes))
    return {vocab[int(i)]: int(classes[i]) for i in order if classes[i] >= 0}


def _numbers(classes: Mapping[str, int], vocab: Vocab) -> Ints:
    return np.array([classes.get(vocab[i], -1) for i in range(len(vocab))], np.int32)


def _read(path: Path) -> dict[str, int]:
    classes: dict[str, int] = {}
    for line, row in enumerate(iter_lines(path), 1):
        word, _, number = row.partition("\t")
        if not word or not (number.isascii() and number.isdigit()) or int(number) >= MOST:
            finding = f"expected a word, a tab and a class below {MOST}"
            raise input_error(path, line, f"{finding}. Copy the model again, or build it again")
        classes[word] = int(number)
    return classes
