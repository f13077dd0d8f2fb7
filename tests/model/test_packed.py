"""Packed translators: back as they were, and nothing that was made to do harm."""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hopefear.decode import Hiero
from hopefear.errors import InputError
from hopefear.model.directory import Model
from hopefear.model.packed import pack, unpacked


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOPEFEAR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def packed(task: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return pack(task / "model", tmp_path_factory.mktemp("packed") / "own.hft")


def test_a_packed_model_is_the_model(task: Path, packed: Path, cache: Path) -> None:
    folder = unpacked(packed)
    assert folder.parent == cache and folder.stat().st_mode & 0o777 == (task / "model").stat().st_mode & 0o777
    before = {path.name: path.read_bytes() for path in (task / "model").iterdir()}
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    lines = (task / "dev.source").read_text().splitlines()
    assert Hiero(Model.open(packed)).translate(lines) == Hiero(Model.open(task / "model")).translate(lines)


def test_the_same_model_gives_the_same_bytes(task: Path, packed: Path, tmp_path: Path) -> None:
    assert pack(task / "model", tmp_path / "again.hft", jobs=1).read_bytes() == packed.read_bytes()


def test_a_file_of_many_pieces(task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopefear.model.packed._PIECE", 1000)
    folder = unpacked(pack(task / "model", tmp_path / "small.hft"))
    assert (folder / "grammar.bin").read_bytes() == (task / "model" / "grammar.bin").read_bytes()


def test_it_is_unpacked_once_whoever_asks(packed: Path, cache: Path) -> None:
    folders: list[Path] = []
    threads = [threading.Thread(target=lambda: folders.append(unpacked(packed))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(folders)) == 1 and len(folders) == 8
    assert {path.suffix for path in cache.iterdir() if path.is_dir()} == {""}
    inode = (folders[0] / "grammar.bin").stat().st_ino
    assert (unpacked(packed) / "grammar.bin").stat().st_ino == inode


def test_a_cut_cache_is_made_again(packed: Path) -> None:
    folder = unpacked(packed)
    os.truncate(folder / "grammar.bin", 100)
    assert Model.open(packed).path == folder
    assert (folder / "grammar.bin").stat().st_size > 100


def test_any_flipped_byte_is_noticed(packed: Path, tmp_path: Path) -> None:
    data = packed.read_bytes()
    for place in range(0, len(data), max(1, len(data) // 150)):
        bad = tmp_path / "bad.hft"
        bad.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        try:
            folder = unpacked(bad)
        except InputError as error:
            assert str(error).startswith(f"{bad}: ") and "\n" not in str(error)
        else:  # a byte that no reader looks at
            assert {p.name: p.read_bytes() for p in folder.iterdir()} == {
                p.name: p.read_bytes() for p in unpacked(packed).iterdir()
            }


def test_a_cut_file_is_noticed(packed: Path, tmp_path: Path) -> None:
    data = packed.read_bytes()
    for length in (0, 1, 100, len(data) // 2, len(data) - 1):
        (tmp_path / "cut.hft").write_bytes(data[:length])
        with pytest.raises(InputError, match=r"cut\.hft: .*not a packed translator"):
            unpacked(tmp_path / "cut.hft")


def rewritten(packed: Path, out: Path, change: Callable[[dict[str, bytes], dict[str, Any]], None]) -> Path:
    """The same archive with other members, and a manifest that agrees with them unless ``change`` sees to it."""
    with zipfile.ZipFile(packed) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "manifest.json"}
        head = json.loads(archive.read("manifest.json"))
    change(members, head)
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.writestr("manifest.json", json.dumps(head))
    return out


def entry(content: bytes, **more: Any) -> tuple[bytes, dict[str, Any]]:
    data = lzma.compress(content)
    about = {"bytes": len(content), "packed": len(data), "sha256": hashlib.sha256(content).hexdigest()}
    return data, about | more


@pytest.mark.parametrize(
    "name",
    ["../evil.txt", "/evil.txt", "a/b.txt", "..\\evil.txt", "C:evil.txt", ".hidden.json", "run.py", "x.so", "a\0.txt"],
)
def test_no_name_leaves_the_folder(packed: Path, tmp_path: Path, cache: Path, name: str) -> None:
    def change(members: dict[str, bytes], head: dict[str, Any]) -> None:
        members[f"{name}.xz"], head["files"][name] = entry(b"evil")

    with pytest.raises(InputError, match=r"which does not belong to a model|does not have the files"):
        unpacked(rewritten(packed, tmp_path / "evil.hft", change))
    assert not cache.exists() and not (tmp_path / "evil.txt").exists()


def test_a_bomb_is_refused(packed: Path, tmp_path: Path, cache: Path) -> None:
    def honest(members: dict[str, bytes], head: dict[str, Any]) -> None:
        members["bomb.txt.xz"], head["files"]["bomb.txt"] = entry(bytes(1 << 26))

    def lying(members: dict[str, bytes], head: dict[str, Any]) -> None:
        members["bomb.txt.xz"], head["files"]["bomb.txt"] = entry(bytes(1 << 26), bytes=1000)

    with pytest.raises(InputError, match="This is not a genuine translator"):
        unpacked(rewritten(packed, tmp_path / "bomb.hft", honest))
    with pytest.raises(InputError, match=r"bomb\.txt is not what its manifest says"):
        unpacked(rewritten(packed, tmp_path / "bomb.hft", lying))
    assert not [path for path in cache.iterdir() if path.is_dir()]


def test_members_and_manifest_agree(packed: Path, tmp_path: Path) -> None:
    def more(members: dict[str, bytes], head: dict[str, Any]) -> None:
        members["stowaway.txt.xz"], _ = entry(b"")

    def fewer(members: dict[str, bytes], head: dict[str, Any]) -> None:
        del members["grammar.bin.xz"]

    def other_version(members: dict[str, bytes], head: dict[str, Any]) -> None:
        head["version"] = 7

    def no_model(members: dict[str, bytes], head: dict[str, Any]) -> None:
        del members["model.json.xz"], head["files"]["model.json"]

    def wrong_types(members: dict[str, bytes], head: dict[str, Any]) -> None:
        head["files"]["model.json"]["bytes"] = "many"

    for change, message in [
        (more, "does not have the files"),
        (fewer, "does not have the files"),
        (other_version, "is packed in version 7"),
        (no_model, "has no model.json"),
        (wrong_types, "damaged manifest"),
    ]:
        with pytest.raises(InputError, match=message):
            unpacked(rewritten(packed, tmp_path / "x.hft", change))


def test_what_is_no_packed_file(tmp_path: Path, task: Path) -> None:
    (tmp_path / "text").write_text("no archive")
    with pytest.raises(InputError, match="text: is not a packed translator"):
        Model.open(tmp_path / "text")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    with pytest.raises(InputError, match=r"has? no manifest|is not a packed translator"):
        Model.open(tmp_path / "empty.zip")
    with pytest.raises(InputError, match="is a directory"):
        pack(task / "model", tmp_path)
    with pytest.raises(InputError, match="no such model directory"):
        Model.open(tmp_path / "nothing")


def test_a_cache_that_cannot_be_made(packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOPEFEAR_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(InputError, match="HOPEFEAR_CACHE"):
        unpacked(packed)
