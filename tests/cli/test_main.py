"""The frame: help, errors in one line, exit codes, --config."""

import importlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import click
import pytest

import hopefear.data.lists
from hopefear.cli.main import NAMES, cli, main
from hopefear.cli.options import spread
from hopefear.errors import InputError

HOPEFEAR = [sys.executable, "-m", "hopefear.cli.main"]
Said = pytest.CaptureFixture[str]


def one_line(said: Said) -> str:
    """The only line on standard error, and nothing on standard output."""
    out, err = said.readouterr()
    assert out == ""
    assert err.startswith("hopefear: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    return err


def test_help_lists_every_command(capsys: Said) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for name, line in NAMES.items():
        assert f"  {name} " in out
        assert " ".join(line.split()) in " ".join(out.split())


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


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from hopefear.cli.main import main; main(['--help']); "
    code += "print(sorted({'numpy', 'scipy', 'sacrebleu', 'rich', 'zstandard'} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "[]\n"


def test_version(capsys: Said) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"hopefear {hopefear.__version__}\n"


def test_no_command_shows_the_help(capsys: Said) -> None:
    assert main([]) == 2
    assert "Usage: hopefear COMMAND" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["genrate"], "no such command 'genrate'. Did you mean 'generate'? See: hopefear --help"),
        (["generate"], "Missing option '--out'. See: hopefear generate --help"),
        (["generate", "--outt", "x"], "Did you mean"),
        (["generate", "--out", "x", "--sentences", "0"], "'--sentences': 0 is too small: 1 or more."),
        (["generate", "--out", "x", "--refs", "17"], "'--refs': 17 is too large: 16 at most."),
        (
            ["generate", "--out", "x", "--seed", "one"],
            "'--seed': 'one' is not a whole number. See: hopefear generate --help",
        ),
        (["generate", "--out", "x", "y"], "unexpected extra argument"),
        (["generate", "--out", "x", "--config", "nowhere.toml"], "nowhere.toml: no such file"),
        (["generate", "--out", "x", "--config", "."], ".: is a directory"),
    ],
)
def test_usage_errors_take_one_line(
    arguments: list[str], said: str, capsys: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert said in one_line(capsys)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("dev:12: found 3 fields.\nMend it"), 2, "hopefear: dev:12: found 3 fields. Mend it\n"),
        (FileNotFoundError(2, "No such file", "nowhere/dev"), 2, "nowhere/dev: no such file"),
        (IsADirectoryError(21, "Is a directory", "dev"), 2, "dev: is a directory"),
        (PermissionError(13, "Permission denied", "dev"), 2, "dev: permission denied"),
        (OSError(28, "No space left on device"), 1, "the disk is full"),
        (OSError(5, "Input/output error", "dev"), 1, "dev: input/output error"),
        (MemoryError(), 1, "out of memory"),
        (KeyboardInterrupt(), 130, "interrupted. A run that had begun goes on with --resume."),
        (ZeroDivisionError("division by zero"), 1, "ZeroDivisionError: division by zero (this is a defect"),
        (click.ClickException("bad"), 2, "bad"),
    ],
)
def test_errors_take_one_line(
    error: BaseException, code: int, said: str, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**options: object) -> None:
        raise error

    monkeypatch.setattr(hopefear.data.lists, "Synthetic", fail)
    monkeypatch.delenv("HOPEFEAR_DEBUG", raising=False)
    assert main(["generate", "--out", "x"]) == code
    assert said in one_line(capsys)


def test_debug_shows_the_traceback(capsys: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPEFEAR_DEBUG", "1")
    assert main(["generate", "--out", "x", "--config", "nowhere.toml"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*HOPEFEAR, "generate", "--out", "x"], stdout=write, stderr=subprocess.PIPE, cwd=tmp_path)
    os.close(write)
    assert done.stderr == b""
    assert done.returncode == 1


def test_ctrl_c_takes_one_line_and_leaves_no_half_file(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*HOPEFEAR, "generate", "--out", "x", "--sentences", "1000000"], stderr=subprocess.PIPE, cwd=tmp_path
    )
    while not any(path.stat().st_size for path in tmp_path.glob("x/.nbest*")):  # it has begun to write
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said == b"hopefear: interrupted. A run that had begun goes on with --resume.\n"
    assert list((tmp_path / "x").iterdir()) == []


def test_output_is_utf8_in_every_locale(tmp_path: Path) -> None:
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "latin-1"}
    command = [*HOPEFEAR, "generate", "--out", "größer", "--sentences", "1"]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0
    assert "größer/ref.0".encode() in done.stdout


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("--refs a b", "--refs a --refs b"),
        ("hyp --refs a b --json", "hyp --refs a --refs b --json"),
        ("--refs a b -- hyp", "--refs a --refs b -- hyp"),
        ("--refs - b --refs c", "--refs - --refs b --refs c"),
        ("--refs=a hyp", "--refs=a hyp"),
        ("--metric bleu hyp", "--metric bleu hyp"),
        ("-- --refs a b", "-- --refs a b"),
    ],
)
def test_several_values_after_one_flag(given: str, meant: str) -> None:
    assert " ".join(spread(given.split(), {"--refs"})) == meant


@pytest.mark.parametrize("arguments", [["--refs"], ["--refs", "--json"], ["--refs", "--", "hyp"]])
def test_a_flag_without_its_values(arguments: list[str], capsys: Said) -> None:
    assert main(["score", *arguments]) == 2
    assert "--refs needs at least one value. See: hopefear score --help" in one_line(capsys)


Write = Callable[[str], Path]


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    monkeypatch.chdir(tmp_path)

    def write(text: str) -> Path:
        (tmp_path / "c.toml").write_text(text)
        return tmp_path / "c.toml"

    return write


def lines(path: str) -> int:
    return len(Path(path).read_text().splitlines())


def test_config_holds_options_and_the_command_line_wins(config: Write, capsys: Said) -> None:
    config('out = "a"\nsentences = 3\ncandidates = 2\n[generate]\ncandidates = 4\njsonl = false\n')
    assert main(["generate", "--config", "c.toml"]) == 0
    assert (lines("a/ref.0"), lines("a/nbest.txt")) == (3, 12)
    assert main(["generate", "--out", "b", "--config", "c.toml", "--sentences", "2"]) == 0
    assert (lines("b/ref.0"), lines("b/nbest.txt")) == (2, 8)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sentence = 3", "c.toml: generate has no setting 'sentence'. Did you mean 'sentences'?"),
        ("[generate]\nxyzzy = 3", "c.toml: [generate]: generate has no setting 'xyzzy'. See: hopefear generate --help"),
        ("sentences = [1, 2]", "c.toml: sentences: a list, but 'sentences' takes one value"),
        ("jsonl = 3", "c.toml: jsonl: 3, but 'jsonl' is true or false"),
        ("sentences = 0", "in the --config file: Invalid value for '--sentences'"),
        ("sentences = \n", "c.toml: not TOML: Invalid value (at line 1"),
        ("generate = 3", "c.toml: 'generate' must be a table: write [generate]."),
        ("[nonsense]\nx = 1", "c.toml: generate has no setting 'nonsense'"),
    ],
)
def test_config_errors(text: str, said: str, config: Write, capsys: Said) -> None:
    config(text)
    assert main(["generate", "--out", "x", "--config", "c.toml"]) == 2
    assert said in one_line(capsys)


def test_config_that_is_not_utf8(config: Write, capsys: Said) -> None:
    config("").write_bytes(b'out = "\xff"')
    assert main(["generate", "--config", "c.toml"]) == 2
    assert "c.toml: not UTF-8 at byte 7" in one_line(capsys)


def test_the_group_is_a_click_group() -> None:
    assert cli.list_commands(click.Context(cli)) == list(NAMES)
