"""What every format does: the same bytes for the same text, each translation where its text was, errors in a line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hopefear.documents.document import Document
from hopefear.documents.protect import Protector
from hopefear.documents.segment import Keep, Part, Segment, Tag
from hopefear.documents.sentences import split_segment
from hopefear.documents.translate import SUFFIXES, is_document, read_document, translate_document
from hopefear.errors import InputError
from tests.documents.samples import column_of, samples

FILES = samples()
BOTH_LANGUAGES = (".po", ".xliff", ".xlf")


def read(name: str, data: bytes | None = None, everything: bool = False) -> Document:
    data = FILES[name] if data is None else data
    return read_document(data, name, column=column_of(name), everything=everything)


def changed(segment: Segment) -> Segment:
    """As a translator might: other words, in the same places."""
    return Segment(tuple(part.swapcase() if isinstance(part, str) else part for part in segment.parts))


@pytest.mark.parametrize("name", FILES)
def test_nothing_translated_is_the_same_bytes(name: str) -> None:
    document = read(name)
    assert document.write([None] * len(document.segments)) == FILES[name]


@pytest.mark.parametrize("name", FILES)
def test_the_identity_gives_the_same_bytes(name: str) -> None:
    document = read(name)
    if Path(name).suffix in BOTH_LANGUAGES:  # targets are filled with the source; then nothing changes any more
        filled = document.write(document.segments)
        document = read(name, filled, everything=True)
        if document.segments:
            once = document.write(document.segments)
            assert read(name, once, everything=True).write(document.segments) == once
    else:
        assert document.write(document.segments) == FILES[name]


@pytest.mark.parametrize("name", FILES)
def test_the_identity_of_a_translator_that_protects_and_splits_gives_the_same_bytes(name: str, tmp_path: Path) -> None:
    if Path(name).suffix in BOTH_LANGUAGES:
        return
    (tmp_path / name).write_bytes(FILES[name])

    def translate(segments: list[Segment]) -> list[Segment]:
        joined = []
        for segment in segments:
            parts: list[Part] = []
            for sentence, space in split_segment(segment, "de"):
                parts += [*sentence.parts, space]
            joined.append(Segment(tuple(parts)))
        return joined

    (tmp_path / "out").mkdir()
    lines: list[str] = []
    out = translate_document(
        tmp_path / name, tmp_path / "out", translate, protector=Protector(), column=column_of(name), report=lines.append
    )
    assert out == tmp_path / "out" / name
    assert out.read_bytes() == FILES[name]
    assert lines == []


@pytest.mark.parametrize("name", [name for name in FILES if not name.startswith("empty")])
def test_a_translation_is_read_again_as_it_was_written(name: str) -> None:
    document = read(name)
    assert document.segments
    new = [changed(segment) for segment in document.segments]
    written = document.write(new)
    assert not document.unwritten
    if Path(name).suffix in BOTH_LANGUAGES:
        assert not read(name, written).segments  # all done
    else:
        again = read(name, written).segments
        assert [words(segment) for segment in again] == [words(segment) for segment in new]
        assert read(name, written).write([changed(segment) for segment in again]).split() == FILES[name].split() or (
            Path(name).suffix in (".docx", ".html", ".md", ".json") or "wrapped" in name
        )


def words(segment: Segment) -> str:
    return " ".join(segment.plain.split())


@pytest.mark.parametrize("name", [name for name in FILES if not name.startswith("empty")])
def test_every_segment_has_words_a_place_and_no_edges(name: str) -> None:
    document = read(name)
    for i, segment in enumerate(document.segments):
        assert segment.has_words
        assert document.place(i).startswith(f"{name}:")
        assert segment.plain.strip()
        for part in (segment.parts[0], segment.parts[-1]):
            assert not isinstance(part, str) or part.strip()
        ids = [tag.id for tag in segment.tags if tag.kind != "close"]
        assert len(set(ids)) == len(ids)


def a_file(tmp_path: Path, text: str = "Eins.\nZwei.\nDrei.\n") -> Path:
    path = tmp_path / "a.txt"
    path.write_text(text)
    return path


def test_what_fails_is_left_and_named(tmp_path: Path) -> None:
    def translate(segments: list[Segment]) -> list[Segment]:
        if any("Zwei" in segment.plain for segment in segments):
            raise ValueError("too\nlong")
        return [Segment(("ok",)) for _ in segments]

    lines: list[str] = []
    out = translate_document(a_file(tmp_path), tmp_path / "b.txt", translate, report=lines.append)
    assert out.read_text() == "ok\nZwei.\nok\n"
    assert lines == [f"{tmp_path}/a.txt:2: left as it was (too long): Zwei."]


def test_what_is_not_translated_is_named(tmp_path: Path) -> None:
    lines: list[str] = []
    translate_document(
        a_file(tmp_path), tmp_path / "b.txt", lambda segments: [None, *segments[1:]], report=lines.append
    )
    assert lines == [f"{tmp_path}/a.txt:1: left as it was (it could not be translated): Eins."]


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (lambda parts: [part for part in parts if not isinstance(part, Tag)], "lost the tag <b>"),
        (lambda parts: [part for part in parts if not isinstance(part, Keep)], "lost the protected %s"),
        (lambda parts: [*parts, *(part for part in parts if isinstance(part, Keep))], "once too often"),
    ],
)
def test_a_translation_that_loses_a_span_is_not_taken(
    broken: Callable[[list[Part]], list[Part]], fault: str, tmp_path: Path
) -> None:
    path = a_file(tmp_path, "Ein <b>Haus</b> %s da\n")
    lines: list[str] = []
    out = translate_document(
        path,
        tmp_path / "b.txt",
        lambda segments: [Segment(tuple(broken(list(segment.parts)))) for segment in segments],
        protector=Protector(),
        report=lines.append,
    )
    assert out.read_text() == path.read_text()
    assert len(lines) == 1 and fault in lines[0]


def test_when_everything_fails_the_reason_is_raised(tmp_path: Path) -> None:
    def translate(segments: list[Segment]) -> list[Segment]:
        raise InputError("model: broken. Build it again")

    with pytest.raises(InputError, match="model: broken"):
        translate_document(a_file(tmp_path), tmp_path / "b.txt", translate)
    assert not (tmp_path / "b.txt").exists()


def test_a_file_does_not_overwrite_itself(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="overwritten"):
        translate_document(a_file(tmp_path), tmp_path, list)


def test_characters_that_the_encoding_lacks_leave_the_segment_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Über\nMehr\n".encode("latin-1"))
    lines: list[str] = []
    out = translate_document(
        path,
        tmp_path / "b.txt",
        lambda segments: [Segment(("Łódź",)), Segment(("more",))],
        encoding="latin-1",
        report=lines.append,
    )
    assert out.read_bytes() == "Über\nmore\n".encode("latin-1")
    assert len(lines) == 1 and lines[0].startswith(f"{path}:1: left as it was (cp1252 has no")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.html", b"<p>a\0b</p>", r"a.html:1: has a NUL"),
        ("a.txt", b"gut\nsch\xf6n\n", r"a.txt:2: byte 8 of the file is not UTF-8"),
        ("a.html", b'<meta charset="klingon">', r"a.html: declares the encoding 'klingon'"),
        ("a.html", b'<meta charset="hex">', r"a.html: declares the encoding 'hex'"),
        ("a.json", b'{"a": "b",\n "c" 3}', r"a.json:2: is not valid JSON: Expecting ':' delimiter, column 6"),
        ("a.json", b"[" * 100_000, r"a.json: is nested too deeply"),
        ("a.xliff", b"<xliff>\n<file></xliff>", r"a.xliff:2: is not well-formed XML: mismatched tag, column"),
        (
            "a.xliff",
            b'<!DOCTYPE x [\n<!ENTITY e SYSTEM "file:///etc/passwd">]><xliff>&e;</xliff>',
            r"a.xliff:2: declares",
        ),
        ("a.xliff", b"<html/>", r"a.xliff:1: is XML, but not XLIFF"),
        ("a.po", b'msgid "a"\nmsgstr "b\n', r"a.po:2: is neither a comment nor"),
        ("a.csv", b'text\n"offen\n', r"a.csv:2: a quoted cell does not end"),
        ("a.csv", b"a,b\n1,2\n", r"a.csv:1: has no column text. Give one of these, or its number: a, b"),
        ("a.srt", b"kein Untertitel\n", r"a.srt:1: has no line with times"),
        ("a.vtt", b"kein Untertitel\n", r"a.vtt:1: does not start with WEBVTT"),
        ("a.docx", b"PK\3\4 kein Zip", r"a.docx: is not a complete zip file"),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", r"a.docx: is password-protected"),
        ("a.doc", b"x", r"a.doc: is not a kind of document that hopefear knows"),
    ],
)
def test_bad_input_is_one_line(name: str, data: bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_document(data, name, column="text")
    assert str(caught.value).startswith(message.replace("\\", "")) and "\n" not in str(caught.value)


def test_a_table_needs_a_column() -> None:
    with pytest.raises(InputError, match="Choose one with --column: a, b"):
        read_document(b"a,b\n1,2\n", "a.csv")


def test_kinds_of_documents() -> None:
    assert is_document("a/b.HTML") and is_document(Path("x.docx")) and not is_document("x.pdf")
    assert set(SUFFIXES) == {Path(name).suffix for name in FILES} | {".markdown", ".htm", ".xhtml"}
