"""Translation edit rate and word error rate. Snover et al. 2006; TER with the limits, and so the scores, of sacreBLEU.

Statistics: ``[edits, reference length]``. TER takes the edits against the nearest reference and the mean length of all
references; WER takes both from the reference with the lowest rate. Lower is better; the gain is 1 - score/100.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from hopefear import _core
from hopefear.metrics.base import Metric
from hopefear.metrics.tokenizers import Preparation


@dataclass(frozen=True)
class Ter(Metric):
    """TER. The options are those of sacreBLEU; case does not count unless ``case_sensitive``.

    >>> hf.Ter().corpus_score(["sat down the cat"], [["the cat sat down"]])  # one shift of four words
    25.0
    """

    name: ClassVar[str] = "ter"

    normalized: bool = False  # split punctuation off as tercom does; sees whole lines, so not for forests
    no_punct: bool = False  # leave punctuation out
    asian_support: bool = False  # both of these for Chinese and Japanese too
    case_sensitive: bool = False

    def _make_core(self) -> _core.Metric:
        return _core.Ter()

    def _preparation(self) -> Preparation:
        return _tercom(self.normalized, self.no_punct, self.asian_support, self.case_sensitive)

    def _signature(self) -> list[str]:
        yes = {True: "yes", False: "no"}
        return [
            f"case:{'mixed' if self.case_sensitive else 'lc'}",
            "tok:tercom",
            f"norm:{yes[self.normalized]}",
            f"punct:{yes[not self.no_punct]}",
            f"asian:{yes[self.asian_support]}",
        ]


@lru_cache(maxsize=16)
def _tercom(normalized: bool, no_punct: bool, asian_support: bool, case_sensitive: bool) -> Preparation:
    if not normalized and not no_punct:
        return Preparation(None if case_sensitive else str.lower)
    import sacrebleu

    tokenizer: Any = sacrebleu.TER(normalized, no_punct, asian_support, case_sensitive).tokenizer
    return Preparation(lambda line: str(tokenizer(line.rstrip())), wordwise=not normalized)


@dataclass(frozen=True)
class Wer(Metric):
    """WER: TER without shifts.

    >>> hf.Wer().corpus_score(["the cat lay down"], [["the cat sat down"]])
    25.0
    """

    name: ClassVar[str] = "wer"

    lowercase: bool = False
    tokenize: str = "none"

    def _make_core(self) -> _core.Metric:
        return _core.Wer()

    def _signature(self) -> list[str]:
        return [self._case, f"tok:{self.tokenize}"]
