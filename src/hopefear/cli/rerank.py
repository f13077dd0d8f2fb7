"""``hopefear rerank``: the best candidate of every sentence under given weights."""

from __future__ import annotations

import sys
from typing import Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Many, table_options

PARAMS = [
    Many(["--nbest"], type=InputFile(), help="Candidate lists; several files are parts of one list."),
    *table_options("group", "features", "missing"),
    click.Option(["--weights"], type=InputFile(), required=True, help="Weights, e.g. the weights.txt of a run."),
    click.Option(["--out"], metavar="FILE", help="With --table: where the table goes. [standard output]"),
]

EXAMPLES = """
hopefear rerank --nbest test.nbest --weights run/weights.txt > best.txt
zcat test.nbest.gz | hopefear rerank --nbest - --weights run/weights.txt > best.txt
hopefear rerank --nbest test.jsonl --weights run/weights.txt > best.txt
hopefear rerank --table scores.csv --group query --weights run/weights.txt > ranked.csv
hopefear rerank --table scores.parquet --group query --weights run/weights.txt --out ranked.parquet
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, nbest: tuple[str, ...], weights: str, seed: int, jobs: int, **table: Any) -> None:
    """Print the best candidate of every sentence under given weights.

    One line per sentence, in the order of the list, blank for blank as the list has it. Of equal scores the first
    wins. Lists of any length are read in bounded memory; nothing is printed before all of a list was read without an
    error. Of a table, all rows are printed or written, as they are, with two columns more: score and rank, which is 1
    for the best of its group.
    """
    from hopefear.decode.ranking import RankConfig, rank_table
    from hopefear.decode.reranking import rerank
    from hopefear.errors import OptionError
    from hopefear.runs import Session

    if bool(nbest) == bool(table["table"]):
        raise OptionError("give one of --nbest, --table.")
    if table["table"]:
        with console.listener() as listen:
            rank_table(RankConfig(**{**table, "out": table["out"] or "-"}, weights=weights), Session(listen))
        return
    for name, value in table.items():
        if value:
            raise OptionError(f"--{name} goes with --table only.")
    with console.listener() as listen:
        best = rerank(nbest, weights, Session(listen))
    for text in best:
        sys.stdout.write(text + "\n")
