"""Word alignment of one pair of sentences, by the word translation probabilities that a model has anyway.

The rules of single words carry w(e|f) and w(f|e) (Koehn et al. 2003). Each word is linked to the word of the other side
that explains it best and stands at about the same share of its sentence (the prior of Dyer et al. 2013), in both
directions, which grow-diag-final-and makes one. Words that the model does not know go by their spelling, and by their
place among words of the other side that nothing explains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hopefear._core import ParallelText
from hopefear.model.directory import Model

Links = list[tuple[int, int]]
_DIAGONAL = 4.0  # how far the prior is drawn to the diagonal
_LEAST = 1e-3  # a probability that explains nothing
_SAME, _ALIKE, _ORPHANS = 0.5, 0.05, 0.004  # of words that are spelled the same or alike, or that both explain nothing
_RARE = -2.7  # log10 p(e) of a short word that needs a reason
_PREFIX = 4  # letters of words that are spelled alike, and of a word that needs a reason
_REMEMBERED = 50_000  # words
_EXPLAINS = 0.03  # the geometric mean of both probabilities, of words that are evidence for a translation
_FEW, _SHORT = 4, 10  # words of a sentence from which the tests are strict, or apply at all
_RATIO = 3.0  # of the lengths, at most
_CLEARLY, _LEAST_FIT = 0.4, 0.32  # 1 in 200 translations fits worse (docs/corrections.md)
_FOREIGN = 0.25  # known words of a translation, at least


@dataclass(frozen=True, slots=True)
class PairAlignment:
    """The links of a pair, and the share of its known words that they explain; 1 where too few are known."""

    links: Links
    fit: float


class WordTable:
    """w(e|f) and w(f|e) of a model."""

    def __init__(self, model: Model) -> None:
        self._grammar = model.grammar
        names = self._grammar.names
        self._columns = [names.index("lexical_ef"), names.index("lexical_fe")]
        self._known: dict[str, dict[str, tuple[float, float]]] = {}
        self._targets = self._grammar.target_vocab
        self._lm = model.language_models[0] if model.language_models else None

    def knows(self, target: str) -> bool:
        """Whether a word is in the vocabulary of the target side."""
        return self._targets.find(target) >= 0

    def of(self, word: str) -> dict[str, tuple[float, float]]:
        """The translations of a source word, each with w(e|f) and w(f|e)."""
        known = self._known.get(word)
        if known is None:
            known = self._looked_up(word)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[word] = known
        return known

    def _is_rare(self, target: str) -> bool:
        """Whether a word would not be there without a reason: a long one, or one that is seldom."""
        if self._lm is None or len(target) >= _PREFIX:
            return len(target) >= _PREFIX or not self.knows(target)
        (word,) = self._lm.full_scores(target, bos=False, eos=False)
        return bool(word.unknown or word.log10_prob < _RARE)

    def known_share(self, source: Sequence[str], target: Sequence[str]) -> float:
        """The shares of known words on both sides, added up."""
        left, right = sum(bool(self.of(word)) for word in source), sum(map(self.knows, target))
        return left / len(source) + right / len(target)

    def _looked_up(self, word: str) -> dict[str, tuple[float, float]]:
        if word.startswith("[X"):
            return {}
        begin, end = self._grammar.find(word)
        values = np.exp(self._grammar.columns[begin:end, self._columns].astype(float)).tolist()
        targets = [self._grammar.target(rule) for rule in range(begin, end)]
        return {
            e: (ef, fe) for e, (ef, fe) in zip(targets, values, strict=True) if e and " " not in e and e[:2] != "[X"
        }

    def align(self, source: Sequence[str], target: Sequence[str]) -> PairAlignment:
        """The links of a pair of tokenised sentences."""
        if not source or not target:
            return PairAlignment([], 0.0)
        forward, backward = self._explained(source, target)
        explained = np.sqrt(forward * backward) > _EXPLAINS
        possible = np.maximum(forward, backward) > _LEAST
        rare = np.array([self._is_rare(word) for word in target])  # others are often there without a reason
        orphans = np.outer(~possible.any(axis=1), ~possible.any(axis=0) & rare)
        forward[orphans], backward[orphans] = _ORPHANS, _ORPHANS
        shares = np.arange(len(source))[:, None] / len(source) - np.arange(len(target)) / len(target)
        prior = np.exp(-_DIAGONAL * np.abs(shares))
        text = ParallelText()
        text.add([" ".join(source)], [" ".join(target)])
        text.symmetrize(_best(forward * prior, 0), _best(backward * prior, 1), 1)
        links = [(int(s), int(t)) for s, t in text.links(0)]
        good = [(s, t) for s, t in links if explained[s, t]]
        left, right = {s for s, _ in good}, {t for _, t in good}
        words = sum(bool(self.of(word)) or s in left for s, word in enumerate(source))
        words += sum(self.knows(word) or t in right for t, word in enumerate(target))
        return PairAlignment(links, (len(left) + len(right)) / words if words >= 2 * _FEW else 1.0)

    def _explained(self, source: Sequence[str], target: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """How well each source word explains each target word, and vice versa."""
        forward = np.full((len(source), len(target)), _LEAST / 10)
        backward = forward.copy()
        for i, f in enumerate(source):
            table = self.of(f)
            for j, e in enumerate(target):
                ef, fe = table.get(e, (0.0, 0.0))
                if f == e:
                    ef, fe = max(ef, _SAME), max(fe, _SAME)
                elif not table and _alike(f, e):
                    ef, fe = max(ef, _ALIKE), max(fe, _ALIKE)
                forward[i, j], backward[i, j] = max(ef, _LEAST / 10), max(fe, _LEAST / 10)
        return forward, backward


def _alike(f: str, e: str) -> bool:
    if any(c.isdigit() for c in f):
        return any(c.isdigit() for c in e)
    return len(f) >= _PREFIX and f[:_PREFIX].lower() == e[:_PREFIX].lower()


def _best(values: np.ndarray, axis: int) -> np.ndarray:
    """The place of the best of each column or row; -1 where nothing explains it."""
    places: np.ndarray = values.argmax(axis=axis).astype(np.int32)
    places[values.max(axis=axis) < _LEAST] = -1
    return places


def misfit(table: WordTable, source: Sequence[str], target: Sequence[str], aligned: PairAlignment) -> str:
    """Why a correction is not learnt from, in words; empty if it fits."""
    if not source or not target:
        return "one side has no words"
    if list(source) == list(target) and len(source) >= _FEW and any(c.isalpha() for c in "".join(source)):
        return "both sides are the same"
    if max(len(source), len(target)) > _SHORT and not 1 / _RATIO <= len(target) / len(source) <= _RATIO:
        return f"{len(target)} words do not translate {len(source)}"
    if min(len(source), len(target)) < _FEW:
        return ""
    known = table.known_share(source, target)
    if table.known_share(target, source) > known + _CLEARLY:
        return "the sides seem to be swapped"
    if sum(map(table.knows, target)) < _FOREIGN * len(target) and known > 0.5:
        return "it seems to be in another language"
    return "" if aligned.fit >= _LEAST_FIT else "it does not seem to translate this sentence"
