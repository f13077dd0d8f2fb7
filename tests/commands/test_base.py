"""What follows from the fields of a command."""

from __future__ import annotations

import inspect
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import pytest

from hopefear import commands
from hopefear.cli.command import ClickCommand, click_option, emit
from hopefear.commands.base import Command, arg, command_line, docstring, function, made, options
from hopefear.commands.generate import Generate
from hopefear.commands.trainers import Trainers
from hopefear.commands.tune import Tune
from hopefear.errors import OptionError
from hopefear.runs.session import SILENT, Session


class Sum(Command[int]):
    """Add numbers."""

    numbers: Sequence[str] = arg("The numbers.", positional=True, metavar="NUMBER")
    table: str | None = arg("Where they are.", default=None, file=True)
    column: str | None = arg("Which of them.", default=None, needs="table")
    times: int = arg("How often.", default=2, least=1, most=9, decides=True)
    share: float = arg("A part.", default=0.5, least=0, most=1)
    kind: str = arg("The kind.", default="plain", choices=("plain", "odd"))
    limit: int | None = arg("At most.", default=None, shown="no limit", decides=True)
    flat: bool = arg("Without levels.", default=False)
    depth: int = arg("Levels of the table.", default=3, needs="table", decides=True)
    json: bool = arg("As JSON.", default=False, terminal=True)

    examples = "hopefear sum 1 2"

    def run(self, session: Session) -> int:
        session.warn("adding")
        return self.times * sum(map(int, self.numbers))


def test_the_function_takes_the_fields_and_warns() -> None:
    add = function(Sum)
    with pytest.warns(UserWarning, match="adding"):
        assert add(numbers=["1", "2"], times=3) == 9
    parameters = inspect.signature(add).parameters
    assert parameters["times"].default == 2
    assert parameters["numbers"].default is inspect.Parameter.empty
    assert "json" not in parameters
    assert "times: How often. [2]" in (add.__doc__ or "")


def test_a_single_value_for_an_option_of_several() -> None:
    assert Sum(numbers="12").numbers == ("12",)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"numbers": ["1"], "tims": 2}, r"has no option 'tims'. Did you mean 'times'\?"),
        ({}, "needs numbers: the numbers."),
        ({"numbers": ["1"], "json": True}, "has no option 'json'"),
        ({"numbers": ["1"], "column": "a"}, "--column works only with --table"),
    ],
)
def test_wrong_options_are_said_in_one_line(given: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        made(Sum, given)


def test_what_decides_the_result() -> None:
    assert Sum(numbers=["1"]).decisive() == {"times": 2, "seed": 1}
    assert Sum(numbers=["1"], limit=3, jobs=7).decisive() == {"times": 2, "limit": 3, "seed": 1}
    assert Sum(numbers=["1"], table="t").decisive() == {"times": 2, "depth": 3, "seed": 1}  # and not without a table


def test_the_command_line_has_the_same_options() -> None:
    params = {param.name: param for param in map(click_option, options(Sum))}
    assert next(iter(params)) == "numbers"
    assert list(params)[-2:] == ["seed", "jobs"]
    assert params["times"].default == 2
    help = {name: param.help for name, param in params.items() if isinstance(param, click.Option)}
    assert help["times"] == "How often. [2]"
    assert help["limit"] == "At most. [no limit]"
    assert help["flat"] == "Without levels."


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["1", "--times", "10"], "10 is too large: 9 at most."),
        (["1", "--share", "1.5"], "1.5 is too large: 1 at most."),
        (["1", "--share", "x"], "'x' is not a number."),
        (["1", "--kind", "even"], "'even' is not one of 'plain', 'odd'."),
    ],
)
def test_limits_are_checked(arguments: list[str], message: str) -> None:
    with pytest.raises(click.BadParameter, match=message.replace(".", r"\.")):
        ClickCommand("sum", Sum).make_context("sum", arguments)


def test_it_runs_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    command = ClickCommand("sum", Sum)
    command.main(["3", "4", "--times", "2"], standalone_mode=False)
    assert capsys.readouterr() == ("14\n", "warning: adding\n")


def test_pieces_are_printed_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    emit(Sum(numbers=["1"]), iter(["a\n", "b\n"]))
    assert capsys.readouterr().out == "a\nb\n"


def test_every_command_has_a_module_a_summary_and_help_for_each_option() -> None:
    for name in commands.names():
        command = commands.find(name)
        assert docstring(command).startswith(commands.summary(name))
        for each in options(command):
            help = each.metadata["arg"].help
            assert help.rstrip("]").endswith((".", ")", "?", "...")), (name, each.name, help)


def test_commands_import_nothing_heavy() -> None:
    code = "import sys; from hopefear import commands; [commands.find(name) for name in commands.names()]; "
    code += "print(sorted({'numpy', 'scipy', 'sacrebleu', 'rich', 'starlette'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


def test_defaults_are_not_repeated_in_help_texts() -> None:
    """A default is written once, in the field."""
    for path in Path(commands.__file__).parent.glob("*.py"):
        assert "[%default" not in path.read_text()
    for name in commands.names():
        for each in options(commands.find(name)):
            help, default = each.metadata["arg"].help, each.default
            assert isinstance(default, bool) or not help.rstrip(".").endswith("]"), (name, each.name)


def test_no_events_without_listeners() -> None:
    assert Sum(numbers=["2"]).run(SILENT) == 4


def test_a_command_is_shown_as_it_is_typed() -> None:
    generate = Generate(out="a b", sentences=1, seed=1, jobs=0, jsonl=True)
    assert command_line(generate) == "hopefear generate --sentences 1 --jsonl --out 'a b'"
    assert command_line(Trainers(name="mert")) == "hopefear trainers mert"


def test_what_is_shown_makes_the_same_command(tmp_path: Path) -> None:
    for name in ("a b", "c"):
        (tmp_path / name).write_text("")
    lists = [str(tmp_path / "a b"), str(tmp_path / "c")]
    tune = Tune(nbest=lists, trainer="mert", set=["restarts=3"], holdout=0.2, resume=True, out="run", seed=7)
    arguments = shlex.split(command_line(tune))[2:]
    with ClickCommand("tune", Tune).make_context("tune", arguments) as ctx:
        given = {
            key: value for key, value in ctx.params.items() if key not in ("quiet", "verbose") and value is not None
        }
    assert command_line(Tune(**given)) == command_line(tune)
    assert (given["nbest"], given["resume"], given["seed"]) == (tuple(lists), True, 7)


def test_errors_in_python_name_parameters_and_no_options() -> None:
    with pytest.raises(OptionError, match=r"^column works only with table"):
        function(Sum)(numbers=["1"], column="a")
