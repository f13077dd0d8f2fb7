"""The decoder of a translator: sentences in, their best translations with derivations out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Derivation, Forest, Pool, forest_consensus
from hopefear.decode.consensus import CANDIDATES, best_by_consensus
from hopefear.decode.hiero import Prepared
from hopefear.decode.translation import MBR_EDGES
from hopefear.learning.decoding import CorrectedDecoder, Decoders
from hopefear.learning.memory import Memory, View
from hopefear.model.directory import Model
from hopefear.translator.alignment import Aligner, DerivationAlignment
from hopefear.translator.glossary import FEATURE
from hopefear.translator.sentence import PRIVATE, Assembly, Chunk, Made, Sentence, joined, plain
from hopefear.translator.tokens import Word, labelled

_LOOKED_AT = 400  # derivations of a forest, when one with a given text is looked for
_ONE = 1e-6  # a beam that leaves the best derivation


def _hidden_cost(model: Model) -> float:
    """What the language model says of a word that it does not know, as a natural logarithm."""
    if not model.language_models:
        return 0.0
    lm = model.language_models[0]
    return math.log(10) * (lm.score(f"{PRIVATE}0") - lm.score(""))


@dataclass(frozen=True, slots=True)
class DecodedChunk:
    """A translation of a chunk."""

    derivation: Derivation
    score: float


@dataclass(frozen=True, slots=True)
class ScoredTranslation:
    """A translation of a sentence."""

    made: Made
    score: float
    match: float | None = None  #: how like the sentence is to one that was corrected, if it is from there


@dataclass(frozen=True, slots=True)
class RankedTranslations:
    """The translations of a sentence, best first, and what its quality is made of."""

    candidates: list[ScoredTranslation]
    agreement: float
    unknown: int
    words: int  #: of the source that are not protected
    lm: float  #: logarithm of the probability of so many words of the translation
    lm_words: int


class Engine:
    """Decodes for one translator; any number of threads may use it."""

    def __init__(self, decoders: Decoders, recipe: Mapping[str, Any], jobs: int = 0) -> None:
        self._decoders, self._jobs = decoders, jobs
        self.model = model = decoders.model
        self._mbr: str | None = recipe.get("mbr")
        # Where only agreement is asked for, it shall not depend on how large all weights are together.
        lm = abs(model.weights.get("lm", 0.0))
        self._scale = float(recipe.get("scale") or 1.0) if self._mbr else 1 / lm if lm > 0 else 1.0
        self._aligner = Aligner(model.grammar)
        self._hidden = _hidden_cost(model)
        names = decoders.of(View(Memory())).hiero.dense_names  # the same in all of them
        self._term = names.index(FEATURE)
        self._lm = names.index("lm") if model.language_models and "lm" in names else None
        self._unknown = [names.index(name) for name in ("unknown", "identity") if name in names]
        self._name = names.index("name") if "name" in names else -1

    def texts(self, sentences: Sequence[Sentence], view: View) -> list[Made]:
        """The translation of each sentence."""
        best = self._best([chunk for sentence in sentences for chunk in sentence.chunks], view)
        made, at = [], 0
        for sentence in sentences:
            own = best[at : at + len(sentence.chunks)]
            at += len(own)
            if sentence.special:
                made.append(self._assembled(sentence, own)[0])
            else:
                tokens = [token for derivation in own for token in derivation.text.split()]
                made.append(plain(sentence, tokens, self.model))
        return made

    def judged(self, sentences: Sequence[Sentence], n: int, view: View) -> list[RankedTranslations]:
        """The n best translations of each sentence, with their alignments."""
        chunks = [chunk for sentence in sentences for chunk in sentence.chunks]
        lists, agreements = self._lists(chunks, n, self._decoders.of(view))
        result, at = [], 0
        for sentence in sentences:
            until = at + len(sentence.chunks)
            result.append(self._judged(sentence, lists[at:until], agreements[at:until], n))
            at = until
        return result

    def _is_copied(self, features: Mapping[int, float], word: Word) -> bool:
        """Whether a word was copied because it has no rule. So is a name that the model has never seen: German
        writes all nouns like names."""
        if word.keep is not None:
            return False
        if any(features.get(i) for i in self._unknown):
            return True
        if not features.get(self._name):
            return False
        (form,), _ = labelled([word], self.model.source_text)
        return self.model.grammar.source_vocab.find(form) < 0

    def derivations(self, sentence: Sentence, view: View) -> list[Derivation]:
        """Of the parts of a sentence, usually one."""
        return self._best(sentence.chunks, view)

    def weights(self, view: View) -> Mapping[str, float]:
        """By which it decodes."""
        return self._decoders.of(view).weights

    def _judged(
        self, sentence: Sentence, lists: Sequence[Sequence[DecodedChunk]], agreements: Sequence[float], n: int
    ) -> RankedTranslations:
        first, aligned = self._assembled(sentence, [own[0].derivation for own in lists])
        candidates = [ScoredTranslation(first, sum(own[0].score for own in lists))]
        known = {first.text}
        # of a sentence in parts, alternatives differ in the part where they lose least
        others = [
            (other.score - own[0].score, part, rank)
            for part, own in enumerate(lists)
            for rank, other in enumerate(own[1:], 1)
        ]
        for loss, part, rank in sorted(others, key=lambda other: -other[0]) if n > 1 else ():
            ways = [own[rank if k == part else 0].derivation for k, own in enumerate(lists)]
            made, _ = self._assembled(sentence, ways)
            if made.text not in known and len(candidates) < n:
                known.add(made.text)
                candidates.append(ScoredTranslation(made, candidates[0].score + loss))
        unknown = sum(
            self._is_copied(phrase.features, sentence.words.words[phrase.begin]) for phrase in aligned.phrases
        )
        words = sum(1 for word in sentence.words.words if word.keep is None)
        lm, lm_words = self._fluency(sentence, [own[0].derivation for own in lists])
        sizes = [len(chunk.words) for chunk in sentence.chunks]
        agreement = sum(a * size for a, size in zip(agreements, sizes, strict=True)) / max(1, sum(sizes))
        return RankedTranslations(candidates, agreement, unknown, words, lm, lm_words)

    def _fluency(self, sentence: Sentence, derivations: Sequence[Derivation]) -> tuple[float, int]:
        """What the language model says of the words, but for those that only stand for protected spans."""
        if self._lm is None:
            return 0.0, 0
        hidden = sum(word.startswith(PRIVATE) for chunk in sentence.chunks for word in chunk.words)
        total = sum(float(derivation.h[self._lm]) for derivation in derivations)
        words = sum(len(derivation.words) for derivation in derivations)
        return total - hidden * self._hidden, max(0, words - hidden)

    def _assembled(self, sentence: Sentence, derivations: Sequence[Derivation]) -> tuple[Made, DerivationAlignment]:
        parts = [
            self._aligner.align(derivation, chunk.words)
            for derivation, chunk in zip(derivations, sentence.chunks, strict=True)
        ]
        aligned = joined(parts, sentence.chunks)
        return Assembly(sentence, aligned, self.model, self._term).run(), aligned

    def _forests(self, chunks: Sequence[Chunk], decoder: CorrectedDecoder, **limits: Any) -> Pool:
        prepared = Prepared([c.words for c in chunks], [c.kinds for c in chunks], [c.rules for c in chunks])
        return decoder.hiero.decode(prepared, decoder.vector, jobs=self._jobs, **limits)

    def _best(self, chunks: Sequence[Chunk], view: View) -> list[Derivation]:
        """The derivation of each chunk's translation."""
        decoder = self._decoders.of(view)
        if self._mbr is not None:
            return [own[0].derivation for own in self._lists(chunks, 1, decoder)[0]]
        return [forest.viterbi(decoder.vector) for forest in self._forests(chunks, decoder, beam=_ONE)]

    def _lists(
        self, chunks: Sequence[Chunk], n: int, decoder: CorrectedDecoder
    ) -> tuple[list[list[DecodedChunk]], list[float]]:
        """The n best derivations of each chunk with different strings, and how far the forest agrees with the first."""
        if not chunks:
            return [], []
        forests = self._forests(chunks, decoder, max_edges=MBR_EDGES)
        judged = 1 if self._mbr is None else CANDIDATES
        gains = forest_consensus(list(forests), decoder.vector, self._scale, judged, self._jobs)
        chosen: list[str | None] = [None] * len(chunks)  # the best by the model
        if self._mbr == "bleu":
            chosen = [max(own, key=lambda each: each[1])[0] if own else "" for own in gains]
        elif self._mbr is not None:
            chosen = [*best_by_consensus(forests, decoder.vector, self._mbr, self._scale, jobs=self._jobs)]
        lists = [self._n_best(forest, decoder.vector, text, n) for forest, text in zip(forests, chosen, strict=True)]
        agreements = [dict(own).get(best[0].derivation.text, 0.0) for own, best in zip(gains, lists, strict=True)]
        return lists, agreements

    def _n_best(self, forest: Forest, vector: NDArray[np.float64], chosen: str | None, n: int) -> list[DecodedChunk]:
        """The derivation of the chosen text, then the best others."""
        first: DecodedChunk | None = None
        others: list[DecodedChunk] = []
        for number, derivation in enumerate(forest.iter_kbest(vector, True)):
            if first is None and (chosen is None or derivation.text == chosen):
                first = DecodedChunk(derivation, derivation.score)
            elif len(others) < max(1, n - 1):
                others.append(DecodedChunk(derivation, derivation.score))
            if (first is not None and len(others) >= n - 1) or number >= _LOOKED_AT:
                break
        return [first, *others[: n - 1]] if first is not None else others[:n]
