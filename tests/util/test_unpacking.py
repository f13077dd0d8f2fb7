"""Packed files that have far more in them than files of their size have."""

from __future__ import annotations

import gzip
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
import zstandard

from hopefear import InputError
from hopefear.formats.table import read_table
from hopefear.runs.checkpoint import read_npz
from hopefear.util import unpacking
from hopefear.util.files import UNLIMITED, iter_bytes, read_lines
from hopefear.util.unpacking import RATIO_VARIABLE

PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
}
MESSAGE = (
    r"unpacked it has more than . GB and 200 times its size\. Is it the right file\? If so, set HOPEFEAR_UNPACK_RATIO"
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is large for these tests is made in a moment."""
    monkeypatch.setattr(unpacking, "LARGE", 8 << 20)
    monkeypatch.delenv(RATIO_VARIABLE, raising=False)


def bomb(path: Path, name: str) -> Path:
    """16 MB of lines of which every one is short."""
    path.write_bytes(PACK[name](b"\n" * (16 << 20)))
    return path


@pytest.mark.parametrize("name", PACK)
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, name: str) -> None:
    path, size = bomb(tmp_path / "bomb", name), 0
    with pytest.raises(InputError, match=f"^{path}: {MESSAGE}"):
        for piece in iter_bytes(path, UNLIMITED):
            size += len(piece)
    assert size <= 16 << 20
    with pytest.raises(InputError, match=MESSAGE):
        read_lines(path)


@pytest.mark.parametrize("name", PACK)
def test_the_environment_may_ask_for_more(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bomb(tmp_path / "bomb", name)
    for value in ("0", "100000"):
        monkeypatch.setenv(RATIO_VARIABLE, value)
        assert sum(map(len, iter_bytes(path, UNLIMITED))) == 16 << 20


@pytest.mark.parametrize("value", ["-1", "nan", "many", "inf", ""])
def test_a_limit_that_is_no_number(tmp_path: Path, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RATIO_VARIABLE, value)
    with pytest.raises(InputError, match=r"HOPEFEAR_UNPACK_RATIO is '.*'. Give a number from 0 up"):
        list(iter_bytes(bomb(tmp_path / "bomb", "gz")))


def test_small_files_may_be_packed_well(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(gzip.compress(b"\n" * (4 << 20)))
    assert len(read_lines(tmp_path / "a")) == 4 << 20


def test_a_header_of_xz_that_asks_for_memory(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    (tmp_path / "a").write_bytes(lzma.compress(b"text\n", filters=filters))
    with pytest.raises(InputError, match=r"xz data is damaged .*[Mm]emory"):
        read_lines(tmp_path / "a")


def test_a_checkpoint_is_no_bomb(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros(4 << 20))
    with pytest.raises(InputError, match=MESSAGE):
        read_npz(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as file:
        assert file.namelist() == ["x.npy"]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_table_is_no_bomb(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a.{kind}"
    table = pyarrow.table({"q": np.zeros(1 << 21), "x": np.zeros(1 << 21)})
    if kind == "parquet":
        pyarrow.parquet.write_table(table, path, compression="zstd")
    else:
        options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
        with pyarrow.ipc.new_file(str(path), table.schema, options=options) as writer:
            writer.write_table(table)
    with pytest.raises(InputError, match=MESSAGE):
        read_table(path)
