"""Minimum Bayes risk: the candidate that is best on average if the truth is a random candidate (Kumar and Byrne 2004).

    best_by_consensus(pool, weights, "bleu", scale=0.5)     # a text per sentence, of lists and of forests

Candidates have probabilities proportional to exp(scale w.h). On lists the expected gain is exact up to 200 candidates,
and by expected counts above. On forests BLEU has the expected n-gram counts of the whole forest, and the candidates are
its k best strings; chrF and TER have no such counts over forests: there the k best strings are a list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Forest, Pool, forest_consensus, list_gains
from hopefear.formats.weights import weight_vector

CONSENSUS = ("bleu", "chrf", "ter")
EXACT = 200  # candidates that are compared pair by pair; of more, expected counts are compared
CANDIDATES = 100  # strings of a forest that are looked at


def best_places(
    lists: Sequence[Forest], w: NDArray[np.float64], metric: str, scale: float = 1.0, jobs: int = 0
) -> list[int]:
    """The place of the best candidate in each list; of equals the first."""
    return [int(gains.argmax()) for gains in list_gains(list(lists), metric, w, scale, EXACT, jobs)]


def best_by_consensus(
    pool: Pool,
    weights: Mapping[str, float] | NDArray[np.float64],
    metric: str = "bleu",
    scale: float = 1.0,
    candidates: int = CANDIDATES,
    jobs: int = 0,
) -> list[str]:
    """The best candidate of every sentence of lists or forests, a blank between its words.

    >>> pool = hf.read_nbest("data/nbest.txt")
    >>> hf.best_by_consensus(pool[:1], hf.read_weights("data/initial.txt"), "chrf", scale=0.5)
    ['and elimelech husband of naomi died , and she was left , she and her two sons . "']
    """
    w = weight_vector(weights, pool.feature_names) if isinstance(weights, Mapping) else weights
    if not pool.is_lists and metric == "bleu":
        scored = forest_consensus(list(pool), w, scale, candidates, jobs)
        return [max(own, key=lambda candidate: candidate[1])[0] if own else "" for own in scored]
    if not pool.is_lists:
        pool = pool.kbest(w, candidates, True, jobs)
    return [pool.text(i, position) for i, position in enumerate(best_places(list(pool), w, metric, scale, jobs))]
