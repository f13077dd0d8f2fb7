"""Batch trainers around a decoder of ours: decode, learn from all candidates so far, decode again.

The loop is that of ``hopefear.train.loop``; the decoder is ours in place of a command. With development data the
iteration whose weights translate it best is chosen (Chiang 2012, section 7, chooses MERT's iterations so).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopefear._core import Pool
from hopefear.train.loop import OuterLoop
from hopefear.trainers import Trainer
from hopefear.trainers.online.base import initial_weights
from hopefear.trainers.online.job import Corpus, Hear, Trained, Translations

if TYPE_CHECKING:
    from hopefear.decode import Decoder

__all__ = ["ModelDecoder", "train_batch"]


@dataclass(frozen=True)
class ModelDecoder:
    """A decoder of ours where the outer loop expects a command: lists of the k best, with references."""

    decoder: Decoder
    corpus: Corpus
    k: int = 200
    jobs: int = 0

    def decode(
        self,
        weights: Mapping[str, float],
        work: Path,
        *,
        iteration: int = 1,
        parameters: Mapping[str, Any] | None = None,
        like: Pool | None = None,
    ) -> Pool:
        found = self.decoder.kbest(self.corpus.lines, self.k, distinct=True, weights=weights, jobs=self.jobs)
        pool = self.decoder.decode([])
        target = self.decoder.model.target_text
        for i, number in enumerate(found.ids):
            references = [target.text(one[i]) for one in self.corpus.references]
            pool.append(number, found[i], found.source(i), references)
        return pool


def train_batch(
    decoder: Decoder,
    corpus: Corpus,
    trainer: Trainer,
    *,
    dev: Corpus | None = None,
    initial: Mapping[str, float] | None = None,
    iterations: int = 10,
    k: int = 200,
    seed: int = 1,
    jobs: int = 0,
    folder: Path,
    hear: Hear = lambda said: None,
) -> Trained:
    """Learn the weights of a decoder with a batch trainer; ``folder`` is the memory of the loop."""
    names = decoder.feature_names
    start = initial_weights(names, initial).tolist()
    dense = len(decoder.dense_names)
    weights = {name: value for j, (name, value) in enumerate(zip(names, start, strict=True)) if j < dense or value}
    ours = ModelDecoder(decoder, corpus, k, jobs)
    loop = OuterLoop(replace(trainer, seed=seed, jobs=jobs), ours, iterations, seed=seed)  # type: ignore[arg-type]
    looped = loop.run(folder, weights, hear=hear)
    history, best = [], looped.decoded.index(looped.best)
    for place, (decoded, record) in enumerate(zip(looped.decoded, looped.history, strict=True)):
        one = {**record, "epoch": place, "train": decoded.scores["dev"], "score": decoded.scores["dev"]}
        if dev is not None:
            now = Translations.of(decoder, dev, decoded.weights, jobs)
            one |= {"score": now.score, "length_ratio": now.length_ratio}
            hear({"event": "epoch", **one})
        history.append(one)
    if dev is not None:
        best = max(range(len(history)), key=lambda place: (history[place]["score"], -place))
    return Trained(
        dict(looped.decoded[best].weights), best, history[best]["score"], weights, history, list(looped.warnings)
    )
