"""``hopefear rerank``: the best candidate of every sentence under given weights."""

from __future__ import annotations

import sys

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Many

PARAMS = [
    Many(["--nbest"], type=InputFile(), required=True, help="Candidate lists; several files are parts of one list."),
    click.Option(["--weights"], type=InputFile(), required=True, help="Weights, e.g. the weights.txt of a run."),
]

EXAMPLES = """
hopefear rerank --nbest test.nbest --weights run/weights.txt > best.txt
zcat test.nbest.gz | hopefear rerank --nbest - --weights run/weights.txt > best.txt
hopefear rerank --nbest test.jsonl --weights run/weights.txt > best.txt
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, nbest: tuple[str, ...], weights: str, seed: int, jobs: int) -> None:
    """Print the best candidate of every sentence under given weights.

    One line per sentence, in the order of the list, blank for blank as the list has it. Of equal scores the first
    wins. Lists of any length are read in bounded memory; nothing is printed before all of a list was read without an
    error.
    """
    from hopefear.decode.reranking import rerank
    from hopefear.runs import Session

    with console.listener() as listen:
        best = rerank(nbest, weights, Session(listen))
    for text in best:
        sys.stdout.write(text + "\n")
