"""Comparison of trainers: scores over seeds, intervals, and the significance of differences.

Each recipe has one matrix of statistics per random seed, over the same sentences. A score is the mean over the seeds;
intervals and p values are those of the bootstrap over sentences and seeds (``significance.py``). With many pairs some
differences come out by chance, so p values are adjusted to control the false discovery rate (Benjamini and Hochberg
1995): of the pairs that are called different at 0.05, five in a hundred are expected not to be.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import mean, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear.evaluation.significance import confidence_interval, paired_bootstrap
from hopefear.metrics import Metric
from hopefear.util.messages import digits_for, listed, table
from hopefear.util.values import package

LEVEL = 0.05
NAMED = 5  # rivals that a verdict names
METRIC_NAMES = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER", "wer": "WER", "rouge-s": "ROUGE-S"}
PARTS = {"test": "test", "held out": "held-out", "dev": "development", "train": "training"}


@dataclass(frozen=True)
class RecipeScores:
    """One recipe: its scores under each seed."""

    name: str
    dev: Sequence[float]  # on the sentences that it learnt from, or the development set
    scores: Sequence[float]  # on sentences that it did not learn from
    low: float  # of the 95 % interval of their mean
    high: float
    seconds: float

    def record(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "dev": {"mean": mean(self.dev), "deviation": deviation(self.dev), "seeds": list(self.dev)},
            "score": mean(self.scores),
            "deviation": deviation(self.scores),
            "low": self.low,
            "high": self.high,
            "seeds": list(self.scores),
            "seconds": self.seconds,
        }


@dataclass(frozen=True)
class PairedTest:
    """Two recipes: the difference of the first from the second."""

    first: str
    second: str
    delta: float
    low: float  # of the 95 % interval
    high: float
    p: float
    adjusted: float  # p, for the false discovery rate over all pairs

    @property
    def different(self) -> bool:
        return self.adjusted < LEVEL

    def record(self) -> dict[str, Any]:
        return {**vars(self), "different": self.different}


@dataclass(frozen=True)
class Compared:
    """Recipes and all pairs of them, best first."""

    metric: Metric
    part: str  # what the scores are of: test, or held out
    sentences: int
    recipes: Sequence[RecipeScores]
    pairs: Sequence[PairedTest]
    curves: Mapping[str, Sequence[Sequence[float]]]  # recipe -> for each seed the score of each epoch
    seed: int = 1  # the first

    def _repr_html_(self) -> str:
        """For notebooks."""
        from hopefear.display import rows_html

        return rows_html(self.verdict, self.rows())

    def to_pandas(self) -> Any:
        """A row per trainer and seed: trainer, seed, dev, score."""
        rows = [
            {"trainer": recipe.name, "seed": seed, "dev": dev, "score": score}
            for recipe in self.recipes
            for seed, (dev, score) in enumerate(zip(recipe.dev, recipe.scores, strict=True), self.seed)
        ]
        return package("pandas", "to_pandas() needs pandas", "pandas").DataFrame(rows)

    @property
    def digits(self) -> int:
        """Scores between 0 and 1 need four decimals."""
        return digits_for([score for recipe in self.recipes for score in (*recipe.dev, *recipe.scores)])

    def pair(self, first: str, second: str) -> PairedTest | None:
        """The pair of these two, in this order."""
        for pair in self.pairs:
            if (pair.first, pair.second) == (first, second):
                return pair
            if (pair.second, pair.first) == (first, second):
                return PairedTest(first, second, -pair.delta, -pair.high, -pair.low, pair.p, pair.adjusted)
        return None

    @property
    def label(self) -> str:
        """The metric as people write it."""
        return METRIC_NAMES.get(self.metric.key, self.metric.key)

    @property
    def where(self) -> str:
        """The sentences in words: 200 held-out sentences."""
        return f"{self.sentences:,} {PARTS.get(self.part, self.part)} sentences"

    @property
    def rivals(self) -> list[str]:
        """The recipes that do not differ significantly from the best."""
        best, *others = [recipe.name for recipe in self.recipes]
        return [name for name in others if not self.tested(best, name).different]

    def tested(self, first: str, second: str) -> PairedTest:
        """The pair of two recipes that are compared."""
        pair = self.pair(first, second)
        assert pair is not None
        return pair

    @property
    def verdict(self) -> str:
        """The best recipe in words: its score, and which leads are more than chance."""
        best, *others = self.recipes
        d, rivals = self.digits, self.rivals
        score = f"{mean(best.scores):.{d}f} {self.label} (95 % interval {best.low:.{d}f} to {best.high:.{d}f})"
        if not others:
            return f"{best.name} scores {score} on {self.where}."
        level = [f"{name} ({p_text(self.tested(best.name, name).adjusted)})" for name in rivals]
        better = []
        for recipe in others:
            pair = self.tested(best.name, recipe.name)
            if pair.different:
                better.append(f"{recipe.name} (by {abs(pair.delta):.{d}f}, {p_text(pair.adjusted)})")
        if not level:
            return f"{best.name} is best on {self.where}: {score}, better than {_rivals(better)}."
        sentence = f"{best.name} scores best on {self.where}, {score}, but cannot be told apart from {_rivals(level)}."
        return f"{sentence} It is better than {_rivals(better)}." if better else sentence

    def rows(self) -> list[list[str]]:
        """The table: a row per recipe."""
        d = self.digits
        rows = [["trainer", f"dev {self.metric.key}", f"{self.part} {self.metric.key}", "95 %", "from the best", "p"]]
        for recipe in self.recipes:
            pair = self.pair(recipe.name, self.recipes[0].name)
            rows.append(
                [
                    recipe.name,
                    spread(recipe.dev, d),
                    spread(recipe.scores, d),
                    f"{recipe.low:.{d}f} to {recipe.high:.{d}f}",
                    f"{pair.delta:+.{d}f}" if pair else "",
                    p_value(pair.adjusted) if pair else "",
                ]
            )
        return rows

    def record(self) -> dict[str, Any]:
        """The output of ``--json``, and the content of ``compare.json``."""
        return {
            "metric": self.metric.key,
            "signature": self.metric.signature(),
            "part": self.part,
            "sentences": self.sentences,
            "verdict": self.verdict,
            "trainers": [recipe.record() for recipe in self.recipes],
            "pairs": [pair.record() for pair in self.pairs],
            "curves": {name: [list(curve) for curve in curves] for name, curves in self.curves.items()},
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything, as ``compare.json`` has it."""
        return self.record()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return f"{table(self.rows())}\n{self.metric.key}|{self.metric.signature()}\n{self.verdict}"

    def markdown(self) -> str:
        """For a README or an issue."""
        return markdown_table(self.rows(), self._caption())

    def latex(self) -> str:
        """For a paper, with booktabs."""
        return latex_table(self.rows(), self._caption())

    def csv(self) -> str:
        """A row per trainer and seed, in full precision."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["trainer", "seed", "dev", self.part.replace(" ", "_")])
        for recipe in self.recipes:
            for seed, (dev, score) in enumerate(zip(recipe.dev, recipe.scores, strict=True), self.seed):
                writer.writerow([recipe.name, seed, repr(dev), repr(score)])
        return text.getvalue()

    def _caption(self) -> str:
        seeds = len(self.recipes[0].scores)
        return (
            f"{self.metric.key}|{self.metric.signature()}; {self.sentences} sentences, {seeds} seeds: mean and "
            "standard deviation; p of the paired bootstrap over sentences and seeds, adjusted for the number of pairs."
        )


def markdown_table(rows: Sequence[Sequence[str]], caption: str) -> str:
    """Rows and what they mean, the names of the columns first."""
    head, *body = rows
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *body]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines) + f"\n{caption}\n"


def latex_table(rows: Sequence[Sequence[str]], caption: str) -> str:
    """A LaTeX table with booktabs, the first row in bold."""
    head, *body = [[_latex(cell) for cell in row] for row in rows]
    best = [f"\\textbf{{{body[0][0]}}}", *body[0][1:]]
    lines = [" & ".join(cells) + r" \\" for cells in (best, *body[1:])]
    columns = "l" + "r" * (len(head) - 1)
    begin = [f"\\begin{{tabular}}{{{columns}}}", r"\toprule", " & ".join(head) + r" \\", r"\midrule"]
    return "\n".join([f"% {caption}", *begin, *lines, r"\bottomrule", r"\end{tabular}", ""])


def compared(
    metric: Metric,
    part: str,
    dev: Mapping[str, Sequence[float]],
    stats: Mapping[str, NDArray[np.float64]],
    curves: Mapping[str, Sequence[Sequence[float]]],
    seconds: Mapping[str, float],
    *,
    seed: int = 1,
    jobs: int = 0,
) -> Compared:
    """Compare recipes. ``stats``: for each, seeds x sentences x statistics."""
    recipes = []
    for name, matrix in stats.items():
        interval = confidence_interval(matrix, metric, seed=seed, jobs=jobs)
        recipes.append(
            RecipeScores(name, dev[name], interval.runs, interval.low, interval.high, seconds.get(name, 0.0))
        )
    recipes.sort(key=lambda recipe: -mean(recipe.scores) if metric.higher_is_better else mean(recipe.scores))
    pairs = []
    for first, second in combinations([recipe.name for recipe in recipes], 2):
        test = paired_bootstrap(stats[first], stats[second], metric, seed=seed, jobs=jobs)
        pairs.append(PairedTest(first, second, test.delta, *test.ci, test.p, test.p))
    adjusted = benjamini_hochberg([pair.p for pair in pairs])
    pairs = [PairedTest(**{**vars(pair), "adjusted": p}) for pair, p in zip(pairs, adjusted, strict=True)]
    sentences = next(iter(stats.values())).shape[1]
    return Compared(metric, part, sentences, recipes, pairs, curves, seed)


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p values: those below a level control the false discovery rate at that level."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted, smallest = [0.0] * len(p_values), 1.0
    for rank in range(len(order), 0, -1):
        i = order[rank - 1]
        smallest = min(smallest, p_values[i] * len(order) / rank)
        adjusted[i] = smallest
    return adjusted


def deviation(values: Sequence[float]) -> float:
    """The standard deviation; 0 of a single value."""
    return stdev(values) if len(values) > 1 else 0.0


def spread(values: Sequence[float], digits: int) -> str:
    """Mean and standard deviation; nothing of no value."""
    if not values:
        return ""
    middle = f"{mean(values):.{digits}f}"
    return f"{middle} ± {deviation(values):.{digits}f}" if len(values) > 1 else middle


def p_value(p: float) -> str:
    """A p value in a table: .64, .037, < .001."""
    if p < 0.001:
        return "< .001"
    return (f"{p:.2f}" if p >= 0.1 else f"{p:.2g}").removeprefix("0")


def p_text(p: float) -> str:
    """A p value in a sentence: p = .037."""
    return f"p {p_value(p)}" if p < 0.001 else f"p = {p_value(p)}"


def _rivals(names: Sequence[str]) -> str:
    if len(names) > NAMED:
        names = [*names[: NAMED - 1], f"{len(names) - NAMED + 1} others"]
    return listed(names)


def _latex(text: str) -> str:
    for character in "&%_#":
        text = text.replace(character, f"\\{character}")
    return text.replace("±", r"$\pm$")
