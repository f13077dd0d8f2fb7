"""Where a gain comes from: scores of short and long sentences, and of frequent and rare words.

Words are scored as compare-mt (Neubig et al. 2019) does: of the words of a bucket, how many of the system's
output are in a reference (precision; no more often than in the reference that has it most often), how many of a
reference are in the output (recall; the mean over references), and their F1. The frequency of a word is that in all
references of the part: the text that the model was built from is not known here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np

from hopefear._core import Pool
from hopefear.metrics import Bleu, Metric
from hopefear.reports.numbers import BeforeAfter
from hopefear.reports.run_view import RunView

LENGTHS = (5, 10, 15, 20, 30, 40)  # the last of each bucket
COUNTS = (1, 4, 9, 49, 249)
FEWEST = 10  # sentences of a bucket; smaller ones join the next


@dataclass(frozen=True)
class Buckets:
    """Scores in buckets."""

    names: list[str]
    sizes: list[int]  # sentences, or words of the references
    before: list[float]
    after: list[list[float]]  # per run: the mean over its replicates


def length_buckets(runs: Sequence[RunView], part: str) -> Buckets | None:
    """The metric of sentences by the length of their reference, in words; of runs on the same sentences."""
    scored = [counted.scored[part] for counted in runs]
    lengths = _lengths(scored[0], runs[0].run.metric)
    if lengths is None or not len(lengths):
        return None
    place = np.searchsorted(np.array(LENGTHS), lengths, side="left")
    groups = _joined([np.flatnonzero(place == k) for k in range(len(LENGTHS) + 1)])
    metric = runs[0].run.metric
    names, sizes, before = [], [], []
    after: list[list[float]] = [[] for _ in runs]
    for first, last, rows in groups:
        names.append(_name(first, last, LENGTHS))
        sizes.append(len(rows))
        before.append(metric.score(scored[0].stats_before[rows].sum(axis=0)))
        for own, counted in zip(after, scored, strict=True):
            own.append(mean(metric.score(stats[rows].sum(axis=0)) for stats in counted.stats))
    return Buckets(names, sizes, before, after) if len(names) > 1 else None


def _lengths(scored: BeforeAfter, metric: Metric) -> list[int] | None:
    if scored.outputs is not None:
        pool = scored.outputs.before
        texts = [pool.references(i) for i in range(len(pool))]
        return [len(references[0].split()) for references in texts] if all(texts) else None
    return scored.stats_before[:, -1].astype(int).tolist() if isinstance(metric, Bleu) else None  # the closest one


def _joined(groups: list[np.ndarray]) -> list[tuple[int, int, np.ndarray]]:
    """Buckets, small ones joined with the next: the first and the last of those that they were, and their members."""
    buckets: list[tuple[int, int, np.ndarray]] = []
    waiting: list[np.ndarray] = []
    for k, rows in enumerate(groups):
        waiting.append(rows)
        joined = np.concatenate(waiting)
        if len(joined) >= FEWEST:
            buckets.append((k + 1 - len(waiting), k, joined))
            waiting = []
    rest = np.concatenate(waiting) if waiting else np.zeros(0, np.int64)
    if len(rest) and buckets:
        first, _, rows = buckets.pop()
        buckets.append((first, len(groups) - 1, np.concatenate([rows, rest])))
    return buckets


def _name(first: int, last: int, ends: Sequence[int]) -> str:
    low = ends[first - 1] + 1 if first else 1
    if last == len(ends):
        return f"{low} or more"
    return f"{low} to {ends[last]}" if low != ends[last] else str(low)


def word_buckets(runs: Sequence[RunView], part: str) -> Buckets | None:
    """F1 of words by their frequency, in percent; of runs on the same sentences."""
    outputs = [view.scored[part].outputs for view in runs]
    first = outputs[0]
    if first is None or any(each is None for each in outputs):
        return None
    pool = first.before
    references = [[Counter(text.split()) for text in pool.references(i)] for i in range(len(pool))]
    if not references or not all(references):
        return None
    counts: Counter[str] = Counter()
    for each in references:
        for words in each:
            counts.update(words)
    bucket = {word: int(np.searchsorted(COUNTS, count)) for word, count in counts.items()}
    before = _f1(pool, references, bucket)
    after = [[_f1(words, references, bucket) for words in each.after] for each in outputs if each is not None]
    sizes = Counter(bucket[word] for each in references for words in each for word in words.elements())
    used = [k for k in range(len(COUNTS) + 1) if sizes[k]]
    return Buckets(
        [_name(k, k, COUNTS) for k in used],
        [sizes[k] for k in used],
        [before[k] for k in used],
        [[mean(scores[k] for scores in each) for k in used] for each in after],
    )


def _f1(pool: Pool, references: Sequence[Sequence[Counter[str]]], bucket: dict[str, int]) -> list[float]:
    """F1 of the words of each bucket, in percent. A word of no reference is in the first: the rarest."""
    right, produced, recalled, wanted = (np.zeros(len(COUNTS) + 1) for _ in range(4))
    for i, each in enumerate(references):
        spoken = Counter(pool.text(i, 0).split())
        for word, count in spoken.items():
            k = bucket.get(word, 0)
            produced[k] += count
            right[k] += min(count, max(words[word] for words in each))
        for words in each:
            for word, count in words.items():
                k = bucket[word]
                wanted[k] += count / len(each)
                recalled[k] += min(count, spoken[word]) / len(each)
    precision = np.divide(right, produced, out=np.zeros_like(produced), where=produced > 0)
    recall = np.divide(recalled, wanted, out=np.zeros_like(produced), where=wanted > 0)
    both = precision + recall
    f1 = np.divide(200 * precision * recall, both, out=np.zeros_like(produced), where=both > 0)
    return [float(value) for value in f1]
