"""The best candidates of lists under given weights, in bounded memory: what ``hopefear rerank`` does."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Vocab
from hopefear.decode.consensus import CONSENSUS, best_places
from hopefear.formats.nbest import iter_nbest
from hopefear.formats.weights import check_names, read_weights
from hopefear.runs.session import SILENT, Session
from hopefear.util.files import PathLike, PathsLike
from hopefear.util.values import check_choice
from hopefear.util.words import plural, some

TOGETHER = 64  # sentences
IN_MEMORY = 1 << 24  # bytes of output; more waits in a temporary file


def rerank(
    nbest: PathsLike,
    weights: PathLike | Mapping[str, float],
    run: Session = SILENT,
    mbr: str | None = None,
    scale: float = 1.0,
    jobs: int = 0,
) -> Iterator[str]:
    """The best candidate of every sentence, as the list has it; of equal scores the first wins.

    With the name of a metric as ``mbr``, the best has the highest expected gain (``hopefear.decode.consensus``).
    Lists of any length are read in bounded memory, and all of them before the first text comes: there is none if a
    list has an error.
    """
    if mbr is not None:
        check_choice("mbr", mbr, CONSENSUS)
    named, path = (weights, "weights") if isinstance(weights, Mapping) else (read_weights(weights), weights)
    known = _Known(named)
    update = run.progress("rerank")
    best = tempfile.SpooledTemporaryFile(IN_MEMORY, "w+", encoding="utf-8", newline="\n")  # noqa: SIM115 -- _lines closes it
    try:
        sentences = iter_nbest(nbest)
        while some_of_them := list(islice(sentences, TOGETHER)):
            lists = [sentence.forest for sentence in some_of_them]
            w = known.vector(lists[-1].features)
            if mbr is None:
                places = [int(one.scores(w).argmax()) for one in lists]
            else:
                places = best_places(lists, w, mbr, scale, jobs)
            for sentence, place in zip(some_of_them, places, strict=True):
                best.write(sentence.text(place) + "\n")
                update()
        known.check(path, run)
    except BaseException:
        best.close()
        raise
    return _lines(best)


def _lines(file: tempfile.SpooledTemporaryFile[str]) -> Iterator[str]:
    with file:
        file.seek(0)
        for line in file:
            yield line[:-1]


class _Known:
    """Weights as a vector over the features that a list has shown so far."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = weights
        self.names: list[str] = []
        self._values: NDArray[np.float64] = np.zeros(16)

    def vector(self, features: Vocab) -> NDArray[np.float64]:
        count = len(features)
        if count > len(self._values):
            self._values = np.concatenate([self._values, np.zeros(count)])
        for number in range(len(self.names), count):
            self.names.append(features[number])
            self._values[number] = self.weights.get(features[number], 0.0)
        return self._values

    def check(self, path: PathLike, run: Session) -> None:
        """Weights without a feature, and features without a weight."""
        whose = f"the list, which has {some(self.names)}. Use the weights of this model" if self.names else None
        if strangers := check_names(path, self.weights, self.names, "that the list does not have", whose):
            run.warn(strangers)
        if without := [name for name in self.names if name not in self.weights]:
            run.warn(f"{plural(len(without), 'feature')} of the list without a weight, taken as 0: {some(without)}")
