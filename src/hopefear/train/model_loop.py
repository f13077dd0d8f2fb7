"""Batch trainers around a decoder of ours: decode, learn from all candidates so far, decode again.

The loop is that of ``hopefear.train.loop``; the decoder is ours in place of a command. With development data the
iteration whose weights translate it best is chosen (Chiang 2012, section 7, chooses MERT's iterations so).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from hopefear._core import Pool, merged, set_references
from hopefear.runs.events import Epoch
from hopefear.runs.session import Session
from hopefear.train.loop import OuterLoop
from hopefear.trainers.base import Result
from hopefear.trainers.batch.base import BatchTrainer
from hopefear.trainers.data import Corpus, Decoder, Task, Translations
from hopefear.trainers.online.base import initial_weights
from hopefear.util import cluster

BLOCK = 64  # sentences that a task of a cluster decodes


@dataclass(frozen=True)
class ModelDecoder:
    """A decoder of ours where the outer loop expects a command: lists of the k best, with references."""

    decoder: Decoder
    corpus: Corpus
    k: int = 200
    jobs: int = 0
    on_cluster: bool = False  # the one that was joined
    warn: Callable[[str], object] = lambda text: None

    def decode(self, weights: Mapping[str, float], folder: Path, **unused: Any) -> Pool:
        if self.on_cluster:
            return self._far(weights)
        found = self.decoder.kbest(self.corpus.lines, self.k, distinct=True, weights=weights, jobs=self.jobs)
        pool = self.decoder.kbest([], 1)
        target = self.decoder.model.target_text
        for i, number in enumerate(found.ids):
            references = [target.text(one[i]) for one in self.corpus.references]
            pool.append(number, found[i], found.source(i), references)
        return pool

    def _far(self, weights: Mapping[str, float]) -> Pool:
        """The same lists, decoded in blocks wherever there is a core. Weights travel once per decoding and machine."""
        prepare = partial(_lists, self.decoder.opener(), dict(weights), self.k)
        blocks = [(first, self.corpus.lines[first : first + BLOCK]) for first in range(0, len(self.corpus), BLOCK)]
        pools = list(cluster.in_order(prepare, blocks, self.warn))
        target = self.decoder.model.target_text
        for (first, lines), pool in zip(blocks, pools, strict=True):
            here = slice(first, first + len(lines))
            set_references(pool, [[target.text(line) for line in one[here]] for one in self.corpus.references])
        return merged(pools, in_order=True)


def _lists(
    opener: Callable[[], Decoder], weights: Mapping[str, float], k: int
) -> Callable[[tuple[int, Sequence[str]]], Pool]:
    """On a worker: blocks of lines, and the number of lines before them, to lists."""
    decoder = opener()
    return lambda block: decoder.kbest(block[1], k, distinct=True, weights=weights, first=block[0], jobs=1)


def fit_in_loop(
    trainer: BatchTrainer,
    task: Task,
    initial: Mapping[str, float] | None = None,
    *,
    iterations: int = 10,
    k: int = 200,
    run: Session,
) -> Result:
    """Learn the weights of a decoder with a batch trainer; the folder of the run is the memory of the loop."""
    begun = time.perf_counter()
    names, dense = task.decoder.feature_names, len(task.decoder.dense_names)
    start = initial_weights(names, initial, task).tolist()
    weights = {name: value for j, (name, value) in enumerate(zip(names, start, strict=True)) if j < dense or value}
    decoder = ModelDecoder(task.decoder, task.corpus, k, trainer.jobs, task.on_cluster, run.warn)
    looped = OuterLoop(trainer, decoder, iterations, seed=trainer.seed).run(weights, run)
    history, best = [], looped.decoded.index(looped.best)
    for place, (decoded, record) in enumerate(zip(looped.decoded, looped.history, strict=True)):
        one = {**record, "epoch": place, "train": decoded.scores["dev"], "score": decoded.scores["dev"]}
        if task.dev is not None:
            now = Translations.of(task.decoder, task.dev, decoded.weights, trainer.jobs)
            one |= {"score": now.score, "length_ratio": now.length_ratio}
            figures = {name: value for name, value in one.items() if name not in ("epoch", "score")}
            run.tell(Epoch(place, now.score, figures))
        history.append(one)
    if task.dev is not None:
        best = max(range(len(history)), key=lambda place: (history[place]["score"], -place))
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
