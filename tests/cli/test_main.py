"""The frame: help, errors in one line, exit codes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

import hopefear.data.lists
from hopefear import commands
from hopefear.cli.main import cli, main
from hopefear.data.lists import Synthetic
from hopefear.errors import InputError, OptionError
from hopefear.util import plugins
from tests.cli.capture import Capture, one_line

HOPEFEAR = [sys.executable, "-m", "hopefear.cli.main"]


def test_help_lists_every_command(capsys: Capture) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for name in commands.names():
        line = commands.summary(name)
        assert f"  {name} " in out
        assert " ".join(line.split()) in " ".join(out.split())


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from hopefear.cli.main import main; main(['--help']); "
    code += "print(sorted({'numpy', 'scipy', 'sacrebleu', 'rich', 'zstandard'} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "[]\n"


def test_help_does_without_the_core() -> None:
    """Manual pages are written before the core is compiled."""
    code = "import sys; sys.modules['hopefear._core'] = None; from hopefear.cli import main as cli; "
    code += "[cli.cli.get_command(None, name).params for name in cli.commands.names()]; cli.main(['tune', '--help'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == "" and "--trainer" in done.stdout


HEAVY = (
    *("scipy", "sacrebleu", "ray", "pandas", "pyarrow", "torch", "sklearn"),
    *(
        "hopefear.decode.hiero",
        "hopefear.model.directory",
        "hopefear.trainers.online.base",
        "hopefear.trainers.batch.pro",
    ),
)


@pytest.mark.parametrize(
    "imported",
    [
        "hopefear",
        "hopefear.trainers",
        "hopefear.train.replicates",
        "hopefear.evaluation.scores",
        "hopefear.decode.reranking",
    ],
)
def test_what_a_command_does_not_need_is_not_imported(imported: str) -> None:
    """By tune, score and rerank: no decoder, no model, no other trainer, no package that takes long."""
    code = f"import sys, {imported}; print(*sorted({{*{HEAVY}}} & {{*sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_version(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"hopefear {hopefear.__version__}\n"


def test_the_package_is_a_command() -> None:
    done = subprocess.run([sys.executable, "-m", "hopefear", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"hopefear {hopefear.__version__}\n", "")
    done = subprocess.run([sys.executable, "-m", "hopefear", "nonsense"], capture_output=True, text=True)
    assert done.returncode == 2 and "no such command 'nonsense'" in done.stderr


def test_metadata_is_read_only_of_packages_with_plug_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing ``importlib.metadata`` takes as long as the rest of ``--help``, reading all packages twice as long."""
    for name, points in (("else", "[console_scripts]\nelse = else:main\n"), ("mine", "")):
        (tmp_path / f"{name}-1.dist-info").mkdir()
        (tmp_path / f"{name}-1.dist-info/METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        (tmp_path / f"{name}-1.dist-info/entry_points.txt").write_text(points)
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "missing")])

    def names() -> dict[str, str]:
        plugins._all.cache_clear()
        plugins.entry_points.cache_clear()
        return {name: point.dist.name for name, point in plugins.entry_points("hopefear.trainers").items()}

    try:
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "importlib.metadata", None)  # importing it would fail
            assert names() == {}
        (tmp_path / "mine-1.dist-info/entry_points.txt").write_text("[hopefear.trainers]\nmy = mine:Mine\n")
        assert names() == {"my": "mine"}
        copy = tmp_path / "later" / "mine-0.dist-info"
        copy.mkdir(parents=True)
        (copy / "METADATA").write_text("Metadata-Version: 2.1\nName: Mine\nVersion: 0\n")
        (copy / "entry_points.txt").write_text("[hopefear.trainers]\nold = mine:Old\n")
        sys.path.append(str(tmp_path / "later"))
        assert names() == {"my": "mine"}  # of two copies of a package, the first on the path counts
    finally:
        plugins._all.cache_clear()
        plugins.entry_points.cache_clear()


def test_no_command_shows_the_help(capsys: Capture) -> None:
    assert main([]) == 2
    assert "Usage: hopefear COMMAND" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "output"),
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
        (["generate", "--out", "x", "--seed", str(2**64)], "'--seed': 18446744073709551616 is too large"),
        (["generate", "--out", "x", "--jobs", str(10**12)], "'--jobs': 1000000000000 is too large: 100000 at most."),
        (["new-plugin", "kbmira"], "kbmira is a trainer or metric already"),
        (["new-plugin", "ter"], "ter is a trainer or metric already"),
        (["new-plugin", "a" * 300], "file name too long. Choose another name."),
        (["generate", "--out", "x", "y"], "unexpected extra argument"),
        (["generate", "--out", "x", "--config", "nowhere.toml"], "nowhere.toml: no such file"),
        (["generate", "--out", "x", "--config", "."], ".: is a directory"),
    ],
)
def test_usage_errors_take_one_line(
    arguments: list[str], output: str, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert output in one_line(capsys)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "code", "output"),
    [
        (InputError("dev:12: found 3 fields.\nFix it"), 2, "hopefear: dev:12: found 3 fields. Fix it\n"),
        (FileNotFoundError(2, "No such file", "nowhere/dev"), 2, "nowhere/dev: no such file"),
        (IsADirectoryError(21, "Is a directory", "dev"), 2, "dev: is a directory"),
        (FileExistsError(17, "File exists", "dev"), 2, "dev: already exists. Choose another name."),
        (OSError(40, "Too many levels of symbolic links", "dev"), 2, "dev: too many levels of symbolic links"),
        (PermissionError(13, "Permission denied", "dev"), 2, "dev: permission denied"),
        (OSError(28, "No space left on device"), 2, "hopefear: the disk is full. Make room and try again.\n"),
        (OSError(28, "No space left on device", "dev"), 2, "dev: the disk is full. Make room and try again.\n"),
        (OSError(5, "Input/output error", "dev"), 1, "dev: input/output error"),
        (OSError(5, "Input/output error"), 1, "the system could not read or write: input/output error"),
        (MemoryError(), 1, "out of memory"),
        (UnicodeEncodeError("utf-8", "\udcff", 0, 1, "surrogates not allowed"), 2, "is not UTF-8. Rename it."),
        (KeyboardInterrupt(), 130, "hopefear: interrupted.\n"),
        (ZeroDivisionError("division by zero"), 1, "ZeroDivisionError: division by zero (this is a bug"),
        (click.ClickException("bad"), 2, "bad"),
        (OptionError("--jsonl is too much."), 2, "hopefear: --jsonl is too much. See: hopefear generate --help\n"),
    ],
)
def test_errors_take_one_line(
    error: BaseException, code: int, output: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*values: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(hopefear.data.lists, "Synthetic", fail)
    monkeypatch.delenv("HOPEFEAR_DEBUG", raising=False)
    assert main(["generate", "--out", "x"]) == code
    assert output in one_line(capsys)


def test_names_cannot_speak_to_the_terminal(capsys: Capture) -> None:
    assert main(["score", "x", "--refs", "\x1b[2Jx\x9b2J"]) == 2
    assert "\\x1b[2Jx\\x9b2J" in one_line(capsys)


def test_debug_shows_the_traceback(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPEFEAR_DEBUG", "1")
    assert main(["generate", "--out", "x", "--config", "nowhere.toml"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*HOPEFEAR, "generate", "--out", "x"], stdout=write, stderr=subprocess.PIPE, cwd=tmp_path)
    os.close(write)
    assert b"hopefear:" not in done.stderr and b"Error" not in done.stderr  # a slow machine may tell its progress
    assert done.returncode == 1


def test_a_closed_output_is_an_error(tmp_path: Path) -> None:
    line = " ".join([*HOPEFEAR, "generate", "--out", "x", "--sentences", "1", ">&-"])
    done = subprocess.run(line, shell=True, stderr=subprocess.PIPE, cwd=tmp_path)
    message = b"hopefear: standard output is closed. Send it to a file, or to /dev/null\n"
    assert (done.returncode, done.stderr) == (2, message)


def test_ctrl_c_takes_one_line_and_leaves_no_half_file(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [*HOPEFEAR, "generate", "--out", "x", "--sentences", "1000000"], stderr=subprocess.PIPE, cwd=tmp_path
    )
    while not any(path.stat().st_size for path in tmp_path.glob("x/.nbest*")):  # it has begun to write
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, output = process.communicate(timeout=30)
    assert process.returncode == 130
    assert output == b"hopefear: interrupted.\n"
    assert list((tmp_path / "x").iterdir()) == []


def test_output_is_utf8_in_every_locale(tmp_path: Path) -> None:
    environment = {**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "latin-1"}
    command = [*HOPEFEAR, "generate", "--out", "größer", "--sentences", "1"]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0
    assert "größer/ref.0".encode() in done.stdout


def test_the_group_is_a_click_group() -> None:
    assert cli.list_commands(click.Context(cli)) == commands.names()


def test_a_name_that_is_no_text_in_this_locale(tmp_path: Path) -> None:
    """Its bytes come back as they were, and no traceback."""
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for name in ("gr\u00f6\u00dfe".encode(), b"gr\xff"):
        command = [sys.executable, "-m", "hopefear", "rerank", "--nbest", name, "--weights", "w"]
        ended = subprocess.run(command, env=os.environ | plain, cwd=tmp_path, capture_output=True)
        assert (ended.returncode, ended.stdout) == (2, b"")
        assert ended.stderr == b"hopefear: " + name + b": no such file. Check the path.\n"


def test_a_link_that_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    assert main(["translate", "loop"]) == 2
    assert one_line(capsys).strip() == "hopefear: loop: is a link that leads to no file. Check where it leads."


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signals_end_a_command_in_one_line(number: int, tmp_path: Path) -> None:
    """Also when the terminal is closed: nothing half-written stays."""
    Synthetic(sentences=12, candidates=4, references=1).write(tmp_path)
    (tmp_path / "decode.sh").write_text("touch begun; exec sleep 600\n")
    decoder = ["--decoder-command", "sh decode.sh {nbest} {weights}", "--initial", "initial.txt", "--iterations", "1"]
    command = [sys.executable, "-m", "hopefear", "tune", *decoder, "--refs", "ref.0", "--trainer", "kbmira"]
    process = subprocess.Popen(
        [*command, "--out", "r"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not (tmp_path / "begun").exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(number)
    _, said = process.communicate()
    assert (process.returncode, said.decode().split(".")[0]) == (130, "hopefear: interrupted")
    assert not [path for path in tmp_path.rglob("*") if path.name.endswith(".part")]
