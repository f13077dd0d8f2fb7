"""Rescoring: features that see more than one edge, added to forests of any origin by cube pruning over them.

    pool = read_forests("dev.forests")
    larger = rescore(pool, weights, ["bigram(the,house)", "trigger(not,but)"], {"lm2": LanguageModel.open("large.lm")})

Gimpel and Smith (2012, section 4.3) add their features to Moses' lattices in this way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool, Rescorer
from hopefear.model.language_model import LanguageModel

__all__ = ["rescore"]


def rescore(
    pool: Pool,
    weights: Mapping[str, float] | NDArray[np.float64],
    features: Iterable[str] = (),
    language_models: Mapping[str, LanguageModel] | None = None,
    pop_limit: int = 100,
    jobs: int = 0,
) -> Pool:
    """The same forests with more features, searched with ``weights`` over the old and the new ones.

    ``features`` are names of the templates unigram, bigram, trigram, trigger and pair (docs/model-directory.md); pairs
    need the source text and forests that know their spans. Each of ``language_models`` becomes a feature of that name,
    a natural logarithm. At most ``pop_limit`` edges are kept of each node (0: all), and lists stay whole.
    """
    models = [(name, model.core) for name, model in (language_models or {}).items()]
    return Rescorer(pool, list(features), models).run(pool, weights, pop_limit, jobs)
