"""The sections of the page, one function each."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import Any

from hopefear.reports import page
from hopefear.reports.buckets import length_buckets, word_buckets
from hopefear.reports.charts import dots_chart, hope_and_fear, precisions_chart, surface_chart, weights_chart
from hopefear.reports.compare import all_shares
from hopefear.reports.feature_names import readable
from hopefear.reports.gather import RunData
from hopefear.reports.numbers import (
    Moved,
    Surface,
    epoch_scores,
    learning_curve,
    moved_weights,
    surfaces as error_surfaces,
)
from hopefear.reports.page import Section, card, escape_metric, panels, plain_number, section, table
from hopefear.reports.run_view import PARTS, TITLES, MetricGroup, RunView
from hopefear.reports.verdict import Ranking
from hopefear.runs import RunRecord
from hopefear.util.svg import Curve

SURFACES = 16
TEST = re.compile(r" \(p = [\d.e-]+\)")
BUCKETS = {"length": "By length", "words": "By word frequency"}
BEFORE = 7  # the series of what was before: grey


def _start() -> str:
    text = (
        "<p>For every sentence the system could output many translations. Each is a <b>point</b>: the further to the "
        "right, the more the model likes it; the higher, the better it is, by the references. The system outputs the "
        "one furthest to the right, the <b>best</b>.</p>"
        '<p>The <b class="up">hope</b> is good and the model likes it already. The <b class="down">fear</b> is bad and '
        "the model likes it too. Training changes the weights of the model so that hope moves to the right and fear to "
        "the left, sentence after sentence, until the system outputs what we hoped for.</p>"
    )
    drawn = f'<div class="grid2"><div>{hope_and_fear()}</div><div>{text}</div></div>'
    return f"<details><summary>Hope and fear in a minute</summary>{drawn}</details>"


def headed(group: MetricGroup, content: str) -> str:
    """Content under the title of its group, unless there is only one group."""
    return page.headed(group.alone, group.title, content)


def warnings(runs: Sequence[RunData]) -> Section:
    """What the runs warned of."""
    parts = []
    for run in runs:
        texts = run.record.warnings
        if not texts:
            continue
        if len(runs) > 1:
            parts.append(f"<h3>{escape(run.name)}</h3>")
        for text in texts:
            text = TEST.sub(
                "", str(text)
            )  # of one seed, when it was trained: the test of the page is that of the scores
            head, bracket, code = text.rpartition(" [")
            shown = f"{escape(head)} <code>{escape(code.rstrip(']'))}</code>" if bracket else escape(text)
            parts.append(f'<div class="finding">{shown}</div>')
    if not parts:
        parts = ['<div class="finding fine">Nothing suspicious was found.</div>']
    return section(
        "warnings",
        "Warnings",
        "After training, hopefear checks for weights that diverged, features that never fire, lists without headroom, "
        "translations of the wrong length, and gains that may be due to chance.",
        *parts,
    )


def curves(groups: Sequence[MetricGroup]) -> Section:
    """Scores along epochs and decodings, each on an axis of its own; where MERT's starts ended, on none of these."""
    contents = []
    lead = "The score on the training data (for online training: on dev), after each epoch or decoding."
    for number, group in enumerate(groups):
        made = []
        drawn = [(view.run, replace(learning_curve(view.run), series=view.number)) for view in group.runs]
        for unit in ("epoch", "decoding", "setting"):
            own = [one_fit(curve) for run, curve in drawn if run.counts == unit and curve.x]
            if any(not curve.level for curve in own):
                title = f"{group.title} after each {unit}"
                made.append(page.chart(f"curve-{number}-{unit}", title, unit, group.title, own, heading=title))
                if any(curve.error for curve in own) and "Bars" not in lead:
                    lead += " Bars are the standard deviation over replicates."
                if any(curve.level for curve in own) and "dotted" not in lead:
                    lead += " A dotted line is a trainer that fits all at once and has no epochs."
            elif own:
                fits = "; ".join(f"{escape(curve.name)} {plain_number(curve.y[0], _digits(group))}" for curve in own)
                made.append(f'<p class="small faint">Fitted all at once, without epochs: {fits}.</p>')
        made.append(_starts(group, number))
        contents.append(headed(group, f'<div class="grid2">{"".join(made)}</div>'))
    if not any(view.run.replicates and learning_curve(view.run).x for group in groups for view in group.runs):
        return section("curves", "Learning curves", lead, '<p class="faint">The record has no epochs.</p>')
    return section("curves", "Learning curves", lead, *contents, short="Learning")


def one_fit(curve: Curve) -> Curve:
    """A curve of one point is the score of a fit without epochs: a level."""
    return replace(curve, level=True) if len(curve.x) == 1 else curve


def _digits(group: MetricGroup) -> int:
    return max(view.digits for view in group.runs)


def _starts(group: MetricGroup, number: int) -> str:
    """MERT has no epochs: each of its starts is a point."""
    rows: dict[str, list[tuple[int, float, str]]] = {}
    for view in group.runs:
        if view.run.counts == "start":
            for replicate in view.run.replicates:
                name = view.run.name + (f", seed {replicate.seed}" if len(view.run.replicates) > 1 else "")
                rows[name] = [
                    (view.number, score, f"{name}: start {int(start)} ended at {plain_number(score, view.digits)}")
                    for start, score in epoch_scores(replicate.history)
                ]
    if not rows:
        return ""
    title, label = "where MERT's starts ended", f"{group.title} on the data learnt from"
    note_text = (
        "MERT has no epochs: each point is where one of its starts ended. If they lie far apart, give it more starts."
    )
    return page.figure(
        f"starts-{number}",
        lambda width: dots_chart(title, label, rows, width=width),
        note=f'<p class="small faint">{note_text}</p>',
        title="Where MERT's starts ended",
    )


def buckets(judgements: Sequence[Ranking | None]) -> Section | None:
    """Scores by the length of sentences and the frequency of words."""
    contents = []
    for number, judged in enumerate(judgements):
        if judged is None:
            continue
        first = judged.best.first
        part = next((p for p in (judged.part, "dev", "examples") if p in first.scored), None)
        if part is None:
            continue
        held = first.scored[part].sentences
        if held < 100 and len(first.scored.get("dev", first.scored[part]).of) > held:  # type: ignore[arg-type]
            part = "dev"
        of = first.scored[part].of
        runs = [view.first for view in judged.order if part in view.first.scored and view.first.scored[part].of == of]
        text = _bucket_charts(judged.group, number, runs, part)
        if text:
            contents.append(headed(judged.group, text))
    if not contents:
        return None
    lead = "Where gains come from: short or long sentences, rare or frequent words. Mean over seeds."
    return section("buckets", "By length and by word frequency", lead, *contents, short="Lengths and words")


def _bucket_charts(group: MetricGroup, number: int, runs: Sequence[RunView], part: str) -> str:
    made = []
    for kind, buckets, x, y in (
        ("length", length_buckets(runs, part), "words of the reference", group.title),
        ("words", word_buckets(runs, part), "times that a word is in the references", "F1 of words, %"),
    ):
        if buckets is None:
            continue
        places = [float(k) for k in range(len(buckets.names))]
        curves = [
            Curve(view.run.name, places, scores, series=view.number)
            for view, scores in zip(runs, buckets.after, strict=True)
        ]
        if runs[0].before(part) is not None or part == "examples":
            curves.append(Curve("before", places, buckets.before, series=BEFORE))
        names = [name.replace(" to ", "\N{EN DASH}").replace(" or more", "+") for name in buckets.names]
        unit = "sentences" if kind == "length" else "words of references"
        sizes = "; ".join(f"{name}: {size:,}" for name, size in zip(buckets.names, buckets.sizes, strict=True))
        made.append(
            f"<div>{page.chart(f'bucket-{number}-{kind}', f'{y} by {x}', x, y, curves, names, BUCKETS[kind])}"
            f'<p class="small faint">{escape(TITLES[part])}; {unit} in each bucket: {sizes}.</p></div>'
        )
    return f'<div class="grid2">{"".join(made)}</div>' if made else ""


def weights(groups: Sequence[MetricGroup]) -> Section:
    """The weights of every group."""
    together = "".join(headed(group, all_shares(group)) for group in groups if len(group.runs) > 1)
    runs = [view for group in groups for view in group.runs if view.run.weights]
    runs.sort(key=lambda view: view.number)
    contents = []
    for view in runs:
        moved, total = moved_weights(view.run, view.deviations)
        if not moved:
            contents.append('<p class="faint">No weight moved.</p>')
            continue
        contents.append(_moved(view, moved, total))
    lead = (
        "The share of each feature in the decisions of the model: its weight times its variation among the candidates "
        "of a sentence. Features left of zero count against a candidate."
    )
    note = "A ring marks the weight before, a dot the weight after."
    if not any(view.run.has_initial for view in runs):
        note += " There were no initial weights: all begin at 0."
    each = f'<h3>Before and after training</h3><p class="small faint">{note}</p>{_some_panels("w", runs, contents)}'
    inside = f'<div class="grid2"><div>{together}</div><div>{each}</div></div>' if together else each
    return section("weights", "Weights that moved most", lead, inside, short="Weights")


def _moved(view: RunView, moved: Sequence[Moved], total: int) -> str:
    note = f'<p class="small faint">{len(moved)} of {total:,} weights; on the right the weight itself.</p>'
    return page.figure(f"weights-{view.number}", lambda width: weights_chart(moved, width), note=note)


def surface(runs: Sequence[RunView], jobs: int) -> Section:
    """The metric as a function of each weight that moved much."""
    contents = []
    for view in runs:
        few = SURFACES if view.run.parts[view.run.part].is_lists else SURFACES // 2
        moved, _ = moved_weights(view.run, view.deviations, few)
        by_share = sorted(moved, key=lambda m: -abs(m.share_after))
        charts = error_surfaces(view.run, [m.name for m in by_share], jobs)
        label = escape_metric(view.run.key)
        cards = "".join(
            card(
                f"<h3>{escape(readable(chart.name))}</h3>",
                f'<div class="figure" id="surface-{view.number}-{k}">{surface_chart(chart, label, view.digits)}</div>',
                f'<p class="small faint">{chart.pieces:,} pieces; {_best_on_line(chart, view.digits)}</p>',
            )
            for k, chart in enumerate(charts)
        )
        contents.append(f'{_surface_of(view, charts, label)}<div class="grid">{cards}</div>')
    lead = (
        "How the metric changes with one weight while the others stay fixed. The steps are exact, from the upper "
        "envelope of every sentence's candidates. The dashed line marks where the trainer stopped."
    )
    return section("surface", "Error surface", lead, _some_panels("e", runs, contents))


def _surface_of(view: RunView, charts: Sequence[Surface], label: str) -> str:
    """Of which sentences these are; a sample is called so."""
    run, part = view.run, view.run.part
    size = len(run.parts[part])
    here = (
        f"; with the weights of the run {label} is {plain_number(charts[0].score, view.digits)} there" if charts else ""
    )
    if part == "examples":
        whole = ""
        if view.after("dev"):
            whole = f", not {plain_number(view.after('dev')[0])} as on all of dev"
        return (
            f'<p class="sample">Of a <b>sample</b>: {size:,} sentences that were decoded for this page{here}{whole}. '
            "The steps are exact for these sentences and their forests only.</p>"
        )
    of = "the candidates of all decodings together" if run.has_decoder else "all candidates"
    seed = f", seed {run.replicates[run.chosen].seed}" if len(run.replicates) > 1 else ""
    return f'<p class="small faint">Of {size:,} sentences ({TITLES[part]}) with {of}{here}{seed}.</p>'


def _best_on_line(chart: Surface, digits: int) -> str:
    lost = abs(chart.best - chart.score)
    at_top = lost < 0.5 * 10**-digits
    return "the trainer stopped at the top" if at_top else f"{plain_number(lost, digits)} below the best on this line"


def lengths(runs: Sequence[RunView]) -> Section:
    """Lengths of translations next to those of the references."""
    contents, known = [], []
    for view in runs:
        got = next((view.scored[part] for part in PARTS if part in view.scored and view.scored[part].bleu), None)
        if got is None or got.bleu is None:
            continue
        known.append(view)
        before, after = got.bleu["before"], got.bleu["after"]
        rows = [
            ["length of translations / references", f"{before['ratio']:.3f}", f"{after['ratio']:.3f}"],
            ["BLEU", plain_number(before["score"]), plain_number(after["score"])],
        ]
        key = (
            '<ul class="key"><li><i style="background:var(--faint);opacity:.55"></i>before</li>'
            '<li><i style="background:var(--c0)"></i>after</li></ul>'
        )
        contents.append(
            f'<div class="grid2"><div class="figure" id="precisions-{view.number}">'
            f"{precisions_chart(got)}{key}</div>"
            f"<div>{table(['', 'before', 'after'], rows, name='lengths')}"
            f'<p class="small faint">{escape(TITLES.get(got.part, got.part))}, {got.sentences:,} sentences. A ratio '
            f"below 1 costs a brevity penalty.{_from_nothing(view, got.part)}</p></div></div>"
        )
    lead = "The percentage of output n-grams that are in a reference, and the length of the output."
    inside = _some_panels("n", known, contents)
    return section("length", "Length and n-gram precisions", lead, inside, short="N-grams")


def _from_nothing(view: RunView, part: str) -> str:
    """What "before" is of forests without initial weights, which have no order of their own."""
    known = view.run.has_initial or view.before(part) is not None
    return "" if known else " No initial weights were given: before is what weights of 0 choose, which means little."


def _some_panels(name: str, runs: Sequence[RunView], contents: Sequence[str]) -> str:
    """Panels of those runs that have something to show."""
    numbers = [view.number for view in runs]
    all_there = numbers == list(range(len(numbers)))
    return panels(name, "run", [view.run.name for view in runs], contents, () if all_there else numbers)


def candidates(runs: Sequence[RunView]) -> Section:
    """The candidates of single sentences, which the script of the page draws."""
    contents = [
        f'<div class="candidates" data-sentences="{k}"><div class="picker" role="group" aria-label="sentences"></div>'
        '<div class="stage"></div></div><noscript><p>This section needs JavaScript.</p></noscript>'
        for k in range(len(runs))
    ]
    lead = (
        "Pick a sentence, with the mouse or the arrow keys. Then press <i>after training</i> and watch the hope move "
        "to the right, until it is the best. Model scores are in standard deviations below the best."
    )
    inside = _start() + _some_panels("s", runs, contents)
    return section("candidates", "What a sentence could have been", lead, inside, short="Candidates")


def made(runs: Sequence[RunData]) -> Section:
    """Versions, commands, inputs and options of the runs."""
    lead = "Everything you need to reproduce the numbers."
    contents = [page.definitions(how(run.record, {run.trainer: run.options}, len(run.replicates))) for run in runs]
    return section("made", "How it was made", lead, panels("m", "run", [run.name for run in runs], contents))


def how(record: RunRecord, options: Mapping[str, Mapping[str, Any]], replicates: int = 0) -> dict[str, str]:
    """The options and inputs of a run (markup); ``options``: those of each trainer."""
    recipes = [
        " ".join([name, *(f"{key}={value}" for key, value in each.items() if value not in ("", None))])
        for name, each in options.items()
    ]
    inputs = "<br>".join(
        f"{escape(one['path'])} <span class=faint>({one['bytes']:,} bytes, sha256 {escape(one['sha256'][:12])})</span>"
        for one in record.inputs
    )
    rows = {
        "command": f"<code>{escape(' '.join(record.command))}</code>",
        "trainer" if len(recipes) == 1 else "trainers": "<br>".join(f"<code>{escape(one)}</code>" for one in recipes),
        "metric": f"<code>{escape(record.metric)}</code>" if record.metric else "",
        "seed": str(record.seed),
        "replicates": str(replicates or ""),
        "sentences": escape(", ".join(f"{TITLES.get(k, k)} {v:,}" for k, v in record.sentences.items())),
        "started": escape(record.started + (f", {record.seconds:.0f} s" if record.seconds else "")),
        "inputs": inputs,
        "versions": escape(", ".join(f"{name} {value}" for name, value in record.versions.items())),
    }
    return {name: value for name, value in rows.items() if value}
