"""What a request says: read within limits, and every value checked for its type."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from hopefear.serve.multipart import Upload, add_value, parse_multipart
from hopefear.serve.settings import Limits, RequestError

DEEPEST = 8  # lists and objects within each other


@dataclass(frozen=True)
class Body:
    """The values of a request, from JSON, a form or the address."""

    values: Mapping[str, Any]
    files: Mapping[str, Upload] = field(default_factory=dict)
    form: bool = False  #: line ends of forms are CR LF, numbers are text

    def text(self, name: str, default: str | None = None) -> str:
        """A string; without ``default`` it must be there."""
        value = self.values.get(name)
        if value is None or value == "":
            if default is None:
                raise RequestError(400, f"Invalid request: missing {name} parameter")
            return default
        if not isinstance(value, str):
            raise RequestError(400, f"Invalid request: {name} parameter is not a string")
        return self._clean(name, value)

    def texts(self, name: str, limits: Limits) -> tuple[list[str], bool]:
        """A string or a list of strings within limits, and whether it was a list."""
        texts, many = self._texts(name)
        if len(texts) > limits.texts:
            raise RequestError(
                400, f"Invalid request: request ({len(texts)}) exceeds text limit ({limits.texts} texts)"
            )
        if (characters := sum(map(len, texts))) > limits.characters:
            limit = f"text limit ({limits.characters} characters)"
            raise RequestError(400, f"Invalid request: request ({characters}) exceeds {limit}")
        return texts, many

    def _texts(self, name: str) -> tuple[list[str], bool]:
        value = self.values.get(name)
        if isinstance(value, list):
            if not value:
                raise RequestError(400, f"Invalid request: missing {name} parameter")
            if not all(isinstance(item, str) for item in value):
                raise RequestError(400, f"Invalid request: {name} parameter has something that is not a string")
            return [self._clean(name, item) for item in value], True
        return [self.text(name)], False

    def count(self, name: str, default: int, most: int) -> int:
        """A whole number from 0."""
        value = self.values.get(name, default)
        if isinstance(value, str) and self.form and value.strip().isascii() and value.strip().isdigit():
            value = int(value[:20])
        if isinstance(value, bool) or not isinstance(value, int):
            raise RequestError(400, f"Invalid request: {name} parameter is not a number")
        if value > most:
            raise RequestError(400, f"Invalid request: {name} parameter must be <= {most}")
        return max(0, value)

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        value = self.text(name, choices[0])
        if value not in choices:
            raise RequestError(400, f"{value[:40]} {name} is not supported; choose from {', '.join(choices)}")
        return value

    def flag(self, name: str) -> bool:
        value = self.values.get(name, False)
        if self.form and value in ("true", "false", "1", "0", ""):
            return value in ("true", "1")
        if not isinstance(value, bool):
            raise RequestError(400, f"Invalid request: {name} parameter is neither true nor false")
        return value

    def _clean(self, name: str, text: str) -> str:
        if "\0" in text:
            raise RequestError(400, f"Invalid request: {name} parameter has a NUL character")
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise RequestError(400, f"Invalid request: {name} parameter has half a surrogate pair") from None
        return text.replace("\r\n", "\n") if self.form and "\r" in text else text


async def read_body(request: Request, limits: Limits, files: bool = False) -> Body:
    """The body of a request. To a form belongs what is in the query of its address; the form itself has precedence."""
    kind, _, parameters = request.headers.get("content-type", "").partition(";")
    kind = kind.strip().lower()
    multipart, query = kind == "multipart/form-data", request.scope.get("query_string", b"")
    data = await _read(request, limits, limits.file_bytes + 65_536 if multipart and files else limits.body_bytes)
    if multipart:
        values, uploads = parse_multipart(data, parameters, limits.texts + 20)
        return Body({**_form(query, limits.texts + 20), **values}, uploads, form=True)
    if kind.endswith("json") or data.lstrip()[:1] == b"{":
        return Body(_json(data))
    return Body({**_form(query, limits.texts + 20), **_form(data, limits.texts + 20)}, form=True)


async def _read(request: Request, limits: Limits, most: int) -> bytes:
    declared = request.headers.get("content-length", "0")
    if not (declared.isascii() and declared.isdigit()):
        raise RequestError(400, "Invalid request: Content-Length is not a number")
    if len(declared) > 15 or int(declared) > most:
        raise RequestError(413, f"the request is too large: at most {most} bytes are read")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise RequestError(415, "packed requests are not read: send the body without Content-Encoding")
    pieces, size = [], 0
    try:
        async with asyncio.timeout(limits.seconds):
            async for piece in request.stream():
                size += len(piece)
                if size > most:
                    raise RequestError(413, f"the request is too large: at most {most} bytes are read")
                pieces.append(piece)
    except TimeoutError:
        raise RequestError(408, "the request did not arrive in time") from None
    except ClientDisconnect:
        raise RequestError(400, "the request ended early") from None
    return b"".join(pieces)


def _json(data: bytes) -> dict[str, Any]:
    try:
        if data.count(b"[") + data.count(b"{") > DEEPEST and _depth(data) > DEEPEST:
            raise ValueError
        value = json.loads(data.decode("utf-8-sig"), parse_constant=_refused)
    except (ValueError, RecursionError):  # also wrong UTF-8, NaN, numbers of thousands of digits
        raise RequestError(400, "Invalid JSON format") from None
    if not isinstance(value, dict):
        raise RequestError(400, "Invalid JSON format")
    return value


def _refused(name: str) -> None:
    raise ValueError(name)


def _depth(data: bytes) -> int:
    """How deep brackets go that are not in strings; an upper bound, as the parser has the last word."""
    deepest = depth = 0
    for piece in data.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]:
        for byte in piece:
            if byte in b"[{":
                depth += 1
                deepest = max(deepest, depth)
            elif byte in b"]}":
                depth -= 1
    return deepest


def _form(data: bytes, most: int) -> dict[str, Any]:
    values: dict[str, Any] = {}
    try:
        pairs = parse_qsl(
            data.decode("utf-8"), keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=most
        )
    except ValueError:
        raise RequestError(400, "Invalid request: the form is not UTF-8, or has too many fields") from None
    for name, value in pairs:
        add_value(values, name, value)
    return values
