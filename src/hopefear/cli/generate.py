"""``hopefear generate``: candidate lists to try things out."""

from __future__ import annotations

from typing import Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import count

PARAMS = [
    click.Option(["--out"], required=True, metavar="DIR", help="Where the files go; made if it is not there."),
    count("--sentences", 200, "How many sentences."),
    count("--candidates", 100, "Distinct candidates per sentence."),
    count("--refs", 4, "References per sentence.", most=16),
    count("--dense", 14, "Dense features."),
    count("--sparse", 0, "Sparse features, one per word.", least=0),
    click.Option(["--jsonl"], is_flag=True, help="JSON lines with a metric column, in place of Moses' format."),
    click.Option(["--overwrite"], is_flag=True, help="Replace files that are there already."),
]

EXAMPLES = """
hopefear generate --out data
hopefear generate --out data --sentences 1000 --candidates 200 --sparse 5000 --seed 7
hopefear generate --out data --jsonl          # with a metric column, "quality"
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, out: str, refs: int, jsonl: bool, overwrite: bool, jobs: int, **options: Any) -> None:
    """Make candidate lists with references, to try things out.

    Writes DIR/nbest.txt (or nbest.jsonl), ref.0, ref.1, ..., source.txt and initial.txt (weights set by hand). Behind
    each list is a hidden truth; features see a candidate's errors through noise, so there is something to learn. The
    same seed gives the same files.
    """
    from hopefear.data.lists import Synthetic
    from hopefear.runs import Session

    with console.listener() as listen:
        files = Synthetic(references=refs, **options).write(out, jsonl, overwrite, Session(listen))
    for path in files.values():
        click.echo(path)
