"""Input from another store that breaks off, ends too soon or changes: one line, and exit code 2, from every command."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from typing import Any

import pytest

from hopefear.cli.main import main
from hopefear.data.lists import Synthetic
from hopefear.errors import InputError
from hopefear.model.builder import build
from hopefear.model.options import BuildOptions
from hopefear.util.files import read_lines, steady_input
from tests.model.test_imported import ARPA, GRAMMARS

fsspec = pytest.importorskip("fsspec")

FAULTS = {
    "breaks": "the store stopped after {half} bytes (reset by peer). Try again, or copy the file to this machine",
    "ends": "the store says that it has {whole} bytes, and gave {half}. Try again, or copy the file to this machine",
    "changes": "changed while it was being read (etag was 1 and is 2). Try again, or copy the file to this machine",
}
LISTS, REFS = "--nbest l/nbest.txt", "--refs l/ref.0 l/ref.1"
TUNE, BUILD = "--trainer kbmira --set passes=1 --out out", "--tokenizer none --lm-order 2 --out out"
IMPORT = "--format cdec --out out"
# The file after @ is read from the store.
COMMANDS = [
    f"tune --nbest @l/nbest.txt {REFS} {TUNE}",
    f"tune --nbest @l/nbest.gz {REFS} {TUNE}",
    f"tune {LISTS} --refs @l/ref.0 l/ref.1 {TUNE}",
    f"tune {LISTS} {REFS} --initial @l/initial.txt {TUNE}",
    "score @l/ref.0 --refs l/ref.1",
    "score l/ref.0 --refs @l/ref.1",
    "rerank --nbest @l/nbest.txt --weights l/initial.txt",
    f"rerank {LISTS} --weights @l/initial.txt",
    "features @l/nbest.txt --out out",
    "features l/nbest.txt --lm @lm.arpa --out out",
    "combine @l/nbest.txt l/nbest.txt --names a b --out out.jsonl",
    "convert @l/nbest.txt out.jsonl",
    "convert l/nbest.txt out.jsonl --refs @l/ref.0 l/ref.1",
    f"build --source @t --target t --align links {BUILD}",
    f"build --source t --target t --align @links {BUILD}",
    f"build --source t --target t --align links --lm-text @t {BUILD}",
    f"build --source t --target t --align links --filter @t {BUILD}",
    f"import --grammar @grammar --glue glue --lm lm.arpa --weights weights {IMPORT}",
    f"import --grammar grammar --glue @glue --lm lm.arpa --weights weights {IMPORT}",
    f"import --grammar grammar --glue glue --lm @lm.arpa --weights weights {IMPORT}",
    f"import --grammar grammar --glue glue --lm lm.arpa --weights @weights {IMPORT}",
    "train m --source @t --refs t --trainer mira --set epochs=1 --out out",
    "train m --source t --refs @t --trainer mira --set epochs=1 --out out",
    "train m --source t --refs t --initial @w.txt --trainer mira --set epochs=1 --out out",
    "translate m --weights @w.txt",
    "export m --format cdec --weights @w.txt --out out",
    "inspect m --perplexity @t",
    "weigh @t.csv --group q --outcome y --folds 2 --features a --out out",
]


class Store(fsspec.AbstractFileSystem):  # type: ignore[misc,name-defined]
    """The files of this machine, with a fault after the first half."""

    protocol = "breaking"
    cachable = False
    fault = ""
    etag = 1

    def info(self, path: str, **named: Any) -> dict[str, Any]:
        return {"name": path, "type": "file", "size": Path(path).stat().st_size, "ETag": Store.etag}

    def _open(self, path: str, *args: Any, **named: Any) -> Any:
        return Half(Path(path).read_bytes())


class Half:
    def __init__(self, data: bytes) -> None:
        self.left = [data[: len(data) // 2], data[len(data) // 2 :], b""]

    def read(self, size: int) -> bytes:
        if len(self.left) == 2:
            if Store.fault == "breaks":
                raise RuntimeError("reset by\npeer")
            Store.etag += Store.fault == "changes"
            self.left[0] = b"" if Store.fault == "ends" else self.left[0]
        return self.left.pop(0) if self.left else b""

    def close(self) -> None: ...


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands read."""
    folder, rng = tmp_path_factory.mktemp("input"), random.Random(3)
    Synthetic(sentences=12, candidates=6).write(folder / "l")
    (folder / "l" / "nbest.gz").write_bytes(gzip.compress((folder / "l" / "nbest.txt").read_bytes()))
    lines = ["".join(rng.choice("abcd") + " " for _ in range(rng.randint(2, 6))).strip() for _ in range(30)]
    (folder / "t").write_text("".join(line + "\n" for line in lines))
    (folder / "links").write_text(
        "".join(" ".join(f"{i}-{i}" for i in range(len(line.split()))) + "\n" for line in lines)
    )
    build(
        folder / "t", folder / "t", folder / "m", BuildOptions(tokenizer="none", lm_order=2), align=[folder / "links"]
    )
    (folder / "w.txt").write_text("lm 1\nword 0.5\n")
    (folder / "lm.arpa").write_text(ARPA)
    grammar, glue, weights = GRAMMARS["cdec"]
    (folder / "grammar").write_text(grammar)
    (folder / "glue").write_text(glue)
    (folder / "weights").write_text("".join(f"{name} {value}\n" for name, value in weights.items()))
    rows = [f"{group},{rng.random()},{rng.random()},{rng.random()}" for group in range(10) for _ in range(2)]
    (folder / "t.csv").write_text("\n".join(["q,a,b,y", *rows, ""]))
    return folder


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch) -> None:
    fsspec.register_implementation("breaking", Store, clobber=True)
    monkeypatch.setattr(Store, "fault", "")
    monkeypatch.setattr(Store, "etag", 1)


def arguments(command: str, folder: Path, tmp_path: Path) -> list[str]:
    names = {name for name in command.replace("@", "").split() if (folder / name).exists()}
    words = []
    for word in command.split():
        place = f"breaking://{folder}/" if word.startswith("@") else f"{folder}/"
        name = word.removeprefix("@")
        words.append(place + name if name in names else f"{tmp_path}/{word}" if word.startswith("out") else word)
    return words


@pytest.mark.parametrize("command", COMMANDS)
def test_every_fault_is_a_one_line_error(
    command: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = next(word for word in command.split() if word.startswith("@")).removeprefix("@")
    whole = (folder / name).stat().st_size
    with (folder / "t").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        for fault, finding in FAULTS.items():
            Store.fault, Store.etag = fault, 1
            (tmp_path / fault).mkdir()
            assert main(arguments(command, folder, tmp_path / fault)) == 2
            output = capsys.readouterr().err.splitlines()
            line = f"hopefear: breaking://{folder}/{name}: {finding.format(half=whole // 2, whole=whole)} first"
            assert output[-1] == line and not any("Traceback" in one for one in output)
        Store.fault, Store.etag = "", 1
        assert main(arguments(command, folder, tmp_path)) == 0, capsys.readouterr().err


def test_a_change_between_two_passes_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a\nb\n")
    address = f"breaking://{tmp_path}/text"
    with steady_input():
        assert read_lines(address) == ["a", "b"]
        with steady_input():  # a command within a command
            assert read_lines(address) == ["a", "b"]
        (tmp_path / "text").write_text("a\nb\nc\n")
        with pytest.raises(InputError, match=r"text: changed while it was being read \(size was 4 and is 6\)\. Try"):
            read_lines(address)
    assert read_lines(address) == ["a", "b", "c"]
    Store.etag = 2
    assert read_lines(address) == ["a", "b", "c"]  # another command may find another file


def test_a_store_without_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def info(self: Store, path: str, **named: Any) -> dict[str, Any]:
        raise NotImplementedError

    monkeypatch.setattr(Store, "info", info)
    (tmp_path / "text").write_text("a\nb\n")
    with steady_input():
        assert read_lines(f"breaking://{tmp_path}/text") == ["a", "b"]
