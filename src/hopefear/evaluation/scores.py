"""Scores of systems against references, and whether their differences are more than chance.

The statistics are those of the core; BLEU, chrF and TER are equal to sacreBLEU's, and carry its signatures. Systems are
compared with the first. A system may have replicates, outputs of one recipe under several seeds: its score
is their mean, and the tests know of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.formats.weights import weight_vector
from hopefear.metrics import Metric
from hopefear.metrics.tokenizers import line_tokenizer

__all__ = ["TESTS", "Score", "System", "Tested", "best_of", "evaluate", "score_of"]

Stats = NDArray[np.float64]
TESTS = ("bootstrap", "randomization")


@dataclass(frozen=True)
class System:
    """A name and one or more outputs (replicates), each a list of lines."""

    name: str
    outputs: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Tested:
    """With the first system."""

    delta: float
    interval: tuple[float, float] | None  # 95 % of the difference, by the bootstrap
    p: dict[str, float]  # test -> p


@dataclass(frozen=True)
class Score:
    """The score of one system in one metric."""

    value: float  # the mean over the replicates
    replicates: list[float]
    signature: str
    label: str  # as sacreBLEU has it: BLEU, chrF2++
    details: str  # as sacreBLEU prints them: precisions, brevity penalty
    comparison: Tested | None = None

    @property
    def deviation(self) -> float:
        """The standard deviation over the replicates."""
        return stdev(self.replicates) if len(self.replicates) > 1 else 0.0


def evaluate(
    systems: Sequence[System],
    references: Sequence[Sequence[str]],
    metric: Metric,
    *,
    tests: Sequence[str] = TESTS,
    samples: int = 1000,
    seed: int = 1,
    jobs: int = 0,
) -> list[Score]:
    """The score of each system, and its comparison with the first; ``references`` has a list of lines per reference."""
    for system in systems:
        for output in system.outputs:
            if len(output) != len(references[0]):
                raise InputError(
                    f"{system.name}: has {len(output)} lines, but the references have {len(references[0])}. "
                    "Score the output of the same source"
                )
    present = _without_empty(references)
    stats = [[metric.corpus_stats(output, present, jobs) for output in system.outputs] for system in systems]
    scores = [_score(runs, present, metric) for runs in stats]
    if tests:
        for i in range(1, len(systems)):
            delta = scores[i].value - scores[0].value
            comparison = _compare(stats[0], stats[i], delta, metric, tests, samples, seed, jobs)
            scores[i] = replace(scores[i], comparison=comparison)
    return scores


def _without_empty(references: Sequence[Sequence[str]]) -> list[list[str | None]]:
    """An empty reference is a missing one (None) wherever there is another for its line."""
    columns: list[list[str | None]] = [[] for _ in references]
    for line in zip(*references, strict=True):
        some = any(text.strip() for text in line)
        for column, text in zip(columns, line, strict=True):
            column.append(text if text.strip() or not some else None)
    return columns


def _score(runs: Sequence[Stats], references: Sequence[Sequence[str | None]], metric: Metric) -> Score:
    values = [metric.score(stats.sum(axis=0)) for stats in runs]
    counts = {sum(text is not None for text in line) for line in zip(*references, strict=True)}
    theirs = _in_sacrebleu(metric)
    if theirs is None:
        signature = metric.signature(counts.pop() if len(counts) == 1 else "var")
        return Score(mean(values), values, signature, metric.name.upper(), "")
    # One line of nonsense with as many references tells the signature, and the name (chrF2++).
    lines = ["a"] * (1 if len(counts) == 1 else 2)
    last = [None] * (len(lines) - 1)
    label = theirs.corpus_score(lines, [["a"] * len(lines), *[["a", *last]] * (max(counts, default=1) - 1)]).name
    details = _details(metric, runs[0].sum(axis=0)) if metric.name == "bleu" and len(runs) == 1 else ""
    return Score(mean(values), values, str(theirs.get_signature()), str(label), details)


def _details(metric: Metric, stats: Stats) -> str:
    """Precisions, brevity penalty and lengths, as sacreBLEU prints them."""
    import sacrebleu

    orders = (len(stats) - 1) // 2
    matches, totals = stats[:orders].astype(int).tolist(), stats[orders : 2 * orders].astype(int).tolist()
    score = sacrebleu.BLEU.compute_bleu(matches, totals, totals[0], int(stats[-1]), "exp", max_ngram_order=orders)
    return str(score._verbose)


def _in_sacrebleu(metric: Metric) -> Any:
    """The same metric in sacreBLEU, or None."""
    import sacrebleu

    options: Any = metric
    if metric.name == "bleu" and options.reference_length == "closest":
        line_tokenizer(metric.tokenize)  # complains if there is none of this name
        return sacrebleu.BLEU(
            lowercase=metric.lowercase, tokenize=metric.tokenize, max_ngram_order=options.max_order, force=True
        )
    if metric.name == "chrf" and options.beta == int(options.beta):
        return sacrebleu.CHRF(
            char_order=options.char_order,
            word_order=options.word_order,
            beta=int(options.beta),
            lowercase=metric.lowercase,
        )
    if metric.name == "ter":
        return sacrebleu.TER(
            normalized=options.normalized,
            no_punct=options.no_punct,
            asian_support=options.asian_support,
            case_sensitive=options.case_sensitive,
        )
    return None


def _compare(
    first: Sequence[Stats],
    other: Sequence[Stats],
    delta: float,
    metric: Metric,
    tests: Sequence[str],
    samples: int,
    seed: int,
    jobs: int,
) -> Tested:
    from hopefear.evaluation.significance import approximate_randomization, paired_bootstrap

    ours, theirs = np.stack(other), np.stack(first)  # runs x sentences x statistics
    p: dict[str, float] = {}
    interval = None
    if "bootstrap" in tests:
        found = paired_bootstrap(ours, theirs, metric, samples, seed, jobs)
        p["bootstrap"], interval = found.p, found.ci
    if "randomization" in tests and len(other) == len(first):  # it exchanges run for run
        found = approximate_randomization(ours, theirs, metric, samples, seed, jobs)
        p["randomization"], interval = found.p, interval or found.ci
    return Tested(delta, interval, p)


def best_of(pool: Pool, weights: Mapping[str, float], jobs: int = 0) -> Pool:
    """The best candidate of each sentence under these weights."""
    return pool.kbest(weight_vector(weights, pool.feature_names), 1, jobs=jobs)


def score_of(pool: Pool, metric: Metric, weights: Mapping[str, float], jobs: int = 0) -> float:
    """The score of a pool's best candidates under these weights."""
    return metric.score(metric.stats(best_of(pool, weights, jobs), jobs).sum(axis=0))
