"""What the routes share: the translators, the queue, documents, keys and counters."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from starlette.requests import Request

from hopefear.documents.protect import Protector
from hopefear.serve.batching import Batcher
from hopefear.serve.bodies import Body, read_body
from hopefear.serve.documents import Documents, check_name, texts_of
from hopefear.serve.languages import AUTO, Pairs, confidence, sample
from hopefear.serve.marks import Marker
from hopefear.serve.metrics import BATCHES, Metrics, resident_bytes
from hopefear.serve.settings import RequestError, Settings
from hopefear.translator.translation import Translation
from hopefear.translator.translator import Translator

Returned = TypeVar("Returned")
READERS = 4  # documents that are uploaded at once


@dataclass
class Service:
    """One server, or one worker of it."""

    pairs: Pairs
    settings: Settings
    metrics: Metrics
    documents: Documents
    batcher: Batcher = field(init=False)
    _readers: asyncio.Semaphore = field(init=False)
    _markers: dict[str, Marker] = field(default_factory=dict, init=False)

    async def start(self) -> None:
        """In the event loop that will serve."""
        self.batcher = Batcher(self.settings.limits, told=self._translated)
        self._readers = asyncio.Semaphore(READERS)

    def _translated(self, texts: int) -> None:
        self.metrics.observe("hopefear_batch_texts", texts, BATCHES)
        self.gauge()

    def gauge(self) -> None:
        """Measure what is not counted."""
        self.metrics.set("hopefear_waiting_texts", self.batcher.waiting)
        self.metrics.set("hopefear_resident_bytes", resident_bytes())

    async def body(self, request: Request, files: bool = False) -> Body:
        """The body of a request of somebody who may ask."""
        if not files:
            body = await read_body(request, self.settings.limits)
            self.check_key(request, body)
            return body
        self.check_key(request, Body({}), also_later=True)
        async with self._readers:
            body = await read_body(request, self.settings.limits, files=True)
        self.check_key(request, body)
        return body

    def check_key(self, request: Request, body: Body, also_later: bool = False) -> None:
        """Refuse who has no right key, if one is needed; ``also_later``: it may still come in the body."""
        keys = self.settings.keys
        if not keys:
            return
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        given = body.values.get("api_key") or request.headers.get("x-api-key") or token * (scheme.lower() == "bearer")
        if not given or not isinstance(given, str):
            given = request.query_params.get("api_key", "")
        if not given:
            if also_later:
                return
            raise RequestError(403, "Please contact the server operator to get an API key")
        if not keys.holds(given):
            raise RequestError(403, "Invalid API key")

    async def translated(
        self, request: Request, translator: Translator, texts: Sequence[str], n: int = 1, format: str = "text"
    ) -> list[Translation]:
        """The translations of texts, counted."""
        characters = sum(map(len, texts))
        pair = f"{translator.source}-{translator.target}"
        request.state.log.update(pair=pair, texts=len(texts), characters=characters)
        if self.settings.log_text:
            request.state.log["text"] = list(texts)
        translations = await unless_gone(request, self.batcher.translations(translator, texts, n, format))
        self.metrics.add("hopefear_texts_total", len(texts), pair=pair)
        self.metrics.add("hopefear_characters_total", characters, pair=pair)
        return translations

    async def chosen(self, body: Body, texts: Sequence[str]) -> tuple[Translator, float | None]:
        """The translator that a request names; with the source "auto", also how sure we are, if we had to choose."""
        target = self.pairs.target(body.text("target"))
        source = body.text("source", AUTO)
        if source != AUTO:
            return self.pairs.translator(self.pairs.source(source), target), None
        candidates = self.pairs.candidates(target)
        if len(candidates) == 1:
            return candidates[0], None
        sure, _, translator = (await self._ranked(candidates, texts))[0]
        return translator, sure

    async def detected(self, texts: Sequence[str]) -> list[tuple[float, str]]:
        """Languages that the texts may be in, with per cent of the words that are known, best first."""
        return [(sure, source) for sure, source, _ in await self._ranked(self.pairs.candidates(), texts)]

    async def _ranked(
        self, candidates: Sequence[Translator], texts: Sequence[str]
    ) -> list[tuple[float, str, Translator]]:
        head = sample(texts)
        waiting = [self.batcher.translations(translator, [head]) for translator in candidates]
        answers = await asyncio.gather(*waiting)
        ranked = [(confidence(answer[0]), t.source, t) for t, answer in zip(candidates, answers, strict=True)]
        return sorted(ranked, key=lambda entry: -entry[0])

    async def explained(self, request: Request, translator: Translator, text: str) -> str:
        """Why a text is translated as it is, for people."""
        request.state.log.update(pair=f"{translator.source}-{translator.target}", characters=len(text))
        return await self.batcher.other(lambda: str(translator.explain(text)))

    async def document(self, request: Request, body: Body) -> tuple[str, list[str]]:
        """Translate the uploaded ``file``; the id under which it can be fetched, and what was left as it was."""
        upload = body.files.get("file")
        if upload is None:
            raise RequestError(400, "Invalid request: missing file parameter")
        suffix = check_name(upload)
        limits = self.settings.limits
        given = body.text("column", "")
        column = int(given) if given.isascii() and given.isdigit() and len(given) < 6 else given or None
        texts = await self.batcher.other(texts_of, upload, limits.document_characters, column)
        translator, _ = await self.chosen(body, texts)
        pair = f"{translator.source}-{translator.target}"
        request.state.log.update(pair=pair, bytes=len(upload.data), format=suffix)
        work = self.documents.translate, translator, upload, column
        identity, left = await self.batcher.other(*work, seconds=limits.document_seconds)
        self.metrics.add("hopefear_documents_total", pair=pair)
        return identity, left

    def marks(self, translator: Translator, translation: Translation) -> list[dict[str, Any]]:
        """What the page underlines."""
        marker = self._markers.get(translator.name + translator.source + translator.target)
        if marker is None:
            marker = Marker(Protector(self.settings.protect, self.settings.keep), translator.glossary)
            self._markers[translator.name + translator.source + translator.target] = marker
        return marker.marks(translation)


async def unless_gone(request: Request, work: Coroutine[Any, Any, Returned]) -> Returned:
    """The result of ``work``, which is given up when the client has gone: a page asks again with every word."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise RequestError(499, "the client has gone")
    finally:
        gone.cancel()
        task.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
