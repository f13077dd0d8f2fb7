"""``hopefear quickstart``: the main job in one command."""

from __future__ import annotations

from pathlib import Path

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command

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
    from hopefear.cli import tune
    from hopefear.data.lists import Synthetic

    data, run = Path(out) / "data", Path(out) / "run"
    console.note(f"hopefear generate --out {data} --sentences {SENTENCES} --seed {seed}")
    with console.progress("generate", SENTENCES) as progress:
        Synthetic(sentences=SENTENCES, seed=seed).write(data, progress=progress.update)
    lists = ["--nbest", str(data / "nbest.txt")]
    refs = ["--refs", *(str(data / f"ref.{i}") for i in range(4))]
    arguments = [*lists, *refs, "--initial", str(data / "initial.txt"), "--trainer", trainer, "--out", str(run)]
    arguments += ["--seed", str(seed)]
    console.note(f"hopefear tune {' '.join(arguments)}")
    arguments += ["--overwrite", "--jobs", str(jobs), *(["--quiet"] if console.quiet else [])]
    with tune.command.make_context("tune", arguments, parent=click.get_current_context()) as ctx:
        tune.command.invoke(ctx)
    console.note(f"Now try: hopefear rerank {' '.join(lists)} --weights {run / 'weights.txt'} | head")
