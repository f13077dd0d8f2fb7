"""Click commands made from the fields of commands: help, examples, common options."""

import pytest
from click import Context

from hopefear import commands
from hopefear.cli.command import ClickCommand
from hopefear.cli.main import main
from hopefear.commands.base import about, options, placeholder
from tests.cli.capture import Capture


@pytest.mark.parametrize("name", commands.names())
def test_every_command_has_help_with_examples(name: str, capsys: Capture) -> None:
    assert main([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert " ".join(out.split("\n\n")[1].split()) == commands.summary(name)
    assert f"Examples:\n  hopefear {name}" in out
    assert "Options of every command:" in out
    for option in ("--seed", "--jobs", "--quiet", "--config"):
        assert option in out


@pytest.mark.parametrize("name", commands.names())
def test_the_help_explains_every_option_and_argument(name: str, capsys: Capture) -> None:
    assert main([name, "--help"]) == 0
    out = "".join(capsys.readouterr().out.split())  # lines are broken at dashes too
    for each in options(commands.find(name)):
        if not about(each).python:
            assert "".join(about(each).help.split()) in out, each.name
        if about(each).positional:
            assert "".join(f"{placeholder(each)}{about(each).help}".split()) in out, each.name
    assert "docs/" not in out  # an installed package has no such folder


def test_the_usage_shows_what_may_be_left_out_or_repeated() -> None:
    shown = {"create": "[CORPUS...]", "translate": "TRANSLATOR [FILE...]", "report": "RUN...", "trainers": "[NAME]"}
    for name, usage in shown.items():
        command = ClickCommand(name, commands.find(name))
        assert " ".join(command.collect_usage_pieces(Context(command))) == f"[OPTIONS] {usage}"


def test_help_describes_the_program(capsys: Capture) -> None:
    assert main(["--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "Learn the weights of linear models, and build translators from parallel text." in out
    assert "hopefear create memory.tmx" in out


@pytest.mark.parametrize("name", commands.names())
def test_examples_name_options_that_exist(name: str) -> None:
    command = ClickCommand(name, commands.find(name))
    known = {flag for param in command.params for flag in param.opts} | {"--help"}
    for line in command.examples.replace("\\\n", " ").splitlines():
        if line.strip().startswith(f"hopefear {name} "):
            flags = {word.split("=")[0] for word in line.split("#")[0].split() if word.startswith("--")}
            assert flags <= known
