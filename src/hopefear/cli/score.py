"""``hopefear score``: metrics of systems, and whether they differ."""

from __future__ import annotations

import json as json_module
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from hopefear.cli.console import Console, table
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import FileError, InputFile, Many, Positional, count, no_such_file

if TYPE_CHECKING:
    from hopefear.evaluation.scores import Score


class Outputs(InputFile):
    """``F``, ``F,F`` or ``NAME=F,F`` as a name and files to read."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        from hopefear.util.files import is_remote

        text = str(value)
        if text == "-" or (is_remote(text) and "," not in text) or os.path.exists(text):  # noqa: PTH110
            return text, [text]
        name, equals, rest = text.rpartition("=")
        files = rest.split(",")
        if not equals and len(files) == 1:
            raise FileError(no_such_file(text), ctx)
        return name or text, [super(Outputs, self).convert(file, param, ctx) for file in files]


PARAMS = [
    Positional(["hyp"], nargs=-1, type=Outputs(), metavar="HYP [HYP...]"),
    Many(["--refs"], type=InputFile(), help="References: one file per translator."),
    click.Option(
        ["--format"],
        metavar="NAME",
        help="Score the first candidates of lists of this format; list: seen from the file.",
    ),
    Many(["--table"], type=InputFile(), help="Tables instead: their best candidates are scored."),
    click.Option(["--group"], metavar="COLUMN", help="Of a table: rows with the same value here compete."),
    click.Option(["--by"], metavar="COLUMN", help="The highest value here is the best. [score, or the first row]"),
    Many(["--outcome"], metavar="COLUMN", help="How good a candidate is: the mean of the best is reported."),
    click.Option(["--text"], metavar="COLUMN", help="The candidates' text, to be scored against --references."),
    Many(["--references"], metavar="COLUMN", help="Reference texts, the same in all rows of a group."),
    click.Option(
        ["--metric"],
        multiple=True,
        metavar="NAME",
        help="bleu, chrf, ter, ...; may be repeated. [bleu; of tables the outcome]",
    ),
    click.Option(["--lowercase"], is_flag=True, help="Ignore case."),
    click.Option(["--tokenize"], metavar="NAME", help="Of BLEU: 13a, intl, zh, char, none, ... [13a]"),
    click.Option(["--json"], is_flag=True, help="Everything as JSON, in full precision."),
    count("--samples", 1000, "Of the significance tests."),
    click.Option(
        ["--test"],
        type=click.Choice(["bootstrap", "randomization", "both", "none"]),
        default="both",
        help="Which test. [both]",
    ),
]

EXAMPLES = """
hopefear score output.txt --refs ref.0 ref.1 ref.2 ref.3
hopefear score baseline.txt new.txt --refs ref --metric bleu --metric chrf:word_order=2
hopefear score base=b1.txt,b2.txt,b3.txt new=n1.txt,n2.txt,n3.txt --refs ref     # replicates
hopefear score --table before.csv after.csv --group query --outcome grade
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, json: bool, **options: Any) -> None:
    """Score outputs against references; several outputs are compared with the first.

    The numbers are sacreBLEU's (for BLEU: tokenizer 13a, mixed case, smoothing exp), and so are the signatures.
    NAME=F,F,F is one system with replicates (runs under several seeds): it is scored by their mean and compared by a
    test that takes their spread into account. An empty line in a reference file is a missing reference where other
    files have one.

    Of a table with a row per candidate, the best of each group are scored: those with the highest --by, by default the
    column score that rerank --table leaves, or else the first row.
    """
    from hopefear.evaluation.scores import ScoreConfig, score

    scored = score(ScoreConfig(**options))
    if json:
        click.echo(json_module.dumps({"systems": scored.record()}, indent=2, ensure_ascii=False))
        return
    for scores in scored.table:
        _print([system.name for system in scored.systems], scores, options["samples"])
    if warning := scored.warning():
        console.warn(warning)


def _print(names: Sequence[str], scores: Sequence[Score], samples: int) -> None:
    """One system: sacreBLEU's line. Several: a table, then the line without the number."""
    label, signature = scores[0].label, scores[0].signature
    if len(scores) == 1 and len(scores[0].replicates) == 1:
        click.echo(f"{label}|{signature} = {scores[0].value:.2f} {scores[0].details}".rstrip())
        return
    tests = sorted({test for score in scores if score.comparison for test in score.comparison.p})
    deviations = any(len(score.replicates) > 1 for score in scores)
    header = ["system", label, *(["sd", "runs"] if deviations else []), *(["difference", "95 %"] if tests else [])]
    rows = [[*header, *(f"p {test}" for test in tests)]]
    for name, score in zip(names, scores, strict=True):
        row = [name, f"{score.value:.2f}"]
        if deviations:
            several = len(score.replicates) > 1
            row += [f"{score.deviation:.2f}" if several else "", str(len(score.replicates))]
        if found := score.comparison:
            low_high = f"{found.interval[0]:+.2f} to {found.interval[1]:+.2f}" if found.interval else ""
            row += [f"{found.delta:+.2f}", low_high, *(_p(found.p.get(test)) for test in tests)]
        rows.append(row + [""] * (len(rows[0]) - len(row)))
    click.echo(table(rows))
    click.echo(f"{label}|{signature}")
    if tests:
        click.echo(f"* differs from {names[0]} at p < 0.05 ({samples} samples)")
    click.echo()


def _p(p: float | None) -> str:
    return "" if p is None else f"{p:.3f}{'*' if p < 0.05 else ' '}"
