"""Parallel files, good and bad."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from hopefear.errors import InputError
from hopefear.model.bitext import read_bitext, read_text
from hopefear.model.text import TextPipeline

PLAIN = TextPipeline("none")


def files(folder: Path, *texts: str | bytes) -> list[Path]:
    paths = []
    for i, text in enumerate(texts):
        paths.append(folder / f"file{i}")
        paths[-1].write_bytes(text.encode() if isinstance(text, str) else text)
    return paths


def test_what_cannot_be_used_is_left_out_and_counted(tmp_path: Path) -> None:
    long = "w " * 1000
    f, e = files(tmp_path, f"a B\n\nc\n{long}\nx\x00y\x1b\tz\n\u00a0\nlast ||| line", "1\n2\n \t\n4\n5\n6\n7\n")
    bitext = read_bitext([f], [e], PLAIN, PLAIN, max_words=100)
    assert bitext.source == ["a b", "x y z", "last ¦¦¦ line"]
    assert bitext.target == ["1", "5", "7"]
    assert bitext.lines == 7
    assert bitext.skipped == {"an empty side": 3, "more than 100 words": 1}


def test_several_files_and_packed_ones(tmp_path: Path) -> None:
    f, e = files(tmp_path, "a\r\nb\r\n", "1\n2\n")
    packed = tmp_path / "e.gz"
    packed.write_bytes(gzip.compress(b"3\n4\n"))
    bitext = read_bitext([f, f], [e, packed], PLAIN, PLAIN)
    assert list(zip(bitext.source, bitext.target, strict=True)) == [("a", "1"), ("b", "2"), ("a", "3"), ("b", "4")]


def test_alignments_go_with_their_lines(tmp_path: Path) -> None:
    f, e, a = files(tmp_path, "a\n\nb\n", "1\n2\n3\n", "0-0\n9-9\n\n")
    bitext = read_bitext([f], [e], PLAIN, PLAIN, align=[a])
    assert bitext.links == ["0-0", ""]
    assert bitext.places == [(str(a), 1), (str(a), 3)]


def test_different_lengths(tmp_path: Path) -> None:
    f, e, a = files(tmp_path, "a\nb\n", "1\n2\n3\n", "0-0\n")
    with pytest.raises(InputError, match=r"file1: has 3 lines, .*file0 has 2\. Parallel files must"):
        read_bitext([f], [e], PLAIN, PLAIN)
    with pytest.raises(InputError, match=r"file2: has 1 lines, .*file0 has 2"):
        read_bitext([f], [f], PLAIN, PLAIN, align=[a])
    with pytest.raises(InputError, match="2 source, 1 target files were given"):
        read_bitext([f, f], [e], PLAIN, PLAIN)


def test_not_utf8_names_the_line(tmp_path: Path) -> None:
    f, e = files(tmp_path, b"a\nb\xff\n", "1\n2\n")
    with pytest.raises(InputError, match=r"file0:2: byte 2 is not UTF-8"):
        read_bitext([f], [e], PLAIN, PLAIN)


def test_nothing_left(tmp_path: Path) -> None:
    f, e = files(tmp_path, "\n\n", "1\n2\n")
    with pytest.raises(InputError, match=r"file0: no sentence pair can be used \(2 with an empty side\)"):
        read_bitext([f], [e], PLAIN, PLAIN)
    (empty,) = files(tmp_path, "")
    with pytest.raises(InputError, match="the files are empty"):
        read_bitext([empty], [empty], PLAIN, PLAIN)


def test_monolingual_text(tmp_path: Path) -> None:
    (e,) = files(tmp_path, "A b\n\nc\n")
    assert read_text([e, e], PLAIN) == ["a b", "c", "a b", "c"]
