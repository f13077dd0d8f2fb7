"""``hopefear report``: runs as a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import FileError, InputFile, Positional, count
from hopefear.util.words import some


class RunFolder(InputFile):
    """The directory of a run; its ``run.json`` will do as well."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        path = Path(super().convert(value, param, ctx))
        if path.name == "run.json":
            path = path.parent
        if not (path / "run.json").is_file():
            runs = sorted(str(found.parent) for found in path.glob("*/run.json")) if path.is_dir() else []
            cure = f"There is one in {some(runs)}" if runs else "Give the --out of a tune or train"
            raise FileError(f"{value}: is not the directory of a run: it has no run.json. {cure}.", ctx)
        return str(path)


PARAMS = [
    Positional(["runs"], nargs=-1, required=True, type=RunFolder(folders=True), metavar="RUN [RUN...]"),
    click.Option(["--out"], default="report.html", metavar="FILE", help="The page to write. [report.html]"),
    count("--sentences", 24, "Sentences to pick from, with their clouds and trees.", least=0, most=500),
    click.Option(
        ["--watch"], is_flag=True, help="Report on unfinished runs too, and write the page again as they go on."
    ),
]

EXAMPLES = """
hopefear report run
hopefear report run-mert run-kbmira run-pro --out comparison.html
hopefear report run --watch                     # while tune or train is at work; Ctrl-C ends it
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(
    console: Console, runs: tuple[str, ...], out: str, sentences: int, watch: bool, seed: int, jobs: int
) -> None:
    """Show runs in a page: what they are worth, and what to do next.

    One HTML file that opens from disk and asks nothing of the network: a verdict on held-out data with its
    significance, scores in all metrics, learning curves, warnings, translations run against run, sentences with hope
    and fear, weights, error surfaces. Several runs are compared with the first. With --watch the page is written again
    whenever a run has logged something, until all runs are finished; the page loads itself again meanwhile.
    """
    from hopefear.report.make import make_report, watch as watch_runs

    if not watch:
        path = make_report(runs, out, sentences=sentences, jobs=jobs)
        console.note(f"{path.stat().st_size / 1e6:.1f} MB")
        click.echo(str(path))
        return
    told: list[str] = []

    def written(path: Path) -> None:
        if not told:
            click.echo(str(path))
            console.note("written again whenever a run goes on; Ctrl-C ends this")
        told.append(str(path))

    try:
        watch_runs(runs, out, sentences=sentences, jobs=jobs, written=written)
        console.note("all runs are finished" + (f"; written {len(told)} times" if len(told) > 1 else ""))
    except KeyboardInterrupt:
        console.note("the page stays as it is now")
