"""What every command shares: --seed, --jobs, --quiet, --config, the layout of its help."""

from __future__ import annotations

import functools
import importlib
import shlex
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

from hopefear.cli.console import Console
from hopefear.cli.options import InputFile, Many, count, read_config, spread

EVERY = {"--seed", "--jobs", "--quiet", "--config", "--help"}
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def _load_config(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None:
        from hopefear.cli.main import NAMES

        ctx.default_map = read_config(value, ctx.command, str(ctx.info_name), NAMES)
    return value


def shared_options() -> list[click.Parameter]:
    """The options of every command."""
    return [
        count("--seed", 1, "All random choices come from it.", least=0),
        count("--jobs", 0, "Threads or processes; 0 is one per core.", least=0),
        click.Option(["--quiet"], is_flag=True, help="No progress and no notes, only warnings and errors."),
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


class Text(StringParamType):
    """A word that a shell completes: a trainer's name, or else the name of a file."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        if param.name != "trainer":
            return [CompletionItem(incomplete, type="file")]
        from hopefear.trainers import TRAINERS

        names = {each.name: each.what for each in reversed(TRAINERS) if each.name.startswith(incomplete)}
        return [CompletionItem(name, help=names[name]) for name in sorted(names)]


class Command(click.Command):
    """A click command whose help has examples and whose options may take several values."""

    def __init__(self, *args: Any, examples: str = "", **attrs: Any) -> None:
        super().__init__(*args, **{**attrs, "context_settings": dict(CONTEXT)})
        self.params += shared_options()
        for param in self.params:
            if param.type is click.STRING:
                param.type = Text()
        self.examples = textwrap.dedent(examples).strip("\n")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:  # a shell completes what is not finished
            return super().parse_args(ctx, args)
        many = {flag for param in self.params if isinstance(param, Many) for flag in param.opts}
        with ctx.scope(cleanup=False):  # so that an error knows whose it is
            arguments = spread(args, many)
        return super().parse_args(ctx, arguments)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        found = super().shell_complete(ctx, incomplete)
        return found or [CompletionItem(incomplete, type="file")]  # further values of an option that takes many

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        records = [(not EVERY.isdisjoint(param.opts), param.get_help_record(ctx)) for param in self.get_params(ctx)]
        for title, every in (("Options", False), ("Options of every command", True)):
            rows = [record for shared, record in records if record and shared is every]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(formatter, self.examples)


def write_examples(formatter: click.HelpFormatter, examples: str) -> None:
    """Examples as they were written, so that they can be copied."""
    if examples:
        formatter.write_paragraph()
        formatter.write("Examples:\n" + textwrap.indent(examples, "  ") + "\n")


def call(console: Console, name: str, arguments: Sequence[str], *unsaid: str, before: str = "") -> None:
    """Run another command, and show it as the user would type it; ``unsaid`` are arguments that are not shown."""
    console.note(f"{before}hopefear {name} {shlex.join(arguments)}")
    called: Command = importlib.import_module(f"hopefear.cli.{name}").command
    quiet = ["--quiet"] if console.quiet else []
    with called.make_context(name, [*arguments, *unsaid, *quiet], parent=click.get_current_context()) as ctx:
        called.invoke(ctx)


def command(params: Sequence[click.Parameter] = (), *, examples: str = "") -> Callable[[Callable[..., None]], Command]:
    """Make a command of a function. It gets a Console first, then its options by name."""

    def make(function: Callable[..., None]) -> Command:
        @functools.wraps(function)
        def call(**values: Any) -> None:
            from hopefear.util.files import steady_input  # which needs the core; help does not

            with steady_input():
                function(Console(quiet=values.pop("quiet")), **values)

        name = function.__module__.rpartition(".")[2]  # cli/NAME.py
        return Command(name, params=list(params), callback=call, help=function.__doc__, examples=examples)

    return make
