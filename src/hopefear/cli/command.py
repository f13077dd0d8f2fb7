"""A click command made from the fields of a :class:`hopefear.commands.base.Command`."""

from __future__ import annotations

import dataclasses
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem
from click.types import StringParamType

from hopefear.cli.console import Console, coloured, emphasised
from hopefear.cli.options import (
    CONTEXT,
    InputFile,
    Many,
    Number,
    Positional,
    read_config,
    spread,
    talk_options,
    write_examples,
)
from hopefear.commands.base import Command, about, default_text, flag_of, many, options, placeholder, required

EVERY = {"--seed", "--jobs", "--quiet", "--verbose", "--config", "--help"}


class Text(StringParamType):
    """A word that a shell completes: a trainer's name, or else the name of a file."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        if param.name != "trainer":
            return [CompletionItem(incomplete, type="file")]
        from hopefear.trainers import TRAINERS

        names = {kind.name: kind.what for kind in reversed(TRAINERS) if kind.name.startswith(incomplete)}
        return [CompletionItem(name, help=names[name]) for name in sorted(names)]


def click_option(option: dataclasses.Field[Any]) -> click.Parameter:
    """The option or argument of a field."""
    declared, flag = about(option), flag_of(option.name)
    words = str(option.type)
    kind: Any = Text()
    if declared.file:
        kind = InputFile(folders=declared.folder)
    elif declared.choices:
        kind = click.Choice(list(declared.choices))
    elif words.startswith(("int", "float")):
        kind = Number(int if words.startswith("int") else float, declared.least, declared.most)
    metavar = declared.metavar or ("N" if words.startswith("int") else None)
    default = option.default if isinstance(option.default, int | float | str) else None
    if declared.positional:
        how = {"required": required(option), "type": kind, "nargs": -1 if many(option) else 1}
        return Positional([option.name], words=declared.help, metavar=placeholder(option), **how)
    if option.type == "bool":
        return click.Option([flag, option.name], is_flag=True, default=bool(default), help=declared.help)
    make_option = Many if many(option) and not declared.repeated else click.Option
    how = {"type": kind, "metavar": metavar, "help": declared.help + default_text(option), "required": required(option)}
    how |= {"multiple": True} if declared.repeated else {} if many(option) or default is None else {"default": default}
    return make_option([flag, option.name], **how)


def _load_config(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        from hopefear.commands import names

        ctx.default_map = read_config(value, ctx.command, str(ctx.info_name), names())
    return value


def terminal_options() -> list[click.Parameter]:
    """The options of every command that concern the terminal only."""
    return [
        *talk_options(),
        click.Option(
            ["--config"],
            type=InputFile(),
            is_eager=True,
            callback=_load_config,
            expose_value=False,
            help="TOML with any of these options, at the top or in a table named after the command. "
            "The command line wins.",
        ),
    ]


class ClickCommand(click.Command):
    """A click command with examples in its help and options that take several values."""

    def __init__(self, name: str, command: type[Command[Any]]) -> None:
        params = [click_option(option) for option in options(command) if not about(option).python]
        params += terminal_options()
        help = inspect.cleandoc(command.__doc__ or "")
        super().__init__(name, params=params, callback=self.call, help=help, context_settings=dict(CONTEXT))
        self.command = command
        self.examples = textwrap.dedent(command.examples).strip("\n")

    def call(self, quiet: bool, verbose: bool, **values: Any) -> None:
        """Make the command of the options, run it and print its result."""
        from hopefear.runs.session import Session
        from hopefear.util.files import steady_input

        before = click.get_current_context().find_root().params  # hopefear --quiet tune
        console = Console(quiet or before.get("quiet", False), verbose or before.get("verbose", False))
        given = {name: value for name, value in values.items() if value is not None}
        ctx = click.get_current_context()
        typed = [name for name in given if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT]
        with steady_input(), console.listener() as listen:
            command = self.command(**given)
            command.check_needs(typed)
            emit(command, command.run(Session(listen, command=("hopefear", *sys.argv[1:]))))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:  # a shell completes what is not finished
            return super().parse_args(ctx, args)
        several = {flag for param in self.params if isinstance(param, Many) for flag in param.opts}
        if args and args[0].endswith(".toml") and not any(isinstance(param, Positional) for param in self.params):
            args = ["--config", *args]  # hopefear compare experiment.toml
        with ctx.scope(cleanup=False):  # so that an error knows whose it is
            arguments = spread(args, several)
        return super().parse_args(ctx, arguments)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        items = super().shell_complete(ctx, incomplete)
        return items or [CompletionItem(incomplete, type="file")]  # further values of an option that takes many

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": [], "Options of every command": []}
        for param in self.get_params(ctx):
            shared = "Options" if EVERY.isdisjoint(param.opts) else "Options of every command"
            title = "Arguments" if isinstance(param, Positional) else shared
            sections[title] += [record] if (record := param.get_help_record(ctx)) else []
        for title, rows in sections.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(formatter, self.examples)


def emit(command: Command[Any], result: Any) -> None:
    """Print a result: as JSON, piece by piece, or as a whole."""
    if getattr(command, "json", False):
        click.echo(json.dumps(command.as_json(result), indent=2, ensure_ascii=False))
        return
    result = command.printed(result)
    if isinstance(result, Iterator):
        with closing(result) if hasattr(result, "close") else memoryview(b"") as _:  # type: ignore[type-var]
            for piece in result:
                sys.stdout.write(piece)
                sys.stdout.flush()
    elif result is not None and (text := str(result)):
        click.echo(emphasised(text) if coloured(sys.stdout) else text, color=coloured(sys.stdout))
