"""State of unfinished work: read as it was saved, or a one-line error."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hopefear.errors import InputError
from hopefear.runs import checkpoint
from hopefear.runs.directory import Run


def test_json_is_read_as_it_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "not" / "there" / "yet.json"
    assert checkpoint.load(path) is None
    checkpoint.save(path, {"w": {"lm": 0.1 + 0.2}, "n": np.int64(3), "bad": float("nan"), "ü": [1, (2,)]})
    assert checkpoint.load(path) == {"w": {"lm": 0.1 + 0.2}, "n": 3, "bad": None, "ü": [1, [2]]}
    assert [file.name for file in path.parent.iterdir()] == ["yet.json"]


def test_arrays_are_read_as_they_were_saved(tmp_path: Path) -> None:
    path = tmp_path / "not" / "there" / "yet.npz"
    assert checkpoint.load_arrays(path) is None
    arrays = {"w": np.array([0.1, -0.0, np.inf]), "keys": np.arange(3, dtype=np.uint64)}
    checkpoint.save_arrays(path, {"epoch": 2}, arrays)
    about, arrays_read = checkpoint.load_arrays(path) or ({}, {})
    assert about == {"epoch": 2}
    assert {name: (array.dtype, array.tobytes()) for name, array in arrays_read.items()} == {
        name: (array.dtype, array.tobytes()) for name, array in arrays.items()
    }


@pytest.mark.parametrize("text", ['{"weights": ', "[1, 2]", "", "\xff", "{}", '{"w": 1}', "[" * 100_000])
def test_damaged_json_is_named(tmp_path: Path, text: str) -> None:
    with Run.open(tmp_path):
        path = tmp_path / "checkpoint" / "replicate-1.json"
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises(InputError, match=r"replicate-1.json: not a checkpoint") as error:
            checkpoint.load(path)
        assert "start again with --overwrite" in str(error.value) and "\n" not in str(error.value)


def test_damaged_arrays_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    checkpoint.save_arrays(path, {"epoch": 2}, {"w": np.arange(100.0)})
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[300] ^= 1
    for data in (b"", b"no", whole[:100], whole[:-100], bytes(flipped)):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"a\.npz: not a checkpoint .* start again with --overwrite") as error:
            checkpoint.load_arrays(path)
        assert "\n" not in str(error.value)
    np.savez(path, w=np.arange(3))  # somebody else's
    with pytest.raises(InputError, match=r"a\.npz: not a checkpoint"):
        checkpoint.load_arrays(path)
    np.savez(path, about=np.array([{}], dtype=object))  # never unpickled
    with pytest.raises(InputError, match=r"a\.npz: not a checkpoint"):
        checkpoint.load_arrays(path)


def flips(whole: bytes) -> Iterator[bytes]:
    """Every byte with one of its bits flipped."""
    for place in range(len(whole)):
        yield whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :]


def test_no_flipped_bit_changes_a_state(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    state = {"w": {"lm": 0.125, "größe": -3}, "history": [{"epoch": 1, "score": 31.25}], "why": None}
    checkpoint.save(path, state)
    for data in flips(path.read_bytes()):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"state\.json: not a checkpoint"):
            checkpoint.load(path)


def test_no_flipped_bit_changes_arrays(tmp_path: Path) -> None:
    path = tmp_path / "arrays.npz"
    arrays = {"w": np.arange(9.0), "keys": np.arange(3, dtype=np.uint64)}
    checkpoint.save_arrays(path, {"epoch": 2}, arrays)
    refused = 0
    for data in flips(path.read_bytes()):
        path.write_bytes(data)
        try:
            about, arrays_read = checkpoint.load_arrays(path) or ({}, {})
        except InputError as error:
            assert str(error).startswith(f"{path}: not a checkpoint") and "\n" not in str(error)
            refused += 1
            continue
        assert about == {"epoch": 2} and arrays_read.keys() == arrays.keys()  # the date of a file inside, say
        assert all(arrays_read[name].tobytes() == arrays[name].tobytes() for name in arrays)
    assert refused > 500
