"""``hopefear create``: options that go together, what it prints, mistakes in one line."""

import json
from pathlib import Path

import pytest

from hopefear.cli.main import main
from hopefear.commands.create import Create
from hopefear.errors import OptionError
from tests.cli.capture import Capture, one_line
from tests.creation.test_pipeline import write_corpus


def run(*arguments: object) -> int:
    return main(["create", *map(str, arguments)])


def test_a_translator_from_the_command_line(tmp_path: Path, capsys: Capture) -> None:
    corpus = write_corpus(tmp_path / "x.tsv", 400)
    out = tmp_path / "translator"
    assert run(corpus, "--from", "de", "--to", "en", "--out", out, "--no-curve", "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["pairs"]["read"] == 400
    assert (out / "report.html").is_file()
    assert run(corpus, "--from", "de", "--to", "en", "--out", out) == 2
    assert "already exists" in one_line(capsys)


@pytest.mark.parametrize(
    "text, finding",
    [
        ("<tmx><body><tu><tuv xml:lang='de'><seg>a", "the XML is damaged"),
        ("nur eine Spalte\n", "Give both sides: --source FILE --target FILE"),
        ("a b\tc d\n", "pairs are left of 1"),
    ],
)
def test_mistakes_are_one_line_errors(tmp_path: Path, capsys: Capture, text: str, finding: str) -> None:
    (tmp_path / "x").write_text(text)
    assert run(tmp_path / "x", "--from", "de", "--to", "en", "--out", tmp_path / "t", "--quiet") == 2
    assert finding in one_line(capsys)
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_options_that_go_together() -> None:
    with pytest.raises(OptionError, match="give a corpus"):
        Create(from_="de", to="en", out="x")
    with pytest.raises(OptionError, match="--columns takes two"):
        Create(corpus=["x"], from_="de", to="en", out="x", columns="1")
    with pytest.raises(OptionError, match="--source works only with --target"):
        Create(source=["x"], from_="de", to="en", out="x")
