"""``hopefear rerank``: the best candidate of every sentence under given weights."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Many, count, table_options

PARAMS = [
    Many(["--nbest"], type=InputFile(folders=True), help="Candidate lists; several files are parts of one list."),
    click.Option(["--forests"], type=InputFile(folders=True), help="Forests or lattices: a file, or a folder of them."),
    click.Option(["--format"], metavar="NAME", help="Format of lists or forests (see convert). [seen from the file]"),
    *table_options("group", "features", "missing"),
    click.Option(["--weights"], type=InputFile(), required=True, help="Weights, e.g. the weights.txt of a run."),
    click.Option(["--mbr"], metavar="METRIC", help="Minimum Bayes risk: the highest expected bleu, chrf or ter."),
    click.Option(["--scale"], type=float, metavar="X", help="With --mbr: p is exp(X w.h) over its sum. [1]"),
    click.Option(["--out"], metavar="FILE", help="With --table: where the table goes. [standard output]"),
    click.Option(["--nbest-out"], metavar="FILE", help="Also write the best candidates with their features as lists."),
    count("--k", "100", "How many candidates --nbest-out has of each sentence, no two with the same words."),
]

EXAMPLES = """
hopefear rerank --nbest test.nbest --weights run/weights.txt > best.txt
zcat test.nbest.gz | hopefear rerank --nbest - --weights run/weights.txt > best.txt
hopefear rerank --nbest test.jsonl --weights run/weights.txt > best.txt
hopefear rerank --forests test.forests --weights run/weights.txt --nbest-out test.nbest.gz --k 50 > best.txt
hopefear rerank --nbest test.jsonl --weights run/weights.txt --mbr bleu --scale 0.5 > best.txt
hopefear rerank --table scores.csv --group query --weights run/weights.txt > ranked.csv
hopefear rerank --table scores.parquet --group query --weights run/weights.txt --out ranked.parquet
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(
    console: Console,
    nbest: tuple[str, ...],
    forests: str | None,
    format: str | None,
    weights: str,
    mbr: str | None,
    scale: float | None,
    nbest_out: str | None,
    k: int | None,
    seed: int,
    jobs: int,
    **table: Any,
) -> None:
    """Print the best candidate of every sentence under given weights.

    One line per sentence, in the order of the list, blank for blank as the list has it. Of equal scores the first
    wins. Lists of any length are read in bounded memory; nothing is printed before all of a list was read without an
    error. Forests and lattices of any format are searched whole. Of a table, all rows are printed or written, as they
    are, with two columns more: score and rank, which is 1 for the best of its group. With --mbr, the best candidate is
    the one that is nearest to all others by the metric, each as it is probable; a scale below 1 makes the distribution
    flatter.
    """
    from hopefear.decode.ranking import RankConfig, rank_table
    from hopefear.decode.reranking import rerank, rerank_forests
    from hopefear.errors import OptionError
    from hopefear.runs import Session

    if [bool(nbest), bool(forests), bool(table["table"])].count(True) != 1:
        raise OptionError("give one of --nbest, --forests, --table.")
    if (nbest_out or format or mbr) and table["table"]:
        raise OptionError("--format, --mbr and --nbest-out go with --nbest and --forests only.")
    if k and not nbest_out:
        raise OptionError("--k goes with --nbest-out only.")
    if scale is not None and mbr is None:
        raise OptionError("--scale goes with --mbr only.")
    if table["table"]:
        with console.listener() as listen:
            rank_table(RankConfig(**{**table, "out": table["out"] or "-"}, weights=weights), Session(listen))
        return
    for name, value in table.items():
        if value:
            raise OptionError(f"--{name} goes with --table only.")
    how: dict[str, Any] = {"format": format, "nbest_out": nbest_out, "k": k or 100, "mbr": mbr, "jobs": jobs}
    if scale is not None:
        how["scale"] = scale
    best: Iterable[str]
    with console.listener() as listen:
        if forests:
            best = rerank_forests(forests, weights, Session(listen), **how)
        else:
            best = rerank(nbest, weights, Session(listen), **how)
    for text in best:
        sys.stdout.write(text + "\n")
