"""``hopefear build``: from parallel text to a model."""

from __future__ import annotations

from typing import Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Many, count

PARAMS = [
    Many(["--source"], required=True, type=InputFile(), help="Text of the source language, a sentence a line."),
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
    click.Option(["--keep-case"], is_flag=True, help="Do not lower-case."),
    click.Option(
        ["--strip-punctuation"],
        type=click.Choice(["none", "source", "target", "both"]),
        default="none",
        help="Sides without punctuation, as in speech. [none]",
    ),
    Many(["--align"], type=InputFile(), help="Word alignments of your own, 0-0 1-2 ..., a file for each source file."),
    click.Option(
        ["--aligner"],
        type=click.Choice(["fastalign", "eflomal"]),
        default="fastalign",
        help="eflomal takes five times as long. [fastalign]",
    ),
    click.Option(["--save-alignment"], metavar="FILE", help="Write the word alignment too."),
    Many(["--lm-text"], type=InputFile(), help="More text of the target language, for a second language model."),
    count("--lm-order", 5, "Longest n-grams of the language models.", most=6),
    Many(["--filter"], type=InputFile(), help="Keep only rules that can apply to these source texts."),
    count("--max-words", 100, "Pairs with a longer side are left out.", most=1000),
    count("--max-phrase", 0, "Words of an initial phrase; 0 is 10, for blocks 8.", least=0, most=15),
    count("--max-symbols", 5, "Symbols on the source side of a rule.", most=15),
    count("--max-options", 50, "Rules kept a source side; 0 is all.", least=0),
    count("--min-count", 1, "Phrase pairs seen less often are dropped."),
    count("--min-rule-count", 1, "Rules with nonterminals seen less often are dropped."),
    click.Option(["--loose"], is_flag=True, help="Phrases may begin and end with unaligned words."),
    count("--lex-frequency", 0, "Occurrences of a word with lex features of its own; 0: 1 in 16,000.", least=0),
    click.Option(["--overwrite"], is_flag=True, help="Replace a model that is there already."),
]

EXAMPLES = """
hopefear build --source train.es --target train.en --out model
hopefear build --source a.es b.es.xz --target a.en b.en.xz --strip-punctuation source --out model
hopefear build --source train.tok.es --target train.tok.en --tokenizer none --align train.gdfa --out model
hopefear build --source train.es --target train.en --kind blocks --out blocks
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, source: Any, target: Any, out: str, seed: int, jobs: int, **given: Any) -> None:
    """Build a translation model from parallel text.

    Tokenises, aligns words in both directions, extracts rules (or blocks), estimates language models, and writes a
    directory with all of it. Sentence pairs that cannot be used are left out and counted. Text files may be packed
    (.gz, .xz, .zst).
    """
    from hopefear.model.builder import BuildOptions, build

    options = BuildOptions(
        kind=given["kind"],
        tokenizer=given["tokenizer"],
        lowercase=not given["keep_case"],
        strip_punctuation=given["strip_punctuation"],
        max_words=given["max_words"],
        aligner=given["aligner"],
        max_phrase=given["max_phrase"],
        max_source_symbols=given["max_symbols"],
        tight=not given["loose"],
        min_occurrences=given["min_count"],
        min_hierarchical=given["min_rule_count"],
        max_options=given["max_options"],
        lm_order=given["lm_order"],
        lex_frequency=given["lex_frequency"],
    )
    report = build(
        list(source),
        list(target),
        out,
        options,
        align=list(given["align"]),
        lm_text=list(given["lm_text"]),
        filter_to=list(given["filter"]),
        save_alignment=given["save_alignment"],
        overwrite=given["overwrite"],
        seed=seed,
        jobs=jobs,
        listener=console,
    )
    for step, seconds in report.seconds.items():
        console.note(f"{step}: {seconds:.1f} s")
    counts = report.counts
    rules = "blocks" if options.kind == "blocks" else "rules"
    click.echo(f"{out}\t{counts['pairs']} pairs\t{counts['rules']} {rules}")
