"""build as a command, and inspect of what it built."""

import json
from pathlib import Path

import pytest

from hopefear.cli.main import main
from hopefear.data.language import SyntheticParallel


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("build")
    pairs = SyntheticParallel().pairs(150)
    (folder / "f").write_text("".join(pair.source + "\n" for pair in pairs))
    (folder / "e").write_text("".join(pair.target + "\n" for pair in pairs))
    return folder


def run(*arguments: object) -> int:
    return main([str(a) for a in arguments])


def test_build_then_inspect(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = folder / "model"
    assert (
        run("build", "--source", folder / "f", folder / "f", "--target", folder / "e", folder / "e", "--out", model)
        == 0
    )
    out, err = capsys.readouterr()
    assert out.startswith(f"{model}\t300 pairs\t")
    assert "extract: " in err
    assert run("inspect", model, "--perplexity", folder / "e") == 0
    out, _ = capsys.readouterr()
    assert "perplexity of lm" in out and "most frequent hierarchical" in out
    assert run("inspect", model, "--json", "--rules", "wa [X,1]", "--export", folder / "rules.gz", "--quiet") == 0
    out, err = capsys.readouterr()
    assert list(json.loads(out)["rules"]) == ["wa [X,1]"]
    assert err == ""
    assert (folder / "rules.gz").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "short"], "short: has 1 lines"),
        (["--target", "nowhere"], "nowhere: no such file"),
        (["--align", "short"], "short: has 1 lines"),
        (["--kind", "neural"], "'neural' is not one of"),
        (["--max-words", "0"], "0 is too small"),
        (["--lm-text", "empty"], "lm2: the text for this language model is empty"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    (folder / "short").write_text("a\n")
    (folder / "empty").write_text("\n")
    given = {"--source": "f", "--target": "e", "--out": "bad", **dict([arguments])}
    paths = {key: value if key in ("--kind", "--max-words") else folder / value for key, value in given.items()}
    assert run("build", *(item for pair in paths.items() for item in pair), "--quiet") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert message in err
    assert not (folder / "bad").exists()


def test_build_from_a_corpus(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same model as from its plain files; other content is an error."""
    pairs = SyntheticParallel().pairs(150)
    (tmp_path / "x.tsv").write_text("".join(f"{pair.source}\t{pair.target}\n" for pair in pairs))
    assert run("build", tmp_path / "x.tsv", "--from", "de", "--to", "en", "--out", tmp_path / "one") == 0
    assert run("build", "--source", folder / "f", "--target", folder / "e", "--out", tmp_path / "two") == 0
    names = sorted(path.name for path in (tmp_path / "two").iterdir())
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two", "x.tsv"]
    (tmp_path / "x.tmx").write_text("<tmx><body></body></tmx>")
    capsys.readouterr()
    sides = ("--source", tmp_path / "x.tmx", "--target", tmp_path / "x.tmx")
    assert run("build", *sides, "--out", tmp_path / "three") == 2
    assert "is TMX, not plain text. Give it as a corpus" in capsys.readouterr().err
    assert run("build", tmp_path / "x.tsv", "--out", tmp_path / "three") == 2
    assert "--from" in capsys.readouterr().err
