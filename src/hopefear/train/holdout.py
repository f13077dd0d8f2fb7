"""The part of the data that is kept aside: drawn by the seed, reported, never learnt from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.trainers.data import Corpus

Indices = NDArray[np.int64]


def held_out(sentences: int, share: float, seed: int, fold: int = 0) -> tuple[Indices, Indices | None]:
    """The sentences to learn from, and a share of them kept aside; nothing, when that would be none or all.

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


def split(pool: Pool, share: float, seed: int) -> tuple[Pool, Pool | None]:
    """A pool to learn from, and the part of it kept aside."""
    learn, aside = held_out(len(pool), share, seed)
    return (pool, None) if aside is None else (pool.subset(learn), pool.subset(aside))


def split_corpus(corpus: Corpus, share: float, seed: int, fold: int = 0) -> tuple[Corpus, Corpus | None]:
    """The same for a corpus."""
    learn, aside = held_out(len(corpus), share, seed, fold)
    return (corpus, None) if aside is None else (corpus.subset(learn.tolist()), corpus.subset(aside.tolist()))
