"""The commands: one module each, named after it. A new module in this folder is a new command.

``hopefear NAME`` on the command line and ``hf.NAME(...)`` in Python are made from the same class. Packages add commands
through the entry-point group ``hopefear.commands``.
"""

from __future__ import annotations

import functools
import importlib
from inspect import getdoc  # the module of this name is a command
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hopefear.commands.base import Command

#: The order in which ``hopefear --help`` lists commands; those that are not named here come last.
SECTIONS = {
    "Tune": ("tune", "weigh", "compare", "trainers"),
    "Score and rerank": ("score", "rerank", "features", "combine", "convert"),
    "Inspect results": ("report", "experiment"),
    "Translate": ("create", "translate", "serve", "learn", "pack"),
    "Models": ("build", "import", "export", "inspect", "train", "rescore"),
    "Try it": ("demo", "quickstart", "example", "corpus", "generate", "new-plugin"),
}


SHARED = {"base", "candidates", "files", "shared"}  # modules here that are no commands


def names() -> list[str]:
    """All commands, in the order of the help."""
    return [name for section in by_section().values() for name in section]


def by_section() -> dict[str, list[str]]:
    """Section of the help -> its commands."""
    from hopefear.util.plugins import entry_points

    there = {*_built_in(), *entry_points("hopefear.commands")}
    sections = {title: [name for name in known if name in there] for title, known in SECTIONS.items()}
    sections["More"] = sorted(there - {name for known in SECTIONS.values() for name in known})
    return {title: known for title, known in sections.items() if known}


def exists(name: str) -> bool:
    """Whether there is a command of this name."""
    if name in _built_in():
        return True
    from hopefear.util.plugins import entry_points

    return name in entry_points("hopefear.commands")


def summary(name: str) -> str:
    """The summary of a command: the first line of its module, which is not imported."""
    if name not in _built_in():
        from hopefear.errors import OptionError

        try:
            return (getdoc(find(name)) or "").partition("\n")[0]
        except OptionError as error:  # one broken package does not take away the help of all commands
            return str(error)
    with _path(name).open(encoding="utf-8") as source:
        return source.readline().strip().strip('"')


def find(name: str) -> type[Command[Any]]:
    """The command of this name."""
    from hopefear.commands.base import Command

    if name not in _built_in():
        from hopefear.util.plugins import load

        command: type[Command[Any]] = load("hopefear.commands", name, Command)
        return command
    module = importlib.import_module(f"hopefear.commands.{_path(name).stem}")
    return next(
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Command) and kind.__module__ == module.__name__
    )


def _path(name: str) -> Path:
    stem = name.replace("-", "_")
    return Path(__file__).with_name(f"{stem}_.py" if name == "import" else f"{stem}.py")


@functools.cache
def _built_in() -> set[str]:
    stems = (path.stem for path in Path(__file__).parent.glob("*.py"))
    return {stem.strip("_").replace("_", "-") for stem in stems if not stem.startswith("__") and stem not in SHARED}
