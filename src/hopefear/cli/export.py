"""``hopefear export``: a model as files of another toolkit."""

from __future__ import annotations

from typing import Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Positional

PARAMS = [
    Positional(["model"], required=True, type=InputFile(folders=True), metavar="MODEL"),
    click.Option(["--format"], type=click.Choice(["cdec", "moses"]), required=True, help="Whose files to write."),
    click.Option(["--out"], metavar="FOLDER", required=True, help="The folder to make."),
    click.Option(["--weights"], type=InputFile(), help="Weights in place of the model's own."),
]

EXAMPLES = """
hopefear export model --format moses --out moses
hopefear export model --format cdec --weights run/weights.txt --out cdec
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(
    console: Console, model: str, format: str, out: str, weights: str | None, seed: int, jobs: int, **options: Any
) -> None:
    """Write a model as files of Moses' chart decoder or of cdec.

    Rules, glue rules, language models, weights and settings; the same derivation has the same model score there.
    """
    from hopefear.formats.weights import read_weights
    from hopefear.model.directory import Model
    from hopefear.model.imported import export_model

    export_model(Model.open(model, jobs=jobs), format, out, read_weights(weights) if weights else None)
    click.echo(out)
