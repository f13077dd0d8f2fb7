"""Weights as JSON: the file that results save, with all that is needed to score; or an object of names and numbers."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from hopefear.errors import input_error
from hopefear.util.files import PathLike

FORMAT, VERSION = "hopefear weights", 1


def checksum(record: Mapping[str, Any]) -> str:
    """Over all keys but the checksum itself."""
    rest = {key: value for key, value in record.items() if key != "checksum"}
    return "sha256:" + hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def parsed(data: bytes, path: PathLike) -> dict[str, Any]:
    """The record in these bytes, checked: ``weights``, and of a saved file the rest."""
    try:
        record = json.loads(data)
    except ValueError as error:
        raise input_error(path, None, f"is not JSON ({error}). Save the weights again") from None
    if isinstance(record, dict) and record and all(map(_is_number, record.values())):
        return {"weights": {name: float(value) for name, value in record.items()}}
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise input_error(path, None, 'is JSON, but not a file of weights: "format" should be "hopefear weights"')
    if record.get("version") != VERSION:
        finding = f"has version {record.get('version')}, and this hopefear reads version {VERSION}"
        raise input_error(path, None, f"{finding}. Save the weights again")
    if record.get("checksum") != checksum(record):
        raise input_error(path, None, "was changed or damaged: its checksum is wrong. Save the weights again")
    return record


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
