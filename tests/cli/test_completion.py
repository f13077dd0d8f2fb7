"""Shell completion of commands, options, trainers and files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hopefear.cli.main import main
from tests.cli.capture import Capture


def completions(words: str, said: Capture, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The completions for bash of the last of these words, which may be empty."""
    monkeypatch.setenv("_HOPEFEAR_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    assert main([]) == 0
    out, err = said.readouterr()
    assert err == ""
    return out.split()


@pytest.mark.parametrize(
    ("words", "some"),
    [
        ("hopefear ", "plain,tune"),
        ("hopefear tu", "plain,tune"),
        ("hopefear tune --nb", "plain,--nbest"),
        ("hopefear tune --trainer kb", "plain,kbmira"),
        ("hopefear tune --nbest a --refs ", "file,"),
        ("hopefear tune --nbest a --refs a b", "file,b"),
        ("hopefear tune --out r", "file,r"),
        ("hopefear score ", "file,"),
        ("hopefear score --met", "plain,--metric"),
    ],
)
def test_what_is_offered(words: str, some: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert some in completions(words, capsys, monkeypatch)


def test_no_suggestions_for_unknown_sentences(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert completions("hopefear xyz", capsys, monkeypatch) == []
    assert completions("hopefear xyz a", capsys, monkeypatch) == []
    assert completions("hopefear tune --trainer xyz", capsys, monkeypatch) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_script(shell: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_HOPEFEAR_COMPLETE", f"{shell}_source")
    assert main([]) == 0
    assert "_HOPEFEAR_COMPLETE" in capsys.readouterr().out


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash here")
def test_bash_completes(tmp_path: Path) -> None:
    (tmp_path / "hopefear").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hopefear.cli.main "$@"\n')
    (tmp_path / "hopefear").chmod(0o755)
    typed = """
    source <(_HOPEFEAR_COMPLETE=bash_source hopefear)
    COMP_WORDS=(hopefear qui) COMP_CWORD=1
    _hopefear_completion hopefear qui hopefear
    printf '%s\\n' "${COMPREPLY[@]}"
    """
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["bash", "-ec", typed], env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("quickstart\n", 0), done.stderr
