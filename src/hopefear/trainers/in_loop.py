"""A batch trainer in a loop around our own decoder: decode, learn from all candidates so far, decode again.

The loop is that of ``outer_loop.py``; the decoder is ours in place of a command. With development data the
iteration whose weights translate it best is chosen (Chiang 2012, section 7, chooses MERT's iterations so).
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from hopefear._core import Pool, merged, set_references
from hopefear.runs.session import SILENT, Session
from hopefear.trainers.base import Result, Trainer
from hopefear.trainers.batch.base import BatchTrainer
from hopefear.trainers.data import Corpus, Decoder, Task, Translations
from hopefear.trainers.online.base import initial_weights
from hopefear.trainers.outer_loop import Looped, OuterLoop, Request
from hopefear.util import cluster

BLOCK = 64  # sentences that a task of a cluster decodes


@dataclass(frozen=True)
class ModelDecoder:
    """Our own decoder where the outer loop expects a command: lists of the k best, with references."""

    decoder: Decoder
    corpus: Corpus
    k: int
    jobs: int = 0
    on_cluster: bool = False  # the one that was joined
    warn: Callable[[str], object] = lambda text: None

    def decode(self, weights: Mapping[str, float], folder: Path, request: Request) -> Pool:
        if self.on_cluster:
            return self._far(weights)
        lists = self.decoder.kbest(self.corpus.lines, self.k, distinct=True, weights=weights, jobs=self.jobs)
        pool = self.decoder.kbest([], 1)
        target = self.decoder.model.target_text
        for i, number in enumerate(lists.ids):
            references = [target.text(reference[i]) for reference in self.corpus.references]
            pool.append(number, lists[i], lists.source(i), references)
        return pool

    def _far(self, weights: Mapping[str, float]) -> Pool:
        """The same lists, decoded in blocks on the cluster. Weights are sent once per decoding and machine."""
        prepare = partial(_lists, self.decoder.opener(), dict(weights), self.k)
        blocks = [(first, self.corpus.lines[first : first + BLOCK]) for first in range(0, len(self.corpus), BLOCK)]
        pools = list(cluster.in_order(prepare, blocks, self.warn))
        target = self.decoder.model.target_text
        for (first, lines), pool in zip(blocks, pools, strict=True):
            here = slice(first, first + len(lines))
            set_references(pool, [[target.text(line) for line in texts[here]] for texts in self.corpus.references])
        return merged(pools, in_order=True)


def _lists(
    opener: Callable[[], Decoder], weights: Mapping[str, float], k: int
) -> Callable[[tuple[int, Sequence[str]]], Pool]:
    """On a worker: blocks of lines, and the number of lines before them, to lists."""
    decoder = opener()
    return lambda block: decoder.kbest(block[1], k, distinct=True, weights=weights, first=block[0], jobs=1)


@dataclass(frozen=True, kw_only=True)
class InLoop(Trainer):
    """A trainer of candidates in a loop of decodings. The folder of the run is the memory of the loop."""

    learns_from: ClassVar[str] = "model"

    of: BatchTrainer
    iterations: int  # decodings to learn from
    kbest: int  # candidates per sentence and decoding

    @classmethod
    def around(cls, trainer: BatchTrainer, iterations: int, kbest: int) -> InLoop:
        """A loop around this trainer, with its seed and threads."""
        return cls(of=trainer, iterations=iterations, kbest=kbest, seed=trainer.seed, jobs=trainer.jobs)

    def described(self) -> dict[str, Any]:
        return self.of.described()

    def fit(self, data: Task, initial: Mapping[str, float] | None = None, *, run: Session | None = None) -> Result:
        if run is None or run.folder is None:
            with tempfile.TemporaryDirectory(prefix="hopefear-") as folder:
                return self.fit(data, initial, run=replace(run or SILENT, folder=Path(folder)))
        begun = time.perf_counter()
        weights = _start(data, initial)
        decoder = ModelDecoder(data.decoder, data.corpus, self.kbest, self.jobs, data.on_cluster, run.warn)
        looped = OuterLoop(self.of, decoder, self.iterations, seed=self.seed).run(weights, run)
        history = [self._scored(epoch, looped, data.dev, data.decoder, run) for epoch in range(len(looped.decoded))]
        best = looped.decoded.index(looped.best)
        if data.dev is not None:
            best = max(range(len(history)), key=lambda epoch: (history[epoch]["score"], -epoch))
        warnings = list(looped.warnings)
        if best == 0 and len(history) > 1:
            warnings.append(
                f"no iteration is better than the weights it began with ({history[0]['score']:.2f}); these are kept"
            )
        return Result(
            weights=dict(looped.decoded[best].weights),
            score=history[best]["score"],
            initial_score=history[0]["score"],
            history=history,
            seconds=time.perf_counter() - begun,
            epoch=best,
            initial=weights,
            warnings=warnings,
        )

    def _scored(self, epoch: int, looped: Looped, dev: Corpus | None, decoder: Decoder, run: Session) -> dict[str, Any]:
        """The record of a decoding, with the score of its weights on development data."""
        decoded = looped.decoded[epoch]
        score = decoded.scores["dev"]
        record = {**looped.history[epoch], "epoch": epoch, "train": score, "score": score}
        if dev is not None:
            made = Translations.of(decoder, dev, decoded.weights, self.jobs)
            record |= {"score": made.score, "length_ratio": made.length_ratio}
            run.epoch(record)
        return record


def _start(task: Task, initial: Mapping[str, float] | None) -> dict[str, float]:
    """The weights to begin with: of all dense features, and of those sparse ones that are not 0."""
    names, dense = task.decoder.feature_names, len(task.decoder.dense_names)
    start = initial_weights(names, initial, task).tolist()
    return {name: value for j, (name, value) in enumerate(zip(names, start, strict=True)) if j < dense or value}
