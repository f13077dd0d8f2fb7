"""What the runs of one metric come to, in words: which is best, whether that may be chance, and what to do next.

Runs are judged by the part that nothing was learnt from or chosen on, by the mean over their seeds, and by the same
sentences only. Differences are tested by the paired bootstrap, over seeds too where there are several.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from hopefear.evaluation.comparison import LEVEL, METRIC_NAMES, Compared, Pair, compared, p_text
from hopefear.reports.examined import PARTS, TITLES, Group, System
from hopefear.reports.gather import RunData
from hopefear.reports.page import plain_number, signed

WHERE = {"test": "test data", "holdout": "held-out data", "dev": "dev", "train": "the data learnt from"}
PHRASES = {"test": "test", "holdout": "held-out", "dev": "development", "train": "training"}


@dataclass(frozen=True)
class Judged:
    """The systems of a metric in the order of their scores on one part, best first."""

    group: Group
    part: str
    order: list[System]  # on the same sentences
    compared: Compared | None  # all pairs of those whose sentences are known; None if the best is not among them
    apart: list[System]  # on other sentences, or without a score: not compared

    def pair(self, one: System, other: System) -> Pair | None:
        """The test of two systems; None if it cannot be made."""
        return self.compared.pair(one.name, other.name) if self.compared is not None else None

    @property
    def best(self) -> System:
        return self.order[0]

    @property
    def unseen(self) -> bool:
        """Whether nothing was learnt from this part or chosen on it."""
        return self.part in ("test", "holdout")


def judged(group: Group, jobs: int = 0) -> Judged | None:
    """Compare the finished runs of a metric; None if there is none."""
    systems = group.systems
    for parts in (PARTS[:2], PARTS[2:3], PARTS[3:]):  # what nothing was learnt from or chosen on, dev, train
        crowds = [(part, crowd) for part in parts for crowd in _crowds(systems, part)]
        if crowds:
            part, largest = max(crowds, key=lambda one: (_testable(*one), len(one[1])))
            break
    else:
        return None
    order = sorted(largest, key=lambda one: one.score(part), reverse=group.higher)
    apart = [one for one in systems if one not in largest]
    return Judged(group, part, order, _compared(group, part, order, jobs), apart)


def _compared(group: Group, part: str, order: Sequence[System], jobs: int) -> Compared | None:
    stats = {one.name: matrix for one in order if (matrix := one.stats(part)) is not None}
    if len(stats) < 2 or order[0].name not in stats:
        return None
    dev = {one.name: one.after("dev") for one in order}
    return compared(group.found[0].run.metric, TITLES[part], dev, stats, {}, {}, jobs=jobs)


def _testable(part: str, crowd: Sequence[System]) -> int:
    return sum(one.stats(part) is not None for one in crowd)


def _crowds(systems: Sequence[System], part: str) -> list[list[System]]:
    """The systems that were scored on a part, those on the same sentences together."""
    crowds: list[list[System]] = []
    for one in systems:
        if not one.after(part):
            continue
        same = next((crowd for crowd in crowds if crowd[0].of(part) == one.of(part)), None)
        if same is None:
            crowds.append([one])
        else:
            same.append(one)
    return crowds


def verdict(found: Judged) -> str:
    """One or two sentences (markup)."""
    if found.compared is not None:
        text = escape(found.compared.verdict)
    elif len(found.order) > 1:
        text = _untested(found)
    else:
        text = _gain(found)
    if found.compared is not None and (left := [one for one in found.order if not _has(found.compared, one)]):
        text += f" Whether it is better than {_names(left)} cannot be tested, because inputs are gone."
    if not found.unseen:
        learnt = found.best.first.run.record.kind == "tune"
        told = "the sentences that were learnt from" if learnt else "the sentences that the epoch was chosen on"
        text += f" These are {told}: nothing is known of others."
    if found.apart:
        text += f" Not compared, because {'it has' if len(found.apart) == 1 else 'they have'} other sentences: "
        text += f"{_names(found.apart)}."
    return text


def _has(compared: Compared, system: System) -> bool:
    return any(recipe.name == system.name for recipe in compared.recipes)


def _names(systems: Sequence[System]) -> str:
    return ", ".join(escape(one.name) for one in systems)


def _untested(found: Judged) -> str:
    """The best of several whose difference cannot be tested."""
    best, part, label = found.best, found.part, escape(found.group.title)
    score = plain_number(best.score(part), best.digits)
    lead = plain_number(abs(best.score(part) - found.order[1].score(part)), best.digits)
    return (
        f"<b>{escape(best.name)}</b> scores best on {WHERE[part]}, {score} {label}; "
        f"whether its lead of {lead} over {escape(found.order[1].name)} is chance cannot be tested, because inputs are "
        "gone."
    )


def _gain(found: Judged) -> str:
    """One system: after against before."""
    best, part, label = found.best, found.part, escape(found.group.title)
    before, after = best.before(part), best.score(part)
    name, seeds = f"<b>{escape(best.name)}</b>", best.seeds(part)
    of = f", {seeds}" if seeds else ""
    d = best.digits
    now = plain_number(after, d)
    if before is None:
        return f"{name} has {now} {label} on {WHERE[part]}{of}; what was before is not known."
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
    verb = "improves" if (change > 0) == found.group.higher else "worsens"
    return f"{name} {verb} {label} on {count} {numbers} ({sure})."


def next_steps(found: Judged) -> list[str]:
    """What to do now, the most urgent first (markup)."""
    best, part = found.best, found.part
    run = best.first.run
    tuned = run.record.kind == "tune"
    got = best.gain(part)
    size = best.first.scored[part].sentences if part in best.first.scored else 0
    before, sign = best.before(part), 1 if found.group.higher else -1
    gain = sign * (best.score(part) - before) if before is not None else None
    steps = []
    if gain is not None and gain <= 0:
        steps.append("Keep the weights that you had: training made nothing better. The warnings may say why.")
    elif got is not None and gain is not None and got[0] >= LEVEL:
        more = _enough(size, got[1], gain)
        steps.append(f"Do not count on the gain yet: {more}, or learn from more sentences.")
    if run.record.warnings:
        count = len(run.record.warnings)
        what = "the warning" if count == 1 else f"the {count} warnings"
        steps.append(f'Read <a href="#warnings">{what}</a> about {escape(best.name)} before you use it.')
    if not found.unseen:
        option = "<code>--holdout 0.1</code>" if tuned else "<code>--test-source</code> and <code>--test-refs</code>"
        steps.append(f"Keep sentences aside ({option}) to learn whether the gain holds on others.")
    if steps and gain is not None and gain <= 0:
        return steps
    rivals = [one for one in found.order[1:] if (pair := found.pair(best, one)) is not None and not pair.different]
    if rivals and (pair := found.pair(best, rivals[0])) is not None:
        more = _enough(size, (pair.low, pair.high), abs(pair.delta))
        name = escape(rivals[0].name)
        steps.append(f"Take either {escape(best.name)} or {name}, whichever is cheaper; to tell them apart, {more}.")
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
    return f"score about {round(needed / digits) * digits:,} sentences (here are {sentences:,})"


def _use(best: System) -> str:
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
    said = []
    for run in runs:
        if run.finished:
            continue
        name = f"<b>{escape(run.name)}</b>"
        state = "was stopped" if run.stopped else "is at work"
        last = [one.history[-1] for one in run.replicates if one.history and one.history[-1]["score"] is not None]
        so_far = ""
        if last:
            furthest = max(last, key=lambda one: one["epoch"])
            of = f" of replicate {last.index(furthest) + 1}" if len(last) > 1 else ""
            score = f"{plain_number(furthest['score'])} {escape(METRIC_NAMES.get(run.key, run.key))}"
            so_far = f": {run.counts} {furthest['epoch']}{of} has {score}"
        cure = " Its command with <code>--resume</code> continues it." if run.stopped else ""
        said.append(f"{name} {state}{so_far}.{cure} What it is worth on held-out data is known at the end.")
    return said
