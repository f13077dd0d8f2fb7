"""Training of the neural joint model (``joint.py``) by noise-contrastive estimation.

Gutmann and Hyvärinen (2010); Mnih and Teh (2012). For each word of the text, K words are drawn from a distribution q of
noise, and the model learns to tell the word of the text from them:

    J  =  log sigma(s(e) - log K q(e))  +  sum over noise words k of log sigma(-(s(k) - log K q(k)))

where s(e) = u_e . max(0, z) + b_e. At the optimum exp(s) is the distribution of the text, so it sums to 1 without being
told to. Devlin et al. (2014) train with the whole softmax and a penalty for log Z instead, which takes longer.

- All words of a minibatch share their noise, so that the scores are a matrix product.
- AdaGrad; the step falls linearly to 0. Embeddings and output rows that do not occur in a minibatch do not move.
- In some examples the words of the history from the n-th on are <null>: the decoder asks for such probabilities when it
  does not know yet what comes before.
- Pairs are held out by their target side, so that no held-out sentence is trained on under another source side.
- A minibatch has two halves which two threads compute, each with one thread of the BLAS, whatever ``jobs`` is: the
  result depends on the seed and the machine's BLAS only.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from hopefear._core import ParallelText
from hopefear.errors import InputError
from hopefear.model.joint import (
    ARRAYS,
    BOS,
    EOS,
    HISTORY,
    MARKS,
    NULL,
    REACH,
    UNK,
    WINDOW,
    Floats,
    Ints,
    JointModel,
    affiliations,
)
from hopefear.runs.session import SILENT, Session

Params = Mapping[str, NDArray[Any]]
#: The gradient of one array: of all of it (rows None), or of some rows.
Gradient = tuple[Ints | None, NDArray[Any]]


_ENOUGH = 3_600_000  # examples, all epochs together
_FEWEST, _MOST = 3, 10  # epochs
_FEW = 300_000  # examples of a small text, which has smaller minibatches


@dataclass(frozen=True)
class JointOptions:
    """The sizes and the schedule. Steps, epochs and minibatches were compared with others, by held-out perplexity."""

    embedding: int = 64
    hidden: int = 128
    least: int = 2  #: occurrences of a word that the model knows
    epochs: int = 0  #: 0: as many as the text needs, see scheduled
    batch: int = 0  #: examples of a minibatch; 0: 1000, of a small text 300
    noise: int = 500  #: K
    step: float = 0.1  #: of words; that of the hidden layer is a fifth of it
    truncated: float = 0.1  #: the share of examples with a part of the history unknown
    most: int = 3_000_000  #: examples of an epoch
    held_out: int = 10_000  #: words, and at most a twentieth of the text

    def scheduled(self, count: int) -> JointOptions:
        """The same with epochs and minibatches for so many examples: small texts need more steps of each."""
        wanted = -(-_ENOUGH // max(1, min(count, self.most)))
        epochs = self.epochs or min(max(wanted, _FEWEST), _MOST)
        return replace(self, epochs=epochs, batch=self.batch or (300 if count < _FEW else 1000))


@dataclass(frozen=True)
class Examples:
    """A text laid out so that histories and windows are slices: marks stand before and behind each sentence."""

    source: Ints
    target: Ints
    place: Ints  #: of each word to predict, in ``target``
    affiliated: Ints  #: the place of its source word in ``source``
    sentence: Ints  #: the pair that it is in

    def batch(self, which: NDArray[np.intp]) -> tuple[Ints, Ints]:
        """Contexts, history first (the last word first) and then the window; and the words behind them."""
        place = self.place[which]
        history = self.target[place[:, None] - np.arange(1, HISTORY + 1)]
        window = self.source[self.affiliated[which][:, None] + np.arange(-REACH, REACH + 1)]
        return np.concatenate([history, window], axis=1), self.target[place]


def _known(words: Ints, vocab: Any, least: int) -> tuple[tuple[str, ...], Ints]:
    """The words of a model, marks first, and the number of each word of the text."""
    counts = np.bincount(words, minlength=len(vocab))
    kept = np.flatnonzero(counts >= least)
    kept = kept[np.argsort(-counts[kept], kind="stable")]
    numbers = np.full(len(vocab), UNK, np.int32)
    numbers[kept] = np.arange(len(MARKS), len(MARKS) + len(kept), dtype=np.int32)
    return (*MARKS, *(vocab[int(i)] for i in kept)), numbers


def _padded(words: Ints, begin: NDArray[np.int64], before: int, behind: int) -> tuple[Ints, NDArray[np.int64]]:
    """Sentences with BOS before and EOS behind them, and the place of the first word of each."""
    lengths = np.diff(begin)
    shift = np.arange(len(lengths)) * (before + behind) + before
    first = begin[:-1] + shift
    padded = np.full(int(begin[-1]) + len(lengths) * (before + behind), EOS, np.int32)
    padded[np.arange(len(words)) + np.repeat(shift, lengths)] = words
    for k in range(1, before + 1):
        padded[first - k] = BOS
    return padded, first


def examples(text: ParallelText, source_numbers: Ints, target_numbers: Ints) -> Examples:
    """One example per target word and one per end of a sentence, whose source word is the end of the source."""
    lengths = np.diff(text.target_begin)
    source_lengths = np.diff(text.source_begin)
    links = [text.links(n) for n in range(len(text))]
    affiliated = affiliations(links, lengths.astype(np.int32), source_lengths.astype(np.int32))
    source, source_first = _padded(source_numbers[text.source], text.source_begin, REACH, REACH + 1)
    target, target_first = _padded(target_numbers[text.target], text.target_begin, HISTORY, 1)
    sentence = np.repeat(np.arange(len(text)), lengths + 1)
    inside = np.arange(len(sentence)) - np.repeat(text.target_begin[:-1] + np.arange(len(text)), lengths + 1)
    ends = inside == lengths[sentence]
    at = np.empty(len(sentence), np.int64)
    at[~ends] = affiliated
    at[ends] = source_lengths
    place = (target_first[sentence] + inside).astype(np.int32)
    return Examples(source, target, place, (source_first[sentence] + at).astype(np.int32), sentence.astype(np.int32))


def start(rng: np.random.Generator, sizes: tuple[int, int], words: Floats, options: JointOptions) -> dict[str, Floats]:
    """Small random numbers; output biases are the logarithms of the words' frequencies, so that Z is about 1."""
    d, h = options.embedding, options.hidden
    inputs = (HISTORY + WINDOW) * d
    shapes = {"source": (sizes[0], d), "target": (sizes[1], d), "hidden": (inputs, h), "output": (sizes[1], h)}
    scales = {"source": 0.2, "target": 0.2, "hidden": (6.0 / inputs) ** 0.5, "output": 0.05}
    made = {name: rng.uniform(-scales[name], scales[name], shape).astype(np.float32) for name, shape in shapes.items()}
    made["hidden_bias"] = np.zeros(h, np.float32)
    made["output_bias"] = np.log(words).astype(np.float32)
    return {name: made[name] for name in ARRAYS}


def hidden_layer(params: Params, contexts: Ints) -> tuple[NDArray[Any], NDArray[Any]]:
    """The embeddings of each context in a row, and max(0, z)."""
    rows = len(contexts)
    x = np.concatenate(
        [
            params["target"][contexts[:, :HISTORY]].reshape(rows, -1),
            params["source"][contexts[:, HISTORY:]].reshape(rows, -1),
        ],
        axis=1,
    )
    return x, np.maximum(x @ params["hidden"] + params["hidden_bias"], 0)


def gradient(params: Params, contexts: Ints, words: Ints, noise: Ints, log_kq: NDArray[Any]) -> dict[str, Gradient]:
    """The gradient of J summed over some examples; ``log_kq`` is log K q of every word."""
    x, h = hidden_layer(params, contexts)
    u, b = params["output"], params["output_bias"]
    u_words, u_noise = u[words], u[noise]
    told = np.einsum("ij,ij->i", h, u_words) + b[words] - log_kq[words]
    drawn = h @ u_noise.T
    drawn += b[noise] - log_kq[noise]
    g_told = 1 / (1 + np.exp(told))
    np.negative(drawn, out=drawn)
    np.exp(drawn, out=drawn)
    drawn += 1
    np.divide(-1, drawn, out=drawn)  # d J / d score
    numbers = np.concatenate([words, noise])
    return {
        **backward(params, contexts, x, h, g_told[:, None] * u_words + drawn @ u_noise),
        "output": rows_of(numbers, np.concatenate([g_told[:, None] * h, drawn.T @ h])),
        "output_bias": rows_of(numbers, np.concatenate([g_told, drawn.sum(axis=0)])),
    }


def backward(
    params: Params, contexts: Ints, x: NDArray[Any], h: NDArray[Any], d_h: NDArray[Any]
) -> dict[str, Gradient]:
    """The gradient of everything below :func:`hidden_layer`, given that of its result."""
    d_z = d_h * (h > 0)
    d_x = d_z @ params["hidden"].T
    d = params["source"].shape[1]
    split = HISTORY * d
    return {
        "source": rows_of(contexts[:, HISTORY:].ravel(), d_x[:, split:].reshape(-1, d)),
        "target": rows_of(contexts[:, :HISTORY].ravel(), d_x[:, :split].reshape(-1, d)),
        "hidden": (None, x.T @ d_z),
        "hidden_bias": (None, d_z.sum(axis=0)),
    }


def rows_of(numbers: Ints, values: NDArray[Any]) -> Gradient:
    """The sum of the values of each number."""
    order = np.argsort(numbers, kind="stable")
    rows, first = np.unique(numbers[order], return_index=True)
    return rows, np.add.reduceat(values[order], first, axis=0)


class AdaGrad:
    """Duchi, Hazan and Singer (2011), on arrays or rows of them; sums of squares begin with 1."""

    def __init__(self, params: dict[str, Floats]) -> None:
        self.params = params
        self.sums = {name: np.ones_like(array) for name, array in params.items()}

    def add(self, name: str, gradient: Gradient, step: float) -> None:
        rows, g = gradient
        where = slice(None) if rows is None else rows
        self.sums[name][where] += g * g
        if name.startswith("hidden"):
            step *= 0.2
        self.params[name][where] += np.float32(step) * g / np.sqrt(self.sums[name][where])


def merged(a: Gradient, b: Gradient) -> Gradient:
    """The sum of two gradients."""
    if a[0] is None or b[0] is None:
        return None, a[1] + b[1]
    return rows_of(np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1]]))


def perplexity(params: Params, data: Examples, which: NDArray[np.intp]) -> tuple[float, float, float]:
    """Of some words: perplexity, the same without dividing by Z, and the mean of |log Z|."""
    scores, zs = [], []
    for begin in range(0, len(which), 1000):
        contexts, words = data.batch(which[begin : begin + 1000])
        _, h = hidden_layer(params, contexts)
        s = h @ params["output"].T + params["output_bias"]
        s[:, [BOS, NULL]] = -np.inf  # no words
        top = s.max(axis=1)
        zs.append(top + np.log(np.exp(s - top[:, None]).sum(axis=1)))
        scores.append(s[np.arange(len(words)), words])
    raw, log_z = np.concatenate(scores).astype(np.float64), np.concatenate(zs).astype(np.float64)
    return float(np.exp(-(raw - log_z).mean())), float(np.exp(-raw.mean())), float(np.abs(log_z).mean())


def held_out(text: ParallelText, options: JointOptions) -> NDArray[np.bool_]:
    """Of each pair, whether it is held out: by a checksum of its target side."""
    begin, words = text.target_begin, text.target.astype(np.int32)
    share = min(options.held_out / max(1, len(words)), 0.05)
    sums = [zlib.crc32(words[begin[n] : begin[n + 1]].tobytes()) for n in range(len(text))]
    return np.array(sums, np.int64) < share * 2**32


def _minibatches(
    data: Examples, which: NDArray[np.intp], rng: np.random.Generator, options: JointOptions
) -> Iterator[tuple[Ints, Ints]]:
    chosen = rng.permutation(which)[: options.most]
    for begin in range(0, len(chosen), options.batch):
        contexts, words = data.batch(chosen[begin : begin + options.batch])
        known = np.where(rng.random(len(words)) < options.truncated, rng.integers(0, HISTORY, len(words)), HISTORY)
        history = contexts[:, :HISTORY]
        history[np.arange(HISTORY) >= known[:, None]] = NULL
        yield contexts, words


def train_joint(
    text: ParallelText, options: JointOptions | None = None, seed: int = 1, run: Session = SILENT
) -> JointModel:
    """A joint model of a word-aligned text: that of the epoch with the lowest held-out log perplexity plus |log Z|."""
    options = options or JointOptions()
    source_words, source_numbers = _known(text.source, text.source_vocab, options.least)
    target_words, target_numbers = _known(text.target, text.target_vocab, options.least)
    data = examples(text, source_numbers, target_numbers)
    aside = held_out(text, options)[data.sentence]
    which, tests = np.flatnonzero(~aside), np.flatnonzero(aside)
    if not len(which) or not len(tests):
        raise InputError("the text is too small for a joint model. Leave --joint-model out")
    options = options.scheduled(len(which))
    counts = np.bincount(data.target[data.place], minlength=len(target_words)) + 0.5
    counts[[BOS, NULL]] = 1e-3  # never words, but no logarithm of 0
    learner = Learner((counts / counts.sum()).astype(np.float32), len(source_words), options, seed)
    best, lowest = learner.params, np.inf
    total = options.epochs * -(-min(len(which), options.most) // options.batch)
    progress, done = run.progress("joint model", total), 0
    with threadpool_limits(1), ThreadPoolExecutor(2) as threads:
        for epoch in range(1, options.epochs + 1):
            for contexts, words in _minibatches(data, which, learner.rng, options):
                learner.step(contexts, words, options.step * (1 - done / total), threads)
                done += 1
                progress(done)
            now, raw, z = perplexity(learner.params, data, tests)
            figures = f"held-out perplexity {now:.2f}, without dividing by Z {raw:.2f}, mean |log Z| {z:.3f}"
            run.note(f"joint model, epoch {epoch}: {figures}")
            if (loss := float(np.log(now)) + z) < lowest:  # the decoder never divides by Z
                lowest, best = loss, {name: array.copy() for name, array in learner.params.items()}
    return JointModel(source_words, target_words, best)


class Learner:
    """Parameters on their way; ``q`` is the distribution of the noise."""

    def __init__(self, q: Floats, source_words: int, options: JointOptions, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.params = start(self.rng, (source_words, len(q)), q, options)
        self.noise = options.noise
        self._optimizer = AdaGrad(self.params)
        self._log_kq = np.log(q) + np.float32(np.log(options.noise))
        self._cumulative = np.cumsum(q, dtype=np.float64)

    def step(self, contexts: Ints, words: Ints, size: float, threads: ThreadPoolExecutor) -> None:
        """One minibatch, half of it in each of two threads."""
        draws = self.rng.random(self.noise) * self._cumulative[-1]
        noise = np.searchsorted(self._cumulative, draws, "right").astype(np.int32)
        half = (len(words) + 1) // 2
        parts = [part for part in (slice(0, half), slice(half, None)) if len(words[part])]
        jobs = [threads.submit(gradient, self.params, contexts[p], words[p], noise, self._log_kq) for p in parts]
        gradients = [job.result() for job in jobs]
        for name in ARRAYS:
            both = gradients[0][name] if len(gradients) == 1 else merged(gradients[0][name], gradients[1][name])
            self._optimizer.add(name, both, size)
