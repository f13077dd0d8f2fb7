"""BLEU. Papineni et al. 2002, in the notation of Chiang 2012, section 2.3, equations (1) and (2).

Statistics of a candidate: ``[m_1..m_K, n_1..n_K, rho]``, its clipped matches, its k-grams, its reference length.

A document's score is sacreBLEU's (smoothing ``exp``, no effective order): an order without any match counts as 1/2,
1/4, ... matches; the score is 0 where nothing matches or where no sentence has K words. A sentence's gain is BLEU+1 of
Lin and Och (2004): one is added to m_k and n_k for k > 1, the brevity penalty is left as it is, and a candidate that
is empty or has no matching word gets 0. An order longer than the candidate so counts as 1/1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear.metrics.base import Metric


@dataclass(frozen=True)
class Bleu(Metric):
    """BLEU with 1 to 16 references; equal to sacreBLEU's.

    >>> hf.Bleu(lowercase=True).corpus_score(["The cat sat down."], [["the cat sat down."]])
    100.0
    """

    name: ClassVar[str] = "bleu"

    lowercase: bool = False
    tokenize: str = "none"  # a tokeniser of sacreBLEU; the default takes the words as they are
    max_order: int = 4  # K
    reference_length: str = "closest"  # rho: closest (ties: the shorter), shortest, average

    def length_ratio(self, sums: NDArray[np.float64]) -> float:
        """n_1 / rho of summed statistics: how long translations are for their references; 1 without references."""
        return float(sums[self.max_order] / sums[-1]) if sums[-1] else 1.0

    def _make_core(self) -> _core.Metric:
        return _core.Bleu(self.max_order, self.reference_length)

    def _signature(self) -> list[str]:
        parts = [self._case, "eff:no", f"tok:{self.tokenize}", "smooth:exp"]
        if self.max_order != 4:
            parts.append(f"order:{self.max_order}")
        if self.reference_length != "closest":
            parts.append(f"length:{self.reference_length}")
        return parts
