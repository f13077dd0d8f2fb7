"""Forced decoding: how a hierarchical or block model would have made a given translation.

    forced = Forced(Model.open("model"))
    print(forced.explain("la casa verde", "the green house"))

The best derivation whose yield is the candidate, over all rules of the model and under its weights (the language
models, which say the same of all derivations of one string, aside). Where there is none, as few words of both sides as
possible are left out. Blocks follow each other, and neighbours may swap; only their real-valued features count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hopefear._core import ForcedDecoder, Pool
from hopefear.model.directory import Model


@dataclass(frozen=True)
class Forced:
    """For one model; ``max_span`` of 0 is as in extraction.

    >>> print(hf.Forced(hf.Model.open("translator")).explain("Das Haus", "the house"))
    source      das haus
    candidate   the house
       +1.214  das -> the                                    1-1 -> 1-1
       +1.400  haus -> house                                 2-2 -> 2-2
    """

    model: Model
    max_span: int = 0
    _core: ForcedDecoder = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        weights = [self.model.weights.get(name, 0.0) for name in self.features]
        span = self.max_span or self.model.max_span
        object.__setattr__(self, "_core", ForcedDecoder(self.model.grammar, weights, span, self._blocks))

    @property
    def _blocks(self) -> bool:
        return self.model.kind == "blocks"

    @property
    def features(self) -> list[str]:
        """The features of a derivation."""
        return ForcedDecoder.features(self._blocks)

    @property
    def names(self) -> list[str]:
        """The columns: the features, then words left out on each side, and whether there are any."""
        return ForcedDecoder.columns(self._blocks)

    def columns(self, pool: Pool, sources: Sequence[str], jobs: int = 0) -> NDArray[np.float64]:
        """A row for each candidate of lists in the model's words: the features of its derivation, words left out."""
        _, lines, kinds = self.model.source_text.sentences(sources)
        return self._core.rows(pool, lines, kinds, jobs)

    def explain(self, source: str, candidate: str) -> str:
        """The derivation of a candidate as a tree: rules, the words that they cover, and their scores."""
        _, (line,), (kinds,) = self.model.source_text.sentences([source])
        words = self.model.target_text.tokens(candidate)
        steps = self._core.explain(line, kinds, " ".join(words))
        lines = [f"source      {line}", f"candidate   {' '.join(words)}"]
        covered = {k for depth, _, (begin, end), *_ in steps if depth == 0 for k in range(begin, end)}
        reached = {i for depth, (begin, end), *_ in steps if depth == 0 for i in range(begin, end)}
        for name, all_words, there in (("source", line.split(), reached), ("candidate", words, covered)):
            if missing := [word for k, word in enumerate(all_words) if k not in there]:
                lines.append(f"left out of the {name}: {' '.join(missing)}")
        for depth, (i, j), (k, end), left, right, score in steps:
            rule = f"{'   ' * depth}{left} -> {right}"
            lines.append(f"{score:+9.3f}  {rule:44}  {i + 1}-{j} -> {k + 1}-{end}")
        return "\n".join(lines)
