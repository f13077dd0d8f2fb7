"""A run with everything that the page shows of it, and runs that may be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import mean
from typing import Any

import numpy as np

from hopefear.evaluation.comparison import METRIC_NAMES
from hopefear.evaluation.significance import paired_bootstrap
from hopefear.formats.weights import weight_vector
from hopefear.reports.gather import RunData
from hopefear.reports.numbers import BeforeAfter, Vector, before_after, influence, kept_before_after
from hopefear.reports.sentences import TwoTranslations, choose, clouds, translations

#: The parts of the data, what nothing was learnt from or chosen on first.
PARTS = ("test", "holdout", "dev", "train")
TITLES = {"train": "train", "dev": "dev", "holdout": "held out", "test": "test", "examples": "decoded for this page"}


class RunView:
    """A run with everything that was computed for it."""

    def __init__(self, run: RunData, number: int, count: int, jobs: int) -> None:
        self.run = run
        self.number = number  # on the page
        self.scored: dict[str, BeforeAfter] = {}
        self.sentences: dict[str, list[TwoTranslations]] = {}  # the translations of each part
        self.clouds: list[dict[str, Any]] = []
        self.deviations: dict[str, float] = {}
        for part, kept in run.kept.items():
            self.scored[part] = kept_before_after(part, kept, jobs)
        if not run.parts:
            return
        for part in run.parts:
            if len(run.parts[part]):
                self.scored[part] = before_after(run, part, jobs)
                if part != "train":
                    self.sentences[part] = translations(run, part, jobs)
        pool = run.parts[run.part]
        w = weight_vector(run.weights, pool.feature_names)
        self.deviations = influence(pool if pool.is_lists else pool.kbest(w, 50, jobs=jobs))
        picked = choose(self.changes, count)
        made = clouds(run, pool, [translation.index for translation in picked], jobs)
        self.clouds = [
            {**each, "change": round(translation.change, 4)} for each, translation in zip(made, picked, strict=True)
        ]

    @property
    def changes(self) -> list[TwoTranslations]:
        """The sentences of the part that pictures are made of."""
        return self.sentences.get(self.run.part, []) if self.run.parts else []

    @property
    def digits(self) -> int:
        """How many digits of its scores are shown: more for a metric that goes from 0 to 1."""
        known = [value for part in PARTS for value in (*self.after(part), self.before(part)) if value is not None]
        return 4 if known and max(map(abs, known)) <= 1 else 2

    def before(self, part: str, key: str | None = None) -> float | None:
        """The score of a part before training, from the record."""
        value = self.run.record.final.get("before", {}).get(part, {}).get(key or self.run.key)
        return float(value) if value is not None else None

    def after(self, part: str, key: str | None = None) -> list[float]:
        """The score of a part after training under each seed, from the record; empty if it is not known."""
        final = self.run.record.final
        each = [scores.get(part, {}).get(key or self.run.key) for scores in final.get("replicates", [final])]
        return [float(value) for value in each if value is not None]


@dataclass(frozen=True)
class ScoredSystem:
    """One way to train: a run, or several that differ in their seed only. Its score is the mean over all seeds."""

    name: str
    runs: list[RunView]

    @property
    def first(self) -> RunView:
        return self.runs[0]

    @property
    def digits(self) -> int:
        return self.first.digits

    @property
    def trainer(self) -> str:
        return self.first.run.trainer

    def after(self, part: str, key: str | None = None) -> list[float]:
        return [value for view in self.runs for value in view.after(part, key)]

    def before(self, part: str, key: str | None = None) -> float | None:
        each = [view.before(part, key) for view in self.runs]
        return mean(value for value in each if value is not None) if None not in each else None

    def score(self, part: str) -> float:
        return mean(self.after(part))

    def gain(self, part: str, jobs: int = 0) -> tuple[float, tuple[float, float]] | None:
        """The p and the 95 % interval of after against before, over seeds and sentences; None if inputs are gone."""
        first = self.first.scored.get(part)
        if first is None or len(self.runs) == 1:
            return (first.p, first.interval) if first is not None else None
        stats = self.stats(part)
        if stats is None:
            return None
        test = paired_bootstrap(stats, first.stats_before, self.first.run.metric, jobs=jobs)
        return test.p, test.ci

    def stats(self, part: str) -> Vector | None:
        """Seeds x sentences x statistics, where they are known."""
        if not all(part in view.scored for view in self.runs):
            return None
        return np.concatenate([view.scored[part].stats for view in self.runs])

    def of(self, part: str) -> object:
        """What tells the sentences of a part from others."""
        if part in self.first.scored:
            return self.first.scored[part].of
        record = self.first.run.record
        return [file["sha256"] for file in record.inputs if file["role"] != "initial"], record.holdout

    def seeds(self, part: str) -> str:
        """How many seeds the score is over, in words; nothing for one."""
        count = len(self.after(part))
        return f"mean of {count} seeds" if count > 1 else ""


@dataclass(frozen=True)
class MetricGroup:
    """Runs that were trained for the same metric: only these are put on one axis."""

    title: str  # of the metric
    runs: list[RunView]
    alone: bool  # all runs of the page

    @property
    def higher(self) -> bool:
        return self.runs[0].run.metric.higher_is_better

    @cached_property
    def systems(self) -> list[ScoredSystem]:
        """The finished runs, those that differ in the seed only taken together."""
        ways: dict[str, list[RunView]] = {}
        for view in self.runs:
            if view.run.finished:
                way = _way(view)
                if any(other.run.record.seed == view.run.record.seed for other in ways.get(way, [])):
                    way += str(view.number)  # the same run once more
                ways.setdefault(way, []).append(view)
        made: list[ScoredSystem] = []
        for runs in ways.values():
            name = runs[0].run.name
            if len(runs) > 1:
                name = _common([view.run.name for view in runs]) or runs[0].run.trainer
                if any(name == system.name for system in made):
                    name = runs[0].run.name
            made.append(ScoredSystem(name, runs))
        return made


def _common(names: Sequence[str]) -> str:
    """How all names begin, without a number that is begun."""
    size = next((k for k, letters in enumerate(zip(*names, strict=False)) if len(set(letters)) > 1), len(min(names)))
    return names[0][:size].rstrip("-_. 0123456789")


def _way(view: RunView) -> str:
    """What two runs that differ in their seed only have in common; the sentences they are judged by belong to it."""
    record = view.run.record
    settings = {name: value for name, value in record.settings.items() if name != "seed"}
    of = next((view.scored[part].of for part in PARTS if part in view.scored), view.number)
    return repr((record.kind, settings, of))


def by_metric(runs: Sequence[RunView]) -> list[MetricGroup]:
    """The runs by the metric that they were trained for, with everything that decides its numbers."""
    sorted_by: dict[str, list[RunView]] = {}
    for view in runs:
        name, *signature = view.run.record.metric.split("|")
        known = "|".join([name, *(part for part in signature if not part.startswith("version:"))])
        sorted_by.setdefault(known, []).append(view)
    names = [known.partition("|")[0] for known in sorted_by]
    return [
        MetricGroup(
            METRIC_NAMES.get(name, name) + (f" ({known.partition('|')[2]})" if names.count(name) > 1 else ""),
            runs,
            len(sorted_by) == 1,
        )
        for name, (known, runs) in zip(names, sorted_by.items(), strict=True)
    ]
