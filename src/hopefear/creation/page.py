"""``report.html`` of a translator: what it was made from, what it is worth, and sentences to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from hopefear.corpus import RULES
from hopefear.reports.page import Section, card, chart, document, section, signed, table
from hopefear.util.svg import Curve

if TYPE_CHECKING:
    from hopefear.creation.pipeline import Created


def report_page(name: str, source: str, target: str, made: Created, stages: Mapping[str, dict[str, Any]]) -> str:
    """The page, one file that needs nothing else."""
    title = f"{name}: {source} to {target}"
    top = f'<h1>{escape(title)}</h1><p class="verdict">{escape(made.verdict)}</p>'
    sections = [
        _scores(stages["test"]),
        _examples(stages["test"]["examples"]),
        _curve(stages.get("curve")),
        _data(stages["data"], bool(made.recipe.get("dev_text"))),
        _recipe(made.recipe, stages),
        _unknown(stages["test"]["unknown"]),
    ]
    return document(title, top, sections)


def _scores(test: Mapping[str, Any]) -> Section:
    rows = [
        [
            "this translator",
            f"{test['bleu']:.2f}",
            f"{test['low']:.2f} to {test['high']:.2f}",
            f"{test['chrf']:.2f}",
            "",
        ]
    ]
    names = {"untrained": "the same model, weights not learnt", "copy": "the source text as it is"}
    for key, other in test["against"].items():
        gain = f"{signed(other['gain'])} ({signed(other['low'])} to {signed(other['high'])})"
        rows.append([names[key], f"{other['bleu']:.2f}", "", f"{other['chrf']:.2f}", gain])
    lead = f"On {test['sentences']:,} held-out sentences. Intervals contain 95 % of the bootstrap samples."
    columns = ["", "BLEU", "95 %", "chrF", "this translator is better by"]
    note = f'<p class="small faint">{escape(test["signature"])}</p>'
    return section("scores", "Scores", lead, card(table(columns, rows, name="scores"), note))


def _examples(examples: Mapping[str, Sequence[Mapping[str, Any]]]) -> Section:
    titles = {"some": "Ten sentences of the test, evenly spread", "best": "The best", "worst": "The worst"}
    content = []
    for kind, sentences in examples.items():
        rows = [
            [
                escape(sentence["source"]),
                escape(sentence["translation"]),
                "<br>".join(escape(text) for text in sentence["references"]),
                f"{100 * sentence['score']:.0f}",
            ]
            for sentence in sentences
        ]
        shown = table(["source", "translation", "reference", "BLEU+1"], rows, name=f"sentences {kind}")
        content.append(f"<h3>{titles[kind]}</h3>{shown}")
    return section("sentences", "Sentences", "How it translates sentences that it has never seen.", card(*content))


def _curve(curve: Mapping[str, Any] | None) -> Section:
    if curve is None:
        return section("curve", "More data", "The learning curve was left out (--no-curve).")
    points = curve["points"]
    drawn = chart(
        "learning",
        "BLEU by sentence pairs",
        "sentence pairs",
        "BLEU",
        [Curve("without trained weights", [p["pairs"] for p in points], [p["bleu"] for p in points])],
    )
    if curve["twice"] >= 0.1:
        lead = f"Twice the data would give about {signed(curve['twice'], 1)} BLEU, if it is of the same kind."
    else:
        lead = "As far as these sentences tell, more data of the same kind would help little."
    rows = [[f"{p['pairs']:,}", f"{p['bleu']:.2f}"] for p in points]
    note = "Models of a quarter, a half and all of the pairs, without a joint model and with default weights."
    return section(
        "curve",
        "More data",
        lead,
        card(drawn, table(["pairs", "BLEU"], rows, name="curve"), f'<p class="small">{note}</p>'),
    )


def _data(data: Mapping[str, Any], dev_text: bool) -> Section:
    pairs, sentences = data["pairs"], data["sentences"]
    lead = (
        f"{pairs['read']:,} pairs were read and {pairs['kept']:,} kept: {sentences['train']:,} to build from, "
        f"{sentences['dev']:,} to learn weights from, {sentences['test']:,} to test with"
    )
    if dev_text:
        lead += f" (then {sum(data['dev_text'].values()):,} pairs for the final model, which keeps these weights)"
    if data["near_copies"]:
        lead += f"; {data['near_copies']:,} were left out because they are, or nearly are, in a test"
    if data["documents"]:
        lead += ". Whole documents are in one part"
    if data["target_text"]["kept"]:
        more = data["target_text"]
        lead += f". Of more text of the target language, {more['kept']:,} lines were used"
        lead += f", and {more['held_out']:,} left out because they are, or nearly are, held-out references"
    domains = zip(data["train"]["domains"], data["train"]["pairs"], strict=True)
    content = [
        table(
            ["corpus", "pairs to build from"], [[escape(name), f"{count:,}"] for name, count in domains], name="corpora"
        )
    ]
    for title, counts in (("Dropped", pairs["dropped"]), ("Repaired", pairs["repaired"])):
        if counts:
            rows = [
                [escape(rule), f"{count:,}", escape(RULES[rule]), _samples(data["samples"].get(rule, ()))]
                for rule, count in sorted(counts.items(), key=lambda item: -item[1])
            ]
            content.append(
                f"<h3>{title}</h3>" + table(["rule", "pairs", "what it does", "for example"], rows, name=title.lower())
            )
    return section("data", "Data", lead + ".", card(*content))


def _samples(samples: Sequence[Mapping[str, str]]) -> str:
    return "<br>".join(f"{escape(sample['source'][:80])} | {escape(sample['target'][:80])}" for sample in samples[:3])


def _recipe(recipe: Mapping[str, Any], stages: Mapping[str, dict[str, Any]]) -> Section:
    rows = [[escape(name.replace("_", " ")), escape(_value(value))] for name, value in recipe.items()]
    learnt, chosen = stages["learn"], stages["choose"]
    notes = []
    if "after" in learnt and not learnt["learnt"]:
        notes.append(
            f"What {learnt['sentences']:,} sentences taught did not translate held-out parts better, so it was dropped."
        )
    elif "after" in learnt:
        notes.append(
            f"Weights of {learnt['weights']:,} features from {learnt['sentences']:,} sentences: BLEU of held-out parts "
            f"{learnt['before']:.2f} before, {learnt['after']:.2f} after."
        )
    elif "why" in learnt:
        notes.append(f"Weights were not learnt: {learnt['why']}.")
    if (tuned := stages.get("tune")) is not None:
        notes.append(
            f"A second joint model was trained for BLEU on {tuned['sentences']:,} sentences: expected BLEU of held-out "
            f"ones {100 * tuned['before']:.2f} before, {100 * tuned['after']:.2f} after."
        )
    ways = ", ".join(f"{name}: {value:.2f}" for name, value in chosen["bleu"].items())
    notes.append(f"Minimum Bayes risk by its scale, BLEU on {chosen['sentences']:,} sentences: {ways}.")
    times = ", ".join(f"{name} {stage['seconds']:.0f} s" for name, stage in stages.items())
    notes.append(f"Time: {times}.")
    text = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return section(
        "recipe",
        "Recipe",
        "How it was made, by the size of the data.",
        card(table(["setting", "value"], rows, name="recipe"), text),
    )


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _unknown(unknown: Mapping[str, Any]) -> Section:
    share = 100 * unknown["unknown"] / max(unknown["words"], 1)
    counts = f"{unknown['unknown']:,} of {unknown['words']:,} words of the test are unknown ({share:.1f} %)"
    lead = f"{counts}; they are copied."
    words = ", ".join(f"{escape(word)} ({count})" for word, count in unknown["frequent"])
    return section("unknown", "Unknown words", lead, card(f"<p>{words or 'None.'}</p>"))
