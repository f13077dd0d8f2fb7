"""The decoder of a model with what corrections taught it: its rules' features, its language model, its weights."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hopefear.decode.hiero import Hiero
from hopefear.formats.weights import weight_vector
from hopefear.learning.memory import View
from hopefear.learning.rules import FEATURES
from hopefear.model.directory import LM_NAMES, Model
from hopefear.model.language_model import LanguageModel

NGRAMS = "corrected_ngrams"  # the weight of the language model of corrections, in a recipe
NGRAM_WEIGHT = 0.0  # docs/corrections.md says why
_NEW_WORDS = 200_000  # that a decoder may meet before another takes its place: words are never forgotten
_KEPT = 2  # decoders
#: Of the pop limit, where corrections add rules: the time per sentence stays about the same (docs/corrections.md).
BUSY = 0.6


class CorrectedDecoder:
    """A decoder, and its weights for one view."""

    def __init__(self, made: _Made, view: View) -> None:
        self.tuned = tuned = view.tuned
        self._base, self.vector = made.weights, made.vector
        self.hiero = made.busy if view else made.hiero
        if tuned:
            self.vector = made.vector.copy()
            for name, value in tuned.items():
                if (place := made.places.get(name)) is not None:
                    self.vector[place] += value

    @property
    def weights(self) -> dict[str, float]:
        """All weights by name."""
        return {name: self._base.get(name, 0.0) + self.tuned.get(name, 0.0) for name in {**self._base, **self.tuned}}


class _Made:
    """A decoder with the weights that it has before anything is learnt."""

    def __init__(self, lm: LanguageModel | None, hiero: Hiero, weights: Mapping[str, float]) -> None:
        self.lm, self.hiero, self.weights = lm, hiero, weights
        self.busy = hiero.with_pop_limit(round(hiero.pop_limit * BUSY))  # for sentences with more rules
        self.places = {name: place for place, name in enumerate(hiero.feature_names)}
        self.vector = weight_vector(weights, hiero.feature_names)
        self._most_words = len(hiero._core.vocab) + _NEW_WORDS

    @property
    def is_full(self) -> bool:
        return len(self.hiero._core.vocab) > self._most_words


class Decoders:
    """The decoders of one model; any number of threads may use them."""

    def __init__(self, model: Model, recipe: Mapping[str, Any], extra: Mapping[str, float]) -> None:
        """``extra``: more features, which only rules of sentences have, with their weights."""
        model.require("hiero", "a translator is for hiero")
        self.model = model
        self.extra = {**extra, **{name: float(recipe.get(name, value)) for name, value in FEATURES.items()}}
        self.limits: dict[str, Any] = {n: int(recipe[n]) for n in ("pop_limit", "max_options") if n in recipe}
        names = LM_NAMES[len(model.language_models) :]
        self._ngram_weight = float(recipe.get(NGRAMS, NGRAM_WEIGHT))
        #: the feature of the language model of corrections; empty: not used, or there is no room for it
        self.ngrams = names[0] if self._ngram_weight and names and names[0] in model.dense_names else ""
        self._lock = threading.Lock()
        self._made: list[_Made] = []
        self._latest: tuple[_Made, CorrectedDecoder] | None = None

    def weights(self, ngrams: bool) -> dict[str, float]:
        """The weights before anything is learnt."""
        weights = {**self.model.weights, **self.extra}
        if ngrams:
            weights[self.ngrams] = self._ngram_weight
            weights["word"] = weights.get("word", 0.0) + self._ngram_weight
        return weights

    def of(self, view: View) -> CorrectedDecoder:
        """The decoder for a view."""
        with self._lock:
            made = self._of(view.ngrams if self.ngrams else None)
            if self._latest is None or self._latest[0] is not made or self._latest[1].tuned is not view.tuned:
                self._latest = made, CorrectedDecoder(made, view)
            return self._latest[1]

    def _of(self, lm: LanguageModel | None) -> _Made:
        for made in self._made:
            if made.lm is lm and not made.is_full:
                return made
        model = self.model if lm is None else replace(self.model, language_models=(*self.model.language_models, lm))
        weights = self.weights(lm is not None)
        made = _Made(lm, Hiero(model, weights, extra=tuple(self.extra), **self.limits), weights)
        self._made = [*self._made, made][-_KEPT:]
        return made
