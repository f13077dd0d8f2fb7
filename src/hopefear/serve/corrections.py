"""Corrections by the API: learn one, list them, take one back."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hopefear.errors import InputError
from hopefear.learning.corrections import Corrections
from hopefear.learning.export import tmx, tmx_unit
from hopefear.serve.bodies import Body
from hopefear.serve.languages import AUTO
from hopefear.serve.service import Service
from hopefear.serve.settings import LOOPBACK, RequestError, client_error
from hopefear.translator.translator import Translator

Returned = TypeVar("Returned")
_MINUTE = 60.0
LISTED = 1000  # corrections of one answer, at most


class _Rate:
    """Refuses what is more than so many in a minute."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._times: deque[float] = deque()

    def take(self) -> None:
        now = time.monotonic()
        while self._times and self._times[0] <= now - _MINUTE:
            self._times.popleft()
        if len(self._times) >= self._most:
            wait = int(self._times[0] + _MINUTE - now) + 1
            raise RequestError(429, f"more than {self._most} corrections per minute", wait)
        self._times.append(now)


def routes(service: Service) -> list[Route]:
    """The routes of corrections."""
    rate = _Rate(service.settings.limits.corrections)

    async def learn(request: Request) -> Response:
        body = await service.body(request)
        _check(service)
        source, correction = body.text("text"), body.text("correction")
        translator = _translator(service, body)
        corrections = _corrections(translator)
        rate.take()
        who = {"user": body.text("user", ""), "project": body.text("project", "")}
        learnt = await service.batcher.other(lambda: _said(lambda: corrections.learn(source, correction, **who)))
        answer = {"id": learnt.id, "status": learnt.status, "phrases": [list(each) for each in learnt.phrases]}
        more = {"weights": dict(learnt.weights), "notes": list(learnt.notes), "text": str(learnt)}
        return JSONResponse({**answer, **more}, 201)

    async def show(request: Request) -> Response:
        query = Body(dict(request.query_params), form=True)
        service.check_key(request, query)
        _check(service)
        translator = _translator(service, query)
        corrections = _corrections(translator)
        wanted = query.text("q", "").lower()
        every = await service.batcher.other(lambda: _said(lambda: list(corrections)))
        matching = [each for each in every if wanted in each.source.lower() or wanted in each.correction.lower()]
        if query.text("format", "json") == "tmx":
            units = [
                tmx_unit(each, translator.source, translator.target) for each in matching if each.status == "learnt"
            ]
            name = f"corrections-{translator.source}-{translator.target}.tmx"
            headers = {"Content-Disposition": f'attachment; filename="{name}"'}
            return Response("".join(tmx(units, translator.source)), headers=headers, media_type="application/xml")
        return JSONResponse({"count": len(matching), "corrections": [_shown(each) for each in matching[-LISTED:]]})

    async def undo(request: Request) -> Response:
        query = Body(dict(request.query_params), form=True)
        service.check_key(request, query)
        _check(service)
        translator = _translator(service, query)
        corrections = _corrections(translator)
        rate.take()
        identity = request.path_params["identity"]
        undone = await service.batcher.other(lambda: _said(lambda: corrections.undo(identity)))
        return JSONResponse({"undone": undone})

    return [
        Route("/v1/corrections", learn, methods=["POST"]),
        Route("/v1/corrections", show, methods=["GET"]),
        Route("/v1/corrections/{identity}", undo, methods=["DELETE"]),
    ]


def _check(service: Service) -> None:
    """Corrections change what all get and show what people wrote: strangers need a key for them."""
    settings = service.settings
    if not settings.keys and (settings.host not in LOOPBACK or settings.url):
        raise RequestError(403, "corrections of a server that others reach need API keys: --api-keys")


def _translator(service: Service, body: Body) -> Translator:
    pairs, target = service.pairs, service.pairs.target(body.text("target"))
    source = body.text("source", AUTO)
    candidates = pairs.candidates(target)
    if source == AUTO and len(candidates) == 1:
        return candidates[0]
    return pairs.translator(pairs.source(body.text("source") if source == AUTO else source), target)


def _corrections(translator: Translator) -> Corrections:
    corrections: Corrections | None = getattr(translator, "corrections", None)
    if corrections is None:
        raise RequestError(404, "this translator takes no corrections")
    return corrections


def _said(work: Callable[[], Returned]) -> Returned:
    """What cannot be learnt is the client's mistake; a journal that another process holds is not."""
    try:
        return work()
    except InputError as error:
        text = str(error)
        if "another process" in text:
            raise RequestError(409, "another process is writing corrections of this translator") from None
        if "no correction" in text:
            raise RequestError(404, "no such correction") from None
        raise client_error(error, f"Invalid request: {text}") from None


def _shown(each: Any) -> dict[str, str]:
    names = ("id", "time", "source", "correction", "user", "project", "status", "reason")
    return {name: getattr(each, name) for name in names}
