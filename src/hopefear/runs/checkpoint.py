"""The state of unfinished work: one file each, JSON or arrays, which appears complete or not at all. No pickle."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import checksum
from hopefear.errors import input_error
from hopefear.util.files import atomic_write, printable, read_whole
from hopefear.util.unpacking import check_size
from hopefear.util.values import plain

Arrays = dict[str, NDArray[Any]]
CURE = "Delete it, or start again with --overwrite"


def save(path: Path, state: Mapping[str, Any]) -> None:
    """Keep a state as JSON, with a checksum."""
    path.parent.mkdir(parents=True, exist_ok=True)
    values = plain(dict(state))
    with atomic_write(path) as file:
        json.dump({"checksum": _checksum(values), **values}, file, ensure_ascii=False, allow_nan=False)


def load(path: Path) -> dict[str, Any] | None:
    """The saved state, or None."""
    try:
        state = json.loads(read_whole(path).decode("utf-8"))
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        raise input_error(path, None, f"not a checkpoint ({error}). {CURE}") from None
    if not isinstance(state, dict) or state.pop("checksum", None) != _checksum(state):
        raise input_error(path, None, f"not a checkpoint: its checksum is wrong. {CURE}")
    return state


def _checksum(state: Mapping[str, Any]) -> str:
    return f"{checksum(json.dumps(state, sort_keys=True).encode()):016x}"


def save_arrays(path: Path, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Keep arrays and their description in one file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {"about": plain(dict(about)), "arrays": sorted(arrays)}
    text = np.frombuffer(json.dumps(head).encode(), np.uint8)
    with atomic_write(path, "wb") as file:
        np.savez(file, about=text, **arrays)  # type: ignore[arg-type]


def load_arrays(path: Path) -> tuple[dict[str, Any], Arrays] | None:
    """The saved arrays and their description, or None."""
    if not path.exists():
        return None
    arrays = read_npz(path)
    try:
        head = json.loads(arrays.pop("about").tobytes())
        if head["arrays"] != sorted(arrays):
            raise ValueError("arrays are missing")
        return dict(head["about"]), arrays
    except (ValueError, KeyError, TypeError) as error:
        raise input_error(path, None, f"not a checkpoint ({error}). {CURE}") from None


def read_npz(path: Path) -> Arrays:
    """All arrays of a file of NumPy, compared with their checksums, which NumPy itself does not do."""
    try:
        with zipfile.ZipFile(path) as archive:
            check_size(path, sum(member.file_size for member in archive.infolist()))
            damaged = archive.testzip()
        if damaged is not None:
            raise ValueError(f"{damaged} has a wrong checksum")
        with np.load(path, allow_pickle=False) as held:
            arrays = {name: held[name] for name in held.files}
        if strange := [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]:
            raise ValueError(f"{printable(strange[0])} is no array")
        return arrays
    except FileNotFoundError:
        raise
    except Exception as error:  # a damaged header can mean anything
        raise input_error(path, None, f"not a checkpoint ({printable(' '.join(str(error).split()))}). {CURE}") from None
