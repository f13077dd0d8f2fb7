"""``hopefear trainers``: which trainers there are, and their options."""

from __future__ import annotations

import dataclasses
import inspect
import json as json_module
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.metric_options import value_of
from hopefear.cli.options import Positional, one_of

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

ELSEWHERE = ("metric", "seed", "jobs")  # fields with an option of their own on the command line


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, name: str | None, json: bool, seed: int, jobs: int) -> None:
    """List the trainers, or the options of one.

    With NAME: what the trainer does, and its options for tune's --set with their defaults and the paper's values.
    """
    from hopefear.trainers import TRAINERS

    chosen = [find(name)] if name else list(TRAINERS.values())
    if json:
        click.echo(json_module.dumps({"trainers": [_record(each) for each in chosen]}, indent=2, ensure_ascii=False))
    elif name:
        _print_one(chosen[0])
    else:
        width = max(map(len, TRAINERS))
        for each in chosen:
            click.echo(f"{each.name.ljust(width)}  {each.objective}")
            click.echo(f"{' ' * width}  {each.paper} ({', '.join(each.spaces)})")


def find(name: str) -> type[Trainer]:
    """The trainer of this name."""
    from hopefear.trainers import TRAINERS

    if name not in TRAINERS:
        text = f"there is no trainer {name!r}.{one_of(name, TRAINERS)} There are: {', '.join(TRAINERS)}."
        raise click.UsageError(text, click.get_current_context())
    return TRAINERS[name]


def settable(trainer: type[Trainer]) -> dict[str, dataclasses.Field[Any]]:
    """The options that ``--set`` takes, the trainer's own first."""
    fields = [each for each in dataclasses.fields(trainer) if each.name not in ELSEWHERE]
    own = set(vars(trainer).get("__annotations__", {}))
    return {each.name: each for each in sorted(fields, key=lambda each: each.name not in own)}


def parse_options(trainer: type[Trainer], pairs: Sequence[str]) -> dict[str, Any]:
    """``--set name=value`` in the types of the fields."""
    known = settable(trainer)
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        name = name.strip().replace("-", "_")
        if name in ELSEWHERE:
            raise click.UsageError(f"--set {pair}: use --{name}.", click.get_current_context())
        if name not in known or not equals:
            cure = one_of(name, known) or f" See: hopefear trainers {trainer.name}."
            what = f"{trainer.name} has no option {name!r}." if equals else "write --set name=value."
            raise click.UsageError(f"--set {pair}: {what}{cure}", click.get_current_context())
        found[name] = value_of(text.strip(), known[name].default, f"--set {name}")
    return found


def _record(trainer: type[Trainer]) -> dict[str, Any]:
    options = [
        {
            "name": each.name,
            "default": each.default,
            "paper": each.metadata.get("paper"),
            "help": each.metadata.get("help", ""),
        }
        for each in settable(trainer).values()
    ]
    return {
        "name": trainer.name,
        "paper": trainer.paper,
        "objective": trainer.objective,
        "spaces": list(trainer.spaces),
        "options": options,
    }


def _print_one(trainer: type[Trainer]) -> None:
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
