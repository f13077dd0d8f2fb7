"""The data of trainers of models: a decoder, and a corpus that it translates."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from hopefear._core import Examples, Pool
from hopefear.errors import InputError
from hopefear.formats.weights import weight_vector
from hopefear.metrics import Bleu
from hopefear.trainers.base import Vector
from hopefear.util.files import PathLike, path_name, read_lines
from hopefear.util.messages import plural


@dataclass(frozen=True)
class Corpus:
    """Source lines and their references: one list of lines per reference.

    >>> corpus = hf.Corpus(["Ein rotes Haus.", "Das Boot."], references=[["A red house.", "The boat."]])
    >>> len(corpus)
    2
    """

    lines: list[str]
    references: list[list[str]]

    def __post_init__(self) -> None:
        for reference in self.references:
            if len(reference) != len(self.lines):
                finding = f"there are {len(self.lines)} source lines and {len(reference)} references"
                raise InputError(f"{finding}: one each is needed")

    @classmethod
    def read(cls, source: PathLike, references: Sequence[PathLike]) -> Corpus:
        """From a file of source lines, and a file per reference.

        >>> hf.Corpus.read("train.de", ["train.en"])
        <Corpus of 224 sentences, 1 reference>
        """
        lines = read_lines(source)
        if not lines:
            raise InputError(f"{path_name(source)}: is empty. Training needs sentences")
        texts = [read_lines(path) for path in references]
        for path, own in zip(references, texts, strict=True):
            if len(own) != len(lines):
                finding = f"has {len(own)} lines, and {path_name(source)} has {len(lines)}"
                raise InputError(f"{path_name(path)}: {finding}. References go line by line with the source")
        return cls(lines, texts)

    def __len__(self) -> int:
        return len(self.lines)

    def __repr__(self) -> str:
        return f"<Corpus of {plural(len(self), 'sentence')}, {plural(len(self.references), 'reference')}>"

    def subset(self, indices: Iterable[int]) -> Corpus:
        indices = list(indices)
        return Corpus([self.lines[i] for i in indices], [[lines[i] for i in indices] for lines in self.references])


class Decoder(Protocol):
    """A decoder; ``hopefear.decode`` has two."""

    @property
    def model(self) -> Any: ...

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that decide its translations, in addition to the model and the weights."""

    @property
    def dense_names(self) -> list[str]:
        """The features that every edge has."""

    @property
    def feature_names(self) -> list[str]:
        """All features, in the order of their ids."""

    def kbest(
        self,
        lines: Sequence[str],
        k: int,
        distinct: bool = False,
        *,
        weights: Any = None,
        first: int = 0,
        jobs: int = 0,
    ) -> Pool: ...

    def examples(self, lines: Sequence[str], references: Sequence[Sequence[str]]) -> Examples:
        """Sentences that the core decodes again whenever a learner asks."""

    def opener(self) -> Callable[[], Decoder]:
        """Something that can be sent to another machine and opens the same decoder there."""


@dataclass(frozen=True)
class Task:
    """A decoder, sentences to learn its weights from, and sentences to choose the best epoch on.

    >>> corpus = hf.Corpus.read("train.de", ["train.en"])
    >>> task = hf.Task(hf.Hiero("translator"), corpus.subset(range(0, 200)), dev=corpus.subset(range(200, 224)))
    >>> result = hf.Arow(epochs=1).fit(task)
    >>> result.score
    100.0
    """

    decoder: Decoder
    corpus: Corpus
    dev: Corpus | None = None
    on_cluster: bool = False  # batch trainers and costmargin: sentences are decoded on the cluster that was joined
    _made: dict[bytes, Translations] = field(default_factory=dict, init=False, repr=False, compare=False)

    def on_dev(self, weights: Mapping[str, float] | Vector, jobs: int) -> Translations:
        """The development data under these weights; the same weights translate it once."""
        assert self.dev is not None
        w = weights
        if isinstance(w, Mapping):
            names = self.decoder.feature_names
            if not set(names).issuperset(w):  # blocks, whose features are not listed
                return Translations.of(self.decoder, self.dev, w, jobs)
            w = weight_vector(w, names)
        key = hashlib.sha256(np.ascontiguousarray(w).tobytes()).digest()
        if key not in self._made:
            self._made[key] = Translations.of(self.decoder, self.dev, w, jobs)
        return self._made[key]


@dataclass(frozen=True)
class Translations:
    """The translations of a corpus, in tokens, with BLEU's statistics."""

    texts: list[str]
    stats: Vector
    tokens: list[list[str]]  # of the references

    @classmethod
    def of(cls, decoder: Decoder, corpus: Corpus, weights: Mapping[str, float] | Vector, jobs: int) -> Translations:
        pool = decoder.kbest(corpus.lines, 1, weights=weights, jobs=jobs)
        texts = [pool.text(i, 0) for i in range(len(pool))]
        tokens = [[decoder.model.target_text.text(line) for line in reference] for reference in corpus.references]
        return cls(texts, Bleu().corpus_stats(texts, tokens, jobs), tokens)

    @property
    def score(self) -> float:
        return Bleu().score(self.stats.sum(axis=0))

    @property
    def length_ratio(self) -> float:
        return Bleu().length_ratio(self.stats.sum(axis=0))
