"""``hopefear corpus``: the demonstration's parallel text as plain files."""

from __future__ import annotations

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command

PARAMS = [
    click.Option(["--out"], required=True, metavar="DIR", help="Where the files go; made if it is not there."),
    click.Option(["--overwrite"], is_flag=True, help="Replace files that are there already."),
]

EXAMPLES = """
hopefear corpus --out verses
hopefear build --source verses/train.source --target verses/train.target --out model
"""

YOUR_OWN = """\
Your own text needs no more than two files with the same number of lines, line by line translations of each other:
  hopefear build --source train.xx --target train.yy --out model
To tune and to test, keep some hundreds of sentences apart, whole documents at a time, with one or more references each.
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, out: str, overwrite: bool, seed: int, jobs: int) -> None:
    """Write the demonstration's parallel text to plain files.

    From Young's literal Bible translation of 1862 to plain English (World English Bible): DIR/train.source and
    train.target, and for tune, dev and test DIR/PART.source with the references PART.ref.0, .1 and .2. The text comes
    from data packages: pip install 'hopefear[demo]'.
    """
    from hopefear.data.verses import write_verses

    for part, lines in write_verses(out, overwrite).items():
        click.echo(f"{out}/{part}.*\t{lines} verses")
    console.note(YOUR_OWN.rstrip("\n"))
