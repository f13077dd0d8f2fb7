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
