"""Scores of systems against references, and whether their differences are more than chance.

The statistics are those of the core; BLEU, chrF and TER are equal to sacreBLEU's, and carry its signatures. Systems are
compared with the first. A system may have replicates, outputs of one recipe under several seeds: its score
is their mean, and the tests know of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.errors import InputError, OptionError
from hopefear.formats.kinds import explained
from hopefear.formats.nbest import iter_nbest
from hopefear.formats.weights import weight_vector
from hopefear.metrics import Metric, from_text
from hopefear.metrics.tokenizers import line_tokenizer
from hopefear.util.files import PathLike, path_name, read_lines

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


@dataclass(frozen=True, kw_only=True)
class ScoreConfig:
    """The options of ``hopefear score``, by the same names."""

    hyp: Sequence[PathLike | tuple[str, Sequence[PathLike]]] = ()  # systems: a file, or a name and a file per replicate
    refs: Sequence[PathLike] = ()
    format: str | None = (
        None  # systems are lists of this format (list: seen from the file), scored by their first candidates
    )
    table: Sequence[Any] = ()  # instead: tables, whose best candidates are scored
    group: str | None = None
    by: str | None = None  # the column that says which candidate is best
    text: str | None = None
    references: Sequence[str] = ()
    outcome: Sequence[str] = ()
    metric: Sequence[str] = ()  # none: the outcome, or bleu
    lowercase: bool = False
    tokenize: str | None = None  # None: 13a for BLEU
    samples: int = 1000
    test: str = "both"  # bootstrap, randomization, both, none
    seed: int = 1
    jobs: int = 0

    def __post_init__(self) -> None:
        for name in ("hyp", "refs", "references", "outcome", "metric"):
            value = getattr(self, name)  # one, where several would do
            if isinstance(value, str | os.PathLike):
                object.__setattr__(self, name, (value,))
        if not isinstance(self.table, list | tuple):
            object.__setattr__(self, "table", (self.table,))
        if self.table:
            if self.hyp or self.refs:
                raise OptionError("--table has candidates and references in its columns: leave out HYP and --refs.")
            if not self.group:
                raise OptionError("--table needs --group, the column that says which candidates compete.")
        else:
            for name in ("group", "by", "text", "references", "outcome"):
                if getattr(self, name):
                    raise OptionError(f"--{name} goes with --table only.")
            if not self.hyp:
                raise OptionError("no HYP. Put the outputs first: hopefear score HYP --refs F.")
            if not self.refs:
                raise OptionError("Missing option '--refs'.")
        names = self.names
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise OptionError(f"{twice!r} is given twice. Give systems different names: NAME=F.")

    @property
    def systems(self) -> list[tuple[str, Sequence[PathLike]]]:
        """Names and files."""
        tables = [
            str(one) if isinstance(one, str | os.PathLike) else f"table {k}" for k, one in enumerate(self.table, 1)
        ]
        outputs = [one if isinstance(one, tuple) else (os.fspath(one), [one]) for one in self.hyp]
        return outputs or [(name, [name]) for name in tables]

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.systems]

    def tokenizer(self, text: str) -> str | None:
        return self.tokenize or ("13a" if text.split(":")[0] == "bleu" else None)

    @property
    def metrics(self) -> list[Metric]:
        return [from_text(text, self.lowercase, self.tokenizer(text)) for text in self.metric or ("bleu",)]

    @property
    def tests(self) -> Sequence[str]:
        return TESTS if self.test == "both" else () if self.test == "none" else (self.test,)


@dataclass(frozen=True)
class Scored:
    """The scores of several systems in several metrics: a row per metric, in the order of the systems."""

    config: ScoreConfig
    systems: Sequence[System]
    metrics: Sequence[Metric]
    table: Sequence[Sequence[Score]]

    def record(self) -> list[dict[str, Any]]:
        """A record per system, ready to be JSON."""
        return [self._record(i) for i in range(len(self.systems))]

    def _record(self, i: int) -> dict[str, Any]:
        name, files = self.config.systems[i]
        scores = {metric.key: row[i] for metric, row in zip(self.metrics, self.table, strict=True)}
        found: dict[str, Any] = {"name": name, **{key: score.value for key, score in scores.items()}}
        found["signature"] = self.table[0][i].signature
        found["signatures"] = {key: score.signature for key, score in scores.items()}
        found["details"] = {key: score.details for key, score in scores.items() if score.details}
        if len(files) > 1:
            found["replicates"] = [
                {"file": str(file), **{key: score.replicates[k] for key, score in scores.items()}}
                for k, file in enumerate(files)
            ]
            found["deviation"] = {key: score.deviation for key, score in scores.items()}
        tested = {key: score.comparison for key, score in scores.items() if score.comparison}
        if tested:
            found["compared_with"] = self.systems[0].name
            found["comparison"] = {
                key: {"delta": test.delta, "interval": test.interval, "p": test.p} for key, test in tested.items()
            }
        return found

    def warning(self) -> str | None:
        """Text that was tokenised already should not be tokenised again."""
        if any(metric.name == "bleu" and metric.tokenize == "13a" for metric in self.metrics):
            for system in self.systems:
                if sum(line.endswith(" .") for output in system.outputs for line in output) >= 100:
                    finding = f"{system.name}: many lines end in ' .': is it tokenised?"
                    return f"{finding} Then --tokenize none, or score raw text"
        return None


def score(config: ScoreConfig) -> Scored:
    """Score outputs in files against references in files, or the best candidates of tables."""
    if config.table:
        from hopefear.evaluation.table_scores import score_tables

        return score_tables(config)
    with explained(texts=[*(file for _, files in config.systems for file in files), *config.refs]):
        return _score_texts(config)


def _score_texts(config: ScoreConfig) -> Scored:
    metrics = config.metrics
    references = [read_lines(path) for path in config.refs]
    for path, lines in zip(config.refs, references, strict=True):
        if not lines:
            raise InputError(f"{path_name(path)}: the file is empty. Give a reference for each line of the output.")
        if len(lines) != len(references[0]):
            finding = f"has {len(lines)} lines, but {path_name(config.refs[0])} has {len(references[0])}"
            raise InputError(f"{path_name(path)}: {finding}. Use references of one source.")
    systems = [System(name, [_output(config, file) for file in files]) for name, files in config.systems]
    how: dict[str, Any] = {name: getattr(config, name) for name in ("tests", "samples", "seed", "jobs")}
    return Scored(config, systems, metrics, [evaluate(systems, references, metric, **how) for metric in metrics])


def _output(config: ScoreConfig, file: PathLike) -> list[str]:
    """The lines of an output, or the first candidates of a list if its format was named."""
    if config.format is None:
        return read_lines(file)
    return [one.text(0) for one in iter_nbest(file, None if config.format == "list" else config.format, config.refs)]


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
    return compared(scores, stats, metric, tests=tests, samples=samples, seed=seed, jobs=jobs)


def compared(
    scores: list[Score],
    stats: Sequence[Sequence[Stats]],
    metric: Metric,
    *,
    tests: Sequence[str],
    samples: int,
    seed: int,
    jobs: int,
) -> list[Score]:
    """The scores with their comparison with the first; ``stats`` has the runs of each system."""
    if tests:
        for i in range(1, len(scores)):
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


def chosen_stats(pool: Pool, weights: Mapping[str, float], metric: Metric, jobs: int = 0) -> Stats:
    """Statistics of what these weights choose: a line for each sentence."""
    return metric.chosen_stats(pool, weight_vector(weights, pool.feature_names), jobs)


def score_of(pool: Pool, metric: Metric, weights: Mapping[str, float], jobs: int = 0) -> float:
    """The score of a pool's best candidates under these weights."""
    return metric.score(chosen_stats(pool, weights, metric, jobs).sum(axis=0))
