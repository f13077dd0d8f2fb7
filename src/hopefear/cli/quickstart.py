"""``hopefear quickstart``: the main job in one command."""

from __future__ import annotations

from pathlib import Path

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import call, command as make_command

PARAMS = [
    click.Option(["--out"], default="hopefear-quickstart", metavar="DIR", help="Where to work. [hopefear-quickstart]"),
    click.Option(["--trainer"], default="kbmira", metavar="NAME", help="How to learn. [kbmira]"),
]

SENTENCES = 400

EXAMPLES = """
hopefear quickstart
hopefear quickstart --trainer mert --out try-mert --seed 2
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, out: str, trainer: str, seed: int, jobs: int) -> None:
    """Make candidate lists, tune weights on them, print BLEU before and after.

    Shows the commands that it runs, generate and tune, as you would type them. What is in DIR from an earlier time is
    replaced.
    """
    from hopefear.data.lists import Synthetic
    from hopefear.runs import Session

    data, run = Path(out) / "data", Path(out) / "run"
    console.note(f"hopefear generate --out {data} --sentences {SENTENCES} --seed {seed}")
    with console.listener() as listen:
        Synthetic(sentences=SENTENCES, seed=seed).write(data, run=Session(listen))
    lists = ["--nbest", str(data / "nbest.txt")]
    refs = ["--refs", *(str(data / f"ref.{i}") for i in range(4))]
    how = ["--initial", str(data / "initial.txt"), "--trainer", trainer, "--out", str(run), "--seed", str(seed)]
    call(console, "tune", [*lists, *refs, *how], "--overwrite", "--jobs", str(jobs))
    console.note(f"Now try: hopefear rerank {' '.join(lists)} --weights {run / 'weights.txt'} | head")
