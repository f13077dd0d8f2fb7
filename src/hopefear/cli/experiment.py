"""``hopefear experiment``: a paper's table or figure."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import CLUSTER, InputFile, Positional, count

PARAMS = [
    Positional(["names"], nargs=-1, metavar="[NAME...]"),
    click.Option(
        ["--data"],
        type=InputFile(folders=True),
        metavar="DIR",
        help="A folder with es-en-fisher, de-en-multi30k, ur-en-indian or es-en-kbest (lists), or with a task of "
        "your own. [generated]",
    ),
    click.Option(
        ["--model"], type=InputFile(folders=True), metavar="MODEL", help="A model of the main task. [built once]"
    ),
    click.Option(
        ["--size"], default="small", metavar="SIZE", help="small: minutes; full: as the paper; tiny: to try. [small]"
    ),
    click.Option(["--out"], default="hopefear-experiments", metavar="DIR", help="Results. [hopefear-experiments]"),
    count("--replicates", 0, "Seeds for each recipe; 0 is as the size has it.", least=0),
    CLUSTER,
]

EXAMPLES = """
hopefear experiment                                   # the list
hopefear experiment chiang-fig1 --data data
hopefear experiment tan-table1 tan-table2 --data data --size full --out results
hopefear experiment all --size tiny
hopefear experiment all --data /shared/data --size full --out /shared/results --cluster auto
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(
    console: Console,
    names: tuple[str, ...],
    data: str | None,
    model: str | None,
    size: str,
    out: str,
    replicates: int,
    cluster: str | None,
    seed: int,
    jobs: int,
) -> None:
    """Repeat a table or figure of one of the papers.

    States the paper's claim, runs it under several seeds, prints a table with the paper's numbers in brackets, and
    says which claims held. Results are kept below --out, so that a rerun goes on where the last one stopped. Without
    NAME, lists all. With --cluster each result is computed wherever there is a core; every machine must reach --data,
    --model and --out by the same path.
    """
    from hopefear.errors import InputError
    from hopefear.experiments import Lab, find, load_all
    from hopefear.experiments.base import begin_all, lines_of, write_outcome
    from hopefear.experiments.on_cluster import trials
    from hopefear.runs.session import Session

    known = load_all()
    if not names:
        width = max(map(len, known))
        for one in known.values():
            click.echo(f"{one.name.ljust(width)}  {one.paper}: {one.title}")
        return
    chosen = list(known.values()) if names == ("all",) else [find(name) for name in names]
    if Path(out).exists() and not Path(out).is_dir():
        raise InputError(f"{out}: is a file. --out takes a directory")
    lab = Lab(
        out=Path(out),
        data=Path(data) if data else None,
        model=Path(model) if model else None,
        size=size,
        replicates=replicates,
        seed=seed,
        jobs=1 if cluster else jobs,
    )
    with ExitStack() as stack:
        if cluster:
            lab.out.mkdir(parents=True, exist_ok=True)
            lab = replace(lab, far=stack.enter_context(trials(cluster, lab.paths)))
            with console.listener() as listen:
                begin_all(chosen, replace(lab, run=Session(listen)))
        for number, one in enumerate(chosen):
            began = time.monotonic()
            console.note(f"{one.name} ({number + 1} of {len(chosen)}): {one.title}")
            with console.listener() as listen:
                outcome = one.run(replace(lab, run=Session(listen)))
            click.echo(("\n" if number else "") + "\n".join(lines_of(one, outcome)))
            written = write_outcome(one, lab, outcome)
            console.note(f"{one.name}: {time.monotonic() - began:.0f} s; {', '.join(str(path) for path in written)}")
