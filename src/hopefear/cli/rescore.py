"""``hopefear rescore``: features of neighbouring words and language models, added to forests of any origin."""

from __future__ import annotations

import sys
from typing import Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Many, count


class NamedFile(InputFile):
    """``NAME=FILE`` as a name and a file to read."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        name, equals, path = str(value).partition("=")
        if not name or not equals or not path:
            option = param.opts[0] if param is not None else "--lm"
            raise click.UsageError(f"{option} {value!r}: write NAME=FILE, e.g. big=big.arpa.gz", ctx)
        return name, super().convert(path, param, ctx)


PARAMS = [
    click.Option(["--forests"], type=InputFile(folders=True), help="Forests or lattices of any format."),
    Many(["--nbest"], type=InputFile(folders=True), help="Candidate lists instead."),
    click.Option(["--format"], metavar="NAME", help="Format of lists or forests (see convert). [seen from the file]"),
    click.Option(["--weights"], type=InputFile(), required=True, help="Weights of the old and the new features."),
    click.Option(
        ["--features"],
        type=InputFile(),
        help="Names of features, one per line, e.g. the features.txt of a model. [those that the weights name]",
    ),
    Many(
        ["--lm"],
        type=NamedFile(),
        metavar="NAME=FILE",
        help="A language model (ARPA, or as hopefear saves it) as the feature NAME.",
    ),
    Many(
        ["--scores"],
        type=NamedFile(),
        metavar="NAME=FILE",
        help="Scores from elsewhere as the feature NAME: one per line, for each candidate or edge in order.",
    ),
    click.Option(["--sources"], type=InputFile(), help="Source text, which pair features need. [as in the forests]"),
    count("--pop-limit", 100, "Edges kept per node; 0 is all.", least=0),
    click.Option(["--out"], metavar="FILE", help="Write the new forests to this native file, lists as lists."),
]

EXAMPLES = """
hopefear rescore --forests dev.forests --weights weights.txt --features model/features.txt --out larger.forests
hopefear rescore --forests lattices/ --weights weights.txt --lm big=big.arpa.gz > best.txt
hopefear rescore --nbest dev.nbest --weights weights.txt --scores comet=comet.txt --out scored.nbest > best.txt
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, seed: int, **options: Any) -> None:
    """Add features of neighbouring words or language models to forests.

    Forests and lattices of any origin are searched by cube pruning. The features are those of the templates unigram,
    bigram, trigram, trigger and pair, and language models. Scores that another program made are a feature as well: a
    file has a line for each candidate of lists, or for each edge of forests. Prints the best translations, a blank
    between all tokens.
    """
    from hopefear.decode.rescoring import RescoreConfig, rescore_files
    from hopefear.runs import Session

    with console.listener() as listen:
        for text in rescore_files(RescoreConfig(**options), Session(listen)):
            sys.stdout.write(text + "\n")
