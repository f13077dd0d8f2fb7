"""What every command shares: help, examples, common options; and commands that call others."""

import importlib
from pathlib import Path

import click
import pytest

from hopefear.cli.console import Console
from hopefear.cli.frame import call
from hopefear.cli.main import NAMES, cli, main
from tests.cli.said import Said


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help_with_examples(name: str, capsys: Said) -> None:
    assert main([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert " ".join(out.split("\n\n")[1].split()) == NAMES[name]
    assert f"Examples:\n  hopefear {name}" in out
    assert "Options of every command:" in out
    for option in ("--seed", "--jobs", "--quiet", "--config"):
        assert option in out


@pytest.mark.parametrize("name", NAMES)
def test_examples_name_options_that_exist(name: str) -> None:
    command = importlib.import_module(f"hopefear.cli.{name}").command
    known = {flag for param in command.params for flag in param.opts} | {"--help"}
    for line in command.examples.replace("\\\n", " ").splitlines():
        if line.strip().startswith(f"hopefear {name} "):
            flags = {word.split("=")[0] for word in line.split("#")[0].split() if word.startswith("--")}
            assert flags <= known


def test_a_command_that_calls_another_shows_what_it_calls(tmp_path: Path, capsys: Said) -> None:
    shown = ["--out", str(tmp_path / "a b"), "--sentences", "1"]
    with click.Context(cli):
        call(Console(), "generate", shown, "--candidates", "2", before="$ ")
    out, err = capsys.readouterr()
    assert err == f"$ hopefear generate --out '{tmp_path / 'a b'}' --sentences 1\n"
    assert len((tmp_path / "a b" / "nbest.txt").read_text().splitlines()) == 2
    with click.Context(cli):
        call(Console(quiet=True), "generate", [*shown, "--overwrite"])
    assert capsys.readouterr() == (out, "")
