"""LibreTranslate's API, as its clients use it (Weblate, OmegaT, libretranslatepy)."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hopefear.serve.documents import FORMATS
from hopefear.serve.languages import AUTO, confidence, language_name
from hopefear.serve.service import Service
from hopefear.serve.settings import RequestError
from hopefear.translator.translation import Translation


def others(translation: Translation, most: int) -> list[Any]:
    """Alternatives that say something else than the translation itself."""
    return [other for other in translation.alternatives if other.text != translation.text][:most]


def frontend_settings(service: Service) -> dict[str, Any]:
    """What LibreTranslate's own page asks for."""
    first, keys = service.pairs.first, bool(service.settings.keys)
    return {
        "apiKeys": keys,
        "charLimit": service.settings.limits.characters,
        "filesTranslation": True,
        "frontendTimeout": 500,
        "keyRequired": keys,
        "language": {
            "source": {"code": first.source, "name": language_name(first.source)},
            "target": {"code": first.target, "name": language_name(first.target)},
        },
        "suggestions": False,
        "supportedFilesFormat": list(FORMATS),
    }


def routes(service: Service) -> list[Route]:
    """The routes of LibreTranslate. Old clients send ``q`` and the languages in the address: GET works, too."""
    limits = service.settings.limits

    async def translate(request: Request) -> Response:
        body = await service.body(request)
        texts, many = body.texts("q", limits)
        body.text("source")  # it must be there, even if it is "auto"
        format = body.choice("format", ("text", "html"))
        count = body.count("alternatives", 0, limits.alternatives)
        translator, sure = await service.chosen(body, texts)
        auto = body.text("source") == AUTO
        more = count > 0 or auto or format == "html"  # more than the text is needed
        translations = await service.translated(request, translator, texts, count + 1 if more else 0, format)
        answer: dict[str, Any] = {"translatedText": [translation.text for translation in translations]}
        if auto:
            sure = confidence(translations[0]) if sure is None else sure
            answer["detectedLanguage"] = [{"confidence": sure, "language": translator.source}] * len(texts)
        if count:
            answer["alternatives"] = [[other.text for other in others(each, count)] for each in translations]
        return JSONResponse(answer if many else {name: value[0] for name, value in answer.items()})

    async def detect(request: Request) -> Response:
        body = await service.body(request)
        texts, _ = body.texts("q", limits)
        return JSONResponse([{"confidence": sure, "language": code} for sure, code in await service.detected(texts)])

    async def languages(request: Request) -> Response:
        return JSONResponse(service.pairs.languages())

    async def settings(request: Request) -> Response:
        return JSONResponse(frontend_settings(service))

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def suggest(request: Request) -> Response:
        await service.body(request)
        raise RequestError(403, "Suggestions are disabled on this server.")

    async def translate_file(request: Request) -> Response:
        body = await service.body(request, files=True)
        body.text("source")
        identity, _ = await service.document(request, body)
        address = f"{base_url(service, request)}/download_file/{quote(identity)}"
        return JSONResponse({"translatedFileUrl": address})

    async def download(request: Request) -> Response:
        return fetched(service, request.path_params["identity"])

    return [
        Route("/translate", translate, methods=["GET", "POST"]),
        Route("/detect", detect, methods=["POST"]),
        Route("/languages", languages),
        Route("/frontend/settings", settings),
        Route("/health", health),
        Route("/suggest", suggest, methods=["POST"]),
        Route("/translate_file", translate_file, methods=["POST"]),
        Route("/download_file/{identity}", download),
    ]


def base_url(service: Service, request: Request) -> str:
    """Where the client found us; the guard has checked the name."""
    if service.settings.url:
        return service.settings.url.rstrip("/")
    return f"{request.scope['scheme']}://{request.headers['host']}"


def fetched(service: Service, identity: str) -> Response:
    """A translated document, to be saved: nothing in it is shown or run as a page of ours."""
    data, name = service.documents.read(identity)
    headers = {
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}",
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    return Response(data, media_type="application/octet-stream", headers=headers)
