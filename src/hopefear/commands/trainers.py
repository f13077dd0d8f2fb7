"""List the trainers, or the options of one.

With NAME: what the trainer does, and its options (--set of tune and train) with their defaults and the paper's
values. Batch trainers work on lists and forests; tune and train accept them. Online trainers work on models; only
train accepts them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopefear.commands.base import Command, arg

if TYPE_CHECKING:
    from hopefear.runs.session import Session
    from hopefear.trainers import Trainer


@dataclass(frozen=True)
class TrainerList:
    """Trainers by name: for candidates first, then for models."""

    kinds: Mapping[str, Sequence[type[Trainer]]]
    in_detail: bool

    def record(self) -> dict[str, Any]:
        """The output of ``--json``."""
        return {"trainers": [_record(kinds) for kinds in self.kinds.values()]}

    def __str__(self) -> str:
        every = [kind for kinds in self.kinds.values() for kind in kinds]
        if self.in_detail:
            return "\n\n".join("\n".join(_details(kind)) for kind in every)
        width = max(map(len, self.kinds))
        lines = []
        for kind in every:
            lines.append(f"{kind.name.ljust(width)}  {kind.what}")
            lines.append(f"{' ' * width}  {kind.paper} ({', '.join(kind.spaces)})")
        return "\n".join(lines)


class Trainers(Command[TrainerList]):
    name: str | None = arg("The trainer to show.", default=None, positional=True, kw_only=False, metavar="NAME")
    json: bool = arg("As JSON.", default=False, terminal=True)

    examples = """
    hopefear trainers
    hopefear trainers kbmira
    hopefear trainers --json
    """

    def run(self, session: Session) -> TrainerList:
        from hopefear.trainers.registry import by_name, find

        kinds = by_name()
        if self.name is None:
            return TrainerList(kinds, False)
        trainer = find(self.name)  # raises for an unknown name
        return TrainerList({self.name: kinds.get(self.name, [trainer])}, True)


def _record(kinds: Sequence[type[Trainer]]) -> dict[str, Any]:
    """A trainer as JSON, with the options of the online one where a name stands for two."""
    first = kinds[0]
    record = {
        "name": first.name,
        "paper": first.paper,
        "objective": first.what,
        "spaces": [space for kind in kinds for space in kind.spaces],
        "options": _options(first),
    }
    return record if len(kinds) == 1 else {**record, "online_options": _options(kinds[1])}


def _options(trainer: type[Trainer]) -> list[dict[str, Any]]:
    from hopefear.trainers.registry import settable

    return [
        {
            "name": option.name,
            "default": option.default,
            "paper": option.metadata.get("paper"),
            "help": option.metadata.get("help", ""),
        }
        for option in settable(trainer).values()
    ]


def _details(trainer: type[Trainer]) -> Iterator[str]:
    from hopefear.trainers.registry import settable

    yield f"{trainer.name}: {_documented(trainer)}\n"
    yield f"Works on: {', '.join(trainer.spaces)}\n"
    rows = [("option", "default", "paper", "")]
    for option in settable(trainer).values():
        paper = option.metadata.get("paper")
        rows.append(
            (option.name, _text(option.default), "" if paper is None else _text(paper), option.metadata.get("help", ""))
        )
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        yield "  ".join([*cells, row[3]]).rstrip()


def _documented(trainer: type[Trainer]) -> str:
    """The docstring of a trainer's module, and that of all online trainers, without markup of code."""
    from hopefear.trainers.online import base

    text = inspect.getdoc(inspect.getmodule(trainer)) or trainer.what
    if issubclass(trainer, base.Online):
        text += f"\n\n{inspect.getdoc(base)}"
    return text.replace("``", "")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if value == "" else str(value)
