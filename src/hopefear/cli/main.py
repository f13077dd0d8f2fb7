"""``hopefear COMMAND``: finds the command, and turns every error into one line and an exit code.

Exit codes: 0 done, 2 bad input or usage, 130 interrupted, 1 anything else. Modules of the commands are imported when
they are called, and what is heavy inside them when it is needed, so that ``--help`` is instant.
"""

from __future__ import annotations

import codecs
import errno
import gc
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence

import click
from click.shell_completion import shell_complete

import hopefear
from hopefear import commands
from hopefear.cli.options import CONTEXT, FileError, talk_options, write_examples
from hopefear.commands.files import no_such_file
from hopefear.errors import command_line
from hopefear.util.messages import suggestion

COMPLETE = "_HOPEFEAR_COMPLETE"  # what a shell asks: bash_source, bash_complete, zsh_source, ...

EXAMPLES = """\
hopefear quickstart
hopefear tune --nbest dev.nbest --refs ref.0 ref.1 --trainer kbmira --out run
hopefear rerank --nbest test.nbest --weights run/weights.txt > best.txt
hopefear weigh scores.csv --group prompt --outcome reward --out weighed
hopefear create memory.tmx --from de --to en --out translator
hopefear translate translator page.html --out translated
"""


UNDECODED = "hopefear.undecoded"


def _undecoded(error: UnicodeError) -> tuple[str | bytes, int]:
    """Bytes of a file's name that were not text in this locale, as they were; other surrogates spelled out."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    codes = [ord(c) for c in error.object[error.start : error.end]]
    if all(0xDC80 <= code <= 0xDCFF for code in codes):
        return bytes(code - 0xDC00 for code in codes), error.end
    return "".join(f"\\u{code:04x}" for code in codes), error.end


codecs.register_error(UNDECODED, _undecoded)


class Group(click.Group):
    """Imports a command when it is called, and lists commands by purpose."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return commands.names()

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        from hopefear.cli.command import ClickCommand

        return ClickCommand(name, commands.find(name)) if commands.exists(name) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] == "help" and not ctx.resilient_parsing:  # hopefear help, hopefear help tune
            args = [*args[1:2], "--help"]
            if args == ["--help"]:
                click.echo(ctx.get_help())
                ctx.exit()
        if not commands.exists(args[0]) and not ctx.resilient_parsing:
            raise click.UsageError(f"no such command {args[0]!r}.{suggestion(args[0], commands.names())}", ctx)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections = commands.by_section()
        width = max(len(name) for names in sections.values() for name in names)
        for section, names in sections.items():
            with formatter.section(section):
                formatter.write_dl([(name.ljust(width), commands.summary(name)) for name in names])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_examples(formatter, EXAMPLES.rstrip("\n"))
        formatter.write_paragraph()
        formatter.write_text(
            "hopefear COMMAND --help lists the options and more examples; hopefear --version prints the version."
        )


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"hopefear {hopefear.__version__}")
        ctx.exit()


@click.command(
    cls=Group,
    params=talk_options(),
    context_settings=CONTEXT,
    subcommand_metavar="COMMAND [OPTIONS]",
    options_metavar="",
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version)
def cli(quiet: bool, verbose: bool) -> None:
    """Learn the weights of linear models, and build translators from parallel text.

    Weights: from candidates with scores (lists, tables, lattices, forests) and references or outcomes, hopefear learns
    the weights whose best candidates score highest in BLEU, chrF, TER or your own metric.

    Translators: from a translation memory or parallel text, hopefear builds a translator, trains it and tests it, on
    the CPU; then it translates documents, serves them and learns from corrections.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """The entry point. Returns the exit code."""
    if not _open_streams():
        return 2
    gc.set_threshold(
        50_000, 20, 20
    )  # imports and readers make many objects and hardly any cycles: a twentieth of `tune`
    for stream in (sys.stdout, sys.stderr):  # the same bytes in every locale
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors=UNDECODED, newline="\n")
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminated)
        if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:  # nohup ignores it
            signal.signal(signal.SIGHUP, _terminated)  # the terminal was closed
    given = list(sys.argv[1:] if arguments is None else arguments)
    with command_line():
        return _main(given)


def _main(given: Sequence[str]) -> int:
    try:
        if asked := os.environ.get(COMPLETE):
            return shell_complete(cli, {}, "hopefear", COMPLETE, asked)
        with cli.make_context("hopefear", list(given)) as ctx:
            cli.invoke(ctx)
        sys.stdout.flush()
        return 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except BaseException as error:  # the last stop of every error
        return _report(error, " ".join(["hopefear", *given[:1]]))


def _open_streams() -> bool:
    """Closed streams are opened on nothing, so that no file gets their number; whether there is a standard output."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        click.echo("hopefear: standard output is closed. Send it to a file, or to /dev/null", err=True)
    return sys.stdout is not None


def _terminated(number: int, frame: object) -> None:
    raise KeyboardInterrupt  # end as after Ctrl-C: no half-written file, no process left behind


def _report(error: BaseException, command: str) -> int:
    """Say it in one line; the exit code."""
    if os.environ.get("HOPEFEAR_DEBUG"):
        traceback.print_exception(error)
    if isinstance(error, BrokenPipeError):  # the reader closed the pipe: no message, and nothing more to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    from hopefear.util.files import printable

    code, text = explain(error, command)
    click.echo("hopefear: " + printable(" ".join(text.split())), err=True)
    return code


def explain(error: BaseException, command: str = "hopefear") -> tuple[int, str]:
    """The exit code and the line for an error of ``hopefear COMMAND``."""
    from hopefear.errors import InputError, OptionError
    from hopefear.util.files import NO_ROOM, path_name

    if isinstance(error, OptionError):
        return 2, _with_help(str(error), command)
    if isinstance(error, click.UsageError):
        return 2, _usage(error)
    if isinstance(error, click.ClickException):
        return 2, error.format_message()
    if isinstance(error, InputError):
        return 2, str(error)
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return 130, f"interrupted.{_resumed(command)}"
    if isinstance(error, UnicodeEncodeError) and error.reason == "surrogates not allowed":
        return 2, "the name of a file or folder is not UTF-8. Rename it."
    if isinstance(error, MemoryError):
        return 1, "out of memory. Try fewer --jobs, or fewer candidates."
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        place = f"{path_name(error.filename)}: " if error.filename else ""
        return 2, f"{place}{NO_ROOM[error.errno]}.{_resumed(command)}"
    if isinstance(error, OSError) and error.filename is not None:
        name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
        if isinstance(error, FileNotFoundError):
            return 2, no_such_file(name)
        if isinstance(error, IsADirectoryError):
            return 2, f"{name}: is a directory. A file is needed here."
        if isinstance(error, FileExistsError):
            return 2, f"{name}: already exists. Choose another name."
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            return 2, f"{name}: {(error.strerror or str(error)).lower()}. Choose another name."
        if isinstance(error, NotADirectoryError):
            return 2, f"{name}: not a directory. Check the path."
        if isinstance(error, PermissionError) or error.errno == errno.EROFS:
            return 2, f"{name}: permission denied. Check who may read or write it."
        return 1, f"{name}: {(error.strerror or str(error)).lower()}."
    if isinstance(error, OSError):
        why = (error.strerror or str(error)).lower()
        return 1, f"the system could not read or write: {why}. Check disk and memory."
    return 1, f"{type(error).__name__}: {error} (this is a bug; HOPEFEAR_DEBUG=1 prints the traceback)"


def _resumed(command: str) -> str:
    """The advice to resume, for commands that can."""
    name = command.removeprefix("hopefear").strip()
    can = commands.exists(name) and hasattr(commands.find(name), "resume")
    return " --resume continues an interrupted run." if can else ""


def _usage(error: click.UsageError) -> str:
    from click.core import ParameterSource

    text = error.format_message()
    if isinstance(error, FileError):
        return text
    ctx = error.ctx
    param = getattr(error, "param", None)
    path = ctx.command_path if ctx is not None else "hopefear"
    if (
        ctx is not None
        and param is not None
        and ctx.get_parameter_source(param.name or "") is ParameterSource.DEFAULT_MAP
    ):
        return f"in the --config file: {text}"
    return _with_help(text, path)


def _with_help(text: str, path: str) -> str:
    text = f"{text.rstrip('.')}{'' if text.endswith('?') else '.'}"
    return text if "See: " in text else f"{text} See: {path} --help"


if __name__ == "__main__":
    sys.exit(main())
