"""The state of unfinished work: one file each, JSON or arrays, which appears whole or not at all. No pickle."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear.errors import InputError, input_error
from hopefear.util.files import atomic_write
from hopefear.util.values import plain

Arrays = dict[str, NDArray[Any]]
CURE = "Delete it, or start again with --overwrite"


def save(path: Path, state: Mapping[str, Any]) -> None:
    """Keep a state as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        json.dump(plain(dict(state)), file, ensure_ascii=False, allow_nan=False)


def load(path: Path) -> dict[str, Any] | None:
    """What ``save`` kept, or None."""
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise InputError(f"{path}: not a checkpoint ({error}). {CURE}") from None
    if not isinstance(state, dict):
        raise InputError(f"{path}: not a checkpoint. {CURE}")
    return state


def save_arrays(path: Path, about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Keep arrays, and what is to be said about them, in one file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = np.frombuffer(json.dumps(plain(dict(about))).encode(), np.uint8)
    with atomic_write(path, "wb") as file:
        np.savez(file, about=text, **arrays)  # type: ignore[arg-type]


def load_arrays(path: Path) -> tuple[dict[str, Any], Arrays] | None:
    """What ``save_arrays`` kept, or None."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as held:
            arrays = {name: held[name] for name in held.files}
            return dict(json.loads(arrays.pop("about").tobytes())), arrays
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise input_error(path, None, f"not a checkpoint ({error}). {CURE}") from None
