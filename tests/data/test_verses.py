"""The demonstration corpus, where its packages are installed."""

import sys
from pathlib import Path

import pytest

from hopefear.data import verses as module
from hopefear.data.verses import read_verses, write_verses
from hopefear.errors import InputError


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pythonbible_ylt.plain_text_bible", None)
    with pytest.raises(InputError, match=r"package pythonbible-ylt\. Install it: pip install 'hopefear\[demo\]'"):
        next(read_verses())


def test_parts_are_whole_books(tmp_path: Path) -> None:
    for version in ("ylt", "web", "asv", "kjv"):
        pytest.importorskip(f"pythonbible_{version}")
    verses = list(read_verses())
    assert len(verses) > 31_000
    books: dict[int, set[str | None]] = {}
    for verse in verses:
        books.setdefault(verse.id // 1_000_000, set()).add(verse.part)
        assert not set("[]`\n") & set("".join([verse.source, *verse.references]))
    assert len(books) == 66
    assert all(len(parts) == 1 for parts in books.values())
    assert verses[0].source.split()[:3] == verses[0].references[0].split()[:3] == ["In", "the", "beginning"]

    counts = write_verses(tmp_path)
    assert 19_000 < counts["train"] < 22_000
    assert all(1000 <= counts[part] <= 1200 for part in ("tune", "dev", "test"))
    assert len(list(tmp_path.iterdir())) == 2 + 3 * 4
    for path in tmp_path.iterdir():
        assert path.read_bytes().count(b"\n") == counts[path.name.partition(".")[0]]


def test_a_corpus_that_was_cut_off_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verse = module.Verse(1_001_001, "In the beginning", ("In", "the", "beginning"))
    monkeypatch.setattr(module, "read_verses", lambda: iter([verse]))
    (tmp_path / "train.source").write_text("half")
    write_verses(tmp_path)
    assert (tmp_path / "train.source").read_text() == "In the beginning\n"
    with pytest.raises(InputError, match="already has a corpus"):
        write_verses(tmp_path)
