"""Relevant sets on disk: truths, and alternatives that the decoder prefers. Tillmann and Zhang (2006), section 3.

The sets are files of block sequences, one per iteration, which are memory-mapped; features are computed from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hopefear._core import BlockCorpus, BlockSequences, BlockWeights as CoreWeights, CostMargin, SequenceFile
from hopefear.errors import input_error
from hopefear.util.files import atomic_write

if TYPE_CHECKING:
    from hopefear.decode.blocks import Blocks


@dataclass
class RelevantSets:
    """Truths and alternatives of a training text below one folder, with the learner over them."""

    decoder: Blocks
    corpus: BlockCorpus
    folder: Path
    learner: CostMargin
    model_id: int

    @classmethod
    def over(
        cls, decoder: Blocks, lines: Sequence[str], references: Sequence[str], folder: Path, reals: Sequence[str] = ()
    ) -> RelevantSets:
        folder.mkdir(parents=True, exist_ok=True)
        corpus = decoder.corpus(lines, references)
        core = decoder.core
        return cls(decoder, corpus, folder, CostMargin(core, corpus, list(reals)), core.model_id)

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
        core, limits = self.decoder.core, self.decoder.limits
        best = self.add("truths", lambda: core.oracle(self.corpus, truths, few, *limits, jobs), truths=True)
        self.add("bags", lambda: core.bags(self.corpus, jobs), bag=True)
        if random:
            self.add("random", lambda: core.random(self.corpus, random, seed, jobs))
        return best

    def weights(self, jobs: int) -> CoreWeights:
        """The weights as they are, for decoding."""
        return CoreWeights(self.decoder.core, self.learner.table, len(self.corpus) >= 500, jobs)

    def again(self, name: str) -> None:
        """A file that an earlier call of ``add`` left joins the sets."""
        path = self.folder / f"{name}.bin"
        if not path.exists():
            raise input_error(path, None, "is missing. Start again with --overwrite")
        self.learner.add(SequenceFile.open(str(path), self.decoder.core, self.corpus, self.model_id), False)


def alternatives(iteration: int) -> str:
    """The name of the file of an iteration."""
    return f"alternatives-{iteration:03d}"
