"""Relevant sets on disk: truths, and alternatives that the decoder prefers. Tillmann and Zhang (2006), section 3.

The sets are files of block sequences, one per iteration, which are memory-mapped; features are computed from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hopefear._core import (
    BlockCorpus,
    BlockSequences,
    BlockWeights as CoreWeights,
    CostMargin,
    SequenceFile,
    keyed_table,
)
from hopefear.errors import input_error
from hopefear.util import cluster
from hopefear.util.files import atomic_write

if TYPE_CHECKING:
    from hopefear.decode.blocks import Blocks


#: Makes itself ready for a decoder and a number of threads, then searches sequences of sentences.
Search = Callable[["Blocks", int], Callable[[BlockCorpus], BlockSequences]]
_MANY = 500  # sentences from which it pays to score all blocks of the model at once
_BLOCK = 256  # sentences of a task on a cluster


def _oracle(truths: int, few: bool, decoder: Blocks, jobs: int) -> Callable[[BlockCorpus], BlockSequences]:
    return lambda corpus: decoder.core.oracle(corpus, truths, few, *decoder.limits, jobs)


def _best(
    keys: NDArray[np.uint64], w: NDArray[np.float64], many: bool, decoder: Blocks, jobs: int
) -> Callable[[BlockCorpus], BlockSequences]:
    weights = CoreWeights(decoder.core, keyed_table(keys, w), many, jobs)
    return lambda corpus: decoder.core.best(corpus, weights, *decoder.limits, jobs)


@dataclass(frozen=True)
class Spread:
    """Searches sequences of a text on the cluster that was joined. What a search holds travels to each machine once."""

    decoder: Blocks
    lines: Sequence[str]
    references: Sequence[str]
    warn: Callable[[str], object]

    def __call__(self, search: Search) -> BlockSequences:
        blocks = [
            (self.lines[first : first + _BLOCK], self.references[first : first + _BLOCK])
            for first in range(0, len(self.lines), _BLOCK)
        ]
        sequences = BlockSequences()
        for part in cluster.in_order(partial(_far, self.decoder.opener(), search), blocks, self.warn):
            sequences.append(part)
        return sequences


def _far(
    opener: Callable[[], Blocks], search: Search
) -> Callable[[tuple[Sequence[str], Sequence[str]]], BlockSequences]:
    """On a worker: blocks of lines and references to their sequences."""
    decoder = opener()
    ready = search(decoder, 1)
    return lambda block: ready(decoder.corpus(*block))


@dataclass
class RelevantSets:
    """Truths and alternatives of a training text below one folder, with the learner over them."""

    decoder: Blocks
    corpus: BlockCorpus
    folder: Path
    learner: CostMargin
    model_id: int
    spread: Spread | None = None  #: decodes on the cluster, in place of this process

    @classmethod
    def over(
        cls, decoder: Blocks, lines: Sequence[str], references: Sequence[str], folder: Path, reals: Sequence[str] = ()
    ) -> RelevantSets:
        folder.mkdir(parents=True, exist_ok=True)
        corpus = decoder.corpus(lines, references)
        core = decoder.core
        return cls(decoder, corpus, folder, CostMargin(core, corpus, list(reals)), core.model_id)

    def on_cluster(
        self, lines: Sequence[str], references: Sequence[str], warn: Callable[[str], object]
    ) -> RelevantSets:
        """The same sets, with the search for sequences on the cluster that was joined."""
        return replace(self, spread=Spread(self.decoder, lines, references, warn))

    def add(
        self, name: str, make: Callable[[], BlockSequences], bag: bool = False, truths: bool = False
    ) -> SequenceFile:
        """A file of sequences joins the sets; it is made if it is not there yet."""
        path = self.folder / f"{name}.bin"
        if not path.exists():
            with atomic_write(path, "wb") as file:
                file.write(make().file(bag, self.model_id))
        opened = SequenceFile.open(str(path), self.decoder.core, self.corpus, self.model_id)
        self.learner.add(opened, truths)
        return opened

    def start(self, truths: int, few: bool, random: int, seed: int, jobs: int) -> SequenceFile:
        """Truths V_K, which are returned, bags z_0 and random alternatives."""
        core, search = self.decoder.core, partial(_oracle, truths, few)
        truly = partial(self.spread, search) if self.spread else partial(search(self.decoder, jobs), self.corpus)
        best = self.add("truths", truly, truths=True)
        self.add("bags", lambda: core.bags(self.corpus, jobs), bag=True)
        if random:
            self.add("random", lambda: core.random(self.corpus, random, seed, jobs))
        return best

    def decoded(self, name: str, weights: CoreWeights, jobs: int) -> SequenceFile:
        """The best sequences under the learner's weights, ``weights`` made ready for this process, join the sets."""
        if self.spread:
            keys = self.learner.keys()
            search = partial(_best, keys, self.learner.weights(keys), len(self.corpus) >= _MANY)
            return self.add(name, partial(self.spread, search))
        return self.add(name, partial(self.decoder.core.best, self.corpus, weights, *self.decoder.limits, jobs))

    def weights(self, jobs: int) -> CoreWeights:
        """The weights as they are, for decoding."""
        return CoreWeights(self.decoder.core, self.learner.table, len(self.corpus) >= _MANY, jobs)

    def again(self, name: str) -> SequenceFile:
        """A file that an earlier call of ``add`` left joins the sets."""
        path = self.folder / f"{name}.bin"
        if not path.exists():
            raise input_error(path, None, "is missing. Start again with --overwrite")
        opened = SequenceFile.open(str(path), self.decoder.core, self.corpus, self.model_id)
        self.learner.add(opened, False)
        return opened


def alternatives(iteration: int) -> str:
    """The name of the file of an iteration."""
    return f"alternatives-{iteration:03d}"
