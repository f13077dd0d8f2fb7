"""The first sections: what was compared and the verdict with its chart, every pair, scores before and after."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from statistics import mean, stdev

from hopefear.evaluation.comparison import LEVEL, Compared, p_value
from hopefear.evaluation.significance import confidence_interval
from hopefear.reports import page
from hopefear.reports.charts import PlotRow, forest_plot
from hopefear.reports.page import Section, plain_number, section, signed, table
from hopefear.reports.run_view import PARTS, TITLES, MetricGroup, ScoredSystem
from hopefear.reports.verdict import Ranking, next_steps, running, verdict

BEFORE = 7  # the series of what was before: grey


def top(title: str, groups: Sequence[MetricGroup], judgements: Sequence[Ranking | None], jobs: int = 0) -> str:
    """What was compared; on every metric the verdict, the scores with intervals, and the next steps."""
    contents = [f"<h1>{escape(title)}</h1>"]
    for number, (group, judged) in enumerate(zip(groups, judgements, strict=True)):
        text = "" if group.alone else f"<h2>{escape(group.title)}</h2>"
        if judged is not None:
            text += f'<p class="verdict">{verdict(judged)}</p>'
            steps = "".join(f"<li>{step}</li>" for step in next_steps(judged))
            after = f'<div class="next"><b>Next</b><ol>{steps}</ol></div>'
            text += f'<div class="grid2">{_intervals(judged, number, jobs)}{after}</div>'
        text += "".join(f'<p class="verdict">{state}</p>' for state in running([view.run for view in group.runs]))
        contents.append(text)
    return "".join(contents)


def _intervals(judged: Ranking, number: int, jobs: int) -> str:
    """The scores with their intervals, and what was before training, where it is the same for all."""
    part, metric = judged.part, judged.group.runs[0].run.metric
    bars = []
    for system in judged.order:
        stats = system.stats(part)
        if stats is not None:
            interval = confidence_interval(stats, metric, jobs=jobs)
            bars.append(PlotRow(system.name, interval.runs, interval.low, interval.high, system.first.number))
    befores = {system.before(part) for system in judged.order}
    first = judged.best.first.scored.get(part)
    if not bars or first is None:
        return ""
    if len(befores) == 1 and None not in befores:
        was = confidence_interval(first.stats_before, metric, jobs=jobs)
        bars.append(PlotRow("before training", was.runs, was.low, was.high, BEFORE))
    d, label = judged.best.digits, f"{judged.group.title}, {TITLES[part]}"
    note = '<p class="small faint">Lines are 95 % intervals over sentences'
    note += " and seeds; small dots are single seeds.</p>" if any(len(bar.scores) > 1 for bar in bars) else ".</p>"
    return page.figure(f"scores-{number}", lambda width: forest_plot(bars, label, d, width), note=note)


def pairs(comparisons: Sequence[Compared], alone: bool) -> Section | None:
    """Every pair of systems with its test."""
    contents = []
    for compared in comparisons:
        d = compared.digits
        rows = [
            [
                f"{escape(pair.first)} against {escape(pair.second)}",
                signed(pair.delta, d),
                f"{signed(pair.low, d)} to {signed(pair.high, d)}",
                _p_cell(pair.adjusted),
                "different" if pair.different else "cannot be told apart",
            ]
            for pair in compared.pairs
        ]
        columns = ["pair", f"difference in {escape(compared.label)}", "95 % interval", "p", "verdict"]
        contents.append(page.headed(alone, compared.label, table(columns, rows, name="pairs")))
    lead = (
        "The paired bootstrap over the same sentences, and over seeds where there are several. Each p is adjusted for "
        "the number of pairs (false discovery rate, Benjamini and Hochberg 1995); below "
        f"{LEVEL} two systems are different. Intervals are those of each pair alone."
    )
    return section("pairs", "Every pair", lead, *contents, short="Pairs") if contents else None


def scores(groups: Sequence[MetricGroup], jobs: int) -> Section:
    """Before and after on every part, for every system."""
    contents = []
    for group in groups:
        rows = [
            [escape(system.name), TITLES[part], *_score_cells(system, part, jobs)]
            for system in group.systems
            for part in reversed(PARTS)
            if system.after(part)
        ]
        if rows:
            columns = ["run", "part", "before", "after", "gain", "95 % interval", "p"]
            contents.append((group, table(columns, rows, name="scores")))
    lead = (
        f"{escape(groups[0].title) + ' of the' if groups[0].alone else 'The'} best translations before and after "
        "training, with the interval and p of the gain (paired bootstrap over sentences; over seeds too, where there "
        "are several: then <i>after</i> is their mean, with the standard deviation)."
    )
    notes = "".join(
        f'<p class="small faint">{escape(run.name)}: no test, no sentences: {escape(run.missing)}.</p>'
        for group in groups
        for run in (view.run for view in group.runs)
        if run.missing
    )
    return section(
        "scores",
        "Scores",
        lead,
        "".join(page.headed(group.alone, group.title, content) for group, content in contents),
        notes,
    )


def _score_cells(system: ScoredSystem, part: str, jobs: int) -> list[str]:
    before, after, digits = system.before(part), system.after(part), system.digits
    shown = plain_number(mean(after), digits) + (f" ± {plain_number(stdev(after), digits)}" if len(after) > 1 else "")
    was = plain_number(before, digits) if before is not None else ""
    gain = signed(mean(after) - before, digits) if before is not None else ""
    tested = system.gain(part, jobs) if gain else None
    if tested is not None:
        p, (low, high) = tested
        return [was, shown, gain, f"{signed(low, digits)} to {signed(high, digits)}", _p_cell(p)]
    known = system.first.run.record.final.get(part, {}).get("p") if gain and len(system.runs) == 1 else None
    return [was, shown, gain, "", _p_cell(known) if isinstance(known, int | float) else ""]


def _p_cell(p: float) -> str:
    """In bold where chance alone would make such a gain in less than 1 of 20 cases."""
    return f"<b>{escape(p_value(p))}</b>" if p < LEVEL else p_value(p)
