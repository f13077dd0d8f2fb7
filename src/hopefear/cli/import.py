# ruff: noqa: N999
"""``hopefear import``: a grammar, a language model and weights of another toolkit as a model."""

from __future__ import annotations

from typing import Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Many, count

PARAMS = [
    Many(["--grammar"], type=InputFile(), required=True, help="Rules, in one file or several; packed if you like."),
    click.Option(["--glue"], type=InputFile(), help="The glue grammar. [in the grammar; cdec: its own]"),
    Many(["--lm"], type=InputFile(), required=True, help="A language model (ARPA), or two."),
    click.Option(["--weights"], type=InputFile(), required=True, help="Weights, or a moses.ini."),
    click.Option(
        ["--format"], type=click.Choice(["joshua", "cdec", "moses"]), required=True, help="Whose files these are."
    ),
    click.Option(["--out"], metavar="MODEL", required=True, help="The model directory to make."),
    count("--max-span", 0, "Source words below a rule with gaps; 0: 20, and 10 for cdec.", least=0),
    click.Option(["--overwrite"], is_flag=True, help="Replace a model that is there already."),
]

EXAMPLES = """
hopefear import --grammar grammar.gz --glue grammar.glue --lm lm.gz --weights weights --format joshua --out model
hopefear import --grammar rule-table.gz --glue glue-grammar --lm lm.arpa --weights moses.ini --format moses --out model
hopefear translate model < source > target
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, seed: int, **options: Any) -> None:
    """Make a model of a grammar, language model and weights of Joshua, cdec or Moses.

    Rules keep the names of their features. The same derivation has the same model score as there. Weights whose names
    match nothing, and features without a weight, are told. The model is for translate and train like any other.
    """
    from hopefear.model.imported import import_model
    from hopefear.runs import Session

    with console.listener() as listen:
        model = import_model(**options, run=Session(listen))
    click.echo(f"{options['out']}\t{len(model.grammar)} rules\t{len(model.feature_names)} features")
