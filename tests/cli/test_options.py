"""Several values after one flag, --config."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hopefear.cli.main import main
from hopefear.cli.options import spread
from hopefear.commands.files import no_such_file
from tests.cli.capture import Capture, one_line


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
def test_a_flag_without_its_values(arguments: list[str], capsys: Capture) -> None:
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


def test_config_holds_options_and_the_command_line_wins(config: Write, capsys: Capture) -> None:
    config('out = "a"\nsentences = 3\ncandidates = 2\n[generate]\ncandidates = 4\njsonl = false\n')
    assert main(["generate", "--config", "c.toml"]) == 0
    assert (lines("a/ref.0"), lines("a/nbest.txt")) == (3, 12)
    assert main(["generate", "--out", "b", "--config", "c.toml", "--sentences", "2"]) == 0
    assert (lines("b/ref.0"), lines("b/nbest.txt")) == (2, 8)


@pytest.mark.parametrize(
    ("text", "output"),
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
def test_config_errors(text: str, output: str, config: Write, capsys: Capture) -> None:
    config(text)
    assert main(["generate", "--out", "x", "--config", "c.toml"]) == 2
    assert output in one_line(capsys)


def test_config_that_is_not_utf8(config: Write, capsys: Capture) -> None:
    config("").write_bytes(b'out = "\xff"')
    assert main(["generate", "--config", "c.toml"]) == 2
    assert "c.toml: not UTF-8 at byte 7" in one_line(capsys)


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    (tmp_path / "weights.txt").touch()
    assert no_such_file(f"{tmp_path}/weigths.txt").endswith(f"Did you mean '{tmp_path}/weights.txt'?")
    assert no_such_file(f"{tmp_path}/other") == f"{tmp_path}/other: no such file. Check the path."
    assert "there is no directory" in no_such_file(f"{tmp_path}/no/where")
