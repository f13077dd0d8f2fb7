"""What is no plain text is refused where plain text is wanted."""

from pathlib import Path

import pytest

from hopefear.corpus.entries import kind_of, open_entry, refuse_markup
from hopefear.errors import InputError
from tests.corpus.files import TEXT_FILES, opus_zip


@pytest.mark.parametrize("name", ["memory.tmx", "old.xliff", "new.xlf"])
def test_markup_is_no_plain_text(tmp_path: Path, name: str) -> None:
    path = tmp_path / "train.de"
    path.write_text(TEXT_FILES[name](), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        refuse_markup(path)
    kind = "TMX" if name.endswith("tmx") else "XLIFF"
    said = f"{path}: is {kind}, not plain text. Give it as a corpus: hopefear create FILE --from CODE --to CODE"
    assert str(caught.value) == said


def test_a_zip_is_no_plain_text(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a zip, not plain text"):
        refuse_markup(opus_zip(tmp_path / "x"))


@pytest.mark.parametrize("text", ["Ein Satz.\n", "", "<laughs> no\n", "< a\n", "a < b\n", "{x}\n", "<b>fett</b>\n"])
def test_text_is_text(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    refuse_markup(tmp_path / "x")


@pytest.mark.parametrize(
    "start, kind",
    [
        ('<?xml version="1.0"?>\n<!-- a > b -->\n<!DOCTYPE tmx SYSTEM "x" [\n<!ENTITY a "b">\n]>\n<tmx>', "tmx"),
        ("\ufeff  <tmx version='1.4'>", "tmx"),
        ("<x:xliff xmlns:x='y'>", "xliff"),
        ("<!DOCTYPE html><html>", "html"),
        ("<?xml version='1.0'?><rss/>", "xml"),
        ("<?xml", "xml"),
        ('# comment\nmsgid ""\nmsgstr ""\n', "po"),
        ('{"a": 1}', "jsonl"),
    ],
)
def test_kinds(tmp_path: Path, start: str, kind: str) -> None:
    (tmp_path / "x").write_text(start, encoding="utf-8")
    assert kind_of(open_entry(tmp_path / "x")) == kind
