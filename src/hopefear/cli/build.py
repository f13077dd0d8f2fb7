"""``hopefear build``: from parallel text to a model."""

from __future__ import annotations

from typing import Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import CLUSTER, InputFile, Many, count

PARAMS = [
    Many(["--source"], required=True, type=InputFile(), help="Text of the source language, one sentence per line."),
    Many(["--target"], required=True, type=InputFile(), help="Its translation, line by line."),
    click.Option(["--out"], required=True, metavar="MODEL", help="The model directory to make."),
    click.Option(
        ["--kind"],
        type=click.Choice(["hiero", "blocks"]),
        default="hiero",
        help="Hierarchical rules, or phrase pairs with orientations. [hiero]",
    ),
    click.Option(
        ["--tokenizer"],
        type=click.Choice(["european", "none"]),
        default="european",
        help="none: words are separated by blanks already. [european]",
    ),
    click.Option(["--keep-case"], is_flag=True, help="Do not lower-case. [lower case; translate restores capitals]"),
    click.Option(
        ["--strip-punctuation"],
        type=click.Choice(["none", "source", "target", "both"]),
        default="none",
        help="Sides without punctuation, as in speech. [none]",
    ),
    Many(
        ["--domains"],
        metavar="NAME",
        help="A name for each pair of files: small ones get a language model of their own.",
    ),
    Many(["--align"], type=InputFile(), help="Word alignments of your own, 0-0 1-2 ..., one file per source file."),
    click.Option(
        ["--aligner"],
        metavar="NAME[+NAME]",
        default="fastalign",
        help="fastalign, eflomal (five times as long), hmm, or rules of several: fastalign+eflomal. [fastalign]",
    ),
    click.Option(["--save-alignment"], metavar="FILE", help="Write the word alignment too."),
    Many(["--lm-text"], type=InputFile(), help="More text of the target language, for a second language model."),
    count("--lm-order", 5, "Longest n-grams of the language models.", most=6),
    click.Option(
        ["--joint-model"], is_flag=True, help="Train a neural joint model of both languages too, some minutes."
    ),
    Many(["--filter"], type=InputFile(), help="Keep only rules that can apply to these source texts."),
    count("--max-words", 100, "Pairs with a longer side are left out.", most=1000),
    count("--max-phrase", 0, "Words of an initial phrase; 0 is 10, for blocks 8.", least=0, most=15),
    count("--max-symbols", 5, "Symbols on the source side of a rule.", most=15),
    count("--max-options", 50, "Rules kept per source side; 0 is all.", least=0),
    click.Option(
        ["--min-probability"],
        type=float,
        metavar="P",
        help="Rules with a smaller p(e|f) are dropped; 0 keeps all. [0, for blocks 0.1]",
    ),
    click.Option(
        ["--min-symmetric"], type=float, default=0.0, metavar="P", help="The same for sqrt(p(e|f) p(f|e)). [0]"
    ),
    count("--min-count", "1, for blocks 2", "Phrase pairs seen less often are dropped."),
    count("--min-rule-count", 1, "Rules with nonterminals seen less often are dropped."),
    click.Option(["--loose"], is_flag=True, help="Phrases may begin and end with unaligned words."),
    count("--lex-frequency", 0, "Occurrences of a word with lex features of its own; 0: 1 in 16,000.", least=0),
    count("--classes", 0, "Word classes of each side, for --features class of train; 50 is usual.", least=0, most=1000),
    count("--context-words", 0, "Frequent words for --features context of train; 100 is usual.", least=0, most=10_000),
    click.Option(
        ["--memory"],
        type=click.FloatRange(min=0.0),
        default=2.0,
        metavar="GB",
        help="That rules, and n-grams before, may take before they go to disk. [2]",
    ),
    CLUSTER,
    click.Option(["--overwrite"], is_flag=True, help="Replace a model that is there already."),
]

EXAMPLES = """
hopefear build --source train.es --target train.en --out model
hopefear build --source a.es b.es.xz --target a.en b.en.xz --strip-punctuation source --out model
hopefear build --source train.tok.es --target train.tok.en --tokenizer none --align train.gdfa --out model
hopefear build --source train.es --target train.en --kind blocks --out blocks
"""


#: What the library calls options that have another name here.
NAMES = {
    "filter": "filter_to",
    "max_symbols": "max_source_symbols",
    "min_count": "min_occurrences",
    "min_rule_count": "min_hierarchical",
}


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, keep_case: bool, loose: bool, **given: Any) -> None:
    """Build a translation model from parallel text.

    Tokenises, aligns words in both directions, extracts rules (or blocks), estimates language models, and writes a
    directory with all of it. Sentence pairs that cannot be used are left out and counted. Text files may be packed
    (.gz, .xz, .zst).
    """
    from dataclasses import fields

    from hopefear.model.builder import BuildOptions, build
    from hopefear.runs import Session

    named = {NAMES.get(name, name): value for name, value in given.items()}
    options = {each.name: named.pop(each.name) for each in fields(BuildOptions) if each.name in named}
    with console.listener() as listen:
        made = BuildOptions(lowercase=not keep_case, tight=not loose, **options)
        report = build(options=made, run=Session(listen), **named)
    for step, seconds in report.seconds.items():
        console.note(f"{step}: {seconds:.1f} s")
    rules = "blocks" if made.kind == "blocks" else "rules"
    click.echo(f"{report.model}\t{report.counts['pairs']} pairs\t{report.counts['rules']} {rules}")
