"""``hopefear demo``: from parallel text to a trained translator and a report, on a corpus that is ready."""

from __future__ import annotations

from pathlib import Path

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import call, command as make_command
from hopefear.cli.options import count

PARAMS = [
    click.Option(["--out"], default="hopefear-demo", metavar="DIR", help="Where to work. [hopefear-demo]"),
    click.Option(["--trainer"], default="arow", metavar="NAME", help="How to learn: arow, mira, sgd, ... [arow]"),
    count("--epochs", 3, "Passes over the verses to learn from."),
]

EXAMPLES = """
hopefear demo        # needs: pip install 'hopefear[demo]'
hopefear demo --trainer mira --out try-mira
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, out: str, trainer: str, epochs: int, seed: int, jobs: int) -> None:
    """Build, train and score a translator on ready text, with a report at the end.

    The translator learns to turn Young's literal Bible translation of 1862 ("riseth early Joshua") into plain English,
    from 20,000 verses; its weights are trained on others, and tested on books it has never seen. Prints BLEU on dev
    and test before and after training. Shows the commands that it runs, as you would type them. What is in DIR from
    an earlier time is replaced, a model that is there already is used again.
    """
    from hopefear.errors import InputError
    from hopefear.model.directory import Model
    from hopefear.runs import read_run

    folder = Path(out)
    verses, model, run = folder / "verses", folder / "model", folder / "run"

    def step(name: str, *arguments: str, overwrite: bool = True) -> None:
        common = ["--seed", str(seed), "--jobs", str(jobs), *(["--overwrite"] if overwrite else [])]
        call(console, name, arguments, *common, before="\n$ ")

    step("corpus", "--out", str(verses))
    try:
        Model.open(model, jobs=jobs)
    except InputError:
        # Two thirds of the rules with gaps are seen once: without them the model is half as large, and as good.
        sides = ["--source", str(verses / "train.source"), "--target", str(verses / "train.target")]
        step("build", *sides, "--min-rule-count", "2", "--out", str(model))
    else:
        console.note(f"\n{model}: is there already")

    def part(name: str, flag: str) -> list[str]:
        references = [str(verses / f"{name}.ref.{i}") for i in range(3)]
        return [f"--{flag}source", str(verses / f"{name}.source"), f"--{flag}refs", *references]

    data = [*part("tune", ""), *part("dev", "dev-"), *part("test", "test-")]
    # Four learners that take turns: they use all cores, and the result is the same every time. A narrow search, a
    # quarter of the usual one: nobody wants to wait long for a demonstration.
    how = ["--trainer", trainer, "--set", f"epochs={epochs}", "--simulate-learners", "4", "--pop-limit", "50"]
    step("train", str(model), *data, *how, "--out", str(run))
    page = folder / "report.html"
    step("report", str(run), "--out", str(page), overwrite=False)
    click.echo("")
    final = read_run(run).final
    for name in ("dev", "test"):
        click.echo(f"{name}: BLEU {final['before'][name]['bleu']:.2f} before training, {final[name]['bleu']:.2f} after")
    click.echo(f"report: {page}")
    console.note(
        f"\nNow try: echo 'And he riseth, and doth go' | hopefear translate {model} --weights {run}/weights.txt"
    )
