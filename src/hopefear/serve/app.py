"""The application: routes, the page's files, and what guards them."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router

from hopefear.serve import corrections, libre, v1
from hopefear.serve.bodies import Body
from hopefear.serve.documents import Documents
from hopefear.serve.guard import Guard
from hopefear.serve.languages import Pairs
from hopefear.serve.metrics import CONTENT_TYPE, Metrics
from hopefear.serve.service import Service
from hopefear.serve.settings import RequestError, Settings, say
from hopefear.translator.translator import Translator

PAGE = Path(__file__).with_name("page")
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
PATHS = (
    "/",
    "/page/{file}",
    "/translate",
    "/detect",
    "/languages",
    "/frontend/settings",
    "/health",
    "/suggest",
    "/translate_file",
    "/download_file/{identity}",
    "/v1/translate",
    "/v1/explain",
    "/v1/translators",
    "/v1/corrections",
    "/v1/corrections/{identity}",
    "/v1/documents",
    "/v1/documents/{identity}",
    "/v1/openapi.json",
    "/v1/docs",
    "/metrics",
)


def make_app(
    translators: Sequence[Translator],
    settings: Settings,
    metrics: Metrics | None = None,
    note: Callable[[str], object] = say,
    warn: Callable[[str], object] = say,
) -> Guard:
    """The application for a web server that speaks ASGI; ``note`` gets the log, ``warn`` its lines of errors."""
    metrics = metrics or new_metrics(translators)
    service = Service(Pairs(translators), settings, metrics, Documents(settings.folder, settings.limits))

    @asynccontextmanager
    async def lifespan(router: Any) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.batcher.close()

    every = [
        *_page_routes(),
        *libre.routes(service),
        *v1.routes(service),
        *corrections.routes(service),
        _metrics_route(service),
    ]
    router = Router(every, redirect_slashes=False, default=_nothing, lifespan=lifespan)
    return Guard(router, settings, metrics, {route.endpoint: route.path for route in every}, note, warn)


def new_metrics(translators: Sequence[Translator], workers: int = 1) -> Metrics:
    """Counters for these translators, shared by as many workers."""
    return Metrics(PATHS, sorted({f"{each.source}-{each.target}" for each in translators}), workers)


async def _nothing(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        raise RequestError(404, "no such address; see /v1/docs")


def _metrics_route(service: Service) -> Route:
    async def show(request: Request) -> Response:
        service.check_key(request, Body({}))
        service.gauge()
        return Response(service.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    return Route("/metrics", show)


def _page_routes() -> list[Route]:
    """The page's own files, read once; nothing else of the disk can be asked for."""
    files = {path.name: path.read_bytes() for path in sorted(PAGE.iterdir()) if path.suffix in KINDS}

    def answer(request: Request, name: str) -> Response:
        if name not in files:
            raise RequestError(404, "no such file")
        tag = f'"{hashlib.sha256(files[name]).hexdigest()[:32]}"'
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        headers["Content-Type"] = f"{KINDS[Path(name).suffix]}; charset=utf-8"
        return Response(files[name], headers=headers)

    async def index(request: Request) -> Response:
        return answer(request, "index.html")

    async def file(request: Request) -> Response:
        return answer(request, request.path_params["file"])

    return [Route("/", index), Route("/page/{file}", file)]
