"""Requests that are damaged or meant badly, and a client that sends them to an application as they are."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Iterator
from typing import Any
from urllib.parse import urlencode

Request = tuple[str, str, bytes, dict[str, str], bytes]  # method, path, query, headers, body

PATHS = ["/", "/translate", "/detect", "/languages", "/translate_file", "/suggest", "/health", "/frontend/settings"]
PATHS += [
    "/v1/translate",
    "/v1/explain",
    "/v1/documents",
    "/v1/translators",
    "/v1/openapi.json",
    "/v1/docs",
    "/metrics",
]
PATHS += [
    "/page/page.js",
    "/page/../settings.py",
    "/page/..%2f..",
    "/download_file/../../etc/passwd",
    "/v1/documents/x",
]
PATHS += ["/download_file/" + "a" * 32 + ".x.txt", "//", "/\x00", "/translate/", "/%ff%fe", "/" + "a" * 3000]
METHODS = ["GET", *["POST"] * 20, "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "\u017f"]
PLACES = ["/translate", "/detect", "/translate_file", "/v1/translate", "/v1/explain", "/v1/documents"]
TEXTS: list[Any] = [
    "Das Haus",
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "x" * 30_000,
    "\u202e\u200d\u0301",
    "{{x}} %s <b>",
    1,
    -1,
]
TEXTS += [
    1e308,
    True,
    None,
    [],
    {},
    [[]],
    ["a", 1],
    ["a"] * 500,
    {"a": "b"},
    "<script>alert(1)</script>",
    "\U0001f600" * 50,
]
CODES: list[Any] = ["de", "en", "auto", "xx", "", None, 3, ["de"], "de\0", "../..", "DE", "de-" + "x" * 500, "\ud800"]
JSON = [b"", b"{", b"[" * 50_000, b'{"q":' * 3000, b"null", b"[]", b"1" * 5000, b'{"q": ' + b"1" * 6000 + b"}", b"NaN"]
JSON += [
    b'{"q": NaN}',
    b'{"q": "\\ud800"}',
    b"\xff\xfe{\x00}\x00",
    b'\xef\xbb\xbf{"q": "a"}',
    b'{"q": "a", "q": []}',
    b"{}{}",
]
FORMS = [b"q=%ff&source=de&target=en", b"q=" + b"%" * 999, b"&" * 5000, b"q=a&" * 900, b"=", b"q[]=a&q[]=b", b"q=\xff"]
KINDS = (
    ["application/json"] * 10 + ["application/x-www-form-urlencoded"] * 6 + ["multipart/form-data; boundary=xx"] * 10
)
KINDS += ["text/plain", ""]
KINDS += ["multipart/form-data", 'multipart/form-data; boundary=""', "multipart/form-data; boundary=" + "x" * 300]
KINDS += [
    "application/json; charset=utf-16",
    "\xff",
    ";",
    "multipart/form-data; boundary=xx; boundary=yy",
    "application/xml",
]
NAMES = [
    "a.txt",
    "../../../tmp/a.txt",
    "C:\\a.txt",
    "",
    ".txt",
    "a" * 5000 + ".txt",
    "a\0.txt",
    'a".txt',
    "a.docx",
    "a.exe",
]


def part(disposition: str, content: bytes) -> bytes:
    return b"--xx\r\n" + disposition.encode("utf-8", "replace") + b"\r\n\r\n" + content + b"\r\n"


def form(rng: random.Random) -> bytes:
    """A form with a file, whole or damaged."""
    name = rng.choice(NAMES)
    file = rng.choice([b"Das Haus", b"", b"\xff\xfe\x00", b"PK\x03\x04" + rng.randbytes(50), b"<b>" * 2000])
    parts = [
        part(f'Content-Disposition: form-data; name="file"; filename="{name}"', file),
        part('Content-Disposition: form-data; name="source"', str(rng.choice(CODES)).encode("utf-8", "replace")),
        part('Content-Disposition: form-data; name="target"', rng.choice([b"en", b"\xff", b"xx"])),
        part(rng.choice(["Content-Disposition: form-data", "X: y", "", "Content-Disposition: a; name=q"]), b"x"),
    ]
    end = rng.choice([*[b"--xx--\r\n"] * 6, b"", b"--xx", b"--xx--" * 300])
    return b"".join(parts[:3] if rng.random() < 0.6 else rng.sample(parts, rng.randint(0, 4))) + end


def body(rng: random.Random, kind: str) -> bytes:
    draw = rng.random()
    if draw < 0.2:
        return rng.choice(JSON + FORMS)
    if "multipart" in kind and draw < 0.9:
        data = form(rng)
    else:
        values = {"q": "Das Haus", "text": "Das Haus", "source": "de", "target": "en"}
        for name in rng.sample(
            ["q", "text", "source", "target", "format", "alternatives", "api_key"], rng.randint(0, 3)
        ):
            values[name] = rng.choice(CODES if name in ("source", "target") else TEXTS)
        if "urlencoded" in kind:
            data = urlencode(values, doseq=True, errors="replace").encode()
        else:
            data = json.dumps(values).encode()
    if rng.random() < 0.3 and data:  # damaged
        at = rng.randrange(len(data))
        data = (
            data[:at]
            + rng.choice([b"", bytes([rng.randrange(256)]), b"\0\0", data[:at]])
            + data[at + rng.randint(0, 9) :]
        )
    return data


def requests(seed: int, count: int) -> Iterator[Request]:
    rng = random.Random(seed)
    for _ in range(count):
        kind = rng.choice(KINDS)
        headers = {"host": rng.choice(["127.0.0.1:5000"] * 40 + ["evil.example", "", "127.0.0.1:5000@evil", "[::1"])}
        if kind:
            headers["content-type"] = kind
        if rng.random() < 0.04:
            headers["origin"] = rng.choice(["null", "http://evil.example", "http://127.0.0.1:5000", "http://[", "\xff"])
        if rng.random() < 0.04:
            headers["content-length"] = rng.choice(["-1", "x", "9" * 30, "\xb2", ""])
        if rng.random() < 0.02:
            headers["content-encoding"] = "gzip"
        if rng.random() < 0.04:
            headers["authorization"] = rng.choice(["Bearer", "Bearer \xff", "Basic x", "x" * 5000])
        path = rng.choice(PATHS) if rng.random() < 0.2 else rng.choice(PLACES)
        query = rng.choice([b"", b"", b"q=a&source=de&target=en", b"\xff=%ff", b"q=" + b"a" * 5000])
        yield rng.choice(METHODS), path, query, headers, body(rng, kind)


class Raw:
    """Sends requests to an ASGI application without a client that would put them right."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app
        self._in: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._out: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def __aenter__(self) -> Raw:
        self._life = asyncio.create_task(self.app({"type": "lifespan"}, self._in.get, self._out.put))
        await self._in.put({"type": "lifespan.startup"})
        assert (await self._out.get())["type"] == "lifespan.startup.complete"
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._in.put({"type": "lifespan.shutdown"})
        assert (await self._out.get())["type"] == "lifespan.shutdown.complete"
        await self._life

    async def send(self, request: Request, cut: bool = False) -> tuple[int, bytes]:
        """The status and the body; ``cut``: the connection ends in the middle of the request."""
        method, path, query, headers, data = request
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode("latin-1", "replace"),
            "query_string": query,
            "root_path": "",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 5000),
        }
        pieces = [{"type": "http.request", "body": data[: len(data) // 2], "more_body": True}]
        last = {"type": "http.disconnect"} if cut else {"type": "http.request", "body": data[len(data) // 2 :]}
        pieces.append(last)
        answers: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            if not pieces:
                await asyncio.Event().wait()  # the client stays
            return pieces.pop(0)

        async def collect(message: dict[str, Any]) -> None:
            answers.append(message)

        await self.app(scope, receive, collect)
        assert answers[0]["type"] == "http.response.start"
        return answers[0]["status"], b"".join(message.get("body", b"") for message in answers[1:])
