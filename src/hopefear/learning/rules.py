"""Rules for one sentence out of what corrections said about its words.

Counts of corrections are added to those of the model, so that probabilities move with the evidence. Three features tell
the decoder that a rule was seen in a correction: ``corrected`` is 1 for each such rule, ``corrected_words`` the number
of source words that it covers, ``corrected_new`` the number of words on both sides that the model does not know: it
makes up for what a language model thinks of a word that it has never seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hopefear._core import SentenceRule
from hopefear.learning.alignment import WordTable
from hopefear.learning.memory import Evidence, View
from hopefear.model.directory import Model
from hopefear.model.features import PROBABILITIES

#: The features that corrections have, and what they weigh if nobody says.
FEATURES: Mapping[str, float] = {"corrected": 0.5, "corrected_words": 0.5, "corrected_new": 4.0}
_WAYS = 3  # translations of a span, at most
_PRIOR = 10.0  # occurrences that a word translation probability of the model is worth
_REMEMBERED = 50_000  # source sides
_Row = tuple[float, float, float, float, float]


class RuleMaker:
    """Makes the rules of a model's sentences."""

    def __init__(self, model: Model, table: WordTable) -> None:
        self._grammar, self._table = model.grammar, table
        names = self._grammar.names
        self._columns = [names.index(n) for n in (*PROBABILITIES, "count")]
        dense = set(model.dense_names)
        self._named: list[str] = [name for name in (*PROBABILITIES, "rule") if name in dense]
        self._known: dict[str, dict[str, _Row]] = {}

    def rules(self, view: View, words: Sequence[str]) -> list[SentenceRule]:
        """What corrections say about the words of a sentence, as the model has them."""
        rules = []
        for begin, end, ways in view.evidence(words) if view else ():
            span = words[begin:end]
            total = sum(way.weight for way in ways)
            new = sum(not self.static([word]) for word in span)
            for way in ways[:_WAYS]:
                values = self._features(span, way, total)
                features: dict[str, float] = {name: values[name] for name in self._named}
                features |= {
                    "corrected": 1.0,
                    "corrected_words": float(len(span)),
                    "corrected_new": new + self._unseen(way),
                }
                rules.append(SentenceRule(begin, end, list(way.target), features, links=way.links))
        return rules

    def _unseen(self, way: Evidence) -> float:
        """The words of a translation that the model does not know."""
        return float(sum(not self._table.knows(word) for word in way.target))

    def is_known(self, source: Sequence[str], target: Sequence[str]) -> bool:
        """Whether the model has a rule."""
        return " ".join(target) in self.static(source)

    def static(self, source: Sequence[str]) -> dict[str, _Row]:
        """The rules of the model with this source side: their probabilities and counts, by target side."""
        side = " ".join(source)
        known = self._known.get(side)
        if known is None:
            begin, end = self._grammar.find(side) if "[X" not in side else (0, 0)
            rows = self._grammar.columns[begin:end, self._columns].tolist()
            known = {self._grammar.target(rule): row for rule, row in zip(range(begin, end), rows, strict=True)}
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[side] = known
        return known

    def _features(self, span: Sequence[str], way: Evidence, total: float) -> dict[str, float]:
        static = self.static(span)
        row = static.get(" ".join(way.target))
        first = next(iter(static.values()), None)
        seen = first[4] / math.exp(first[0]) if first is not None else 0.0  # occurrences of the source side
        weight = way.weight
        if row is None:
            ef, fe = weight / (seen + total), weight / (weight + 1)
            lexical_ef, lexical_fe = self._lexical(span, way)
        else:
            ef = (row[4] + weight) / (seen + total)
            fe = (row[4] + weight) / (row[4] / math.exp(row[1]) + weight)
            lexical_ef, lexical_fe = row[2], row[3]
        return {
            "phrase_ef": math.log(ef),
            "phrase_fe": math.log(fe),
            "lexical_ef": lexical_ef,
            "lexical_fe": lexical_fe,
            "rule": 1.0,
        }

    def _lexical(self, span: Sequence[str], way: Evidence) -> tuple[float, float]:
        """The lexical weights of a rule that the model does not have, as of Koehn et al. (2003)."""
        forward: list[list[float]] = [[] for _ in way.target]
        backward: list[list[float]] = [[] for _ in span]
        for s, t in way.links:
            ef, fe = self._table.of(span[s]).get(way.target[t], (0.0, 0.0))
            forward[t].append((_PRIOR * ef + way.weight) / (_PRIOR + way.weight))
            backward[s].append((_PRIOR * fe + way.weight) / (_PRIOR + way.weight))
        return _log_product(forward), _log_product(backward)


def _log_product(words: Sequence[Sequence[float]]) -> float:
    return sum(math.log(sum(word) / len(word)) for word in words if word)
