"""``hopefear trainers``: which trainers there are, and their options."""

from __future__ import annotations

import inspect
import json as json_module
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import Positional

if TYPE_CHECKING:
    from hopefear.trainers import Trainer

PARAMS = [
    Positional(["name"], required=False, metavar="[NAME]"),
    click.Option(["--json"], is_flag=True, help="As JSON."),
]

EXAMPLES = """
hopefear trainers
hopefear trainers kbmira
hopefear trainers --json
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, name: str | None, json: bool, seed: int, jobs: int) -> None:
    """List the trainers, or the options of one.

    With NAME: what the trainer does, and its options for the --set of tune and train with their defaults and the
    paper's values. Those that work on lists and forests are for tune, and train takes them too; those that work on
    models, online, are for train.
    """
    from hopefear.trainers.registry import by_name, find

    every = by_name()
    if name is not None:
        find(name)  # says what there is instead
    chosen = every if name is None else {name: every[name]}
    if json:
        records = [_record(kinds) for kinds in chosen.values()]
        click.echo(json_module.dumps({"trainers": records}, indent=2, ensure_ascii=False))
    elif name:
        for number, each in enumerate(chosen[name]):
            click.echo("\n" * (number > 0), nl=False)
            _print_one(each)
    else:
        width = max(map(len, every))
        for kinds in chosen.values():
            for each in kinds:
                click.echo(f"{each.name.ljust(width)}  {each.what}")
                click.echo(f"{' ' * width}  {each.paper} ({', '.join(each.spaces)})")


def _record(kinds: Sequence[type[Trainer]]) -> dict[str, Any]:
    """A trainer as JSON; where a name stands for two, the online one's options stand beside."""
    first = kinds[0]
    record = {
        "name": first.name,
        "paper": first.paper,
        "objective": first.what,
        "spaces": [space for each in kinds for space in each.spaces],
        "options": _options(first),
    }
    return record if len(kinds) == 1 else {**record, "online_options": _options(kinds[1])}


def _options(trainer: type[Trainer]) -> list[dict[str, Any]]:
    from hopefear.trainers.registry import settable

    return [
        {
            "name": each.name,
            "default": each.default,
            "paper": each.metadata.get("paper"),
            "help": each.metadata.get("help", ""),
        }
        for each in settable(trainer).values()
    ]


def _print_one(trainer: type[Trainer]) -> None:
    from hopefear.trainers.registry import settable

    click.echo(f"{trainer.name}: {inspect.getdoc(inspect.getmodule(trainer))}\n")
    click.echo(f"Works on: {', '.join(trainer.spaces)}\n")
    rows = [("option", "default", "paper", "")]
    for each in settable(trainer).values():
        paper = each.metadata.get("paper")
        shown = "" if paper is None else _text(paper)
        rows.append((each.name, _text(each.default), shown, each.metadata.get("help", "")))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        click.echo("  ".join([*cells, row[3]]).rstrip())


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if value == "" else str(value)
