"""The sections of the page, one function each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from statistics import mean, stdev

from hopefear.evaluation.significance import paired_bootstrap
from hopefear.reports import page
from hopefear.reports.buckets import length_buckets, word_buckets
from hopefear.reports.charts import dots_chart, hope_and_fear, precisions_chart, surface_chart, weights_chart
from hopefear.reports.compare import all_shares
from hopefear.reports.examined import PARTS, TITLES, Examined, Group, System
from hopefear.reports.gather import RunData
from hopefear.reports.names import readable
from hopefear.reports.numbers import Surface, epoch_scores, learning_curve, moved_weights, surfaces as error_surfaces
from hopefear.reports.page import card, diff_markup, escape_metric, p_text, panels, plain_number, section, signed, table
from hopefear.reports.sentences import Translation, diff
from hopefear.reports.verdict import Judged, next_steps, running, verdict
from hopefear.util.svg import Curve

SHOWN = 300  # translations listed of a run
SURFACES = 16
BEFORE = 7  # the series of what was before: grey


def top(groups: Sequence[Group], judgements: Sequence[Judged | None]) -> str:
    """The verdict and the next step on every metric, and the scores in large letters."""
    contents = []
    for group, judged in zip(groups, judgements, strict=True):
        text = "" if group.alone else f"<h2>{escape(group.title)}</h2>"
        if judged is not None:
            text += f'<p class="verdict">{verdict(judged)}</p>'
            steps = "".join(f"<li>{step}</li>" for step in next_steps(judged))
            text += f'<div class="next"><b>Next</b><ol>{steps}</ol></div>'
        text += "".join(f'<p class="verdict">{one}</p>' for one in running([one.run for one in group.found]))
        contents.append(text + (_cards(judged) if judged is not None else ""))
    return f'<div id="verdict">{"".join(contents)}</div>'


def _cards(judged: Judged) -> str:
    items = []
    for system in [*judged.order, *judged.apart]:
        part = next((part for part in PARTS if system.after(part)), None)
        if part is None:
            continue
        name = escape(system.name) + (f" ({escape(system.trainer)})" if system.trainer != system.name else "")
        rest = [part_line(system, other) for other in PARTS if other != part and system.after(other)]
        small = "; ".join([f"{escape(judged.group.title)}, {TITLES[part]}{_spread(system, part)}", *rest])
        items.append(
            f'<li style="border-color:var(--c{system.first.number % 8})"><span class="name">{name}</span>'
            f'<b>{_moved(system, part)}</b><span class="faint small">{small}</span></li>'
        )
    return f'<ul class="summary">{"".join(items)}</ul>'


def _moved(system: System, part: str) -> str:
    before = system.before(part)
    was = f'<span class="was">{plain_number(before, system.digits)} →</span> ' if before is not None else ""
    return was + plain_number(system.score(part), system.digits)


def _spread(system: System, part: str) -> str:
    after = system.after(part)
    return f", {system.seeds(part)} ± {plain_number(stdev(after), system.digits)}" if len(after) > 1 else ""


def part_line(system: System, part: str) -> str:
    return f"{TITLES[part]} {_moved(system, part)}"


def start(found: Sequence[Examined]) -> str:
    text = (
        "<p>For every sentence the system could say many things. Each is a <b>point</b>: the further to the right, the "
        "more the model likes it; the higher, the better it is, by the references. The system outputs the one furthest "
        "to the right, the <b>best</b>.</p>"
        '<p>The <b class="up">hope</b> is good and the model likes it already. The <b class="down">fear</b> is bad and '
        "the model likes it too. Training changes the weights of the model so that hope moves to the right and fear to "
        "the left, sentence after sentence, until the system outputs what we hoped for.</p>"
    )
    if any(one.clouds for one in found):
        text += '<p><a href="#sentence">See it with sentences of this run</a>, before and after training.</p>'
    return section(
        "start",
        "Hope and fear in a minute",
        "What it means to train a translation system.",
        f'<div class="two"><div>{hope_and_fear()}</div><div>{text}</div></div>',
    )


def scores(groups: Sequence[Group], jobs: int) -> str:
    contents = []
    for group in groups:
        rows = [
            [escape(one.run.name), TITLES[part], *_score_cells(one, part, group.found[0], jobs)]
            for one in group.found
            for part in reversed(PARTS)
            if one.after(part)
        ]
        if rows:
            against = "against the first run" if group.alone else f"against {escape(group.found[0].run.name)}"
            columns = ["run", "part", "before", "after", "gain", "95 % interval", against]
            contents.append((group, table(columns, rows)))
    lead = (
        f"{escape(groups[0].title) + ' of the' if groups[0].alone else 'The'} best translations before and after "
        "training. <b>*</b> marks a difference that chance alone would make in less than 1 of 20 cases (paired "
        "bootstrap; over replicates too, where there are some: then <i>after</i> is their mean, with the standard "
        "deviation)."
    )
    notes = "".join(
        f'<p class="small faint">{escape(one.run.name)}: no test and no pictures of sentences, because '
        f"{escape(one.run.missing)}.</p>"
        for group in groups
        for one in group.found
        if one.run.missing
    )
    return section("scores", "Scores", lead, "".join(headed(*each) for each in contents), notes)


def headed(group: Group, content: str) -> str:
    return page.headed(group.alone, group.title, content)


def _score_cells(one: Examined, part: str, first: Examined, jobs: int) -> list[str]:
    run = one.run
    before, after = one.before(part), one.after(part)
    got = one.scored.get(part)
    digits = one.digits
    shown = plain_number(mean(after), digits) + (f" ± {plain_number(stdev(after), digits)}" if len(after) > 1 else "")
    was = plain_number(before, digits) if before is not None else ""
    gain = signed(mean(after) - before, digits) if before is not None else ""
    p = got.p if got is not None else run.record.final[part].get("p")
    if gain and isinstance(p, int | float):
        gain += _tested(p)
    if got is None:
        return [was, shown, gain, "", ""]
    interval = f"{signed(got.interval[0], digits)} to {signed(got.interval[1], digits)}" if gain else ""
    against = ""
    other = first.scored.get(part)
    if one is not first and other is not None and got.of == other.of:
        test = paired_bootstrap(got.stats, other.stats, run.metric, 1000, 1, jobs)
        against = signed(test.delta, digits) + _tested(test.p)
    return [was, shown, gain, interval, against]


def _tested(p: float) -> str:
    return f"{' <b>*</b>' if p < 0.05 else ''} ({p_text(p)})"


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
        "After training, hopefear checks for weights that diverged, features that never fire, lists without headroom, "
        "translations of the wrong length, and gains that may be due to chance.",
        *parts,
    )


def curves(groups: Sequence[Group]) -> str:
    """Scores along epochs and decodings, each on an axis of its own; where MERT's starts ended, on none of these."""
    contents = []
    lead = "The score on the training data (for online training: on dev), after each epoch or decoding."
    for number, group in enumerate(groups):
        made = []
        drawn = [(one.run, replace(learning_curve(one.run), series=one.number)) for one in group.found]
        for unit in ("epoch", "decoding", "setting"):
            own = [curve for run, curve in drawn if run.counts == unit]
            if any(curve.x for curve in own):
                title = f"{group.title} after each {unit}"
                made.append(page.chart(f"curve-{number}-{unit}", title, unit, group.title, own))
                if any(curve.error for curve in own) and "Bars" not in lead:
                    lead += " Bars are the standard deviation over replicates."
        made.append(_starts(group))
        contents.append(headed(group, "".join(made)))
    if not any(one.run.replicates and learning_curve(one.run).x for group in groups for one in group.found):
        return section("curves", "Learning curves", lead, '<p class="faint">The record has no epochs.</p>')
    return section("curves", "Learning curves", lead, *contents)


def _starts(group: Group) -> str:
    """MERT has no epochs: each of its starts is a point."""
    rows: dict[str, list[tuple[int, float, str]]] = {}
    for one in group.found:
        if one.run.counts == "start":
            for replicate in one.run.replicates:
                name = one.run.name + (f", seed {replicate.seed}" if len(one.run.replicates) > 1 else "")
                rows[name] = [
                    (one.number, score, f"{name}: start {int(start)} ended at {score:.2f}")
                    for start, score in epoch_scores(replicate.history)
                ]
    if not rows:
        return ""
    chart = dots_chart("where MERT's starts ended", f"{group.title} on the data learnt from", rows)
    told = (
        "MERT has no epochs: each point is where one of its starts ended. If they lie far apart, give it more starts."
    )
    return f'<p class="small faint">{told}</p>{page.scrolled(chart)}'


def buckets(judgements: Sequence[Judged | None]) -> str:
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
        runs = [one.first for one in judged.order if part in one.first.scored and one.first.scored[part].of == of]
        text = _bucket_charts(judged.group, number, runs, part)
        if text:
            contents.append(headed(judged.group, text))
    if not contents:
        return ""
    lead = "Where gains come from: short or long sentences, rare or frequent words. Mean over seeds."
    return section("buckets", "By length and by word frequency", lead, *contents)


def _bucket_charts(group: Group, number: int, runs: Sequence[Examined], part: str) -> str:
    made = []
    for kind, found, x, y in (
        ("length", length_buckets(runs, part), "words of the reference", group.title),
        ("words", word_buckets(runs, part), "times that a word is in the references", "F1 of words, %"),
    ):
        if found is None:
            continue
        places = [float(k) for k in range(len(found.names))]
        curves = [
            Curve(one.run.name, places, scores, series=one.number)
            for one, scores in zip(runs, found.after, strict=True)
        ]
        if runs[0].before(part) is not None or part == "examples":
            curves.append(Curve("before", places, found.before, series=BEFORE))
        unit = "sentences" if kind == "length" else "words of references"
        sizes = "; ".join(f"{name}: {size:,}" for name, size in zip(found.names, found.sizes, strict=True))
        made.append(
            f"<div>{page.chart(f'bucket-{number}-{kind}', f'{y} by {x}', x, y, curves, found.names)}"
            f'<p class="small faint">{escape(TITLES[part])}; {unit} in each bucket: {sizes}.</p></div>'
        )
    return "".join(made)


def weights(groups: Sequence[Group]) -> str:
    together = "".join(headed(group, all_shares(group)) for group in groups if len(group.found) > 1)
    found = [one for group in groups for one in group.found if one.run.weights]
    found.sort(key=lambda one: one.number)
    contents = []
    for one in found:
        moved, total = moved_weights(one.run, one.deviations)
        if not moved:
            contents.append('<p class="faint">No weight moved.</p>')
            continue
        chart = page.scrolled(weights_chart(moved))
        rest = f'<p class="small faint">{len(moved)} of {total:,} weights; on the right the weight itself.</p>'
        contents.append(chart + rest)
    lead = (
        "The share of each feature in the decisions of the model: its weight times its variation among the candidates "
        "of a sentence. Features left of zero count against a candidate."
    )
    each = "<h3>Before and after training</h3>" if together else ""
    note = "A ring marks the weight before, a dot the weight after."
    if not any(one.run.has_initial for one in found):
        note += " There were no initial weights: all begin at 0."
    inside = f'{together}{each}<p class="small faint">{note}</p>{_some_panels("w", found, contents)}'
    return section("weights", "Weights that moved most", lead, inside)


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
                f"<h3>{escape(readable(chart.name))}</h3>",
                surface_chart(chart, label),
                f'<p class="small faint">{chart.pieces:,} pieces; {_best_on_line(chart, one.digits)}</p>',
            )
            for chart in charts
        )
        contents.append(f'{_surface_of(one, charts, label)}<div class="grid">{cards}</div>')
    lead = (
        "How the metric changes with one weight while the others stay fixed. The steps are exact, from the upper "
        "envelope of every sentence's candidates. The dashed line marks where the trainer stopped."
    )
    return section("surface", "Error surface", lead, _some_panels("e", found, contents))


def _surface_of(one: Examined, charts: Sequence[Surface], label: str) -> str:
    """Of which sentences these are; a sample is called so."""
    run, part = one.run, one.run.part
    size = len(run.parts[part])
    here = (
        f"; with the weights of the run {label} is {plain_number(charts[0].score, one.digits)} there" if charts else ""
    )
    if part == "examples":
        whole = ""
        if one.after("dev"):
            whole = f", not {plain_number(one.after('dev')[0])} as on all of dev"
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


def lengths(found: Sequence[Examined]) -> str:
    contents, known = [], []
    for one in found:
        got = next((one.scored[part] for part in PARTS if part in one.scored and one.scored[part].bleu), None)
        if got is None or got.bleu is None:
            continue
        known.append(one)
        before, after = got.bleu["before"], got.bleu["after"]
        rows = [
            ["length of translations / references", f"{before['ratio']:.3f}", f"{after['ratio']:.3f}"],
            ["BLEU", plain_number(before["score"]), plain_number(after["score"])],
        ]
        chart = precisions_chart(got)
        key = (
            '<ul class="key"><li><i style="background:var(--faint);opacity:.55"></i>before</li>'
            '<li><i style="background:var(--c0)"></i>after</li></ul>'
        )
        contents.append(
            f'<div class="two"><div>{chart}{key}</div><div>{table(["", "before", "after"], rows)}'
            f'<p class="small faint">{escape(TITLES.get(got.part, got.part))}, {got.sentences:,} sentences. A ratio '
            f"below 1 costs a brevity penalty.{_from_nothing(one, got.part)}</p></div></div>"
        )
    lead = "The percentage of output n-grams that are in a reference, and the length of the output."
    return section("length", "Length and n-gram precisions", lead, _some_panels("n", known, contents))


def _from_nothing(one: Examined, part: str) -> str:
    """What "before" is of forests without initial weights, which have no order of their own."""
    known = one.run.has_initial or one.before(part) is not None
    return "" if known else " No initial weights were given: before is what weights of 0 choose, which means little."


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
        "Pick a sentence, with the mouse or the arrow keys. Then press <i>after training</i> and watch the hope move "
        "to the right, until it is the best. Model scores are in standard deviations below the best."
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
            f"<p>{len(changed):,} of {count:,} sentences ({TITLES[one.run.part]}) changed: {better:,} better, "
            f"{worse:,} worse{cut}.{_from_nothing(one, one.run.part)}</p>"
            f'<div class="buttons" data-changes="changes-{k}" hidden>'
            '<button type="button" data-show="all" aria-pressed="true">all</button>'
            '<button type="button" data-show="better" aria-pressed="false">better</button>'
            '<button type="button" data-show="worse" aria-pressed="false">worse</button>'
            '<button type="button" data-show="more" aria-pressed="false">show more</button></div>'
            f'<ul class="changes" id="changes-{k}">{items}</ul>'
        )
    lead = (
        "The output before and after training: <del>removed</del>, <ins>new</ins>. On the right, the change of the "
        "sentence's own score, 0 to 1."
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
    lead = "Everything you need to reproduce the numbers."
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
