"""A language model of the corrections: a bonus for each n-gram in them (a cache: Kuhn and De Mori 1990).

It stands next to the language models of the model, as the last of ``lm2`` and ``lm3``, so that the decoder searches
with it. Every word scores -1, less a bonus where it ends an n-gram of a correction; the weight of ``word`` makes up for
what all words have in common.

Making one takes time, so it is not made for each correction, but whenever their number has grown by a twentieth.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from hopefear._core import LanguageModel as Core
from hopefear.learning.memory import View
from hopefear.model.language_model import LanguageModel

WINDOW = 1000  # pairs, the latest
ORDER = 2
BONUS = (0.0, 0.6)  # what the last word of an n-gram of each order gains
_STEP = 50  # pairs at most between two models
_GROWTH = 20


def anchor(count: int) -> int:
    """The number of pairs that the model is made of, given the number of pairs."""
    at = 0
    while (following := at + min(_STEP, max(1, at // _GROWTH))) <= count:
        at = following
    return at


class Ngrams:
    """The language model of a view; made again when its pairs have changed."""

    def __init__(self) -> None:
        self._key: tuple[int, bytes] = (0, b"")
        self._model: LanguageModel | None = None

    def of(self, view: View) -> LanguageModel | None:
        """For the first pairs of a view that count."""
        last = anchor(view.count)
        first = max(0, last - WINDOW)
        live = view.live[first:last]
        key = (last, live.tobytes())
        if key != self._key:
            pairs = view.memory.pairs[first:last]
            targets = [pair.target for pair, counts in zip(pairs, live.tolist(), strict=True) if counts]
            self._key, self._model = key, ngram_bonus(targets) if targets else None
        return self._model


def ngram_bonus(sentences: Iterable[Sequence[str]]) -> LanguageModel:
    """The model of some sentences."""
    grams: list[set[tuple[str, ...]]] = [set() for _ in range(ORDER)]
    for words in sentences:
        line = ("<s>", *words, "</s>")
        for n in range(1, ORDER + 1):
            grams[n - 1].update(zip(*(line[k:] for k in range(n)), strict=False))
    grams[0] |= {("<unk>",), ("<s>",), ("</s>",)}
    text = ["\\data\\\n", *(f"ngram {n}={len(each)}\n" for n, each in enumerate(grams, 1))]
    for n, each in enumerate(grams, 1):
        score = f"{(BONUS[n - 1] - 1) / math.log(10):.6f}"
        end = "\t0\n" if n < ORDER else "\n"
        text.append(f"\n\\{n}-grams:\n")
        text += [f"{score}\t{' '.join(gram)}{end}" for gram in sorted(each)]
    text.append("\n\\end\\\n")
    return LanguageModel(Core.read_arpa("".join(text).encode(), "corrections"))
