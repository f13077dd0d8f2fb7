"""Forms with files in them: multipart/form-data (RFC 7578), from memory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from hopefear.serve.settings import RequestError

_BOUNDARY = re.compile(r"""(?:^|;)\s*boundary=(?:"([^"\r\n]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)""", re.IGNORECASE)
_PARAMETER = re.compile(r""";\s*([A-Za-z*]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))""")
HEADERS = 8_192  # bytes of the headers of a part
LONGEST_NAME = 120  # characters of a file's name


@dataclass(frozen=True)
class Upload:
    """A file that came with a request."""

    name: str  #: as the client calls it, without folders
    data: bytes


def parse_multipart(data: bytes, parameters: str, most: int) -> tuple[dict[str, Any], dict[str, Upload]]:
    """The fields and the files of a form; ``parameters`` are those of its Content-Type."""
    match = _BOUNDARY.search(parameters)
    if match is None:
        raise RequestError(400, "Invalid request: multipart/form-data has no boundary")
    delimiter = b"\r\n--" + (match[1] or match[2]).encode("latin-1", "replace")
    head, *parts = (b"\r\n" + data).split(delimiter, most + 2)
    if head or not parts or not parts[-1].startswith(b"--") or len(parts) > most + 1:
        raise RequestError(400, "Invalid request: the form is damaged, or has too many parts")
    values: dict[str, Any] = {}
    files: dict[str, Upload] = {}
    for part in parts[:-1]:
        headers, blank, content = part.partition(b"\r\n\r\n")
        if not headers.startswith(b"\r\n") or not blank or len(headers) > HEADERS:
            raise RequestError(400, "Invalid request: a part of the form is damaged")
        name, file = _names(headers)
        try:
            if file is None:
                add_value(values, name, content.decode("utf-8"))
            else:
                files[name] = Upload(plain_name(file), content)
        except UnicodeDecodeError:
            raise RequestError(400, "Invalid request: a part of the form is not UTF-8") from None
    return values, files


def add_value(values: dict[str, Any], name: str, value: str) -> None:
    """A field of a form that comes several times is a list."""
    if name not in values:
        values[name] = value
    elif isinstance(values[name], list):
        values[name].append(value)
    else:
        values[name] = [values[name], value]


def _names(headers: bytes) -> tuple[str, str | None]:
    """The name of a part, and that of its file if it is one."""
    for line in headers.decode("utf-8", "replace").split("\r\n"):
        key, _, value = line.partition(":")
        if key.strip().lower() != "content-disposition":
            continue
        kind, semicolon, rest = value.strip().partition(";")
        if kind.strip().lower() != "form-data":
            break
        given = {name.lower(): quoted or bare for name, quoted, bare in _PARAMETER.findall(semicolon + rest)}
        if "name" not in given:
            break
        file = given.get("filename")
        if extended := given.get("filename*"):
            file = unquote(extended.rpartition("'")[2], errors="replace")
        return given["name"], file
    raise RequestError(400, "Invalid request: a part of the form has no name")


def plain_name(name: str) -> str:
    """The last part of a path of any system, without what cannot stand in a name; it is shown, and never opened."""
    name = re.split(r"[/\\]", name)[-1]
    name = "".join(letter for letter in name if letter.isprintable() and letter not in '"<>|:*?\x7f').strip(" .")
    if len(name) > LONGEST_NAME:
        stem, dot, ending = name.rpartition(".")
        name = (
            f"{stem[: LONGEST_NAME - len(ending) - 1]}{dot}{ending}"
            if dot and len(ending) <= 10
            else name[:LONGEST_NAME]
        )
    return name
