"""``hopefear weigh``: weights for the scores of a table, and a verdict."""

from __future__ import annotations

import json as json_module
import sys
from typing import TYPE_CHECKING, Any

import click

from hopefear.cli.console import Console, table as aligned
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Many, Positional, count

if TYPE_CHECKING:
    from hopefear.train.weighing import Weighed

PARAMS = [
    Positional(["table"], required=True, nargs=-1, type=InputFile(), metavar="TABLE"),
    click.Option(["--group"], metavar="COLUMN", help="Candidates with the same value here compete."),
    click.Option(["--outcome"], metavar="COLUMN", help="How good a candidate is: reward, accuracy, grade, ..."),
    click.Option(
        ["--metric"],
        metavar="NAME",
        help="Of the outcome: ndcg@10, mrr, map, recall@100; or precision, recall, fbeta, rate. [its mean]",
    ),
    click.Option(["--qrels"], type=InputFile(), help="TREC judgements: then TABLE is one TREC run or several."),
    Many(["--features"], metavar="GLOB", help="The scores, by name or pattern. [all other columns of numbers]"),
    click.Option(["--text"], metavar="COLUMN", help="The candidates' text, if there is any."),
    click.Option(["--lower-is-better"], is_flag=True, help="The outcome is an error or a cost."),
    click.Option(
        ["--missing"],
        type=click.Choice(["error", "drop", "indicator"]),
        default="error",
        help="A missing score: an error, drop the candidate, or 0 and a feature that says so. [error]",
    ),
    click.Option(["--out"], metavar="DIR", help="Where weights.txt, weigh.html and weigh.json go. [nowhere]"),
    count("--folds", 5, "Folds of the cross-validation.", least=2),
    click.Option(["--overwrite"], is_flag=True, help="Replace a result that is there already."),
    click.Option(["--json"], is_flag=True, help="Everything as JSON."),
]

EXAMPLES = """
hopefear weigh scores.csv --group prompt --outcome reward --out weights
hopefear weigh runs.parquet --group query --outcome grade --features 'bm25' 'dense_*'
hopefear weigh hypotheses.tsv --group utterance --metric rate:errors=errors,length=words --json
hopefear weigh bm25.run dense.run --qrels qrels.txt --metric ndcg@10 --out fused
hopefear weigh train.letor --metric map
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, json: bool, table: tuple[str, ...], qrels: str | None, **options: Any) -> None:
    """Learn weights for the scores of a table, and say what they are worth.

    The table has one row per candidate: a column says which candidates compete (a sentence, query or prompt), one how
    good each is, and the others are scores to be weighed. Several ways to learn are compared by cross-validation; the
    verdict is about groups that nothing was learnt from: better than equal weights, worse, or cannot tell.
    """
    from hopefear.report.weighing import weigh
    from hopefear.train.weighing import WeighConfig
    from hopefear.util.processes import give_back_memory

    give_back_memory(always=True)
    if len(table) > 1 and qrels is None:
        raise click.UsageError("one table, please; several files are TREC runs, with --qrels.")
    config = WeighConfig(
        table=table[0] if qrels is None else list(table), qrels=qrels, **options, command=["hopefear", *sys.argv[1:]]
    )
    with console.listener() as listen:
        found = weigh(config, listen)
    if json:
        click.echo(json_module.dumps(found.record(), indent=2, ensure_ascii=False))
        return
    click.echo(found.verdict)
    click.echo("")
    print_details(found)
    if found.path is not None:
        console.note(f"weights: {found.path}/weights.txt")
        console.note(f"report: {found.path}/weigh.html")


def print_details(found: Weighed) -> None:
    """Scores on groups that were not learnt from, the weights, and the learning curve."""
    rows = [[found.outcome, "score", "95 %"]]
    titles = {"chosen": f"chosen ({found.chosen})", "equal": "equal weights", "best_single": "best single score"}
    for key, one in found.held_out.items():
        rows.append([titles[key], f"{one.score:.4g}", f"{one.low:.4g} to {one.high:.4g}"])
    if found.at_random is not None:
        one = found.at_random
        rows.append(["by chance", f"{one.score:.4g}", f"{one.low:.4g} to {one.high:.4g}"])
    click.echo(aligned(rows))
    click.echo("")
    left = {one.feature: one for one in found.without}
    rows = [["score", "weight", "lost without it", "p"]]
    for name, weight in found.weights.items():
        lost = left.get(name)
        rows.append([name, f"{weight:.4g}", f"{lost.loss:.3g}" if lost else "", f"{lost.p:.2g}" if lost else ""])
    click.echo(aligned(rows))
    click.echo("")
    rows = [["groups learnt from", "score", "gain over equal", "p"]]
    for point in found.curve:
        rows.append([str(point.groups), f"{point.score:.4g}", f"{point.gain:+.3g}", f"{point.p:.2g}"])
    click.echo(aligned(rows))
    click.echo("")
    click.echo(f"chosen: {found.chosen} ({found.why})")
