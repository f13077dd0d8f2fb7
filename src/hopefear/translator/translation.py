"""What a translator says of a text: its translation, others, which words belong together, how far to trust it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

_SHOWN = 60  # characters of a text in a repr


@dataclass(frozen=True, slots=True)
class Alternative:
    """A translation of a text, and the model's score of it: a logarithm, for comparing with others of the same text.

    One that is a correction has a ``match``: 1 for a correction of this very text, less for one of a text like it.
    """

    text: str
    score: float
    match: float | None = None


@dataclass(frozen=True, slots=True)
class Quality:
    """How far a translation can be trusted.

    ``agreement`` is how much the model's other translations have in common with this one (expected BLEU, 0 to 1),
    ``unknown_share`` the share of source words that were copied because no rule translates them, ``fluency`` the
    logarithm of the probability that the language model gives each word. ``score`` combines all of them, 0 to 1, for
    sorting: check the sentences with the lowest.
    """

    score: float
    unknown_share: float
    agreement: float
    fluency: float


@dataclass(frozen=True, slots=True)
class Translation:
    """A text and its translation. The first of the ``alternatives`` is the translation itself."""

    source: str
    text: str
    alternatives: tuple[Alternative, ...]
    alignment: tuple[tuple[int, int, int, int], ...]  #: source begin and end, target begin and end, in characters
    quality: Quality

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        shown = self.text if len(self.text) <= _SHOWN else f"{self.text[: _SHOWN - 3]}..."
        return f"Translation({shown!r}, quality={self.quality.score:.2f})"


_FLUENT = -2.0  # of text that reads well


def quality_of(agreement: float, unknown_share: float, fluency: float) -> Quality:
    """All in one number; docs/translator.md tells how well it predicts the quality of sentences."""
    reads = math.exp(0.2 * min(0.0, fluency - _FLUENT))
    score = math.sqrt(min(1.0, max(0.0, agreement))) * (1 - unknown_share) ** 2 * reads
    return Quality(score, unknown_share, agreement, fluency)


def best_combinations(scores: Sequence[Sequence[float]]) -> Iterator[tuple[tuple[int, ...], float]]:
    """Ways to take one of several translations of each sentence, best first: their ranks, and the sum of scores.

    The first of each comes first, whatever the scores are.
    """
    start = (0,) * len(scores)
    heap = [(0.0, start)]
    known = {start}
    total = sum(sentence[0] for sentence in scores)
    while heap:
        loss, ranks = heappop(heap)
        yield ranks, total - loss
        for place, rank in enumerate(ranks):
            after = (*ranks[:place], rank + 1, *ranks[place + 1 :])
            if rank + 1 < len(scores[place]) and after not in known:
                known.add(after)
                heappush(heap, (loss + scores[place][rank] - scores[place][rank + 1], after))
