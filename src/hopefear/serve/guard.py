"""What every request passes: who may ask, headers of safety, the log, the counters, and errors as JSON."""

from __future__ import annotations

import json
import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hopefear.serve.metrics import Metrics
from hopefear.serve.settings import Limits, RequestError, Settings
from hopefear.util.files import NO_ROOM

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_RAW = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
METHODS = ("GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE")
CLIENTS = 10_000  # whose requests of the last minute are remembered


class Guard:
    """Around the application, inside the web server."""

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        metrics: Metrics,
        paths: Mapping[Any, str],
        note: Callable[[str], object],
        warn: Callable[[str], object],
    ) -> None:
        self.app, self.settings, self.metrics, self.paths = app, settings, metrics, paths
        self._note, self._warn = note, warn
        self._recent = Recent(settings.limits)
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        begin = time.monotonic()
        noted: dict[str, object] = {}
        scope.setdefault("state", {})["log"] = noted
        scope["app"] = self.app  # then the router says what it refuses by an exception
        status = 0

        async def answered(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = {name for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(pair for pair in _RAW if pair[0] not in own)]
                if b"cache-control" not in own:
                    message["headers"].append((b"cache-control", b"no-store"))
            await send(message)

        self._count(+1)
        try:
            self._check(scope)
            await self.app(scope, receive, answered)
        except Exception as error:
            if status:  # the beginning of the answer is gone; the connection is closed by the server
                raise
            if not isinstance(error, RequestError | HTTPException):
                reason = f": {error.strerror}" if isinstance(error, OSError) else ""
                noted["error"] = f"{type(error).__name__} at {_where(error)}{reason}"
            await error_response(error)(scope, receive, answered)
        finally:
            self._count(-1)
            path = self.paths.get(scope.get("endpoint"), "other")
            seconds = time.monotonic() - begin
            self.metrics.request(path, status, seconds)
            if self.settings.log or status >= 500:
                write = self._warn if status >= 500 else self._note
                write(_line(scope["method"], path, status, seconds, noted))

    def _count(self, change: int) -> None:
        self._open += change
        self.metrics.set("hopefear_open_requests", self._open)

    def _client(self, scope: Scope, headers: Mapping[bytes, str]) -> str:
        """Who asks: the owner of a right key, or an address."""
        key = headers.get(b"x-api-key") or headers.get(b"authorization", "").removeprefix("Bearer ")
        return key if self.settings.keys.holds(key) else (scope.get("client") or ("",))[0]

    def _check(self, scope: Scope) -> None:
        """Raise a RequestError for requests that are not for us, or too many."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        if not self.settings.answers(host):
            raise RequestError(421, "this server does not answer to that name. Start it with --allowed-host NAME")
        origin = headers.get(b"origin")
        if scope["method"] not in ("GET", "HEAD") and origin is not None:
            site = site_of(origin)
            if not site or site not in (host.lower(), site_of(self.settings.url)):
                raise RequestError(403, "pages of other sites may not use this server")
        if scope["method"] in ("GET", "HEAD") or not self.settings.limits.per_minute:
            return
        if wait := self._recent.wait(self._client(scope, headers)):
            raise RequestError(429, f"Slowdown: {self.settings.limits.per_minute} requests per minute", wait)


def _line(method: str, path: str, status: int, seconds: float, noted: dict[str, object]) -> str:
    """A line of the log. It has no address, no header, and no text unless it is asked for."""
    line = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "event": "request",
        "method": method if method in METHODS else "other",
        "path": path,
        "status": status,
        "ms": round(1000 * seconds, 1),
        **noted,
    }
    return json.dumps(line, ensure_ascii=False)


class Recent:
    """How many requests each client made in the last minute."""

    def __init__(self, limits: Limits) -> None:
        self.most = limits.per_minute
        self._times: dict[str, deque[float]] = {}

    def wait(self, client: str) -> int:
        """Seconds until the client may ask again; 0: now, and this request counts."""
        now = time.monotonic()
        if len(self._times) > CLIENTS:
            self._times = {name: times for name, times in self._times.items() if now - times[-1] < 60}
            if len(self._times) > CLIENTS:
                self._times.clear()
        times = self._times.setdefault(client, deque())
        while times and now - times[0] >= 60:
            times.popleft()
        if len(times) >= self.most:
            return max(1, int(60 - (now - times[0])) + 1)
        times.append(now)
        return 0


def site_of(url: str) -> str:
    """Name and port of a URL; of what is none, nothing."""
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""


def error_response(error: Exception) -> Response:
    """An error as LibreTranslate says it: ``{"error": "..."}``."""
    headers = {}
    if isinstance(error, RequestError):
        status, text = error.status, error.text
        if error.wait is not None:
            headers["Retry-After"] = str(error.wait)
    elif isinstance(error, HTTPException):
        status, text = error.status_code, str(error.detail)
        headers.update(error.headers or {})
    elif isinstance(error, OSError) and error.errno in NO_ROOM:
        status, text = 507, "the server has no space to store it"
    else:
        status, text = 500, "internal server error; see the log of the server"
    if status in (408, 413):  # the rest of the body is not read
        headers["Connection"] = "close"
    return JSONResponse({"error": text}, status, headers)


def _where(error: BaseException) -> str:
    """File and line, without the message: it could hold text of a user's."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else "?"
