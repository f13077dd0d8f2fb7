"""One file in place of a model directory, easy to send: ``translator.hft``.

    pack("translator", "translator.hft")
    unpacked("translator.hft")              # a folder in the cache, made once

The file is a ZIP archive of what the directory has from us, each file compressed by xz, with a manifest that has sizes
and SHA-256 of all of them. There is no code in it, and nothing of it is executed. It is unpacked once into a folder of
the cache (``HOPEFEAR_CACHE``, else ``~/.cache/hopefear``) that is named by the manifest, under these rules: names are
plain names of kinds of files that we write, each file has exactly the size and checksum of the manifest, and nothing
grows to more than 200 times what is packed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import lzma
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from hopefear import __version__
from hopefear.errors import input_error
from hopefear.util.atomic import atomic_file, atomic_folder
from hopefear.util.files import PathLike
from hopefear.util.messages import printable
from hopefear.util.processes import cores

#: What a packed file may have besides the files that ``model.json`` lists.
MORE = ("model.json", "card.json", "glossary.tsv")
_FORMAT, _VERSION = "hopefear packed translator", 1
_MANIFEST = "manifest.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*\.(?:json|bin|npz|txt|tsv)")
_PIECE = 1 << 24  # bytes that are compressed on their own, so that all cores help
_PRESET = 3
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": _PRESET}]
_MEMORY = 1 << 27  # that decompression may take
_GROWTH, _SMALL = 200, 1 << 20  # a file may grow so many times, and so many bytes more
_LONGEST_MANIFEST = 1 << 20
_AGAIN = "Copy it again, or pack the translator again"


def is_packed(path: PathLike) -> bool:
    """Whether this is a file and no directory: then it must be a packed one."""
    return Path(path).is_file()


def pack(folder: PathLike, file: PathLike, jobs: int = 0) -> Path:
    """Packs a translator, or any model directory; the file appears complete or not at all."""
    from hopefear.model.directory import Model

    folder, file = Path(folder), Path(file)
    if file.is_dir():
        raise input_error(file, None, "is a directory. Give a file, such as translator.hft")
    model = Model.open(folder, jobs=jobs)  # all checksums are right
    names = [*model.info["files"], *(name for name in MORE if (model.path / name).is_file())]
    if wrong := [name for name in names if not _NAME.fullmatch(name)]:
        raise input_error(model.path / wrong[0], None, "has a name that cannot be packed. Rename it")
    about: dict[str, dict[str, Any]] = {}
    with atomic_file(file) as aside, zipfile.ZipFile(aside, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(names):
            with archive.open(_member(f"{name}.xz"), "w", force_zip64=True) as out:
                about[name] = _compress(model.path / name, out, jobs)
        head = {"format": _FORMAT, "version": _VERSION, "hopefear": __version__, "files": about}
        archive.writestr(_member(_MANIFEST), json.dumps(head, indent=1).encode())
    return file


def _member(name: str) -> zipfile.ZipInfo:
    """Without a date: the same translator gives the same bytes."""
    return zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))


def _compress(path: Path, out: IO[bytes], jobs: int) -> dict[str, Any]:
    """The file as xz, in pieces. What the manifest says of it."""
    digest, size, packed = hashlib.sha256(), 0, 0
    with path.open("rb") as file, ThreadPoolExecutor(jobs or cores()) as pool:
        waiting: list[Any] = []

        def write() -> int:
            return out.write(waiting.pop(0).result())

        while (piece := file.read(_PIECE)) or size == 0:
            digest.update(piece)
            waiting.append(pool.submit(lzma.compress, piece, lzma.FORMAT_XZ, lzma.CHECK_CRC32, None, _FILTERS))
            size += len(piece)
            if len(waiting) > 2 * (jobs or cores()):
                packed += write()
            if not piece:
                break
        while waiting:
            packed += write()
    return {"bytes": size, "packed": packed, "sha256": digest.hexdigest()}


def unpacked(file: PathLike) -> Path:
    """The folder in the cache with what a packed file has; it is made if it is not there yet."""
    file = Path(file)
    with _opened(file) as archive:
        text, files = _manifest(archive, file)
        folder = _cache(file) / f"packed-{hashlib.sha256(text).hexdigest()[:32]}"
        if _is_whole(folder, files):
            return folder
        with _locked(folder.with_name(f"{folder.name}.lock")):
            if not _is_whole(folder, files):
                _unpack(archive, file, files, folder)
    return folder


@contextmanager
def _opened(file: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except FileNotFoundError:
        raise input_error(file, None, "no such file") from None
    except (zipfile.BadZipFile, lzma.LZMAError, EOFError, RuntimeError, UnicodeDecodeError) as error:
        reason = printable(f"{type(error).__name__}: {error}") if str(error) else type(error).__name__
        finding = f"is not a packed translator, or is damaged ({reason})"
        raise input_error(file, None, f"{finding}. {_AGAIN}") from None


def _manifest(archive: zipfile.ZipFile, file: Path) -> tuple[bytes, dict[str, dict[str, Any]]]:
    """The manifest and its files. Raises an error for anything that this program would not have written."""
    members = archive.infolist()
    by_name = {member.filename: member for member in members}
    if any(member.header_offset < 0 for member in members):
        raise input_error(file, None, f"is damaged: parts of it are missing. {_AGAIN}")
    if _MANIFEST not in by_name:
        raise input_error(file, None, "is not a packed translator: it has no manifest.json. Make one: hopefear pack")
    if by_name[_MANIFEST].file_size > _LONGEST_MANIFEST or by_name[_MANIFEST].compress_type != zipfile.ZIP_STORED:
        raise input_error(file, None, f"has a manifest.json that hopefear did not write. {_AGAIN}")
    text = archive.read(_MANIFEST)
    try:
        head = json.loads(text)
        files = {str(name): _entry(about) for name, about in head["files"].items()}
        version, ours = head["version"], head["format"] == _FORMAT
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        raise input_error(file, None, f"has a damaged manifest.json. {_AGAIN}") from None
    if not ours:
        raise input_error(file, None, "is not a packed translator. Make one: hopefear pack")
    if version != _VERSION:
        finding = f"is packed in version {version}, and this hopefear reads version {_VERSION}"
        raise input_error(file, None, f"{finding}. Update hopefear, or pack it again")
    if wrong := [name for name in files if not _NAME.fullmatch(name)]:
        finding = f"has a file named {wrong[0]!r}, which does not belong to a model"
        raise input_error(file, None, f"{finding}. Do not use it")
    if len(members) != len(by_name) or by_name.keys() != {_MANIFEST, *(f"{name}.xz" for name in files)}:
        raise input_error(file, None, f"does not have the files that its manifest names. {_AGAIN}")
    if "model.json" not in files:
        raise input_error(file, None, f"has no model.json. {_AGAIN}")
    for name, about in files.items():
        member = by_name[f"{name}.xz"]
        if member.compress_type != zipfile.ZIP_STORED or member.file_size != about["packed"]:
            raise input_error(file, None, f"has {name} otherwise than its manifest says. {_AGAIN}")
        if about["bytes"] > _GROWTH * about["packed"] + _SMALL:
            finding = f"has {name}, of which {about['packed']} bytes would become {about['bytes']}"
            raise input_error(file, None, f"{finding}. This is not a genuine translator: do not use it")
    return text, files


def _entry(about: Mapping[str, Any]) -> dict[str, Any]:
    size, packed, digest = about["bytes"], about["packed"], about["sha256"]
    if not (type(size) is int and type(packed) is int and isinstance(digest, str) and size >= 0 and packed >= 0):
        raise ValueError
    return {"bytes": size, "packed": packed, "sha256": digest}


def _is_whole(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> bool:
    """The checksums are compared when the model is opened."""
    try:
        return all((folder / name).stat().st_size == about["bytes"] for name, about in files.items())
    except OSError:
        return False


def _cache(file: Path) -> Path:
    named = os.environ.get("HOPEFEAR_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    folder = Path(named) if named else base / "hopefear"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        finding = f"cannot be unpacked into {folder} ({error.strerror})"
        raise input_error(file, None, f"{finding}. Give another folder: HOPEFEAR_CACHE") from None
    return folder


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _unpack(archive: zipfile.ZipFile, file: Path, files: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    with atomic_folder(folder, lambda old: [entry.name for entry in old.iterdir()]) as aside:
        for name, about in files.items():
            with archive.open(f"{name}.xz") as packed, (aside / name).open("xb") as out:
                digest, size = hashlib.sha256(), 0
                for piece in _decompressed(packed, about["bytes"]):
                    digest.update(piece)
                    size += out.write(piece)
            if size != about["bytes"] or digest.hexdigest() != about["sha256"]:
                raise input_error(file, None, f"is damaged: {name} is not what its manifest says. {_AGAIN}")


def _decompressed(packed: IO[bytes], most: int) -> Iterator[bytes]:
    """The content of xz streams one behind the other, of which one byte too many is read at most."""
    left, data = most + 1, b""
    while left > 0:
        data = data or packed.read(1 << 20)
        if not data:
            return
        decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, _MEMORY)
        while not decompressor.eof and left > 0:
            if decompressor.needs_input and not data and not (data := packed.read(1 << 20)):
                raise EOFError("it ends in the middle of a file")
            piece = decompressor.decompress(data, min(left, 1 << 20))
            data = b""
            left -= len(piece)
            yield piece
        data = decompressor.unused_data
