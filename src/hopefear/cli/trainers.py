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
    from hopefear.trainers.blocks.costmargin import Costmargin
    from hopefear.trainers.online.base import Online

    AnyTrainer = type[Trainer] | type[Online] | type[Costmargin]

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

    With NAME: what the trainer does, and its options for the --set of tune and train with their defaults and the
    paper's values. Those that work on lists and forests are for tune, and train takes them too; those that work on
    models, online, are for train.
    """
    every = _every()
    chosen = every if name is None else {name: [each for each in (_batch(name), _online(name)) if each]}
    if name is not None and not chosen[name]:
        find_any(name)
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
                click.echo(f"{each.name.ljust(width)}  {_objective(each)}")
                click.echo(f"{' ' * width}  {each.paper} ({', '.join(each.spaces)})")


def _batch(name: str) -> AnyTrainer | None:
    from hopefear.trainers import TRAINERS

    return TRAINERS.get(name)


def _online(name: str) -> AnyTrainer | None:
    from hopefear.trainers.online.base import ONLINE

    if name == "costmargin":
        from hopefear.trainers.blocks.costmargin import Costmargin

        return Costmargin
    return ONLINE.get(name)


def _every() -> dict[str, list[AnyTrainer]]:
    """All trainers by name; one name may stand for a batch trainer and for an online one."""
    from hopefear.trainers import TRAINERS
    from hopefear.trainers.online.base import ONLINE

    names = {**TRAINERS, **ONLINE, "costmargin": None}
    return {name: [each for each in (_batch(name), _online(name)) if each] for name in names}


def find_any(name: str) -> Any:
    """What ``train`` means by this name: the online trainer where there are two."""
    every = _every()
    if name not in every:
        text = f"there is no trainer {name!r}.{one_of(name, every)} There are: {', '.join(every)}."
        raise click.UsageError(text, click.get_current_context())
    return every[name][-1]


def _objective(trainer: AnyTrainer) -> str:
    return str(getattr(trainer, "what", None) or getattr(trainer, "objective", ""))


def find(name: str) -> type[Trainer]:
    """The trainer of this name."""
    from hopefear.trainers import TRAINERS

    if name not in TRAINERS and _online(name):
        text = f"{name} learns while a model translates. Use: hopefear train MODEL --trainer {name}"
        raise click.UsageError(text, click.get_current_context())
    if name not in TRAINERS:
        text = f"there is no trainer {name!r}.{one_of(name, TRAINERS)} There are: {', '.join(TRAINERS)}."
        raise click.UsageError(text, click.get_current_context())
    return TRAINERS[name]


def settable(trainer: AnyTrainer) -> dict[str, dataclasses.Field[Any]]:
    """The options that ``--set`` takes, the trainer's own first."""
    fields = [each for each in dataclasses.fields(trainer) if each.name not in ELSEWHERE]
    own = set(vars(trainer).get("__annotations__", {}))
    return {each.name: each for each in sorted(fields, key=lambda each: each.name not in own)}


def parse_options(trainer: AnyTrainer, pairs: Sequence[str]) -> dict[str, Any]:
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


def _record(kinds: Sequence[AnyTrainer]) -> dict[str, Any]:
    """A trainer as JSON; where a name stands for two, the online one's options stand beside."""
    first = kinds[0]
    record = {
        "name": first.name,
        "paper": first.paper,
        "objective": _objective(first),
        "spaces": [space for each in kinds for space in each.spaces],
        "options": _options(first),
    }
    return record if len(kinds) == 1 else {**record, "online_options": _options(kinds[1])}


def _options(trainer: AnyTrainer) -> list[dict[str, Any]]:
    return [
        {
            "name": each.name,
            "default": each.default,
            "paper": each.metadata.get("paper"),
            "help": each.metadata.get("help", ""),
        }
        for each in settable(trainer).values()
    ]


def _print_one(trainer: AnyTrainer) -> None:
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
