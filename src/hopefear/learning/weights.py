"""One online update of the weights for each correction: hope and fear in the forest of the sentence (Chiang 2012).

The sentence is decoded with what was known before its correction, so that its own rules take no part. AROW
(algorithm 3) moves the weights of all features of the decoder in which hope and fear differ, in small steps.

A guard looks at each run of ``RUN`` updates. Earlier corrections are its replay set: lists of candidates, as they were
decoded before they were corrected. Where the weights after the run choose candidates of these lists that have a lower
BLEU than those before it, and the paired bootstrap says that this is not chance (95 %), the run is undone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hopefear._core import Learner, Pool, learn, pool_examples
from hopefear.decode.hiero import Prepared
from hopefear.evaluation.significance import paired_bootstrap
from hopefear.learning.decoding import CorrectedDecoder, Decoders
from hopefear.learning.memory import CorrectedPair, View
from hopefear.learning.rules import FEATURES, RuleMaker
from hopefear.metrics.bleu import Bleu
from hopefear.trainers.base import Vector
from hopefear.trainers.online.arow import Arow

Changes = dict[str, float]
RUN = 10  # updates that are judged together
REPLAYED = 100  # corrections
_LEAST_REPLAYED = 20
_CANDIDATES = 30  # of each sentence of these
_SAMPLES = 200
_EDGES = 50  # per word, among which hope and fear are searched for
_LEAST, _DIGITS = 1e-6, 5  # of a change that is written down
_SENTENCES = 5  # of a correction, at most


@dataclass(frozen=True, kw_only=True)
class Cautious(Arow):
    """AROW in small steps: the weights were learnt before, except those of the features of corrections."""

    eta: float = 0.001
    careful_eta: float = 0.00003
    corrected_eta: float = 0.02

    def rates(self, names: Sequence[str]) -> Vector:
        own = np.array([name in FEATURES for name in names])
        return np.where(own, self.corrected_eta, super().rates(names))


TRAINER = Cautious()


class Updates:
    """Makes the updates of one translator."""

    def __init__(self, decoders: Decoders, trainer: Cautious = TRAINER) -> None:
        self._decoders, self._trainer = decoders, trainer
        self._metric = Bleu(tokenize="none")
        self._learner: Learner | None = None
        self._names: list[str] = []
        self._replay: deque[Pool] = deque(maxlen=REPLAYED)
        self._run: list[tuple[tuple[int, int], Pool]] = []  # owners, and the lists of their sentences
        self._begin: Vector | None = None  # the weights before the run

    def update(self, view: View, maker: RuleMaker, pairs: Sequence[CorrectedPair]) -> Changes:
        """The changes of weights by a correction, whose sentences are ``pairs``."""
        pairs = [pair for pair in pairs[:_SENTENCES] if view.exact(pair.text) is None]  # others: known already
        if not pairs:
            return {}
        decoder = self._decoders.of(view)
        forests = self._forests(decoder, view, maker, pairs)
        learner = self._learner_at(decoder)
        learn([learner], pool_examples(forests), [list(range(len(pairs)))], self._trainer.mu, 1)
        moved = learner.weights - decoder.vector
        if self._begin is None or len(self._begin) != len(decoder.vector):
            self._begin, self._run = decoder.vector, []
        self._run.append((pairs[0].owner, forests.kbest(decoder.vector, _CANDIDATES, True, 1)))
        places = np.flatnonzero(np.abs(moved) > _LEAST).tolist()
        return {self._names[place]: float(f"{moved[place]:.{_DIGITS}g}") for place in places}

    def _forests(self, decoder: CorrectedDecoder, view: View, maker: RuleMaker, pairs: Sequence[CorrectedPair]) -> Pool:
        """With their corrections for references."""
        _, lines, kinds = self._decoders.model.source_text.sentences([pair.text for pair in pairs])
        words = [line.split() for line in lines]
        prepared = Prepared(words, kinds, [maker.rules(view, own) for own in words])
        most = _EDGES * max(map(len, words))
        decoded = decoder.hiero.decode(prepared, decoder.vector, max_edges=most, jobs=1)
        pool = decoded.subset(np.zeros(0, np.int64))
        for number, (pair, forest) in enumerate(zip(pairs, decoded, strict=True)):
            pool.append(str(number), forest, references=[" ".join(pair.target)])
        return pool

    def _learner_at(self, decoder: CorrectedDecoder) -> Learner:
        names = decoder.hiero.feature_names
        if self._learner is None or names != self._names:
            self._names = names
            self._learner = self._trainer.learner(decoder.vector, names, False)
        self._learner.move_to(decoder.vector)
        return self._learner

    def harmful(self, view: View) -> list[tuple[int, int]]:
        """At the end of a run: the corrections whose changes are to be undone."""
        if len(self._run) < RUN:
            return []
        now = self._decoders.of(view).vector
        assert self._begin is not None
        owners, lists = [owner for owner, _ in self._run], [pool for _, pool in self._run]
        is_worse = len(self._replay) >= _LEAST_REPLAYED and self._is_worse(now, self._begin)
        self._replay.extend(lists)
        self._run, self._begin = [], None
        return owners if is_worse else []

    def _is_worse(self, now: Vector, before: Vector) -> bool:
        after, earlier = (
            np.concatenate([self._metric.chosen_stats(pool, w, jobs=1) for pool in self._replay]) for w in (now, before)
        )
        if np.array_equal(after, earlier):
            return False
        return paired_bootstrap(after, earlier, self._metric, _SAMPLES, jobs=1).ci[1] < 0
