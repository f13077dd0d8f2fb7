"""``hopefear translate``: source text in, translations, candidate lists or forests out."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import CLUSTER, InputFile, Positional, count


def _redirect(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> None:
    if value:
        raise click.UsageError(
            f"the text comes from standard input: hopefear translate {ctx.params['model']} < {value[0]}", ctx
        )


PARAMS = [
    Positional(["model"], required=True, type=InputFile(folders=True), metavar="MODEL"),
    click.Argument(["source"], nargs=-1, required=False, callback=_redirect, expose_value=False, metavar="< SOURCE"),
    click.Option(["--weights"], type=InputFile(), help="Weights, e.g. the weights.txt of a run. [those of the model]"),
    count("--nbest", 0, "Print the N best candidates per sentence, as a candidate list.", least=0),
    click.Option(
        ["--input"],
        type=click.Choice(["text", "plf"]),
        default="text",
        show_default=True,
        help="Lines of text, or word lattices in PLF, one per line.",
    ),
    click.Option(["--distinct"], is_flag=True, help="With --nbest: every string once."),
    click.Option(["--forests"], metavar="FILE", help="Write all forests to this file as well; it appears at the end."),
    count("--max-edges", 0, "With --forests: the best N edges of each forest; 0 is all.", least=0),
    click.Option(["--explain"], is_flag=True, help="Print derivations: which rule said what, and what it cost."),
    click.Option(
        ["--mbr"], metavar="METRIC", help="Minimum Bayes risk over the forest: the highest expected bleu, chrf or ter."
    ),
    click.Option(["--scale"], type=float, metavar="X", help="With --mbr: p is exp(X w.h) over its sum. [1]"),
    click.Option(
        ["--tokens"],
        is_flag=True,
        help="Print the model's tokens with blanks between them, not running text with capitals.",
    ),
    count("--pop-limit", "200", "Rule applications kept per span; 0 is all. Blocks: 40 per place.", least=0),
    count("--max-options", "20", "Target sides kept per source side; 0 is all. Blocks: 10.", least=0),
    count("--max-span", 0, "Source words below a rule with nonterminals; 0 is as in the model.", least=0),
    CLUSTER,
    click.Option(["--ship-model"], is_flag=True, help="With --cluster: send the model; else all open it by its path."),
]

EXAMPLES = """
hopefear translate model < source > target
hopefear translate model --weights run/weights.txt --nbest 100 < dev.source > dev.nbest
hopefear translate model --weights run/weights.txt --mbr bleu < test.source > test.target
hopefear translate model --forests dev.forests < dev.source > dev.target
echo "la casa verde" | hopefear translate model --explain
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, seed: int, **options: Any) -> None:
    """Translate text with a model; also candidate lists and forests.

    Reads standard input. One line per sentence, in order; an empty line gives an empty line. Text is tokenised as the
    model was. The scores of a lattice's arcs are the features Feature_0, Feature_1, ...
    """
    from hopefear.decode.translation import TranslateConfig, translate
    from hopefear.runs import Session

    with console.listener() as listen, closing(translate(TranslateConfig(**options), run=Session(listen))) as pieces:
        for piece in pieces:
            sys.stdout.write(piece)
            sys.stdout.flush()
