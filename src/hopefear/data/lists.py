"""Candidate lists with references out of nothing but a seed, with a structure that a trainer can find.

Every sentence has a hidden truth. References are the truth with some words exchanged for synonyms and few slips. A
candidate is the truth with errors of four kinds (a word confused, dropped, inserted, swapped with its neighbour), at a
rate of its own. Dense features see the errors through noise, each kind with a strength of its own, and most of them
also grow with the length, as log-probabilities do; some see nothing. Confused words come from one part of the
vocabulary, which the sparse features (one per word) can learn.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hopefear.data import CANDIDATES, DENSE, REFERENCES, SENTENCES
from hopefear.errors import InputError
from hopefear.runs.session import SILENT, Session
from hopefear.util.files import files_together

_SYLLABLES = [consonant + vowel for consonant in "bdfghjklmnprstvwxyzc" for vowel in "aeiou"]
_CONFUSED, _DROPPED, _INSERTED, _SWAPPED = range(4)
_EDITS = np.array([0.55, 0.15, 0.15, 0.15])  # how the errors of a candidate divide into the four kinds


def _spell(word: int) -> str:
    """0, 1, ... as syllables: ba, be, ..., baba, babe, ...: short for the frequent words."""
    text = ""
    while word >= 0:
        word, syllable = divmod(word, len(_SYLLABLES))
        text = _SYLLABLES[syllable] + text
        word -= 1
    return text


@dataclass(frozen=True)
class SyntheticSentence:
    """One sentence: its candidates, best first under the initial weights."""

    source: str
    references: list[str]
    texts: list[str]
    dense: NDArray[np.float64]  # candidates x dense, rounded to the four decimals that are written
    sparse: list[dict[str, int]]  # word features that fire, one mapping per candidate; empty without sparse features
    quality: NDArray[np.float64]  # 0 to 100: agreement with the hidden truth, with some noise
    scores: NDArray[np.float64]  # under the initial weights


@dataclass(frozen=True)
class Synthetic:
    """A seeded set of candidate lists. Sentence i depends on the seed and i only, not on how many there are."""

    sentences: int = SENTENCES
    candidates: int = CANDIDATES
    references: int = REFERENCES
    dense: int = DENSE
    sparse: int = 0
    seed: int = 1

    def __post_init__(self) -> None:
        for name, least in (("sentences", 1), ("candidates", 1), ("references", 1), ("dense", 1), ("sparse", 0)):
            if getattr(self, name) < least:
                raise InputError(f"{name} is {getattr(self, name)}. It must be {least} or more")

    @cached_property
    def _world(self) -> tuple[NDArray[np.object_], NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        """Words, their cumulated Zipf probabilities, two synonyms and four confusions of each."""
        size = max(5000, self.sparse)
        random = np.random.default_rng([self.seed, 0])
        words = np.array([_spell(word) for word in range(size)], dtype=object)
        cumulated = np.cumsum(1.0 / (np.arange(size) + 3.0))
        confusions = 3 * random.integers(0, size // 3, (size, 4))  # every third word is one to be careful with
        return words, cumulated / cumulated[-1], random.integers(0, size, (size, 2)), confusions

    @cached_property
    def dense_names(self) -> list[str]:
        first = ["lm", "wordpenalty", "distortion", "phrasepenalty"]
        return [*first, *(f"tm{i}" for i in range(self.dense - len(first)))][: self.dense]

    @property
    def sparse_names(self) -> list[str]:
        return [f"word:{word}" for word in self._world[0][: self.sparse]]

    @property
    def initial(self) -> dict[str, float]:
        """Weights as if set by hand: neither bad nor good."""
        by_hand = {"lm": 0.5, "wordpenalty": -0.5, "distortion": 0.3, "phrasepenalty": 0.2}
        return {name: by_hand.get(name, 0.2) for name in self.dense_names}

    @cached_property
    def _loadings(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """How strongly each dense feature sees each kind of error and the length, and its noise."""
        random = np.random.default_rng([self.seed, 1])
        errors, length, noise = np.zeros((4, self.dense)), np.zeros(self.dense), np.zeros(self.dense)
        for j, name in enumerate(self.dense_names):
            if name == "lm":
                errors[:, j], length[j], noise[j] = (-1.2, 0.0, -0.8, -0.9), -2.0, 2.0
            elif name == "wordpenalty":
                length[j] = -1.0
            elif name == "distortion":
                errors[_SWAPPED, j], noise[j] = -1.0, 0.8
            elif name == "phrasepenalty":
                length[j], noise[j] = 0.45, 1.0
            else:
                blind = j % 5 == 4  # every fifth feature is noise
                errors[:, j] = 0.0 if blind else -random.uniform(0.0, 1.0, 4) * (1.0, 0.4, 1.0, 0.3)
                length[j], noise[j] = -random.uniform(0.2, 1.0), random.uniform(1.0, 3.0)
        return errors, length, noise

    def _edited(
        self, random: np.random.Generator, truth: NDArray[np.int64], rates: NDArray[np.float64], synonyms: float
    ) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
        """The truth once for each rate, with errors; and the errors, a row of four counts each."""
        _, cumulated, same, wrong = self._world
        shape = (len(rates), len(truth))
        words = np.where(random.random(shape) < synonyms, same[truth, random.integers(0, 2, shape)], truth)
        kind = np.searchsorted(np.cumsum(_EDITS), random.random(shape) / rates[:, None])  # 4: left alone
        words = np.where(kind == _CONFUSED, wrong[truth, random.integers(0, 4, shape)], words)
        extra = np.searchsorted(cumulated, random.random(shape))
        swapped = kind == _SWAPPED
        swapped[:, -1:] = False
        for i in range(shape[1] - 1):
            rows = swapped[:, i]
            words[rows, i], words[rows, i + 1] = words[rows, i + 1], words[rows, i]
        grid = np.full((shape[0], 2 * shape[1]), -1)
        grid[:, 0::2] = np.where(kind == _DROPPED, -1, words)
        grid[:, 1::2] = np.where(kind == _INSERTED, extra, -1)
        errors = [(kind == _CONFUSED).sum(1), (kind == _DROPPED).sum(1), (kind == _INSERTED).sum(1), swapped.sum(1)]
        return [row[row >= 0] for row in grid], np.stack(errors, axis=1)

    def sentence(self, index: int) -> SyntheticSentence:
        """Sentence ``index``, 0 or more."""
        words, cumulated, _, _ = self._world
        random = np.random.default_rng([self.seed, 2, index])
        length = int(np.clip(random.normal(18, 7), 5, 50))
        truth = np.searchsorted(cumulated, random.random(length))
        references, _ = self._edited(random, truth, np.full(self.references, 0.12), synonyms=0.15)
        difficulty = random.uniform(0.08, 0.3)
        texts: dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}
        while len(texts) < self.candidates:
            rates = difficulty * random.uniform(0.4, 2.2, self.candidates)
            for row, errors in zip(*self._edited(random, truth, rates, synonyms=0.08), strict=True):
                if len(row) and len(texts) < self.candidates:
                    texts.setdefault(" ".join(words[row]), (row, errors))
            difficulty = min(0.45, difficulty * 1.1)  # a short sentence needs more errors for as many candidates
        rows = [row for row, _ in texts.values()]
        counts = np.array([errors for _, errors in texts.values()], dtype=np.float64)
        lengths = np.array([len(row) for row in rows], dtype=np.float64)
        errors, per_word, noise = self._loadings
        dense = counts @ errors + lengths[:, None] * per_word + random.normal(size=(len(rows), self.dense)) * noise
        dense = np.round(dense + random.normal(size=self.dense) * noise, 4) + 0.0
        judged = 100 - 100 * (counts @ (1.0, 0.8, 0.6, 0.4)) / length + random.normal(0, 4, len(rows))
        scores = dense @ np.array(list(self.initial.values()))
        best_first = np.argsort(-scores, kind="stable")
        text = list(texts)
        return SyntheticSentence(
            source=" ".join(word[::-1] for word in words[truth]),
            references=[" ".join(words[row]) for row in references],
            texts=[text[i] for i in best_first],
            dense=dense[best_first],
            sparse=[self._fired(rows[i]) for i in best_first] if self.sparse else [],
            quality=np.clip(judged[best_first], 0.0, 100.0).round(2),
            scores=scores[best_first],
        )

    def _fired(self, row: NDArray[np.int64]) -> dict[str, int]:
        words = self._world[0]
        ids, counts = np.unique(row[row < self.sparse], return_counts=True)
        return {f"word:{words[i]}": int(n) for i, n in zip(ids, counts, strict=True)}

    def __len__(self) -> int:
        return self.sentences

    def __iter__(self) -> Iterator[SyntheticSentence]:
        return (self.sentence(i) for i in range(self.sentences))

    def paths(self, folder: str | Path, jsonl: bool = False) -> dict[str, Path]:
        """The files that ``write`` makes."""
        folder = Path(folder)
        files = {"nbest": folder / ("nbest.jsonl" if jsonl else "nbest.txt"), "source": folder / "source.txt"}
        files |= {f"ref.{i}": folder / f"ref.{i}" for i in range(self.references)}
        return files | {"initial": folder / "initial.txt"}

    def write(
        self, folder: str | Path, jsonl: bool = False, overwrite: bool = True, run: Session = SILENT
    ) -> dict[str, Path]:
        """Candidates (Moses format or JSONL), source, references and initial weights, all of them or none."""
        files = self.paths(folder, jsonl)
        update = run.progress("generate", self.sentences)
        row_format = " ".join(f"{name}= %.4f" for name in self.dense_names)
        with files_together(files, overwrite) as out:
            out["initial"].writelines(f"{name} {weight!r}\n" for name, weight in self.initial.items())
            for index, sentence in enumerate(self):
                out["source"].write(sentence.source + "\n")
                for i, reference in enumerate(sentence.references):
                    out[f"ref.{i}"].write(reference + "\n")
                lines = self._jsonl(index, sentence) if jsonl else self._moses(index, sentence, row_format)
                out["nbest"].write(lines)
                update()
        return files

    def _moses(self, index: int, sentence: SyntheticSentence, row_format: str) -> str:
        lines = []
        for k, text in enumerate(sentence.texts):
            features = row_format % tuple(sentence.dense[k].tolist())
            if sentence.sparse:
                features += "".join(f" {name}= {value}" for name, value in sentence.sparse[k].items())
            lines.append(f"{index} ||| {text} ||| {features} ||| {sentence.scores[k]:.4f}\n")
        return "".join(lines)

    def _jsonl(self, index: int, sentence: SyntheticSentence) -> str:
        candidates = []
        for k, text in enumerate(sentence.texts):
            features: dict[str, float] = dict(zip(self.dense_names, sentence.dense[k].tolist(), strict=True))
            features |= sentence.sparse[k] if sentence.sparse else {}
            candidates.append({"text": text, "features": features, "metrics": {"quality": float(sentence.quality[k])}})
        line = {
            "id": str(index),
            "source": sentence.source,
            "references": sentence.references,
            "candidates": candidates,
        }
        return json.dumps(line, ensure_ascii=False) + "\n"
