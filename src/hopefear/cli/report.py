"""``hopefear report``: runs as a page to look at."""

from __future__ import annotations

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Positional, count

PARAMS = [
    Positional(["runs"], nargs=-1, required=True, type=InputFile(folders=True), metavar="RUN [RUN...]"),
    click.Option(["--out"], default="report.html", metavar="FILE", help="The page to write. [report.html]"),
    count("--sentences", 24, "Sentences to pick from, with their clouds and trees.", least=0, most=500),
]

EXAMPLES = """
hopefear report run
hopefear report run-mert run-kbmira run-pro --out comparison.html
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, runs: tuple[str, ...], out: str, sentences: int, seed: int, jobs: int) -> None:
    """Show runs in a page: scores, curves, hope and fear, translations, weights.

    One HTML file that opens from disk and asks nothing of the network: scores with significance, learning curves,
    warnings, sentences with hope and fear, translations before and after, weights, error surfaces. Several runs are
    compared with the first.
    """
    from hopefear.report import make_report

    path = make_report(runs, out, sentences=sentences, jobs=jobs)
    console.note(f"{path.stat().st_size / 1e6:.1f} MB")
    click.echo(str(path))
