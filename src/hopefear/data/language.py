"""Parallel text from a small synchronous grammar, for tests and trials: ambiguity, reordering and noise, by a seed.

The source language is made up: verbs come last (SOV), adjectives and possessors follow their nouns, relative clauses
precede them, and particles mark subjects and objects. The target language has the order of English, with
articles that the source does not have and a two-word negation. Words are drawn with Zipf's law; some source nouns mean
two things, and the verb tells which; some target words have synonyms, so that several references differ.

    data = SyntheticParallel(seed=1)
    pairs = data.pairs(2000)                    # SentencePair(source, target, links)
    test = data.pairs(100, stream=1, noise=0)   # another part of the same language
    data.references(test[0], 4)                 # four ways to say it
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


class Leaf(NamedTuple):
    """A meaning in the tree of a sentence: its word in the source, and the ways to say it in the target."""

    source: str
    choices: tuple[str, ...]


Tree = tuple[str, tuple["Tree | Leaf", ...]]
Piece = tuple[list[str], list[str], list[tuple[int, int]]]  # source words, target words, links


class SentencePair(NamedTuple):
    """Two tokenised sentences and the word alignment by construction (before noise)."""

    source: str
    target: str
    links: tuple[tuple[int, int], ...]
    tree: Tree


@dataclass(frozen=True)
class SyntheticParallel:
    """The language of a seed: its vocabulary, and as many sentences as you like."""

    seed: int = 1
    nouns: int = 120
    verbs: int = 40
    adjectives: int = 40
    noise: float = 0.03  #: share of target words that are dropped, doubled, swapped or replaced

    def pairs(self, count: int, *, stream: int = 0, noise: float | None = None) -> list[SentencePair]:
        """``count`` sentence pairs; each ``stream`` is another part of the language, the same at every call."""
        return [self._pair(np.random.default_rng([self.seed, stream, i]), noise) for i in range(count)]

    def references(self, pair: SentencePair, count: int) -> list[str]:
        """Translations of a pair's sentence without noise; the first takes the first choice everywhere."""
        rng = np.random.default_rng([self.seed, 7, len(pair.source), len(pair.target)])
        return [" ".join(_say(pair.tree, rng if i else None)[1]) for i in range(count)]

    def _pair(self, rng: np.random.Generator, noise: float | None) -> SentencePair:
        tree = self._sentence(rng, 0)
        source, target, links = _say(tree, rng)
        words = _noisy(target, rng, self.noise if noise is None else noise, self._word("e", 10**6))
        return SentencePair(" ".join(source), " ".join(words), tuple(links), tree)

    # The vocabulary: words are spelled by their numbers, so that nothing needs to be stored.

    def _word(self, language: str, number: int) -> str:
        return _spell(self.seed, language, number)

    def _leaf(self, kind: int, number: int, sense: int = 0) -> Leaf:
        key = kind * 10_000 + number
        choices = [self._word("e", 2 * key + sense)]
        if number % 4 == 1:  # a synonym
            choices.append(self._word("e", 200_000 + key))
        return Leaf(self._word("f", key), tuple(choices))

    @staticmethod
    def _zipf(rng: np.random.Generator, size: int) -> int:
        weights = 1.0 / np.arange(2, size + 2)
        return int(rng.choice(size, p=weights / weights.sum()))

    # The grammar. Each node's name says how its children are ordered in the two languages: see _say.

    def _sentence(self, rng: np.random.Generator, depth: int) -> Tree:
        verb = self._zipf(rng, self.verbs)
        subject = self._noun_phrase(rng, depth, 0)
        parts: list[Tree | Leaf] = [subject, self._leaf(1, verb)]
        if rng.random() < 0.75:
            parts.append(self._noun_phrase(rng, depth, verb % 2))
        name = "negated" if rng.random() < 0.15 else "clause"
        tree: Tree = (name, tuple(parts))
        if depth == 0 and rng.random() < 0.2:
            return ("joined", (tree, Leaf("ki", ("and", "while")), self._sentence(rng, 1)))
        return tree

    def _noun_phrase(self, rng: np.random.Generator, depth: int, sense: int) -> Tree:
        number = self._zipf(rng, self.nouns)
        phrase: Tree = ("noun", (self._leaf(0, number, sense if number % 5 == 2 else 0),))
        if rng.random() < 0.35:
            phrase = ("adjective", (phrase, self._leaf(2, self._zipf(rng, self.adjectives))))
        phrase = ("article", (phrase,))
        if depth < 2 and rng.random() < 0.15:
            phrase = ("possessor", (phrase, self._noun_phrase(rng, depth + 1, 0)))
        if depth < 1 and rng.random() < 0.12:
            phrase = ("relative", (phrase, self._sentence(rng, depth + 1)))
        return phrase


@functools.lru_cache(maxsize=100_000)
def _spell(seed: int, language: str, number: int) -> str:
    rng = np.random.default_rng([seed, ord(language), number])
    onsets, vowels = ("bdgklmnprstvz", "aeiou") if language == "f" else ("bcdfghlmnprstw", "aeiouy")
    syllables = 2 + int(rng.integers(0, 2))
    return "".join(onsets[rng.integers(len(onsets))] + vowels[rng.integers(len(vowels))] for _ in range(syllables))


def _say(node: Tree | Leaf, rng: np.random.Generator | None) -> Piece:
    """Source words, target words and links of a subtree; without rng the first choices."""
    if isinstance(node, Leaf):
        pick = 0 if rng is None else int(rng.integers(len(node.choices)))
        words = node.choices[pick].split()
        return [node.source], words, [(0, t) for t in range(len(words))]
    name, children = node
    parts = [_say(child, rng) for child in children]
    the, that, of, does, not_ = [_piece(target=word) for word in ("the", "that", "of", "does", "not")]
    wa, wo, na, no, to = [_piece(source=word) for word in ("wa", "wo", "na", "no", "to")]
    match name:
        case "noun":
            return _join(parts, parts)
        case "article":
            return _join(parts, [the, *parts])
        case "adjective":  # noun adjective -> adjective noun
            return _join(parts, parts[::-1])
        case "possessor":  # possessed possessor no -> possessed of possessor
            return _join([*parts, no], [parts[0], of, parts[1]])
        case "relative":  # clause to noun -> noun that clause
            return _join([parts[1], to, parts[0]], [parts[0], that, parts[1]])
        case "joined":
            return _join(parts, parts)
        case _:  # subject wa (object wo) verb (na) -> subject (does not) verb (object)
            objects = parts[2:]
            marked = [piece for item in objects for piece in (item, wo)]
            negated = name == "negated"
            source = [parts[0], wa, *marked, parts[1], *([na] if negated else [])]
            target = [parts[0], *([does, not_] if negated else []), parts[1], *objects]
            words, spoken, links = _join(source, target)
            if negated:  # the particle goes with "not"
                links.append((len(words) - 1, len(parts[0][1]) + 1))
            return words, spoken, sorted(links)


def _piece(source: str = "", target: str = "") -> Piece:
    return source.split(), target.split(), []


def _join(source: Sequence[Piece], target: Sequence[Piece]) -> Piece:
    """Pieces in their two orders; a piece that is in both keeps its links."""
    words = [word for piece in source for word in piece[0]]
    spoken = [word for piece in target for word in piece[1]]
    links = []
    s = 0
    for piece in source:
        t = 0
        for other in target:
            if other is piece:
                links += [(s + a, t + b) for a, b in piece[2]]
            t += len(other[1])
        s += len(piece[0])
    return words, spoken, sorted(links)


def _noisy(words: list[str], rng: np.random.Generator, noise: float, odd: str) -> list[str]:
    noisy: list[str] = []
    for word in words:
        if rng.random() >= noise:
            noisy.append(word)
            continue
        match int(rng.integers(4)):
            case 0:
                continue
            case 1:
                noisy += [word, word]
            case 2:
                noisy.insert(max(0, len(noisy) - 1), word)
            case _:
                noisy.append(odd)
    return noisy or words
