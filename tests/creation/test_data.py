"""The first stage: files of each part, and no sentence in two of them."""

from pathlib import Path

import pytest

from hopefear.creation import CreateOptions
from hopefear.creation.data import prepare, read_part
from hopefear.errors import InputError
from hopefear.runs.session import SILENT


def options(folder: Path, *corpus: Path, **more: object) -> CreateOptions:
    names = {"source_language": "de", "target_language": "en", "out": folder / "out", **more}
    return CreateOptions(corpus=corpus, **names)  # type: ignore[arg-type]


def word(number: int) -> str:
    return "".join(chr(97 + int(digit)) for digit in str(number))


def write(path: Path, count: int, start: int = 0) -> Path:
    lines = (f"das ist ein Satz {word(n)}.\tthis is a sentence {word(n)}.\n" for n in range(start, start + count))
    path.write_text("".join(lines))
    return path


def test_parts_of_two_domains(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a.tsv", 300), write(tmp_path / "b.tsv", 200, 1000)
    record = prepare(options(tmp_path, one, two), tmp_path / "work", SILENT)
    assert record["train"]["domains"] == ["a", "b"]
    sizes = record["sentences"]
    assert sizes["dev"] == sizes["test"] == 62
    assert sum(record["train"]["pairs"]) == sizes["train"] == 500 - 124
    train = {line for name in record["train"]["source"] for line in (tmp_path / "work" / name).read_text().splitlines()}
    dev, test = (set(read_part(tmp_path / "work", part, 1).lines) for part in ("dev", "test"))
    assert len(train) + len(dev) + len(test) == 500
    assert not train & dev and not train & test and not dev & test


def test_your_own_parts_leave_the_corpus(tmp_path: Path) -> None:
    corpus = write(tmp_path / "a.tsv", 300)
    for part, begin in (("dev", 0), ("test", 20)):
        lines = corpus.read_text().splitlines()[begin : begin + 20]
        (tmp_path / f"{part}.de").write_text("".join(line.split("\t")[0].upper() + "\n" for line in lines))
        for k in range(2):
            (tmp_path / f"{part}.en.{k}").write_text(f"another reference {k}\n" * 20)
    own = {f"{part}_source": tmp_path / f"{part}.de" for part in ("dev", "test")}
    refs = {f"{part}_refs": [tmp_path / f"{part}.en.{k}" for k in range(2)] for part in ("dev", "test")}
    record = prepare(options(tmp_path, corpus, **own, **refs), tmp_path / "work", SILENT)
    assert record["sentences"] == {"train": 260, "dev": 20, "test": 20}
    assert record["references"] == {"dev": 2, "test": 2}
    assert record["near_copies"] == 40


def test_too_little(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="100 are needed at least"):
        prepare(options(tmp_path, write(tmp_path / "a.tsv", 90)), tmp_path / "work", SILENT)
