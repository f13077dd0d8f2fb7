"""The sections of the page, one function each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from statistics import mean, stdev

from hopefear.evaluation.significance import paired_bootstrap
from hopefear.report import page
from hopefear.report.examined import Examined
from hopefear.report.gather import RunData
from hopefear.report.numbers import learning_curve, moved_weights, surfaces as error_surfaces
from hopefear.report.page import card, diff_markup, escape_metric, panels, plain_number, section, signed, table
from hopefear.report.sentences import Translation, diff
from hopefear.report.svg import line_chart

SHOWN = 300  # translations listed of a run
SURFACES = 16
TITLES = {"train": "train", "dev": "dev", "holdout": "kept aside", "test": "test", "examples": "decoded for this page"}


def summary(found: Sequence[Examined]) -> str:
    items = []
    for k, one in enumerate(found):
        run = one.run
        name = escape(run.name) + (f" ({escape(run.trainer)})" if run.trainer != run.name else "")
        before, after = one.final("dev")
        if before is None or after is None:
            line = f"<b>{plain_number(after)}</b>" if after is not None else ""
        else:
            line = f"<b>{plain_number(before)} → {plain_number(after)}</b>"
        rest = ""
        for part in ("holdout", "test"):
            aside_before, aside_after = one.final(part)
            if aside_after is not None:
                was = f"{plain_number(aside_before)} → " if aside_before is not None else ""
                rest += f"; {TITLES[part]} {was}{plain_number(aside_after)}"
        items.append(
            f'<li style="border-color:var(--c{k % 8})"><span class="name">{name}</span>{line}'
            f'<span class="faint small">{escape_metric(run.key)} on dev{rest}</span></li>'
        )
    return f'<ul class="summary">{"".join(items)}</ul>'


def start(found: Sequence[Examined]) -> str:
    text = (
        "<p>For every sentence the system could say many things. Each is a <b>point</b>: the further to the right, the "
        "more the model likes it; the higher, the better it is, by the references. The system says the one furthest to "
        "the right, the <b>best</b>.</p>"
        '<p>The <b class="up">hope</b> is good and the model likes it already. The <b class="down">fear</b> is bad and '
        "the model likes it too. Training changes the weights of the model so that hope moves to the right and fear to "
        "the left, sentence after sentence, until what the system says is what we hoped for.</p>"
    )
    if any(one.clouds for one in found):
        text += '<p><a href="#sentence">See it with sentences of this run</a>, before and after training.</p>'
    return section(
        "start",
        "Hope and fear in a minute",
        "What training a translation system means.",
        f'<div class="two"><div>{page.hope_and_fear()}</div><div>{text}</div></div>',
    )


def scores(found: Sequence[Examined], jobs: int) -> str:
    first = found[0]
    rows: list[list[str]] = []
    for one in found:
        run = one.run
        parts = [part for part in ("train", "dev", "holdout", "test") if one.final(part)[1] is not None]
        for part in parts:
            rows.append([escape(run.name), TITLES.get(part, escape(part)), *_score_cells(one, part, first, jobs)])
    columns = ["run", "part", "before", "after", "gain", "95 % interval", "against the first run"]
    lead = (
        f"{escape_metric(first.run.key)} of the best translations before and after training. "
        "<b>*</b> marks a difference that chance alone would make in less than 1 of 20 cases (paired bootstrap; over "
        "replicates too, where there are some: then <i>after</i> is their mean, with the standard deviation)."
    )
    notes = "".join(
        f'<p class="small faint">{escape(one.run.name)}: no test and no pictures of sentences, because '
        f"{escape(one.run.missing)}.</p>"
        for one in found
        if one.run.missing
    )
    return section("scores", "Scores", lead, table(columns, rows), notes)


def _score_cells(one: Examined, part: str, first: Examined, jobs: int) -> list[str]:
    run = one.run
    before, after = one.final(part)
    assert after is not None
    got = one.scored.get(part)
    shown = plain_number(after)
    if got is not None and len(got.after) > 1:
        shown = f"{plain_number(mean(got.after))} ± {plain_number(stdev(got.after))}"
    if got is None:
        gain = signed(after - before) if before is not None else ""
        p = run.record.final[part].get("p")
        if gain and isinstance(p, int | float):
            gain += f"{' <b>*</b>' if p < 0.05 else ''} (p = {p:.2g})"
        return [plain_number(before) if before is not None else "", shown, gain, "", ""]
    delta = mean(got.after) - got.before
    star = " <b>*</b>" if got.p < 0.05 else ""
    interval = f"{signed(got.interval[0])} to {signed(got.interval[1])}"
    against = ""
    other = first.scored.get(part)
    if one is not first and other is not None and run.key == first.run.key and got.of == other.of:
        test = paired_bootstrap(got.stats, other.stats, run.metric, 1000, 1, jobs)
        against = f"{signed(test.delta)}{' <b>*</b>' if test.p < 0.05 else ''} (p = {test.p:.2g})"
    return [plain_number(got.before), shown, f"{signed(delta)}{star} (p = {got.p:.2g})", interval, against]


def warnings(runs: Sequence[RunData]) -> str:
    parts = []
    for run in runs:
        texts = run.record.warnings
        if not texts:
            continue
        if len(runs) > 1:
            parts.append(f"<h3>{escape(run.name)}</h3>")
        for text in texts:
            head, bracket, code = str(text).rpartition(" [")
            shown = f"{escape(head)} <code>{escape(code.rstrip(']'))}</code>" if bracket else escape(str(text))
            parts.append(f'<div class="finding">{shown}</div>')
    if not parts:
        parts = ['<div class="finding fine">Nothing suspicious was found.</div>']
    return section(
        "warnings",
        "Warnings",
        "Weights that ran away, features that never fire, lists with nothing to win, lengths gone wrong, gains that "
        "may be chance: each is looked for after training.",
        *parts,
    )


def curves(runs: Sequence[RunData]) -> str:
    curves = [learning_curve(run) for run in runs]
    drawn = [curve for curve in curves if curve.x]
    lead = f"{escape_metric(runs[0].key)} on the data learnt from (for online training: on dev), after each epoch."
    if any(run.trainer == "mert" for run in runs):
        lead += " MERT has no epochs: a point is where one of its starts ended."
    if any(curve.error for curve in drawn):
        lead += " Bars are the standard deviation over replicates."
    if not drawn:
        return section("curves", "Learning curves", lead, '<p class="faint">The record has no epochs.</p>')
    dots = [
        replace(curve, points=True) if run.trainer == "mert" else curve for run, curve in zip(runs, curves, strict=True)
    ]
    chart = line_chart("learning curves", "epoch", page.escape_metric(runs[0].key), dots)
    return section("curves", "Learning curves", lead, page.scrolled(chart))


def weights(found: Sequence[Examined], names: Sequence[str]) -> str:
    contents = []
    for one in found:
        moved, total = moved_weights(one.run, one.deviations)
        if not moved:
            contents.append('<p class="faint">No weight moved.</p>')
            continue
        chart = page.scrolled(page.weights_chart(moved))
        rest = f'<p class="small faint">{len(moved)} of {total:,} weights; on the right the weight itself.</p>'
        contents.append(chart + rest)
    lead = (
        "The share of each feature in the decisions of the model, before (ring) and after (dot): its weight times how "
        "much it differs among the candidates of a sentence. Left of zero, more of it counts against a candidate."
    )
    if not any(one.run.has_initial for one in found):
        lead += " There were no initial weights: all begin at 0."
    return section("weights", "Weights that moved most", lead, panels("w", "run", names, contents))


def surface(found: Sequence[Examined], jobs: int) -> str:
    contents = []
    for one in found:
        few = SURFACES if one.run.parts[one.run.part].is_lists else SURFACES // 2
        moved, _ = moved_weights(one.run, one.deviations, few)
        by_share = sorted(moved, key=lambda m: -abs(m.share_after))
        charts = error_surfaces(one.run, [m.name for m in by_share], jobs)
        label = escape_metric(one.run.key)
        cards = "".join(
            card(
                f"<h3>{escape(chart.name)}</h3>",
                page.surface_chart(chart, label),
                f'<p class="small faint">{chart.pieces:,} pieces; {_best_on_line(chart.score, chart.best)}</p>',
            )
            for chart in charts
        )
        contents.append(f'<div class="grid">{cards}</div>')
    lead = (
        "How the metric of the whole set changes with one weight while the others stay: not an estimate but the exact "
        "steps, from the upper envelope of every sentence's candidates. The dashed line is where the trainer stopped."
    )
    return section("surface", "Error surface", lead, _some_panels("e", found, contents))


def _best_on_line(here: float, best: float) -> str:
    lost = abs(best - here)
    return "the trainer stopped at the top" if lost < 0.005 else f"{plain_number(lost)} below the best on this line"


def lengths(found: Sequence[Examined]) -> str:
    contents, known = [], []
    for one in found:
        got = next((each for each in one.scored.values() if each.bleu), None)
        if got is None or got.bleu is None:
            continue
        known.append(one)
        before, after = got.bleu["before"], got.bleu["after"]
        rows = [
            ["length of translations / references", f"{before['ratio']:.3f}", f"{after['ratio']:.3f}"],
            ["BLEU", plain_number(before["score"]), plain_number(after["score"])],
        ]
        chart = page.precisions_chart(got)
        key = (
            '<ul class="key"><li><i style="background:var(--faint);opacity:.55"></i>before</li>'
            '<li><i style="background:var(--c0)"></i>after</li></ul>'
        )
        contents.append(
            f'<div class="two"><div>{chart}{key}</div><div>{table(["", "before", "after"], rows)}'
            f'<p class="small faint">{escape(TITLES.get(got.part, got.part))}, {got.sentences:,} sentences. A ratio '
            "below 1 costs a brevity penalty.</p></div></div>"
        )
    lead = "How many of the n-grams that the system says are in a reference, in percent, and whether it says enough."
    return section("length", "Length and n-gram precisions", lead, _some_panels("n", known, contents))


def _some_panels(name: str, found: Sequence[Examined], contents: Sequence[str]) -> str:
    """Panels of those runs that have something to show."""
    numbers = [one.number for one in found]
    all_there = numbers == list(range(len(numbers)))
    return panels(name, "run", [one.run.name for one in found], contents, () if all_there else numbers)


def sentence(found: Sequence[Examined]) -> str:
    contents = [
        f'<div class="sentence" data-sentences="{k}"><div class="picker" role="group" aria-label="sentences"></div>'
        '<div class="stage"></div></div><noscript><p>This section needs JavaScript.</p></noscript>'
        for k in range(len(found))
    ]
    lead = (
        "Pick a sentence (with the arrow keys too). Then press <i>after training</i> and watch the hope move to the "
        "right: what was hoped for becomes the best. Model scores are in standard deviations below the best."
    )
    return section("sentence", "Look at a sentence", lead, _some_panels("s", found, contents))


def translations(found: Sequence[Examined]) -> str:
    contents = []
    for k, one in enumerate(found):
        changed = [each for each in one.changes if each.before != each.after]
        better = sum(1 for each in changed if each.change > 0)
        worse = sum(1 for each in changed if each.change < 0)
        count = len(one.changes)
        shown = sorted(changed, key=lambda each: -abs(each.change))[:SHOWN]
        items = "".join(_change(each, place) for place, each in enumerate(shown))
        cut = f", the {SHOWN} that changed most are listed" if len(changed) > SHOWN else ""
        contents.append(
            f"<p>{len(changed):,} of {count:,} sentences changed: {better:,} better, {worse:,} worse{cut}.</p>"
            f'<div class="buttons" data-changes="changes-{k}" hidden>'
            '<button type="button" data-show="all" aria-pressed="true">all</button>'
            '<button type="button" data-show="better" aria-pressed="false">better</button>'
            '<button type="button" data-show="worse" aria-pressed="false">worse</button>'
            '<button type="button" data-show="more" aria-pressed="false">show more</button></div>'
            f'<ul class="changes" id="changes-{k}">{items}</ul>'
        )
    lead = (
        "What the system said before and what it says now: <del>gone</del>, <ins>new</ins>. On the right the change of "
        "the sentence's own score, 0 to 1."
    )
    return section("translations", "Translations before and after", lead, _some_panels("t", found, contents))


def _change(one: Translation, place: int) -> str:
    way = "better" if one.change > 0 else "worse" if one.change < 0 else "same"
    colour = {"better": "up", "worse": "down", "same": "faint"}[way]
    source = f'<p class="small faint">{escape(one.source)}</p>' if one.source else ""
    reference = f'<p class="small faint">reference: {escape(one.references[0])}</p>' if one.references else ""
    more = ' class="more"' if place >= 20 else ""
    return (
        f'<li data-way="{way}"{more}><span class="delta {colour}">{signed(one.change)}</span>{source}'
        f"<p>{diff_markup(diff(one.before, one.after))}</p>{reference}</li>"
    )


def made(runs: Sequence[RunData]) -> str:
    lead = "Everything that is needed to get the same numbers again."
    contents = [page.definitions(_how(run)) for run in runs]
    return section("made", "How it was made", lead, panels("m", "run", [run.name for run in runs], contents))


def _how(run: RunData) -> dict[str, str]:
    record = run.record
    options = ", ".join(f"{name}={value}" for name, value in run.options.items() if value not in ("", None))
    inputs = "<br>".join(
        f"{escape(one['path'])} <span class=faint>({one['bytes']:,} bytes, sha256 {escape(one['sha256'][:12])})</span>"
        for one in record.inputs
    )
    rows = {
        "command": f"<code>{escape(' '.join(record.command))}</code>",
        "trainer": escape(run.trainer),
        "options": f"<code>{escape(options)}</code>",
        "metric": f"<code>{escape(record.metric)}</code>",
        "seed": str(record.seed),
        "replicates": str(len(run.replicates)),
        "sentences": escape(", ".join(f"{TITLES.get(k, k)} {v:,}" for k, v in record.sentences.items())),
        "started": escape(f"{record.started}, {record.seconds:.0f} s"),
        "inputs": inputs,
        "versions": escape(", ".join(f"{name} {value}" for name, value in record.versions.items())),
    }
    return {name: value for name, value in rows.items() if value}
