"""Sentences that were corrected before, and sentences like them."""

from __future__ import annotations

from dataclasses import replace

from hopefear.learning.memory import CorrectedPair, View, with_numbers
from hopefear.translator.engine import RankedTranslations, ScoredTranslation
from hopefear.translator.sentence import Made, Sentence
from hopefear.translator.tokens import Words

_LEAST = 0.7  # of a match that is offered
_OFFERED = 2  # matches, at most


def correction_of(view: View, words: Words) -> CorrectedPair | None:
    """The correction of a sentence, if it has one and no tags."""
    return view.exact(words.text) if view and not words.tags else None


def corrected(sentence: Sentence, text: str) -> Made:
    """A sentence with its correction for a translation."""
    words = sentence.words
    return Made([f"{words.gap(0)}{text}{words.gap(sentence.length) if sentence.length else ''}"])


def with_memory(judged: RankedTranslations, sentence: Sentence, view: View, n: int) -> RankedTranslations:
    """A sentence's translations: its correction first, then what the model says, with corrections of sentences like it.

    A match is worth as much as the best that the model says, so it comes right behind.
    """
    if not view:
        return judged
    best = judged.candidates[0]
    if sentence.recalled is not None:
        first = ScoredTranslation(corrected(sentence, sentence.recalled.correction), best.score, 1.0)
        others = [each for each in judged.candidates if each.made.text != first.made.text]
        return replace(judged, candidates=[first, *others][:n], agreement=1.0, unknown=0, lm=0.0, lm_words=0)
    if n < 2 or sentence.words.tags:
        return judged
    words = [word for chunk in sentence.chunks for word in chunk.words]
    known = {each.made.text for each in judged.candidates[:1]}
    offers = []
    for match, pair in view.near(words, _LEAST, _OFFERED):
        text = with_numbers(pair, words) or pair.correction
        offer = ScoredTranslation(corrected(sentence, text), best.score, min(match, 0.99))
        if offer.made.text not in known:
            known.add(offer.made.text)
            offers.append(offer)
    rest = [each for each in judged.candidates[1:] if each.made.text not in known]
    return replace(judged, candidates=[best, *offers, *rest][:n])
