"""Rules for one sentence, extracted from corrections that have its words (:class:`~hopefear._core.LearntRules`).

Three features tell the decoder that a rule was seen in a correction: ``corrected`` is 1 for each such rule,
``corrected_words`` the number of source words that it covers, ``corrected_new`` the number of words on both sides that
the model does not know: it makes up for what a language model thinks of a word that it has never seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopefear._core import LearntRules, SentenceRule
from hopefear.learning.memory import PHRASE, CorrectedPair, View
from hopefear.model.directory import Model
from hopefear.model.features import PROBABILITIES
from hopefear.model.options import BuildOptions

#: The features of corrections and their default weights.
FEATURES: Mapping[str, float] = {"corrected": 0.5, "corrected_words": 0.5, "corrected_new": 4.0}


class RuleMaker:
    """Makes the rules of a model's sentences. Pairs are added in the order of the memory."""

    def __init__(self, model: Model, decay: float = 0.9995) -> None:
        """``decay``: what an occurrence is worth, for each pair that came after it."""
        self._grammar = model.grammar
        dense, options = set(model.dense_names), model.info["options"]
        self._core = LearntRules(
            model.grammar,
            [name for name in (*PROBABILITIES, "rule") if name in dense],
            max_phrase=PHRASE,
            max_source_symbols=int(options.get("max_source_symbols", BuildOptions.max_source_symbols)),
            min_hole=int(options.get("min_hole", BuildOptions.min_hole)),
            max_span=model.max_span,
            tight=bool(options.get("tight", BuildOptions.tight)),
            decay=decay,
        )

    def add(self, pair: CorrectedPair) -> None:
        """Tells it of a pair."""
        self._core.add(" ".join(pair.source), " ".join(pair.target), [place for link in pair.links for place in link])

    def rules(self, view: View, words: Sequence[str]) -> list[SentenceRule]:
        """Rules from corrections for the words of a sentence, in the model's tokens."""
        return self._core.rules(list(words), view.live) if view else []

    def is_known(self, view: View, source: Sequence[str], target: Sequence[str]) -> bool:
        """Whether the model or a correction has a phrase pair."""
        if self._core.has(list(source), list(target), view.live):
            return True
        begin, end = self._grammar.find(" ".join(source))
        return any(self._grammar.target(rule) == " ".join(target) for rule in range(begin, end))
