import gzip
import lzma
import sys
from pathlib import Path

import pytest
import zstandard

from hopefear import InputError
from hopefear.util import files
from hopefear.util.files import (
    atomic_folder,
    atomic_write,
    is_plain,
    is_remote,
    iter_bytes,
    iter_lines,
    open_bytes,
    open_text,
    output,
    path_list,
    path_name,
    read_lines,
    read_references,
)


def test_text_appears_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "weights.txt"
    with atomic_write(path) as file:
        file.write("größer 1\n")
        assert not path.exists()
    assert path.read_bytes() == "größer 1\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "weights.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_write(path, "wb") as file:
        file.write(b"new")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_permissions_are_those_of_an_ordinary_file(tmp_path: Path) -> None:
    (tmp_path / "ordinary").write_text("")
    with atomic_write(tmp_path / "new"):
        pass
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "ordinary").stat().st_mode


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    with atomic_write(tmp_path / "link") as file:
        file.write("x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "x"


@pytest.mark.parametrize(("path", "error"), [(".", IsADirectoryError), ("missing/file", FileNotFoundError)])
def test_the_error_names_the_file_that_was_asked_for(tmp_path: Path, path: str, error: type[OSError]) -> None:
    with pytest.raises(error) as raised, atomic_write(tmp_path / path):
        pass
    assert raised.value.filename == str(tmp_path / path)


def test_a_device_is_written_in_place() -> None:
    with atomic_write("/dev/null") as file:
        file.write("x")
    assert Path("/dev/null").is_char_device()


def pack(name: str, data: bytes) -> bytes:
    if name == "gz":
        return gzip.compress(data, compresslevel=1)
    if name == "xz":
        return lzma.compress(data, preset=0)
    return zstandard.ZstdCompressor().compress(data)


DATA = b"".join(b"line %d\n" % i for i in range(100_000))


@pytest.mark.parametrize("name", ["gz", "xz", "zst"])
def test_packed_files_are_detected_by_their_bytes(tmp_path: Path, name: str) -> None:
    path = tmp_path / "no_suffix"
    path.write_bytes(pack(name, DATA))
    with open_bytes(path) as file:
        assert file.read() == DATA
    path.write_bytes(pack(name, DATA) + pack(name, b"more\n"))
    assert read_lines(path)[-2:] == ["line 99999", "more"]
    plain = tmp_path / f"plain.{name}"
    plain.write_bytes(b"plain\n")
    assert read_lines(plain) == ["plain"]


@pytest.mark.parametrize("name", ["gz", "xz", "zst"])
def test_cut_and_damaged_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"file.{name}"
    good = pack(name, DATA)
    for cut in [10, 100, len(good) // 2, len(good) - 1]:
        path.write_bytes(good[:cut])
        with pytest.raises(
            InputError, match=rf"^{path}: the \w+ data ends too soon. Was the file cut off\? Copy it again$"
        ):
            read_lines(path)
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 0xFF
    path.write_bytes(flipped)
    if name != "zst":  # whose frames have no checksum unless one asks for it
        with pytest.raises(InputError, match=rf"^{path}: the \w+ data is damaged \(.*\). Copy or make the file again$"):
            read_lines(path)
    path.write_bytes(good + b"rubbish")
    with pytest.raises(InputError, match=r"data is damaged|ends too soon"):
        read_lines(path)


def test_a_packed_bomb_is_read_in_pieces(tmp_path: Path) -> None:
    for name in ["gz", "xz", "zst"]:
        path = tmp_path / name
        path.write_bytes(pack(name, bytes(100 << 20)))
        sizes = [len(piece) for piece in iter_bytes(path, files.UNLIMITED)]
        assert sum(sizes) == 100 << 20
        assert max(sizes) <= 64 << 20


def test_lines(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\x0bfour\xe2\x80\xa8five\n\n\xef\xbb\xbflast")
    assert read_lines(path) == ["one", "two three\x0bfour\u2028five", "", "\ufefflast"]
    path.write_bytes(b"")
    assert read_lines(path) == []
    path.write_bytes(b"\n" * 3)
    assert read_lines(path) == ["", "", ""]
    path.write_bytes(b"x" * (3 << 20) + b"\n\ny")
    assert [len(line) for line in read_lines(path)] == [3 << 20, 0, 1]


def test_the_line_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(DATA + b"ok\nab\xffc\nok\n")
    with pytest.raises(InputError, match=rf"^{path}:100002: byte 3 is not UTF-8. Convert the file"):
        read_lines(path)


@pytest.mark.parametrize("name", ["plain", "x.gz", "x.xz", "x.zst"])
def test_output_is_packed_by_its_suffix_and_always_the_same(tmp_path: Path, name: str) -> None:
    for folder in ["a", "b"]:
        (tmp_path / folder).mkdir()
        with output(tmp_path / folder / name) as file:
            file.write("größer\n" * 1000)
    assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert read_lines(tmp_path / "a" / name) == ["größer"] * 1000
    assert (len((tmp_path / "a" / name).read_bytes()) < 500) == (name != "plain")
    with pytest.raises(RuntimeError), output(tmp_path / "a" / name, "wb") as file:
        file.write(b"half")
        raise RuntimeError
    assert read_lines(tmp_path / "a" / name) == ["größer"] * 1000


def test_missing_files_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing: no such file or folder. Check the path$"):
        open_bytes(tmp_path / "missing")
    with pytest.raises(InputError, match=r": is a folder. Give a file in it$"):
        open_text(tmp_path)
    with pytest.raises(InputError, match=r"is not a path"):
        open_text("a\0b")
    with pytest.raises(InputError, match=r"is a folder"), output(tmp_path):
        pass


def test_open_text(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\n")
    with open_text(path) as file:
        assert list(file) == ["one\r\n", "two\n"]
    path.write_bytes(b"one\n\xff\n")
    for read in (lambda file: file.read(), list, lambda file: [file.readline() for _ in range(3)]):
        with pytest.raises(InputError, match=rf"^{path}: the text is not UTF-8"), open_text(path) as file:
            read(file)


def test_references_are_at_least_one_file() -> None:
    with pytest.raises(InputError, match=r"references: no file was given"):
        read_references([])


def test_names_in_messages_are_one_line() -> None:
    assert path_name("a\nb\udcff") == "a\\x0ab\\udcff"
    assert path_name("-") == "standard input"


def test_a_folder_appears_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    with atomic_folder(path) as new:
        (new / "a").write_text("1")
        assert not path.exists()
    assert (path / "a").read_text() == "1"
    with pytest.raises(ZeroDivisionError), atomic_folder(path) as new:
        (new / "b").write_text("2")
        raise ZeroDivisionError
    assert [entry.name for entry in path.iterdir()] == ["a"]
    with atomic_folder(path, lambda folder: ["a"]) as new:
        (new / "c").write_text("3")
    assert [entry.name for entry in path.iterdir()] == ["c"]
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_can_be_mapped(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"text")
    (tmp_path / "packed").write_bytes(gzip.compress(b"text"))
    answers = [is_plain(tmp_path / name) for name in ("plain", "packed", "nowhere")]
    assert answers == [True, False, False]
    assert not is_plain(tmp_path) and not is_plain("a\0b")


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    """A file of zeros, and one that grows a thousandfold when it is unpacked."""
    monkeypatch.setattr(files, "LONGEST", 5 << 20)
    path = tmp_path / "zeros"
    data = b"one\n" + bytes(20 << 20)
    path.write_bytes(gzip.compress(data) if packed else data)
    lines = iter_lines(path)
    with pytest.raises(InputError, match=r"zeros:[12]: the line has more than 5 MB\. Is this a text file\?"):
        for _ in lines:
            pass
    with pytest.raises(InputError, match=r"zeros:2: the line has more than 5 MB"), open_text(path) as file:
        for _ in file:
            pass
    path.write_bytes(b"".join(b"x" * (4 << 20) + b"\n" for _ in range(3)))
    assert [len(line) for line in iter_lines(path)] == [4 << 20] * 3


def test_one_path_or_several(tmp_path: Path) -> None:
    assert (
        path_list("a") == ["a"] and path_list(tmp_path) == [tmp_path] and path_list(("a", tmp_path)) == ["a", tmp_path]
    )


@pytest.mark.parametrize(
    ("path", "remote"),
    [("s3://bucket/dev.nbest", True), ("memory://a", True), ("dev.nbest", False), ("-", False), ("a b://c", False)],
)
def test_what_is_an_address(path: str, remote: bool) -> None:
    assert is_remote(path) == remote


def test_files_of_other_stores_are_read(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://text", "wb") as file:
        file.write(gzip.compress("größer\nkleiner\n".encode()))
    assert read_lines("memory://text") == ["größer", "kleiner"]
    (tmp_path / "text").write_text("a\n")
    assert read_lines(f"file://{tmp_path}/text") == ["a"]
    with pytest.raises(InputError, match=r"^memory://nowhere: no such file\. Check the address"):
        read_lines("memory://nowhere")
    with pytest.raises(InputError, match=r"^nostore://a: cannot be opened .*nostore.* Check the address"):
        read_lines("nostore://a")


def test_without_fsspec_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(
        InputError, match=r"^s3://bucket/a: an address needs fsspec\. Install it: pip install 'hopefear\["
    ):
        read_lines("s3://bucket/a")
