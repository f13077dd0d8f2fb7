"""What the runs of one metric come to, in words: which is best, whether that may be chance, and what to do next.

Runs are judged by the part that nothing was learnt from or chosen on, by the mean over their seeds, and by the same
sentences only. Differences are tested by the paired bootstrap, over seeds too where there are several.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from hopefear.evaluation.significance import Comparison, paired_bootstrap
from hopefear.reports.examined import METRIC_NAMES, PARTS, Group, System
from hopefear.reports.gather import RunData
from hopefear.reports.page import p_text, plain_number, signed

SURE = 0.05
WHERE = {"test": "test data", "holdout": "held-out data", "dev": "dev", "train": "the data learnt from"}


@dataclass(frozen=True)
class Judged:
    """The systems of a metric in the order of their scores on one part, best first."""

    group: Group
    part: str
    order: list[System]  # on the same sentences
    against: list[Comparison | None]  # the best against each of the others
    apart: list[System]  # on other sentences, or without a score: not compared

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
            part, largest = max(crowds, key=lambda one: len(one[1]))
            break
    else:
        return None
    order = sorted(largest, key=lambda one: one.score(part), reverse=group.higher)
    metric = group.found[0].run.metric
    stats = [one.stats(part) for one in order]
    against = [
        paired_bootstrap(stats[0], other, metric, 1000, 1, jobs) if stats[0] is not None and other is not None else None
        for other in stats[1:]
    ]
    apart = [one for one in systems if one not in largest]
    return Judged(group, part, order, against, apart)


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
    best, part, label = found.best, found.part, escape(found.group.title)
    before, after = best.before(part), best.score(part)
    seeds = best.seeds(part)
    if len(found.order) > 1:
        of = f", {seeds}" if seeds else ""
        was = f"; {plain_number(before, best.digits)} before training" if before is not None else ""
        text = (
            f"<b>{escape(best.name)}</b> is best on {WHERE[part]}: {plain_number(after, best.digits)} {label}{of}{was}."
        )
        text += f" {_lead(found)}"
    else:
        text = _gain(found, before, after, f", {seeds}" if seeds else "")
    if not found.unseen:
        learnt = best.first.run.record.kind == "tune"
        told = "the sentences that were learnt from" if learnt else "the sentences that the epoch was chosen on"
        text += f" These are {told}: nothing is known of others."
    if found.apart:
        names = ", ".join(escape(one.name) for one in found.apart)
        text += f" Not compared, because {'it has' if len(found.apart) == 1 else 'they have'} other sentences: {names}."
    return text


def _lead(found: Judged) -> str:
    """The best against the next, and against all others."""
    next_best, test = found.order[1], found.against[0]
    lead = plain_number(abs(found.best.score(found.part) - next_best.score(found.part)), found.best.digits)
    name = escape(next_best.name)
    if test is None:
        return f"Its lead over {name} is {lead}; whether that is chance cannot be tested, because inputs are gone."
    sure = test.p < SURE
    text = (
        f"Its lead over {name}, the next best, is {lead} ({p_text(test.p)})."
        if sure
        else f"Its lead of {lead} over {name} may be chance, {p_text(test.p)}."
    )
    rest = list(zip(found.order[2:], found.against[1:], strict=True))
    worse = [f"{escape(one.name)} ({p_text(test.p)})" for one, test in rest if test is not None and test.p < SURE]
    level = [f"{escape(one.name)} ({p_text(test.p)})" for one, test in rest if test is not None and test.p >= SURE]
    if level:
        text += f" Nor can it be told from {', '.join(level)}."
    if worse:
        text += f" It is better than {', '.join(worse)}."
    return text


def _gain(found: Judged, before: float | None, after: float, seeds: str) -> str:
    """One system: after against before."""
    best, part, label = found.best, found.part, escape(found.group.title)
    name = f"<b>{escape(best.name)}</b>"
    now = plain_number(after, best.digits)
    if before is None:
        return f"{name} has {now} {label} on {WHERE[part]}{seeds}; what was before is not known."
    was, change = plain_number(before, best.digits), after - before
    numbers = f"from {was} to {now} ({signed(change, best.digits)}{seeds})"
    got = best.first.scored.get(part)
    if got is None:
        return f"{name} moves {label} on {WHERE[part]} {numbers}; whether that is chance cannot be tested any more."
    if got.p >= SURE:
        return f"{name} moves {label} on {WHERE[part]} {numbers}: this may be chance, {p_text(got.p)}."
    verb = "improves" if (change > 0) == found.group.higher else "worsens"
    return f"{name} {verb} {label} on {WHERE[part]} {numbers}; {p_text(got.p)}."


def next_steps(found: Judged) -> list[str]:
    """What to do now, the most urgent first (markup)."""
    best, part = found.best, found.part
    run = best.first.run
    tuned = run.record.kind == "tune"
    got = best.first.scored.get(part)
    before, sign = best.before(part), 1 if found.group.higher else -1
    gain = sign * (best.score(part) - before) if before is not None else None
    steps = []
    if gain is not None and gain <= 0:
        steps.append("Keep the weights that you had: training made nothing better. The warnings may say why.")
    elif got is not None and gain is not None and got.p >= SURE:
        more = _enough(got.sentences, got.interval, gain)
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
    if len(found.order) > 1 and found.against[0] is not None and found.against[0].p >= SURE:
        test = found.against[0]
        size = got.sentences if got is not None else 0
        more = _enough(size, test.ci, abs(test.delta))
        name = escape(found.order[1].name)
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
