"""The held-out part of the data: drawn by the seed, reported, never learnt from."""

from __future__ import annotations

from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from hopefear.errors import InputError

Indices = NDArray[np.int64]


class Sentences(Protocol):
    """A pool or a corpus."""

    def __len__(self) -> int: ...

    def subset(self, indices: Any, /) -> Self:
        """These sentences only."""


S = TypeVar("S", bound=Sentences)


def held_out(sentences: int, share: float, seed: int, fold: int = 0) -> tuple[Indices, Indices | None]:
    """The sentences to learn from, and a share of them held out; nothing, when that would be none or all.

    Other folds under the same seed have other parts, and share no sentence as long as (fold + 1) * share <= 1.
    """
    if not 0 <= share < 1:
        raise InputError(f"the held-out share is {share:g}. It must be 0 or more and less than 1")
    aside = round(share * sentences)
    if aside in (0, sentences):
        return np.arange(sentences, dtype=np.int64), None
    order = np.random.default_rng([seed, 7]).permutation(sentences)
    order = np.roll(order, -fold * aside)
    return np.sort(order[aside:]), np.sort(order[:aside])


def split(data: S, share: float, seed: int, fold: int = 0) -> tuple[S, S | None]:
    """Sentences to learn from, and the part of them that is held out."""
    learn, aside = held_out(len(data), share, seed, fold)
    return (data, None) if aside is None else (data.subset(learn), data.subset(aside))
