"""The commands of the docs: hopefear accepts each of them, and those of the tutorials print what the page shows.

``TAUGHT`` are pages whose commands run here, one page after the other in one folder, so that a later page may use the
files of an earlier one. A block without a language after commands is what they print, ``...`` for what is left out.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hopefear import commands
from hopefear.cli import command as cli_command
from hopefear.cli.main import main
from hopefear.cli.options import InputFile
from tests.cli.capture import Capture

ROOT = Path(__file__).parents[1]
PAGES = {path.name: path for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]}
TAUGHT = ("tour.md", "case-studies.md")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```|(?:^    [^\n]*\n)+", re.DOTALL | re.MULTILINE)
SHELL = ("", "sh", "bash", "console")
#: What the options are checked before: the files of a page are not here.
MISSING = "no such file|not a run directory"
#: Commands that take more than a few seconds: seen by hand, with the figures of the page.
SLOW = ("--trainer mert", "bm25.run", "dev.jsonl.xz")


def blocks(name: str) -> list[tuple[str, str]]:
    """The language and text of each block; indented ones have no language."""
    return [(hit[1] or "", hit[2] or hit[0]) for hit in BLOCK.finditer(PAGES[name].read_text(encoding="utf-8"))]


def calls(name: str) -> Iterator[list[str]]:
    """The arguments of each call of hopefear on a page."""
    variables: dict[str, str] = {}
    for language, text in blocks(name):
        if language not in SHELL:
            continue
        for line in text.replace("\\\n", " ").splitlines():
            if hit := re.match(r'(\w+)="(.*)"$', line.strip()):
                variables[hit[1]] = hit[2]
            for key, value in variables.items():
                line = line.replace(f"${key}", value)
            words = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
            words.whitespace_split = True
            try:
                yield from of_line(list(words))
            except ValueError:  # an apostrophe: what a command prints, not a command
                continue


def of_line(words: list[str]) -> Iterator[list[str]]:
    """The calls among the words of a line; a program ends at ``|``, ``>``, ``;`` and the like."""
    call: list[str] | None = None
    start = True
    for word in [*words, ";"]:
        if set(word) <= set("();<>|&"):
            if call:
                yield call
            call, start = None, word[0] in "(;|&"
        elif call is not None:
            call.append(word)
        elif word == "hopefear" and start:
            call = []
        elif word not in ("$", "do") and "=" not in word:
            start = False


@pytest.mark.parametrize("name", [name for name in PAGES if any(calls(name))])
def test_hopefear_accepts_the_commands_of_a_page(name: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(InputFile, "convert", lambda self, value, param, ctx: str(value))
    monkeypatch.setattr(cli_command, "emit", lambda command, result: None)
    for known in commands.names():
        monkeypatch.setattr(commands.find(known), "run", lambda self, session: None)
    for arguments in calls(name):
        if arguments[0] in ("--version", "--help", "COMMAND", "random-walk"):  # the last is a plug-in's
            continue
        code, error = main(arguments), capsys.readouterr().err
        assert code == 0 or re.search(MISSING, error), (arguments, error)


def test_the_commands_are_noticed() -> None:
    assert sum(len(list(calls(name))) for name in PAGES) > 120
    words = ["$", "cat", "x", "|", "hopefear", "rerank", "t", ">", "y", ";", "hopefear", "example"]
    assert list(of_line(words)) == [["rerank", "t"], ["example"]]


def steps(name: str) -> Iterator[tuple[str, list[str]]]:
    """Each block of commands with the output that the page shows for it; none if it shows nothing."""
    waiting = ""
    for language, text in blocks(name):
        if language == "sh":
            if waiting:
                yield waiting, []
            waiting = text
        elif waiting and not language:
            yield waiting, text.splitlines()
            waiting = ""
    if waiting:
        yield waiting, []


def shows(shown: list[str], printed: list[str]) -> bool:
    """Whether a page shows what was printed: ``...`` stands for some lines, or for the rest of one."""
    if not shown:
        return True
    if shown[0] == "...":
        return len(shown) == 1 or any(shows(shown[1:], printed[k:]) for k in range(len(printed)))
    if not printed:
        return False
    line = re.escape(shown[0]).replace(r"\.\.\.", ".*")
    return re.fullmatch(line, printed[0].rstrip()) is not None and shows(shown[1:], printed[1:])


def test_the_tutorials_print_what_they_show(tmp_path: Path) -> None:
    (tmp_path / "bench").symlink_to(ROOT / "bench")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    printed: dict[str, str] = {}
    variables = ""
    for text, shown in [step for name in TAUGHT for step in steps(name)]:
        if any(slow in text for slow in SLOW):
            continue
        if text not in printed:
            command = ["bash", "-euc", variables + text]
            done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            printed[text] = done.stdout
        assert shows(shown, printed[text].splitlines()), f"{text}\n{printed[text]}"
        variables += "".join(f"{line}\n" for line in text.splitlines() if re.match(r'\w+="', line))
