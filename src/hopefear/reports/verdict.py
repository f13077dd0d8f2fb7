"""The verdict on the runs of one metric in words: the best run, its significance, and the next steps.

Runs are judged by the part that nothing was learnt from or chosen on, by the mean over their seeds, and by the same
sentences only. Differences are tested by the paired bootstrap, over seeds too where there are several.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from hopefear.evaluation.comparison import LEVEL, METRIC_NAMES, Compared, PairedTest, compared, p_text
from hopefear.reports.gather import RunData
from hopefear.reports.page import plain_number, signed
from hopefear.reports.run_view import PARTS, TITLES, MetricGroup, ScoredSystem

WHERE = {"test": "test data", "holdout": "held-out data", "dev": "dev", "train": "the data learnt from"}
PHRASES = {"test": "test", "holdout": "held-out", "dev": "development", "train": "training"}


@dataclass(frozen=True)
class Ranking:
    """The systems of a metric in the order of their scores on one part, best first."""

    group: MetricGroup
    part: str
    order: list[ScoredSystem]  # on the same sentences
    compared: Compared | None  # all pairs of those whose sentences are known; None if the best is not among them
    apart: list[ScoredSystem]  # on other sentences, or without a score: not compared

    def pair(self, system: ScoredSystem, other: ScoredSystem) -> PairedTest | None:
        """The test of two systems; None if it cannot be made."""
        return self.compared.pair(system.name, other.name) if self.compared is not None else None

    @property
    def best(self) -> ScoredSystem:
        return self.order[0]

    @property
    def unseen(self) -> bool:
        """Whether nothing was learnt from this part or chosen on it."""
        return self.part in ("test", "holdout")


def judged(group: MetricGroup, jobs: int = 0) -> Ranking | None:
    """Compare the finished runs of a metric; None if there is none."""
    systems = group.systems
    for parts in (PARTS[:2], PARTS[2:3], PARTS[3:]):  # what nothing was learnt from or chosen on, dev, train
        crowds = [(part, crowd) for part in parts for crowd in _crowds(systems, part)]
        if crowds:
            part, largest = max(crowds, key=lambda crowd: (_testable(*crowd), len(crowd[1])))
            break
    else:
        return None
    order = sorted(largest, key=lambda system: system.score(part), reverse=group.higher)
    apart = [system for system in systems if system not in largest]
    return Ranking(group, part, order, _compared(group, part, order, jobs), apart)


def _compared(group: MetricGroup, part: str, order: Sequence[ScoredSystem], jobs: int) -> Compared | None:
    stats = {system.name: matrix for system in order if (matrix := system.stats(part)) is not None}
    if len(stats) < 2 or order[0].name not in stats:
        return None
    dev = {system.name: system.after("dev") for system in order}
    return compared(group.runs[0].run.metric, TITLES[part], dev, stats, {}, {}, jobs=jobs)


def _testable(part: str, crowd: Sequence[ScoredSystem]) -> int:
    return sum(system.stats(part) is not None for system in crowd)


def _crowds(systems: Sequence[ScoredSystem], part: str) -> list[list[ScoredSystem]]:
    """The systems that were scored on a part, those on the same sentences together."""
    crowds: list[list[ScoredSystem]] = []
    for system in systems:
        if not system.after(part):
            continue
        same = next((crowd for crowd in crowds if crowd[0].of(part) == system.of(part)), None)
        if same is None:
            crowds.append([system])
        else:
            same.append(system)
    return crowds


def verdict(judged: Ranking) -> str:
    """One or two sentences (markup)."""
    if judged.compared is not None:
        text = escape(judged.compared.verdict)
    elif len(judged.order) > 1:
        text = _untested(judged)
    else:
        text = _gain(judged)
    if judged.compared is not None and (
        left := [system for system in judged.order if not _has(judged.compared, system)]
    ):
        text += f" Whether it is better than {_names(left)} cannot be tested, because inputs are missing."
    if not judged.unseen:
        learnt = judged.best.first.run.record.kind == "tune"
        sentences = "the sentences that were learnt from" if learnt else "the sentences that the epoch was chosen on"
        text += f" These are {sentences}: they say nothing about others."
    if judged.apart:
        text += f" Not compared, because {'it has' if len(judged.apart) == 1 else 'they have'} other sentences: "
        text += f"{_names(judged.apart)}."
    return text


def _has(compared: Compared, system: ScoredSystem) -> bool:
    return any(recipe.name == system.name for recipe in compared.recipes)


def _names(systems: Sequence[ScoredSystem]) -> str:
    return ", ".join(escape(system.name) for system in systems)


def _untested(judged: Ranking) -> str:
    """The best of several whose difference cannot be tested."""
    best, part, label = judged.best, judged.part, escape(judged.group.title)
    score = plain_number(best.score(part), best.digits)
    lead = plain_number(abs(best.score(part) - judged.order[1].score(part)), best.digits)
    return (
        f"<b>{escape(best.name)}</b> scores best on {WHERE[part]}, {score} {label}; "
        f"whether its lead of {lead} over {escape(judged.order[1].name)} is chance cannot be tested, because inputs "
        "are gone."
    )


def _gain(judged: Ranking) -> str:
    """One system: after against before."""
    best, part, label = judged.best, judged.part, escape(judged.group.title)
    before, after = best.before(part), best.score(part)
    name, seeds = f"<b>{escape(best.name)}</b>", best.seeds(part)
    of = f", {seeds}" if seeds else ""
    d = best.digits
    now = plain_number(after, d)
    if before is None:
        return f"{name} has {now} {label} on {WHERE[part]}{of}; the score before training is unknown."
    was, change = plain_number(before, d), after - before
    numbers = f"from {was} to {now}"
    got = best.gain(part)
    if got is None:
        gain = f"{signed(change, d)}{of}"
        return f"{name} moves {label} on {WHERE[part]} {numbers} ({gain}); whether that is chance cannot be tested."
    p, (low, high) = got
    count = f"{best.first.scored[part].sentences:,} {PHRASES[part]} sentences"
    sure = f"{signed(change, d)}{of}, 95 % interval {signed(low, d)} to {signed(high, d)}, {p_text(p)}"
    if p >= LEVEL:
        return f"{name} moves {label} on {count} {numbers}, but this may be chance ({sure})."
    verb = "improves" if (change > 0) == judged.group.higher else "worsens"
    return f"{name} {verb} {label} on {count} {numbers} ({sure})."


def next_steps(judged: Ranking) -> list[str]:
    """What to do now, the most urgent first (markup)."""
    best, part = judged.best, judged.part
    run = best.first.run
    tuned = run.record.kind == "tune"
    got = best.gain(part)
    size = best.first.scored[part].sentences if part in best.first.scored else 0
    before, sign = best.before(part), 1 if judged.group.higher else -1
    gain = sign * (best.score(part) - before) if before is not None else None
    steps = []
    if gain is not None and gain <= 0:
        steps.append("Keep your old weights: training did not improve on them. The warnings may say why.")
    elif got is not None and gain is not None and got[0] >= LEVEL:
        more = _enough(size, got[1], gain)
        steps.append(f"Do not count on the gain yet: {more}, or learn from more sentences.")
    if run.record.warnings:
        count = len(run.record.warnings)
        what = "the warning" if count == 1 else f"the {count} warnings"
        steps.append(f'Read <a href="#warnings">{what}</a> about {escape(best.name)} before you use it.')
    if not judged.unseen:
        option = "<code>--holdout 0.1</code>" if tuned else "<code>--test-source</code> and <code>--test-refs</code>"
        steps.append(f"Hold out sentences ({option}) to see whether the gain holds on others.")
    if steps and gain is not None and gain <= 0:
        return steps
    rivals = [
        system for system in judged.order[1:] if (pair := judged.pair(best, system)) is not None and not pair.different
    ]
    if rivals and (pair := judged.pair(best, rivals[0])) is not None:
        more = _enough(size, (pair.low, pair.high), abs(pair.delta))
        name = escape(rivals[0].name)
        steps.append(f"Use either {escape(best.name)} or {name}, whichever is cheaper; to tell them apart, {more}.")
    if len(best.after(part)) == 1:
        how = "<code>--replicates 5</code>" if tuned and not run.record.settings.get("retune_every") else "other seeds"
        steps.append(f"Repeat {escape(best.name)} with {how}: one seed says little about the next.")
    return [*steps[:3], _use(best)]


def _enough(sentences: int, interval: tuple[float, float], difference: float) -> str:
    """How many sentences would show this difference in 4 of 5 cases, if it is real.

    Intervals shrink with the root of the number of sentences; (1.96 + 0.84)^2 / 1.96^2 is about 2.
    """
    half = (interval[1] - interval[0]) / 2
    if not sentences or difference <= 0 or half / difference > 30:
        return "score many more sentences"
    needed = 2 * sentences * (half / difference) ** 2
    digits = 10 ** max(len(str(int(needed))) - 2, 0)
    return f"score about {round(needed / digits) * digits:,} sentences (there are {sentences:,} now)"


def _use(best: ScoredSystem) -> str:
    run = best.first.run
    path = escape(shlex.quote(f"{run.path}/weights.txt"))
    seed = ""
    if len(run.replicates) > 1:
        seed = f" (seed {run.replicates[run.chosen].seed}, the best on dev)"
    if run.record.model is not None:
        model = escape(shlex.quote(run.record.model))
        return f"Use <code>hopefear translate {model} --weights {path}</code>."
    if run.has_decoder:
        return f"Give your decoder the weights in <code>{path}</code>{seed}."
    return f"Use <code>{path}</code>{seed}, for example with <code>hopefear rerank --weights</code>."


def running(runs: Sequence[RunData]) -> list[str]:
    """A sentence for each run that is not finished (markup)."""
    lines = []
    for run in runs:
        if run.finished:
            continue
        name = f"<b>{escape(run.name)}</b>"
        state = "was stopped" if run.stopped else "is running"
        last = [
            replicate.history[-1]
            for replicate in run.replicates
            if replicate.history and replicate.history[-1]["score"] is not None
        ]
        so_far = ""
        if last:
            furthest = max(last, key=lambda replicate: replicate["epoch"])
            of = f" of replicate {last.index(furthest) + 1}" if len(last) > 1 else ""
            score = f"{plain_number(furthest['score'])} {escape(METRIC_NAMES.get(run.key, run.key))}"
            so_far = f": {run.counts} {furthest['epoch']}{of} has {score}"
        cure = " Its command with <code>--resume</code> continues it." if run.stopped else ""
        lines.append(f"{name} {state}{so_far}.{cure} What it is worth on held-out data is known at the end.")
    return lines
