"""Types and options on top of click's: several values after one flag, files that must exist, --config, examples."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from hopefear.commands.files import input_file
from hopefear.errors import InputError
from hopefear.util.messages import suggestion

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class FileError(click.UsageError):
    """A path on the command line that cannot be used; the message opens with the path."""


class InputFile(click.ParamType):  # type: ignore[type-arg,unused-ignore]  # generic only in newer clicks
    """A file to read (``-`` is standard input); with ``folders`` a directory will do as well."""

    name = "file"

    def __init__(self, folders: bool = False) -> None:
        self.folders = folders

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return input_file(str(value), self.folders)
        except InputError as error:
            raise FileError(str(error), ctx) from None

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        return [CompletionItem(incomplete, type="file")]


class Number(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A number between two limits; the help does not spell them out, errors do. Whole ones are not below 0."""

    name = "number"

    def __init__(self, kind: type[int] | type[float], least: float | None, most: float | None) -> None:
        self.kind, self.least, self.most = kind, least, most
        if kind is int:
            self.least = least or 0

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = self.kind(value)
        except ValueError:
            self.fail(f"{value!r} is not a {'whole ' if self.kind is int else ''}number.", param, ctx)
        form = "g" if self.kind is float else ".0f"  # not 1e+06 of a whole number
        if self.least is not None and not number >= self.least:
            self.fail(f"{number:{form}} is too small: {self.least:{form}} or more.", param, ctx)
        if self.most is not None and not number <= self.most:
            self.fail(f"{number:{form}} is too large: {self.most:{form}} at most.", param, ctx)
        return number


class Many(click.Option):
    """An option that takes all words up to the next option: ``--refs ref.0 ref.1``. It may be repeated too."""

    def __init__(self, *args: Any, **attrs: Any) -> None:
        super().__init__(*args, **{**attrs, "multiple": True})

    def make_metavar(self, ctx: click.Context) -> str:
        name = self.metavar or self.type.name.upper()
        return f"{name} [{name}...]"


class Positional(click.Argument):
    """An argument with help, which a configuration file may give too."""

    def __init__(self, *args: Any, words: str, **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.words = words

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        return str(self.metavar), self.words  # click before 8.5 lists no arguments

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> tuple[Any, ParameterSource]:
        value, source = super().consume_value(ctx, opts)
        if not value and self.name in (ctx.default_map or {}):
            return ctx.lookup_default(str(self.name)), ParameterSource.DEFAULT_MAP
        return value, source


def talk_options() -> list[click.Option]:
    """How much is printed; these also go before the command's name."""
    return [
        click.Option(["-q", "--quiet"], is_flag=True, help="No progress and no notes, only warnings and errors."),
        click.Option(["-v", "--verbose"], is_flag=True, help="Print a line for each epoch."),
    ]


def write_examples(formatter: click.HelpFormatter, examples: str) -> None:
    """Examples as they were written, so that they can be copied."""
    if examples:
        formatter.write_paragraph()
        formatter.write("Examples:\n" + textwrap.indent(examples, "  ") + "\n")


def spread(arguments: Sequence[str], many: set[str]) -> list[str]:
    """``--refs a b`` becomes ``--refs a --refs b``, which is what click understands. ``--`` ends the values."""
    spread: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        spread.append(word)
        if word == "--":
            return spread + rest
        if word in many:
            values = []
            while rest and (rest[0] == "-" or not rest[0].startswith("-")):
                values.append(rest.pop(0))
            if not values:
                raise click.BadOptionUsage(
                    word, f"{word} needs at least one value.", click.get_current_context(silent=True)
                )
            for i, value in enumerate(values):
                spread += [value] if i == 0 else [word, value]
    return spread


def _as_given(param: click.Parameter, value: Any, where: str) -> Any:
    """A TOML value in the form in which the command line would have given it."""
    if isinstance(value, dict):  # set = {C = 0.01}
        value = [f"{key}={_text(item)}" for key, item in value.items()]
    several = getattr(param, "multiple", False) or param.nargs != 1
    if isinstance(value, list):
        if not several:
            raise FileError(f"{where}: a list, but {param.name!r} takes one value.")
        return [_text(item) for item in value]
    if several:
        return [_text(value)]
    if getattr(param, "is_flag", False):
        if not isinstance(value, bool):
            raise FileError(f"{where}: {value!r}, but {param.name!r} is true or false.")
        return value
    return _text(value)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_config(path: str, command: click.Command, name: str, commands: Iterable[str]) -> dict[str, Any]:
    """The settings of one command: top-level keys, and over them the table that has the command's name."""
    import tomllib

    try:
        tables = tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except tomllib.TOMLDecodeError as error:
        raise FileError(f"{path}: not TOML: {error}.") from None
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not UTF-8 at byte {error.start}. Save it as UTF-8.") from None
    known = {str(param.name).strip("_"): param for param in command.params if param.name not in ("config", "help")}
    options: dict[str, Any] = {}
    own = tables.pop(name, {})
    if not isinstance(own, dict):
        raise FileError(f"{path}: {name!r} must be a table: write [{name}].")
    for table, where in ((tables, path), (own, f"{path}: [{name}]")):
        for key, value in table.items():
            param = known.get(key.replace("-", "_"))
            if param is None:
                if table is tables and isinstance(value, dict) and key in commands:
                    continue  # a table for another command
                spelled = suggestion(key.replace("_", "-"), (str(k).replace("_", "-") for k in known))
                raise FileError(f"{where}: {name} has no setting {key!r}.{spelled or f' See: hopefear {name} --help'}")
            options[str(param.name)] = _as_given(param, value, f"{where}: {key}")
    return options
