"""Recipes side by side on several data sets: a row for each recipe, a column for each data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import mean
from typing import Any

from hopefear.evaluation.comparison import Compared, latex_table, markdown_table, spread
from hopefear.util.messages import table

WORSE = "*"  # marks scores that are worse than the best of their data set by more than chance


@dataclass(frozen=True)
class ComparedOnSets:
    """The comparison on each data set, by its name."""

    sets: Mapping[str, Compared]

    @property
    def names(self) -> list[str]:
        """The recipes, those with the best scores first, by their mean rank."""
        ranks: dict[str, list[int]] = {}
        for comparison in self.sets.values():
            for rank, recipe in enumerate(comparison.recipes, 1):
                ranks.setdefault(recipe.name, []).append(rank)
        return sorted(ranks, key=lambda name: mean(ranks[name]))

    def rows(self) -> list[list[str]]:
        """The table: held-out or test scores, marked where they are worse than the best of the data set."""
        head = [f"{name} {comparison.metric.key}" for name, comparison in self.sets.items()]
        return [
            ["trainer", *head],
            *([name, *(_cell(comparison, name) for comparison in self.sets.values())] for name in self.names),
        ]

    @property
    def verdict(self) -> str:
        """The verdict on each data set, a line each."""
        return "\n".join(f"{name}: {comparison.verdict}" for name, comparison in self.sets.items())

    @property
    def caption(self) -> str:
        """The meaning of the marks."""
        seeds = len(next(iter(self.sets.values())).recipes[0].scores)
        first = f"mean and standard deviation over {seeds} seeds"
        return f"{first}; {WORSE}: worse than the best of this data set by more than chance (adjusted p < 0.05)"

    def record(self) -> dict[str, Any]:
        """The output of ``--json``, and the content of ``compare.json``."""
        return {"data_sets": {name: comparison.record() for name, comparison in self.sets.items()}}

    def __str__(self) -> str:
        return f"{table(self.rows())}\n{self.caption}\n{self.verdict}"

    def markdown(self) -> str:
        """For a README or an issue."""
        return markdown_table(self.rows(), self.caption)

    def latex(self) -> str:
        """For a paper, with booktabs."""
        return latex_table(self.rows(), self.caption)

    def csv(self) -> str:
        """A row per data set, trainer and seed, in full precision."""
        lines = ["data,trainer,seed,dev,score\n"]
        for name, comparison in self.sets.items():
            lines += [f"{name},{line}\n" for line in comparison.csv().splitlines()[1:]]
        return "".join(lines)


def _cell(comparison: Compared, name: str) -> str:
    recipe = next(recipe for recipe in comparison.recipes if recipe.name == name)
    pair = comparison.pair(name, comparison.recipes[0].name)
    return spread(recipe.scores, comparison.digits) + (WORSE if pair is not None and pair.different else "")
