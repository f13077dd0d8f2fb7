"""Back-off n-gram language models: estimate, read, save, map, ask.

All scores are log10, as in ARPA files. A sentence is a string of words between blanks (ASCII white space); "<s>" and
"</s>" as words of a sentence are unknown words, for the marks are added by ``bos`` and ``eos``.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopefear import _core
from hopefear.errors import InputError, input_error
from hopefear.runs.session import SILENT, Session
from hopefear.util import cluster
from hopefear.util.disk import on_disk
from hopefear.util.files import PathLike, is_plain, iter_bytes, open_bytes, output, path_name

MAX_ORDER = 6
FALLBACK_DISCOUNTS = (0.5, 1.0, 1.5)
_MAGIC = b"hopefear-lm\n\0\0\0\0"
_KENLM = b"mmap lm http://kheafield.com"
_ARPA = "Give the ARPA file, which may be packed"

_TASK_WORDS = 2_000_000  # of a task on a cluster
_RANGES = 64  # at most, in which slices of the text are merged

Lines = PathLike | Iterable[str]
Bytes = npt.NDArray[np.uint8]
_Spec = tuple[int, int, list[int]]


class FullScore(NamedTuple):
    """What one word got: ``ngram_length`` is the length of the longest n-gram found, the word included."""

    log10_prob: float
    ngram_length: int
    unknown: bool


@dataclass(frozen=True)
class Discounts:
    """D(1), D(2), D(3+) of one order; ``fallback``: the counts of counts gave none."""

    d: tuple[float, float, float]
    fallback: bool


@dataclass(frozen=True)
class Evaluation:
    """How well a model predicts a text; ``tokens`` are the words and one ``</s>`` per sentence."""

    sentences: int
    tokens: int
    unknown: int
    log10_prob: float
    perplexity: float
    perplexity_without_unknown: float


class LanguageModel:
    """A model of any order up to 6, in one block of memory that can be a mapped file.

    >>> english = hf.LanguageModel.estimate("train.en", order=3)
    >>> english.score("A red house stands here .") > english.score("House red here stands a .")
    True
    >>> english.write_arpa("english.arpa")
    >>> hf.LanguageModel.read("english.arpa").order
    3
    """

    def __init__(self, core: _core.LanguageModel, discounts: Sequence[Discounts] = ()) -> None:
        self.core = core
        self.discounts = tuple(discounts)
        """The discounts of each order, when this model has just been estimated; else empty."""

    @classmethod
    def estimate(
        cls,
        lines: Lines,
        order: int = 5,
        prune: Sequence[int] = (),
        *,
        discount_fallback: tuple[float, float, float] = FALLBACK_DISCOUNTS,
        memory: float | None = None,
        on_cluster: bool = False,
        jobs: int = 0,
        run: Session = SILENT,
    ) -> LanguageModel:
        """Interpolated modified Kneser-Ney (Chen and Goodman 1998) from lines or from a file, one sentence per line.

        ``prune=(0, 0, 1)`` leaves out n-grams of order 3 and above that occur once. ``discount_fallback`` stands in for
        the discounts of an order whose counts of counts give none, as in small corpora. ``memory``: GB that n-grams and
        their counts may take; more of them go to the folder of temporary files (TMPDIR). ``on_cluster``: n-grams are
        counted by the one that was joined. Neither changes the model.
        """
        if any(threshold < 0 for threshold in prune):
            raise InputError("pruning thresholds are counts: they cannot be negative")
        if memory is not None:
            with on_disk(tempfile.gettempdir(), memory):
                return cls.estimate(
                    lines, order, prune, discount_fallback=discount_fallback, on_cluster=on_cluster, jobs=jobs, run=run
                )
        text = _core.LmText()
        if not isinstance(lines, str | os.PathLike):
            text.add(_joined(lines), "text", jobs)
        elif is_plain(lines):
            text.add_file(os.fspath(lines), jobs)
        else:
            text.add(b"".join(iter_bytes(lines)), path_name(lines), jobs)
        ranges = _counted_far_away(text, order, prune, run) if on_cluster else []
        core, discounts = _core.LanguageModel.estimate(text, order, list(prune), discount_fallback, jobs, ranges)
        return cls(core, [Discounts(each.d, each.fallback) for each in discounts])

    @classmethod
    def read_arpa(cls, path: PathLike) -> LanguageModel:
        """Reads an ARPA file of any toolkit, plain or packed."""
        if is_plain(path):
            return cls(_core.LanguageModel.read_arpa_file(os.fspath(path)))
        return cls(_core.LanguageModel.read_arpa(b"".join(iter_bytes(path)), path_name(path)))

    def write_arpa(self, path: PathLike) -> None:
        """Writes an ARPA file whose numbers read back to the same bits; packed if it is named .gz, .xz or .zst."""
        with output(path, "wb") as file:
            self.core.write_arpa(file.write)

    def save(self, path: PathLike) -> None:
        """Writes the file that :meth:`open` maps."""
        with output(path, "wb") as file:
            file.write(self.core.data.data)

    @classmethod
    def open(cls, path: PathLike, verify: bool = True) -> LanguageModel:
        """Maps a saved model: its memory is shared by all processes that map it.

        ``verify=False`` leaves out the check of all bytes, which reads the file once; the header is always checked.
        """
        return cls(_core.LanguageModel.open(os.fspath(path), verify))

    @classmethod
    def read(cls, path: PathLike) -> LanguageModel:
        """A saved model or an ARPA file: the first bytes tell.

        >>> hf.LanguageModel.estimate("train.en", order=2).save("english.lm")
        >>> hf.LanguageModel.read("english.lm").perplexity("train.en") < 20
        True
        """
        with open_bytes(path) as file:
            head = file.read(64)
        if b"\0" not in head:
            return cls.read_arpa(path)
        if head.startswith(_KENLM):
            raise input_error(path_name(path), None, f"a binary file of KenLM. {_ARPA}")
        if not head.startswith(_MAGIC):
            raise input_error(path_name(path), None, f"neither an ARPA file nor a model that hopefear saved. {_ARPA}")
        if not is_plain(path):
            raise input_error(path_name(path), None, "a packed model of hopefear. Unpack it")
        return cls.open(path)

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return self.core.order

    @property
    def counts(self) -> tuple[int, ...]:
        """The number of n-grams of each order."""
        return tuple(self.core.counts)

    @property
    def vocab(self) -> list[str]:
        """The words in the order of their ids; the first three are ``<unk>``, ``<s>``, ``</s>``."""
        return self.core.words()

    def __contains__(self, word: str) -> bool:
        return word == "<unk>" or self.core.find(word) != 0

    def __len__(self) -> int:
        return len(self.core)

    def map_words(self, vocab: _core.Vocab) -> npt.NDArray[np.uint32]:
        """For each id of another vocabulary the id in this model, 0 (``<unk>``) where it has none."""
        return self.core.map_words(vocab)

    def score(self, sentence: str, bos: bool = True, eos: bool = True) -> float:
        """log10 p of a sentence."""
        return self.core.score(sentence, bos, eos)

    def full_scores(self, sentence: str, bos: bool = True, eos: bool = True) -> list[FullScore]:
        """One entry for each word, and one for ``</s>``."""
        return [FullScore(*each) for each in self.core.full_scores(sentence, bos, eos)]

    def evaluate(self, lines: Lines, jobs: int = 0) -> Evaluation:
        """Log probability and perplexity of a text."""
        text = b"".join(iter_bytes(lines)) if isinstance(lines, str | os.PathLike) else _joined(lines)
        got = self.core.evaluate(text, jobs)
        return Evaluation(
            got.sentences,
            got.tokens,
            got.unknown,
            got.log10_prob,
            _perplexity(got.log10_prob, got.tokens),
            _perplexity(got.log10_prob - got.log10_prob_unknown, got.tokens - got.unknown),
        )

    def perplexity(self, lines: Lines, jobs: int = 0) -> float:
        """Perplexity of a text, ``</s>`` and unknown words included."""
        return self.evaluate(lines, jobs).perplexity


def _perplexity(log10_prob: float, tokens: int) -> float:
    return float(np.power(10.0, -log10_prob / tokens)) if tokens else float("nan")


def _counted_far_away(text: _core.LmText, order: int, prune: Sequence[int], run: Session) -> list[Bytes]:
    """The n-grams of a text: a task per slice counts, and one per range of last words merges what all slices have."""
    spec = text.spec(order, list(prune))
    count = max(1, -(-text.tokens // _TASK_WORDS))
    cuts = text.ranges(min(count, _RANGES))
    slices = (text.slice(k, count) for k in range(count))
    counted = cluster.scattered(partial(_slices, spec, cuts), slices, len(cuts) - 1, run.warn)
    parts = [places for _, places in counted]
    items = [[places[k] for places in parts] for k in range(len(cuts) - 1)]
    return list(cluster.in_order(partial(_ranges, spec), items, run.warn, places=True))


def _slices(spec: _Spec, cuts: Sequence[int]) -> Callable[[npt.NDArray[np.uint32]], tuple[None, list[Any]]]:
    """On a worker: for the words of a slice, what it has of each range."""
    ranges = list(pairwise(cuts))
    return lambda words: (None, list(zip(ranges, _core.count_slice(words, spec, cuts), strict=True)))


def _ranges(spec: _Spec) -> Callable[[Sequence[tuple[tuple[int, int], Bytes]]], Bytes]:
    """On a worker: what all slices have of a range to its n-grams."""
    return lambda parts: _core.merge_slices([part for _, part in parts], spec, *parts[0][0])


def _joined(lines: Iterable[str]) -> bytes:
    try:
        return "".join([line.rstrip("\n").replace("\n", " ") + "\n" for line in lines]).encode()
    except UnicodeEncodeError as error:
        raise InputError(f"text: a line has a lone surrogate, which is no character ({error.reason})") from None
