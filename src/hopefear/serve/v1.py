"""The API of our own, with all that a translation has: alternatives with scores, alignment, quality, explanation."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from hopefear.serve.bodies import Body
from hopefear.serve.languages import AUTO, confidence, language_name
from hopefear.serve.libre import base_url, fetched, others
from hopefear.serve.openapi import document, page
from hopefear.serve.service import Service
from hopefear.translator.translation import Translation
from hopefear.translator.translator import Translator


def routes(service: Service) -> list[Route]:
    """The routes below ``/v1``."""
    limits = service.settings.limits

    async def translate(request: Request) -> Response:
        body = await service.body(request)
        texts, _ = body.texts("text", limits)
        format = body.choice("format", ("text", "html"))
        count = body.count("alternatives", 0, limits.alternatives)
        translator, sure = await service.chosen(body, texts)
        split = body.flag("sentences") and format == "text"
        cut = await asyncio.to_thread(_sentences, texts, translator.source) if split else []
        pieces = [text for sentences in cut for text, _ in sentences] if split else texts
        translations = await service.translated(request, translator, pieces, count + 1, format)
        shown = [{**_shown(each, count), "marks": service.marks(translator, each)} for each in translations]
        answer: dict[str, Any] = {
            "translator": translator.name,
            "source": translator.source,
            "target": translator.target,
            "translations": _joined(cut, shown) if split else shown,
        }
        if body.text("source", AUTO) == AUTO:
            answer["confidence"] = confidence(translations[0]) if sure is None and translations else sure
        return JSONResponse(answer)

    async def explain(request: Request) -> Response:
        body = await service.body(request)
        (text,), _ = Body({"text": body.text("text")}, form=body.form).texts("text", limits)
        translator, _ = await service.chosen(body, [text])
        explanation = await service.explained(request, translator, text)
        return JSONResponse({"translator": translator.name, "explanation": explanation})

    async def translators(request: Request) -> Response:
        return JSONResponse({"translators": [_described(translator) for translator in service.pairs.translators]})

    async def documents(request: Request) -> Response:
        body = await service.body(request, files=True)
        identity, left = await service.document(request, body)
        address = f"{base_url(service, request)}/v1/documents/{quote(identity)}"
        answer = {"id": identity, "name": identity.partition(".")[2], "url": address, "left": left}
        return JSONResponse(answer, 201, {"Location": address})

    async def fetch(request: Request) -> Response:
        return fetched(service, request.path_params["identity"])

    async def openapi(request: Request) -> Response:
        return JSONResponse(document(limits, bool(service.settings.keys)))

    async def docs(request: Request) -> Response:
        return HTMLResponse(page(document(limits, bool(service.settings.keys))))

    return [
        Route("/v1/translate", translate, methods=["POST"]),
        Route("/v1/explain", explain, methods=["POST"]),
        Route("/v1/translators", translators),
        Route("/v1/documents", documents, methods=["POST"]),
        Route("/v1/documents/{identity}", fetch),
        Route("/v1/openapi.json", openapi),
        Route("/v1/docs", docs),
    ]


def _sentences(texts: Sequence[str], language: str) -> list[list[tuple[str, str]]]:
    """Each text as sentences, each with the white space after it; white space before the first belongs to none."""
    from hopefear.documents.sentences import split_sentences

    return [split_sentences(text, language) for text in texts]


def _joined(cut: Sequence[Sequence[tuple[str, str]]], shown: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The translations of sentences, put together as the texts were."""
    waiting = iter(shown)
    translations = []
    for sentences in cut:
        at, parts, text = 0, [], ""
        for sentence, space in sentences:
            translation = next(waiting)
            parts.append({"begin": at, "end": at + len(sentence), **translation})
            text += translation["text"] + space
            at += len(sentence) + len(space)
        translations.append({"text": text, "sentences": parts})
    return translations


def _shown(translation: Translation, count: int) -> dict[str, Any]:
    quality = translation.quality
    return {
        "text": translation.text,
        "alternatives": [{"text": other.text, "score": finite(other.score)} for other in others(translation, count)],
        "alignment": [list(link) for link in translation.alignment],
        "quality": {
            "score": finite(quality.score),
            "unknown_share": finite(quality.unknown_share),
            "agreement": finite(quality.agreement),
        },
    }


def finite(value: float) -> float | None:
    """A number that JSON can have."""
    return round(value, 6) if math.isfinite(value) else None


def _described(translator: Translator) -> dict[str, Any]:
    return {
        "name": translator.name,
        "source": translator.source,
        "source_name": language_name(translator.source),
        "target": translator.target,
        "target_name": language_name(translator.target),
        "card": translator.card,
    }
