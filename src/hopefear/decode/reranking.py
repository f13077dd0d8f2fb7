"""The best candidates of lists and forests under given weights: what ``hopefear rerank`` does."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool, Vocab
from hopefear.decode.consensus import CONSENSUS, best_by_consensus, best_places
from hopefear.decode.limits import LIST_SIZE
from hopefear.formats.file_kinds import explained
from hopefear.formats.forests import read_forests
from hopefear.formats.missing import check_policy, check_weights
from hopefear.formats.nbest import iter_nbest, read_nbest, write_nbest
from hopefear.formats.weights import check_names, matched_numbers, read_weights, weight_vector
from hopefear.runs.session import SILENT, Session
from hopefear.util.files import PathLike, PathsLike, path_list, path_name
from hopefear.util.messages import plural, some
from hopefear.util.values import check_choice

TOGETHER = 64  # sentences
IN_MEMORY = 1 << 24  # bytes of output; more waits in a temporary file


@dataclass(frozen=True)
class Reranking:
    """How the best candidate is chosen, and what is written."""

    format: str | None = None
    mbr: str | None = None  # a metric: its highest expected gain is chosen (``hopefear.decode.consensus``)
    scale: float = 1.0
    nbest_out: PathLike | None = None  # the ``k`` best go to this list
    k: int = LIST_SIZE
    jobs: int = 0
    missing: str = "error"  # scores that a candidate lacks, weights whose features none has: ``formats/missing.py``

    def __post_init__(self) -> None:
        check_policy(self.missing)
        if self.mbr is not None:
            check_choice("mbr", self.mbr, CONSENSUS)

    def write_best(self, pool: Pool, weights: Mapping[str, float]) -> None:
        """The best candidates as a list, if they are asked for."""
        if self.nbest_out is not None:
            w = weight_vector(weights, pool.feature_names)
            write_nbest(pool.kbest(w, self.k, distinct=True, jobs=self.jobs), self.nbest_out, weights=weights)


def rerank(
    nbest: PathsLike, weights: PathLike | Mapping[str, float], run: Session = SILENT, how: Reranking = Reranking()
) -> Iterator[str]:
    """The best candidate of every sentence, as the list has it; of equal scores the first wins.

    Lists of any length are read in bounded memory, and all of them before the first text comes: there is none if a
    list has an error. ``nbest_out`` takes the lists into memory.
    """
    named, path = _named(weights)
    if how.nbest_out is not None:
        pool = read_nbest(nbest, format=how.format, missing=how.missing)
        how.write_best(pool, matched_numbers(path, named, pool.feature_names)[0])
    known = _Known(path, named, how.missing)
    update = run.progress("rerank")
    best = tempfile.SpooledTemporaryFile(IN_MEMORY, "w+", encoding="utf-8", newline="\n")  # noqa: SIM115 -- _lines closes it
    try:
        with explained(lists=path_list(nbest)):
            sentences = iter_nbest(nbest, how.format, missing=how.missing)
            while some_of_them := list(islice(sentences, TOGETHER)):
                lists = [sentence.forest for sentence in some_of_them]
                w = known.vector(lists[-1].features, lists[-1].dense.shape[1])
                if how.mbr is None:
                    places = [int(candidates.scores(w).argmax()) for candidates in lists]
                else:
                    places = best_places(lists, w, how.mbr, how.scale, how.jobs)
                for sentence, position in zip(some_of_them, places, strict=True):
                    best.write(sentence.text(position) + "\n")
                    update()
        known.check(run)
    except BaseException:
        best.close()
        raise
    return _lines(best)


def rerank_forests(
    forests: PathLike, weights: PathLike | Mapping[str, float], run: Session = SILENT, how: Reranking = Reranking()
) -> list[str]:
    """The words of the best derivation of every forest, or with ``mbr`` the string of the highest expected gain."""
    named, path = _named(weights)
    run.progress("rerank")(text="read")
    pool = read_forests(forests, format=how.format)
    known = _Known(path, named, how.missing, "the forests")
    w = known.vector(pool.features, pool.dense_width)[: len(pool.features)]
    known.check(run)
    how.write_best(pool, known.weights)
    if how.mbr is not None:
        return best_by_consensus(pool, w, how.mbr, how.scale, jobs=how.jobs)
    return [derivation.text for derivation in pool.viterbi(w, how.jobs)]


def _named(weights: PathLike | Mapping[str, float]) -> tuple[Mapping[str, float], PathLike]:
    """Weights, and what they are called in messages."""
    return (weights, "weights") if isinstance(weights, Mapping) else (read_weights(weights), weights)


def _lines(file: tempfile.SpooledTemporaryFile[str]) -> Iterator[str]:
    with file:
        file.seek(0)
        for line in file:
            yield line[:-1]


class _Known:
    """Weights as a vector over the features that a list has shown so far."""

    def __init__(self, path: PathLike, weights: Mapping[str, float], missing: str, whose: str = "the list") -> None:
        self.path, self.weights, self.missing, self.whose = path, weights, missing, whose
        self.dense = 0  # how many of the names are of features that all candidates have
        self.note: str | None = None
        self.names: list[str] = []
        self._values: NDArray[np.float64] = np.zeros(16)

    def vector(self, features: Vocab, dense: int) -> NDArray[np.float64]:
        count, self.dense = len(features), dense
        if not self.names:
            self.weights, self.note = matched_numbers(self.path, self.weights, [features[k] for k in range(count)])
        if count > len(self._values):
            self._values = np.concatenate([self._values, np.zeros(count)])
        for number in range(len(self.names), count):
            self.names.append(features[number])
            self._values[number] = self.weights.get(features[number], 0.0)
        return self._values

    def check(self, run: Session) -> None:
        """Weights without a feature, features without a weight, and weights that choose nothing."""
        run.warn(self.note)
        if self.names and not any(self.weights.values()):
            run.warn(f"{path_name(self.path)}: all weights are 0, so the first candidate is the best everywhere")
        verb = "has" if self.whose == "the list" else "have"
        whose = f"{self.whose}, which {verb} {some(self.names)}. Use the weights of this model" if self.names else None
        check_names(self.path, self.weights, self.names, "that the list does not have", whose)
        sparse = self.names[self.dense :]
        run.warn(check_weights(self.path, self.weights, self.names, self.missing, sparse=sparse, whose=self.whose))
        if without := [name for name in self.names if name not in self.weights]:
            run.warn(f"{plural(len(without), 'feature')} of the list without a weight, taken as 0: {some(without)}")
