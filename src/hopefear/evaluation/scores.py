"""Scores of systems against references, and the significance of their differences.

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
from hopefear.evaluation import SAMPLES
from hopefear.evaluation.reference_mismatch import references_fit, same_text
from hopefear.evaluation.spelling import spelling_fit
from hopefear.formats.file_kinds import explained
from hopefear.formats.nbest import iter_nbest
from hopefear.formats.references import by_translator
from hopefear.formats.weights import weight_vector
from hopefear.metrics import Metric
from hopefear.metrics.tokenizers import line_tokenizer
from hopefear.util.files import PathLike, path_name, read_lines
from hopefear.util.messages import digits_for, table
from hopefear.util.values import package

Stats = NDArray[np.float64]
TESTS = ("bootstrap", "randomization")
BLANK = 0.1  # share of empty lines from which there is a warning


@dataclass(frozen=True)
class System:
    """A name and one or more outputs (replicates), each a list of lines."""

    name: str
    outputs: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Resampling:
    """How the difference of two systems is tested."""

    tests: Sequence[str] = TESTS
    samples: int = SAMPLES
    seed: int = 1
    jobs: int = 0


@dataclass(frozen=True)
class Tested:
    """With the first system."""

    delta: float
    interval: tuple[float, float] | None  # 95 % of the difference, by the bootstrap
    p: dict[str, float]  # test -> p


@dataclass(frozen=True)
class SystemScore:
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


@dataclass(frozen=True)
class Scored:
    """The scores of several systems in several metrics: a row per metric, in the order of the systems."""

    systems: Sequence[System]
    files: Sequence[Sequence[Any]]  # of each system: a file or table per replicate
    metrics: Sequence[Metric]
    table: Sequence[Sequence[SystemScore]]
    samples: int  # of the significance tests
    findings: Sequence[str] = ()  # what speaks against the references

    @property
    def value(self) -> float:
        """The score of the first system in the first metric."""
        return self.table[0][0].value

    @property
    def score(self) -> float:
        """As ``value``. The name of a metric is an attribute, too: ``hf.score(...).bleu``."""
        return self.value

    def __getattr__(self, name: str) -> float:
        if not name.startswith("_") and name in (known := self.scores):
            return known[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getitem__(self, name: str) -> float:
        return self.value if name == "score" else self.scores[name]

    @property
    def scores(self) -> dict[str, float]:
        """The scores of the first system by metric."""
        return {metric.key: row[0].value for metric, row in zip(self.metrics, self.table, strict=True)}

    def record(self) -> list[dict[str, Any]]:
        """A record per system, ready to be JSON."""
        return [self._record(i) for i in range(len(self.systems))]

    def _record(self, i: int) -> dict[str, Any]:
        scores = {metric.key: row[i] for metric, row in zip(self.metrics, self.table, strict=True)}
        record: dict[str, Any] = {
            "name": self.systems[i].name,
            **{key: score.value for key, score in scores.items()},
            "signature": self.table[0][i].signature,
            "signatures": {key: score.signature for key, score in scores.items()},
            "details": {key: score.details for key, score in scores.items() if score.details},
        }
        if len(self.files[i]) > 1:
            record["replicates"] = [
                {"file": str(file), **{key: score.replicates[k] for key, score in scores.items()}}
                for k, file in enumerate(self.files[i])
            ]
            record["deviation"] = {key: score.deviation for key, score in scores.items()}
        if self.findings:
            record["warnings"] = list(self.findings)
        tested = {key: score.comparison for key, score in scores.items() if score.comparison}
        if tested:
            record["compared_with"] = self.systems[0].name
            record["comparison"] = {
                key: {"delta": test.delta, "interval": test.interval, "p": test.p} for key, test in tested.items()
            }
        return record

    def to_dict(self) -> dict[str, Any]:
        """The output of ``hopefear score --json``."""
        return {"systems": self.record()}

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each system and a column for each metric."""
        columns = {
            metric.key: [score.value for score in row] for metric, row in zip(self.metrics, self.table, strict=True)
        }
        pandas = package("pandas", "to_pandas() needs pandas", "pandas")
        return pandas.DataFrame(columns, index=[system.name for system in self.systems])

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        rows = zip(self.metrics, self.table, strict=True)
        return "\n".join(line for metric, scores in rows for line in self._lines(metric, scores))

    def _lines(self, metric: Metric, scores: Sequence[SystemScore]) -> list[str]:
        """One system: sacreBLEU's line. Several: a table, then the line without the number."""
        label, signature = scores[0].label, scores[0].signature
        d = digits_for(score.value for score in scores) if metric.columns else 2  # of text as sacreBLEU has it
        if len(scores) == 1 and len(scores[0].replicates) == 1:
            return [f"{label}|{signature} = {scores[0].value:.{d}f} {scores[0].details}".rstrip()]
        tests = sorted({test for score in scores if score.comparison for test in score.comparison.p})
        deviations = any(len(score.replicates) > 1 for score in scores)
        header = ["system", label, *(["sd", "runs"] if deviations else []), *(["difference", "95 %"] if tests else [])]
        rows = [[*header, *(f"p {test}" for test in tests)]]
        for system, score in zip(self.systems, scores, strict=True):
            row = [system.name, f"{score.value:.{d}f}"]
            if deviations:
                several = len(score.replicates) > 1
                row += [f"{score.deviation:.{d}f}" if several else "", str(len(score.replicates))]
            if compared := score.comparison:
                low, high = compared.interval or (None, None)
                interval = "" if low is None else f"{low:+.{d}f} to {high:+.{d}f}"
                row += [f"{compared.delta:+.{d}f}", interval, *(_p(compared.p.get(test)) for test in tests)]
            rows.append(row + [""] * (len(rows[0]) - len(row)))
        legend = f"* differs from {self.systems[0].name} at p < 0.05 ({self.samples} samples)"
        return [table(rows), f"{label}|{signature}", *([legend] if tests else []), ""]

    def warning(self) -> str | None:
        """References that do not belong to the outputs; text that was tokenised already, and should not be again."""
        if self.findings:
            return "; ".join(self.findings)
        if any(metric.name == "bleu" and metric.tokenize == "13a" for metric in self.metrics):
            for system in self.systems:
                if sum(line.endswith(" .") for output in system.outputs for line in output) >= 100:
                    finding = f"{system.name}: many lines end in ' .': is it tokenised?"
                    return f"{finding} If so, use --tokenize none, or score raw text"
        return None


def _p(p: float | None) -> str:
    return "" if p is None else f"{p:.3f}{'*' if p < 0.05 else ' '}"


def score_files(
    systems: Sequence[tuple[str, Sequence[PathLike]]],
    refs: Sequence[PathLike],
    metrics: Sequence[Metric],
    how: Resampling,
    format: str | None = None,
) -> Scored:
    """Score outputs in files against references in files; with a format, the first candidates of lists."""
    with explained(texts=[*(file for _, files in systems for file in files), *refs]):
        references = [read_lines(path) for path in refs]
        for path, lines in zip(refs, references, strict=True):
            if not any(line.strip() for line in lines):
                finding = "all lines are empty" if lines else "the file is empty"
                raise InputError(f"{path_name(path)}: {finding}. Give a reference for each line of the output.")
            if len(lines) != len(references[0]):
                finding = f"has {len(lines)} lines, but {path_name(refs[0])} has {len(references[0])}"
                raise InputError(f"{path_name(path)}: {finding}. Use references of one source.")
        outputs = [System(name, [_output(file, format, refs) for file in files]) for name, files in systems]
        scores = [evaluate(outputs, references, metric, how) for metric in metrics]
    names = [path_name(path) for path in refs]
    findings = [
        f"{system.name}: {finding}"
        for system in outputs
        for finding in _mistakes(system.outputs[0], references, names, metrics, how.seed)
    ]
    return Scored(outputs, [files for _, files in systems], metrics, scores, how.samples, findings)


def _mistakes(
    output: Sequence[str],
    references: Sequence[Sequence[str]],
    names: Sequence[str],
    metrics: Sequence[Metric],
    seed: int,
) -> list[str]:
    """What says that an output and the references do not belong together."""
    get = [lines.__getitem__ for lines in references]
    if same := same_text(output.__getitem__, get, len(output), names):
        return same
    empty = [not any(lines[i].strip() for lines in references) for i in range(len(output))]
    silent = [not line.strip() and not none for line, none in zip(output, empty, strict=True)]
    findings = [
        f"{sum(rows)} of {len(rows)} lines {what}"
        for rows, what in ((empty, "have an empty reference"), (silent, "are empty and their references are not"))
        if sum(rows) >= BLANK * len(rows)
    ]
    spelled = {finding: None for metric in metrics for finding in spelling_fit(output, references, metric)}
    return [*findings, *spelled, *references_fit(output, references, names, seed)]


def score_lines(
    lines: Sequence[str] | Mapping[str, Sequence[str]],
    references: Any,
    metrics: Sequence[Metric],
    how: Resampling = Resampling(),
) -> Scored:
    """Score lines of text, of one system or by system; for ``references`` see :func:`by_translator`."""
    named = lines if isinstance(lines, Mapping) else {"output": lines}
    systems = [System(name, [list(output)]) for name, output in named.items()]
    references = by_translator(references, max((len(system.outputs[0]) for system in systems), default=0))
    scores = [evaluate(systems, references, metric, how) for metric in metrics]
    return Scored(systems, [[system.name] for system in systems], metrics, scores, how.samples)


def _output(file: PathLike, format: str | None, refs: Sequence[PathLike]) -> list[str]:
    """The lines of an output, or the first candidates of a list if its format was named."""
    if format is None:
        return read_lines(file)
    return [
        sentence.text(0) for sentence in iter_nbest(file, None if format == "list" else format, refs, missing="zero")
    ]


def evaluate(
    systems: Sequence[System], references: Sequence[Sequence[str]], metric: Metric, how: Resampling = Resampling()
) -> list[SystemScore]:
    """The score of each system, and its comparison with the first; ``references`` has a list of lines per reference."""
    for system in systems:
        for output in system.outputs:
            if len(output) != len(references[0]):
                raise InputError(
                    f"{system.name}: has {len(output)} lines, but the references have {len(references[0])}. "
                    "Score the output of the same source"
                )
    present = _without_empty(references)
    stats = [[metric.corpus_stats(output, present, how.jobs) for output in system.outputs] for system in systems]
    scores = [_score(runs, present, metric) for runs in stats]
    return compared(scores, stats, metric, how)


def compared(
    scores: list[SystemScore], stats: Sequence[Sequence[Stats]], metric: Metric, how: Resampling
) -> list[SystemScore]:
    """The scores with their comparison with the first; ``stats`` has the runs of each system."""
    for i, score in enumerate(scores[1:], 1) if how.tests else ():
        comparison = _compare(stats[0], stats[i], score.value - scores[0].value, metric, how)
        scores[i] = replace(score, comparison=comparison)
    return scores


def _without_empty(references: Sequence[Sequence[str]]) -> list[list[str | None]]:
    """An empty reference is a missing one (None) wherever there is another for its line."""
    columns: list[list[str | None]] = [[] for _ in references]
    for line in zip(*references, strict=True):
        some = any(text.strip() for text in line)
        for column, text in zip(columns, line, strict=True):
            column.append(text if text.strip() or not some else None)
    return columns


def _score(runs: Sequence[Stats], references: Sequence[Sequence[str | None]], metric: Metric) -> SystemScore:
    values = [metric.score(stats.sum(axis=0)) for stats in runs]
    counts = {sum(text is not None for text in line) for line in zip(*references, strict=True)}
    theirs = _in_sacrebleu(metric)
    if theirs is None:
        signature = metric.signature(counts.pop() if len(counts) == 1 else "var")
        return SystemScore(mean(values), values, signature, metric.name.upper(), "")
    # sacreBLEU has signature and name (chrF2++) only after scoring: one dummy line with as many references.
    lines = ["a"] * (1 if len(counts) == 1 else 2)
    last = [None] * (len(lines) - 1)
    label = theirs.corpus_score(lines, [["a"] * len(lines), *[["a", *last]] * (max(counts, default=1) - 1)]).name
    details = _details(runs[0].sum(axis=0)) if metric.name == "bleu" and len(runs) == 1 else ""
    return SystemScore(mean(values), values, str(theirs.get_signature()), str(label), details)


def _details(stats: Stats) -> str:
    """Precisions, brevity penalty and lengths, as sacreBLEU prints them."""
    import sacrebleu

    orders = (len(stats) - 1) // 2
    matches, totals = stats[:orders].astype(int).tolist(), stats[orders : 2 * orders].astype(int).tolist()
    score = sacrebleu.BLEU.compute_bleu(matches, totals, totals[0], int(stats[-1]), "exp", max_ngram_order=orders)
    return str(score._verbose)


def _in_sacrebleu(metric: Metric) -> Any:
    """The metric of sacreBLEU, or None."""
    import sacrebleu

    options: Any = metric
    if metric.name == "bleu" and options.reference_length == "closest":
        line_tokenizer(metric.tokenize)  # raises an InputError for an unknown name
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


def _compare(first: Sequence[Stats], other: Sequence[Stats], delta: float, metric: Metric, how: Resampling) -> Tested:
    from hopefear.evaluation.significance import approximate_randomization, paired_bootstrap

    ours, theirs = np.stack(other), np.stack(first)  # runs x sentences x statistics
    p: dict[str, float] = {}
    interval = None
    if "bootstrap" in how.tests:
        test = paired_bootstrap(ours, theirs, metric, how.samples, how.seed, how.jobs)
        p["bootstrap"], interval = test.p, test.ci
    if "randomization" in how.tests and len(other) == len(first):  # it exchanges run for run
        test = approximate_randomization(ours, theirs, metric, how.samples, how.seed, how.jobs)
        p["randomization"], interval = test.p, interval or test.ci
    return Tested(delta, interval, p)


def best_of(pool: Pool, weights: Mapping[str, float], jobs: int = 0) -> Pool:
    """The best candidate of each sentence under these weights."""
    return pool.kbest(weight_vector(weights, pool.feature_names), 1, jobs=jobs)


def first_best(pool: Pool, jobs: int = 0) -> Pool:
    """The first candidate of each list: the decoder's own output."""
    return pool.kbest(np.zeros(len(pool.features)), 1, jobs=jobs)


def chosen_stats(pool: Pool, weights: Mapping[str, float], metric: Metric, jobs: int = 0) -> Stats:
    """Statistics of what these weights choose: a line for each sentence."""
    return metric.chosen_stats(pool, weight_vector(weights, pool.feature_names), jobs)


def score_of(pool: Pool, metric: Metric, weights: Mapping[str, float], jobs: int = 0) -> float:
    """The score of a pool's best candidates under these weights."""
    return metric.score(chosen_stats(pool, weights, metric, jobs).sum(axis=0))
