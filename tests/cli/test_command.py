"""Click commands made from the fields of commands: help, examples, common options."""

import pytest

from hopefear import commands
from hopefear.cli.command import ClickCommand
from hopefear.cli.main import main
from tests.cli.said import Said


@pytest.mark.parametrize("name", commands.names())
def test_every_command_has_help_with_examples(name: str, capsys: Said) -> None:
    assert main([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert " ".join(out.split("\n\n")[1].split()) == commands.summary(name)
    assert f"Examples:\n  hopefear {name}" in out
    assert "Options of every command:" in out
    for option in ("--seed", "--jobs", "--quiet", "--config"):
        assert option in out


@pytest.mark.parametrize("name", commands.names())
def test_examples_name_options_that_exist(name: str) -> None:
    command = ClickCommand(name, commands.find(name))
    known = {flag for param in command.params for flag in param.opts} | {"--help"}
    for line in command.examples.replace("\\\n", " ").splitlines():
        if line.strip().startswith(f"hopefear {name} "):
            flags = {word.split("=")[0] for word in line.split("#")[0].split() if word.startswith("--")}
            assert flags <= known
