"""What the tests of every trainer need: a problem that each can learn from, by the space that it works on.

A trainer is tested as soon as it is in the registry. ``kit_of`` finds its problem: generated lists, or, for trainers
of blocks, a small generated model.
"""

from __future__ import annotations

import functools
import random
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest

import hopefear as hf
from hopefear import _core
from hopefear.decode import Blocks
from hopefear.decode.blocks import templates_of
from hopefear.model.directory import Model
from hopefear.trainers import TRAINERS, Corpus, Task, Trainer
from hopefear.trainers.batch.base import BatchTrainer
from hopefear.trainers.data import Translations
from hopefear.trainers.online.base import Online
from tests.decode.block_models import block_model, random_pairs
from tests.decode.models import model_of, random_lm, random_rules
from tests.trainers.pools import bleu_planted_pool, list_pool, synthetic_pool

# Fewer rounds where the defaults take long; nothing else depends on the trainer.
FEW: dict[str, dict[str, Any]] = {
    "Auto": {"bag": 2},
    "Bagged": {"of": hf.Mert(restarts=1, kicks=0), "bag": 3},
    "Mert": {"restarts": 2, "kicks": 1},
    "Cmira": {"epochs": 60},
    "Kbmira": {"passes": 15},
    "Costmargin": {"iterations": 4, "eta": 0.01, "passes": 4},
}

BATCH: list[type[BatchTrainer]] = [each for each in TRAINERS if issubclass(each, BatchTrainer)]

every_trainer = pytest.mark.parametrize("trainer", TRAINERS, ids=lambda each: each.__name__)
every_batch_trainer = pytest.mark.parametrize("trainer", BATCH, ids=lambda each: each.__name__)


def make(trainer: type[Trainer], **options: Any) -> Any:
    few = {"epochs": 4} if issubclass(trainer, Online) else FEW.get(trainer.__name__, {})
    return trainer(**(few | options))


Weights = Mapping[str, float]


class Kit(Protocol):
    """A problem to learn from, and what is known about it."""

    data: Any
    initial: Weights | None  # weights that can be improved

    def shuffled(self) -> Any:
        """The same, its lines in another order."""

    def score(self, weights: Weights) -> float:
        """The score of weights, found in another way than the trainer's."""

    def names_are_right(self, weights: Weights) -> bool: ...

    def planted(self) -> tuple[Any, Any]:
        """Data that weights were planted in, and a function from learnt weights to how well they agree: 1 is best."""

    def nothing_to_learn(self) -> dict[str, Any]:
        """What is said -> data that it is said of."""


LISTS = {"sentences": 40, "candidates": 15, "dense": 8, "sparse": 200}


@dataclass(frozen=True)
class ListKit:
    """Generated lists, for everything that learns from candidates."""

    data: hf.Pool
    initial: Weights | None

    def shuffled(self) -> hf.Pool:
        rng = np.random.default_rng(1)
        return synthetic_pool(**LISTS, take=lambda size: rng.permutation(size).tolist())

    def score(self, weights: Weights) -> float:
        bleu = hf.Bleu()
        w = np.array([weights.get(name, 0.0) for name in self.data.feature_names])
        return bleu.score(_core.one_best(self.data, bleu.stats(self.data), bleu.core, w, jobs=1, places=None)[1])

    def names_are_right(self, weights: Weights) -> bool:
        return sorted(weights) == sorted(self.data.feature_names)

    def planted(self) -> tuple[hf.Pool, Any]:
        pool, planted = bleu_planted_pool(1, 8, sentences=150, candidates=12)

        def agreement(weights: Weights) -> float:
            w = np.array([weights[name] for name in pool.feature_names])
            return float(w @ planted / np.linalg.norm(w))

        return pool, agreement

    def nothing_to_learn(self) -> dict[str, Any]:
        rng = np.random.default_rng(1)
        rows = [rng.normal(size=(3, 2))] * 2
        return {
            "no sentences": hf.Pool(),
            "no features": list_pool([np.zeros((3, 0))], texts=[["a", "b", "a b"]]),
            "one candidate only": list_pool([np.ones((1, 2))] * 3, texts=[["a"]] * 3, references=[["a"]] * 3),
            "one candidate only: there": list_pool(
                [np.ones((2, 2))] * 3, texts=[["a", "a"]] * 3, references=[["a"]] * 3
            ),
            "right references": list_pool(rows, texts=[["a b", "b c", "c d"]] * 2, references=[["x y"]] * 2),
        }


@dataclass(frozen=True)
class BlockKit:
    """A small generated model of blocks, whose references come from weights that were planted in it."""

    model: Model
    secret: Weights
    data: Task
    test: Corpus
    initial: Weights | None = None

    @classmethod
    def make(cls, folder: Path) -> BlockKit:
        rng = random.Random(4)
        pairs = random_pairs(rng, 14, longest=2)
        model = block_model(folder, pairs)
        secret = {f"block({','.join(f)}|{','.join(e)})": rng.uniform(-1, 1) for f, e in pairs} | {"word": 0.0}
        teacher = Blocks(model, secret, features="phrase", reordering="monotone")
        parts = []
        for size in (120, 40, 40):
            lines = [" ".join(rng.choices(["a", "b", "c"], k=rng.randint(2, 6))) for _ in range(size)]
            parts.append(Corpus(lines, [teacher.translate(lines, tokens=True)]))
        train, dev, test = parts
        return cls(model, secret, Task(Blocks(model, {}, features="none", lms=False), train, dev), test)

    def student(self, weights: Weights) -> Blocks:
        return Blocks(self.model, weights, features="both", reordering="swap", lms=False)

    def shuffled(self) -> None:
        return None

    def score(self, weights: Weights) -> float:
        assert self.data.dev is not None
        return Translations.of(self.student(weights), self.data.dev, weights, 1).score

    def names_are_right(self, weights: Weights) -> bool:
        binary = {"block", "source", "target", "orient", "pair", "ngram", "jump"}
        return bool(weights) and templates_of(weights) <= binary | set(self.data.decoder.dense_names)

    def planted(self) -> tuple[Task, Any]:
        def agreement(weights: Weights) -> float:
            return Translations.of(self.student(weights), self.test, weights, 1).score / 100

        return self.data, agreement

    def nothing_to_learn(self) -> dict[str, Any]:
        corpus = self.data.corpus
        two = Corpus(corpus.lines, corpus.references * 2)
        rng = random.Random(1)
        with tempfile.TemporaryDirectory() as folder:
            other = hf.Hiero(model_of(Path(folder), random_rules(rng, 9), [random_lm(rng, 2)]))
        return {
            "no sentences": replace(self.data, corpus=Corpus([], [[]])),
            "one reference per sentence": replace(self.data, corpus=two),
            "hopefear build --kind blocks": replace(self.data, decoder=other),
        }


@functools.cache
def _lists() -> ListKit:
    initial = {"lm": 0.3, "wordpenalty": -0.4, "distortion": -0.2, "tm0": 0.1, "tm3": -0.3}
    return ListKit(synthetic_pool(**LISTS), initial)


@functools.cache
def _blocks() -> BlockKit:
    return BlockKit.make(Path(tempfile.mkdtemp(prefix="hopefear-blocks-")))


def kit_of(trainer: type[Trainer]) -> Kit:
    return _blocks() if trainer.spaces == ("blocks",) else _lists()
