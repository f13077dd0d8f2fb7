# ruff: noqa: RUF001 -- Cyrillic is meant
"""Every kind of corpus gives the same pairs, and every mistake one line with its place and cure."""

import gzip
import io
import lzma
import random
from pathlib import Path
from typing import Any

import pytest
import zstandard

from hopefear.corpus import read_pairs
from hopefear.errors import InputError
from hopefear.runs.session import Session
from tests.corpus.files import TEXT_FILES, TEXTS, opus_zip, parquet, read, texts_of, tmx, tsv, write_zip


def message(*paths: Path, **more: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(*paths, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", TEXT_FILES)
def test_every_format_gives_the_same_pairs(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(TEXT_FILES[name](), encoding="utf-8")
    pairs = read(path)
    assert texts_of(pairs) == TEXTS
    assert {pair.domain for pair in pairs} == {path.stem}
    assert all(pair.origin.startswith(f"{path}:") for pair in pairs)
    unmarked = tmp_path / "corpus.dat"  # the content tells the kind, but for CSV
    if not name.endswith(".csv"):
        unmarked.write_text(TEXT_FILES[name](), encoding="utf-8")
        assert texts_of(read(unmarked)) == TEXTS


@pytest.mark.parametrize("nested", [False, True])
def test_parquet(tmp_path: Path, nested: bool) -> None:
    pytest.importorskip("pyarrow")
    assert texts_of(read(parquet(tmp_path / "x.parquet", nested=nested))) == TEXTS


@pytest.mark.parametrize("name", ["memory.tmx", "table.tsv", "messages.po", "lines.jsonl"])
def test_packed_files(tmp_path: Path, name: str) -> None:
    data = TEXT_FILES[name]().encode()
    for ending, packed in (
        (".gz", gzip.compress(data)),
        (".xz", lzma.compress(data)),
        (".zst", zstandard.ZstdCompressor().compress(data)),
    ):
        path = tmp_path / (name + ending)
        path.write_bytes(packed)
        pairs = read(path)
        assert texts_of(pairs) == TEXTS
        assert pairs[0].domain == Path(name).stem


def sides(folder: Path, *names: str) -> list[Path]:
    paths = [folder / name for name in names]
    for path, side in zip(paths, zip(*TEXTS, strict=True), strict=True):
        text = ("\n".join(side) + "\n").encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return paths


@pytest.mark.parametrize(
    "names",
    [
        ("x.de", "x.en"),
        ("x.de.gz", "x.en"),
        ("de.txt", "en.txt"),
        ("x.de-DE.txt", "x.en-GB.txt"),
        ("x_deu.txt", "x_eng.txt"),
        ("x.spoken.de", "x.en"),  # the only ones: they belong together
    ],
)
def test_plain_files_find_each_other(tmp_path: Path, names: tuple[str, str]) -> None:
    paths = sides(tmp_path, *names)
    assert texts_of(read(*paths)) == texts_of(read(*reversed(paths))) == TEXTS
    assert texts_of(read(*paths, source="en", target="de")) == [(e, f) for f, e in TEXTS]


def test_plain_files_by_what_they_have_in_common(tmp_path: Path) -> None:
    sides(tmp_path, "x.de.gz", "x.en")
    pairs = read(tmp_path / "x")
    assert texts_of(pairs) == TEXTS
    assert pairs[1].origin == f"{tmp_path / 'x.de.gz'}:2"


def test_plain_files_as_sides(tmp_path: Path) -> None:
    source, target = sides(tmp_path, "one", "two")
    assert texts_of(list(read_pairs([], "de", "en", source_files=[source], target_files=[target]))) == TEXTS


def test_several_files_keep_their_order_and_have_names(tmp_path: Path) -> None:
    sides(tmp_path, "a.de", "a.en")
    (tmp_path / "b.tsv").write_text(tsv())
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.tsv").write_text(tsv())
    opus_zip(tmp_path / "books.zip")
    paths = [tmp_path / name for name in ("a.de", "b.tsv", "a.en", "sub/b.tsv", "books.zip")]
    pairs = read(*paths)
    assert texts_of(pairs) == TEXTS * 4
    assert list(dict.fromkeys(pair.domain for pair in pairs)) == ["a", "b", "b-2", "Books.de-en"]


def test_a_folder(tmp_path: Path) -> None:
    sides(tmp_path, "a.de", "a.en")
    (tmp_path / "b.tmx.gz").write_bytes(gzip.compress(tmx().encode()))
    (tmp_path / "README").write_text("about")
    (tmp_path / ".hidden.tmx").write_text("damaged")
    (tmp_path / "sub").mkdir()
    pairs = read(tmp_path)
    assert texts_of(pairs) == TEXTS * 2
    assert list(dict.fromkeys(pair.domain for pair in pairs)) == ["a", "b"]
    assert message(tmp_path / "sub").endswith("sub: is a folder without a corpus in de or en. Name a file")


def test_a_zip_may_hold_a_memory(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x.zip", {"docs/README.md": "about", "memory.tmx": tmx()})
    pairs = read(path)
    assert texts_of(pairs) == TEXTS
    assert pairs[0].origin == f"{path}/memory.tmx:5"


def test_memory_of_a_large_file_is_bounded(tmp_path: Path) -> None:
    """Pairs come while the file is read, not after it."""
    path = tmp_path / "large.tmx"
    path.write_text(tmx([(f"Satz Nummer {i}.", f"Sentence number {i}.") for i in range(60_000)]))
    pairs = read_pairs([path], "de", "en")
    assert next(pairs).source == "Satz Nummer 0."
    assert sum(1 for _ in pairs) == 59_999


class TestMistakes:
    def test_the_same_file_twice(self, tmp_path: Path) -> None:
        one, _ = sides(tmp_path, "one", "two")
        said = message(source_files=[one], target_files=[one])
        assert said == f"{one}: the same file is given for both sides. Give two files"

    def test_the_same_text_twice(self, tmp_path: Path) -> None:
        sides(tmp_path, "x.de", "x.en")
        (tmp_path / "x.en").write_bytes((tmp_path / "x.de").read_bytes())
        assert "both sides are the same text" in message(tmp_path / "x")

    def test_sides_swapped_by_name(self, tmp_path: Path) -> None:
        source, target = sides(tmp_path, "x.de", "x.en")
        said = message(source_files=[target], target_files=[source])
        assert "by its name it is en, and it was given as de. Swap --source and --target" in said

    def test_sides_swapped_by_their_words(self, tmp_path: Path) -> None:
        texts = [(e, f) for f, e in TEXTS] * 10
        (tmp_path / "x.tsv").write_text(tsv(texts))
        assert "what should be de is en, and the other way round" in message(tmp_path / "x.tsv")
        (tmp_path / "x.tmx").write_text(tmx(texts))
        assert message(tmp_path / "x.tmx").endswith("Its languages are exchanged: correct the codes in the file")

    def test_sides_swapped_by_their_script(self, tmp_path: Path) -> None:
        (tmp_path / "x.tsv").write_text("This is a book.\tЭто книга.\nA dog barks.\tСобака лает.\n" * 4)
        assert "what should be ru is en" in message(tmp_path / "x.tsv", source="ru", target="en")
        assert len(read(tmp_path / "x.tsv", source="en", target="ru")) == 8

    def test_an_empty_side(self, tmp_path: Path) -> None:
        (tmp_path / "x.de").write_text("Ein Satz.\nNoch einer.\n")
        (tmp_path / "x.en").write_text("\n\n")
        assert message(tmp_path / "x") == (
            f"{tmp_path / 'x.en'}: every sentence is empty on the side of en. Check the file and the languages"
        )

    def test_an_empty_side_of_a_long_file(self, tmp_path: Path) -> None:
        (tmp_path / "x.tsv").write_text("\tA sentence.\n" * 5000)
        assert "every sentence is empty on the side of de" in message(tmp_path / "x.tsv")

    def test_lengths(self, tmp_path: Path) -> None:
        (tmp_path / "x.de").write_text("a\nb\nc\n")
        (tmp_path / "x.en").write_text("a\nb\n")
        assert "has 2 lines" in message(tmp_path / "x")

    def test_one_side_alone(self, tmp_path: Path) -> None:
        sides(tmp_path, "x.de", "x.en")
        assert "plain text in de without its counterpart in en" in message(tmp_path / "x.de")

    def test_plain_text_of_no_language(self, tmp_path: Path) -> None:
        (tmp_path / "notes.txt").write_text("Ein Satz.\n")
        assert "Give both sides: --source FILE --target FILE" in message(tmp_path / "notes.txt")

    @pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"])
    def test_nothing(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "x.tsv").write_bytes(content)
        assert str(tmp_path / "x.tsv") in message(tmp_path / "x.tsv")

    def test_a_missing_file(self, tmp_path: Path) -> None:
        assert "no such file" in message(tmp_path / "x.tmx")

    def test_a_memory_as_plain_text(self, tmp_path: Path) -> None:
        one, two = tmp_path / "a.tmx", tmp_path / "b.tmx"
        one.write_text(tmx())
        two.write_text(tmx())
        said = message(source_files=[one], target_files=[two])
        assert "is TMX, and is given as one side of plain text. Give it without --source and --target" in said

    @pytest.mark.parametrize(
        "content, finding",
        [
            (b"<!DOCTYPE html>\n<html><p>Hallo</p></html>", "is HTML, not a corpus"),
            (b'<?xml version="1.0"?><svg/>', "is XML of another kind than TMX and XLIFF, not a corpus"),
            (b"%PDF-1.4 ...", "is a binary file, not a corpus"),
            (b"\x89\0\xff\x01\n\0", "is a binary file, not a corpus"),
            (b'[{"de": "a", "en": "b"}]', "is one JSON array"),
            ("Ein Satz.\tA sentence.\n".encode("utf-16"), "is UTF-16. Convert it"),
        ],
    )
    def test_other_kinds(self, tmp_path: Path, content: bytes, finding: str) -> None:
        (tmp_path / "x.dat").write_bytes(content)
        assert finding in message(tmp_path / "x.dat")

    def test_languages(self, tmp_path: Path) -> None:
        (tmp_path / "x.tsv").write_text(tsv())
        assert "both are the same language" in message(tmp_path / "x.tsv", source="de", target="deu")
        assert "not a language code" in message(tmp_path / "x.tsv", source="German!", target="en")

    def test_counts_of_sides(self, tmp_path: Path) -> None:
        assert "1 source, 0 target files" in message(source_files=[tmp_path / "a"])
        assert "no corpus was given" in message()

    def test_an_office_document(self, tmp_path: Path) -> None:
        path = write_zip(tmp_path / "x.docx", {"[Content_Types].xml": "", "word/document.xml": ""})
        assert "is an office document" in message(path)

    def test_an_empty_zip(self, tmp_path: Path) -> None:
        assert "the zip is empty" in message(write_zip(tmp_path / "x.zip", {"README": "x"}))

    def test_a_zip_in_a_zip(self, tmp_path: Path) -> None:
        inner = write_zip(tmp_path / "x.zip", {"a": "b"}).read_bytes()
        assert "is a zip in a zip, not a corpus" in message(write_zip(tmp_path / "y.zip", {"x.zip": inner}))


class TestHostile:
    def test_a_zip_bomb(self, tmp_path: Path) -> None:
        members = {f"x.{code}": (letter * 500_000 + b"\n") * 120 for code, letter in (("de", b"d"), ("en", b"e"))}
        path = write_zip(tmp_path / "x.zip", members)
        cure = "unpacks to more than 200 times its size, unlike text. Unpack it yourself"
        assert message(path) == f"{path}/x.de: {cure}"

    def test_a_packed_bomb(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("hopefear.util.unpacking.LARGE", 1 << 20)
        (tmp_path / "x.tsv.gz").write_bytes(gzip.compress(b"a\tb\n" * (2 << 20)))
        assert "200 times its size" in message(tmp_path / "x.tsv.gz")

    def test_a_member_that_lies_about_its_size(self, tmp_path: Path) -> None:
        path = write_zip(tmp_path / "x.zip", {"x.tsv": tsv() * 2000})
        data = bytearray(path.read_bytes())
        at = data.rfind(b"PK\x01\x02")
        data[at + 24 : at + 28] = (10).to_bytes(4, "little")
        path.write_bytes(bytes(data))
        assert "x.tsv" in message(path)

    def test_paths_that_leave_their_folder_are_only_names(self, tmp_path: Path) -> None:
        path = write_zip(tmp_path / "x.zip", {"../../etc/x.de": "Ein Satz.\n", "../../etc/x.en": "A sentence.\n"})
        assert texts_of(read(path)) == [("Ein Satz.", "A sentence.")]
        assert [each.name for each in tmp_path.iterdir()] == ["x.zip"]

    def test_a_member_without_a_name(self, tmp_path: Path) -> None:
        path = write_zip(tmp_path / "x.zip", {"x.de": "Ein Satz.\n", "x.en": "A sentence.\n", "~": "?"})
        path.write_bytes(path.read_bytes().replace(b"~", b"\0"))
        assert texts_of(read(path)) == [("Ein Satz.", "A sentence.")]

    def test_names_cannot_move_the_cursor(self, tmp_path: Path) -> None:
        path = write_zip(tmp_path / "x.zip", {"a\x1b[2J.tmx": "<tmx><body>"})
        assert "\x1b" not in message(path)

    def test_encodings_that_are_mixed(self, tmp_path: Path) -> None:
        (tmp_path / "x.tsv").write_bytes("Größe\tsize\n".encode() + "Größe\tsize\n".encode("latin-1"))
        assert message(tmp_path / "x.tsv") == (
            f"{tmp_path / 'x.tsv'}:2: byte 3 is not UTF-8, but earlier lines are: the file mixes encodings. "
            "Convert its parts one by one"
        )

    def test_another_encoding(self, tmp_path: Path) -> None:
        (tmp_path / "x.tsv").write_bytes("Größe\tsize\n".encode("latin-1"))
        assert ":1: byte 3 is not UTF-8. Convert the file: iconv" in message(tmp_path / "x.tsv")

    def test_nul_bytes(self, tmp_path: Path) -> None:
        (tmp_path / "x.tsv").write_bytes(b"a b\tc d\na\0b\tc\n")
        assert f"{tmp_path / 'x.tsv'}:2: a NUL byte" in message(tmp_path / "x.tsv")

    @pytest.mark.parametrize("end", ["\n", ""])
    def test_a_line_of_ten_megabytes(self, tmp_path: Path, end: str) -> None:
        (tmp_path / "x.tsv").write_text("a\tb\n" + "wort " * (2 << 20) + end)
        assert f"{tmp_path / 'x.tsv'}:2: the line has " in message(tmp_path / "x.tsv")

    def test_carriage_returns_and_other_line_ends(self, tmp_path: Path) -> None:
        (tmp_path / "x.tsv").write_bytes("\ufeffein\u2028Satz\ta\u0085sentence\r\nzwei\x0bda\ttwo\r\n".encode())
        assert texts_of(read(tmp_path / "x.tsv")) == [("ein Satz", "a sentence"), ("zwei da", "two")]


def damaged(data: bytes, rng: random.Random) -> bytes:
    way = rng.randrange(5)
    at = rng.randrange(len(data))
    if way == 0:
        return data[:at]
    if way == 1:
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    if way == 2:
        return data[:at] + data[rng.randrange(len(data)) :]
    if way == 3:
        return data[:at] + rng.choice([b"\0", b"\xff", b"<", b'"', b"\t", b"&x;", b"]]>", b"{", b"\n"]) + data[at:]
    return data[:at] + data[at:][: rng.randrange(60)] * 3 + data[at:]


@pytest.mark.parametrize("name", [*TEXT_FILES, "x.zip", "x.parquet", "x.tmx.gz"])
def test_damaged_files_give_pairs_or_one_line(tmp_path: Path, name: str) -> None:
    if name == "x.parquet":
        pytest.importorskip("pyarrow")
        data = parquet(tmp_path / name).read_bytes()
    elif name == "x.zip":
        data = opus_zip(tmp_path / name).read_bytes()
    else:
        data = gzip.compress(tmx().encode()) if name == "x.tmx.gz" else TEXT_FILES[name]().encode()
    rng = random.Random(name)
    refused = 0
    for _ in range(150):
        (tmp_path / name).write_bytes(damaged(data, rng))
        try:
            for pair in read_pairs([tmp_path / name], "de", "en", run=Session()):
                assert "\n" not in pair.source + pair.target
        except InputError as error:
            refused += 1
            assert "\n" not in str(error)
            assert str(error).isprintable()
    assert refused > 5


def test_a_stream_that_cannot_be_read_twice_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(tmx().encode())

    monkeypatch.setattr("sys.stdin", Stdin())
    assert texts_of(list(read_pairs(["-"], "de", "en"))) == TEXTS
