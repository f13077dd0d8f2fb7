"""``hopefear inspect``: what is in a model."""

from __future__ import annotations

import json
from typing import Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Many, Positional, count

PARAMS = [
    Positional(["model"], required=True, type=InputFile(folders=True), metavar="MODEL"),
    count("--top", 10, "The most frequent rules to show, of each kind.", least=0),
    click.Option(["--rules"], metavar="SOURCE", help="The rules of one source side instead, as in 'de [X,1]'."),
    Many(["--perplexity"], type=InputFile(), help="Text of the target language for the language models."),
    click.Option(["--export"], metavar="FILE", help="Write all rules as text, in the format of cdec and Joshua."),
    click.Option(["--json", "as_json"], is_flag=True, help="Everything as JSON."),
]

EXAMPLES = """
hopefear inspect model
hopefear inspect model --rules "de [X,1]"
hopefear inspect model --perplexity dev.en --json
hopefear inspect model --export rules.txt.gz
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, model: str, rules: str | None, as_json: bool, seed: int, **options: Any) -> None:
    """Show what is in a model.

    Counts, sizes, the most frequent rules, and with --perplexity how well the language models predict a text.
    """
    from hopefear.model.inspection import inspect_model
    from hopefear.runs import Session

    with console.listener() as listen:
        about = inspect_model(model, source=rules, run=Session(listen), **options)
    click.echo(json.dumps(about, ensure_ascii=False) if as_json else "\n".join(_lines(about)))


def _lines(about: dict[str, Any]) -> list[str]:
    counts, options = about["counts"], about["options"]
    rows = [
        ("model", f"{about['model']} ({about['kind']}, {about['bytes']['total'] / 1e6:,.1f} MB)"),
        ("text", ", ".join(f"{side}: {_pipeline(about['text'][side])}" for side in ("source", "target"))),
        ("pairs", f"{counts['pairs']:,} ({sum(counts['skipped'].values()):,} left out)"),
        ("words", f"{counts['source_words']:,} source, {counts['target_words']:,} target"),
        ("vocabulary", f"{counts['source_vocabulary']:,} source, {counts['target_vocabulary']:,} target"),
        ("alignment", "given" if options["own_alignment"] else f"{options['aligner']}, {counts['links']:,} links"),
        ("rules", f"{counts['rules']:,} of {counts['rules_seen']:,} seen, {counts['source_sides']:,} source sides"),
    ]
    for name, ngrams in zip(("lm", "lm2", "lm3"), counts["ngrams"], strict=False):
        rows.append((name, f"order {len(ngrams)}, n-grams " + ", ".join(f"{n:,}" for n in ngrams)))
    for name, got in about.get("perplexity", {}).items():
        unknown = f"{got['unknown']:,} of {got['tokens']:,} tokens unknown, {got['without_unknown']:.2f} without them"
        rows.append((f"perplexity of {name}", f"{got['perplexity']:.2f} ({unknown})"))
    if sparse := about["features"]["sparse"]:
        rows.append(("sparse features", ", ".join(f"{n:,} {name}" for name, n in sparse.items())))
    if classes := about.get("classes"):
        sides = (f"{got['classes']} of {got['words']:,} {side} words" for side, got in classes.items())
        rows.append(("word classes", ", ".join(sides)))
    width = max(len(name) for name, _ in rows)
    lines = [f"{name.ljust(width)}  {text}" for name, text in rows]
    for kind, rules in about["rules"].items():
        lines += [
            "",
            f"{kind}: {len(rules)} rules" if kind not in ("phrases", "hierarchical") else f"most frequent {kind}",
        ]
        lines += [
            f"  {rule['source']} -> {rule['target']}".ljust(50)
            + "".join(f"  {name} {rule[name]:.4g}" for name in ("count", "phrase_ef", "phrase_fe") if name in rule)
            for rule in rules
        ]
    return lines


def _pipeline(options: dict[str, Any]) -> str:
    extras = [
        name for name, on in (("lower case", "lowercase"), ("no punctuation", "strip_punctuation")) if options[on]
    ]
    return " ".join([f"{options['tokenizer']}", *(f"+ {extra}" for extra in extras)])
