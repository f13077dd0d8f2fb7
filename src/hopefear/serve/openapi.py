"""The description of the API: as OpenAPI 3.1, and as a page made of it, without scripts."""

from __future__ import annotations

from html import escape
from typing import Any

import hopefear
from hopefear.serve.documents import FORMATS
from hopefear.serve.settings import Limits

ERRORS = {
    "400": "The request is wrong; `error` says how",
    "403": "The API key is missing or wrong",
    "413": "The body is too large",
    "429": "Too many requests of one client; see Retry-After",
    "503": "The server is busy; see Retry-After",
    "504": "It took too long",
}
LANGUAGES: dict[str, Any] = {
    "source": {"type": "string", "default": "auto", "description": "Code of the source language, or auto"},
    "target": {"type": "string", "description": "Code of the target language"},
}


def document(limits: Limits, keys: bool) -> dict[str, Any]:
    """The whole description; ``keys``: requests need an API key."""
    paths: dict[str, Any] = {
        "/v1/translate": {"post": _translate(limits)},
        "/v1/explain": {"post": _explain()},
        "/v1/translators": {"get": _operation("The translators of this server, each with its card", "Translators")},
        "/v1/corrections": {"post": _correct(), "get": _listed()},
        "/v1/corrections/{id}": {"delete": _undo()},
        "/v1/documents": {"post": _documents(limits)},
        "/v1/documents/{id}": {"get": _fetch()},
        "/translate": {"post": _libre_translate(limits)},
        "/detect": {"post": _operation("LibreTranslate: the language of a text", "Detections", _body(q=_string()))},
        "/languages": {"get": _operation("LibreTranslate: the languages", "Languages")},
        "/translate_file": {"post": _file("LibreTranslate: translate a document", "FileAddress", limits)},
        "/frontend/settings": {"get": _operation("LibreTranslate: settings for a page", "Settings")},
        "/health": {"get": _operation("Whether the server answers", "Health")},
        "/metrics": {"get": _operation("Counters in the text format of Prometheus", None)},
    }
    whole: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "hopefear serve", "version": hopefear.__version__, "description": "Translators, served."},
        "paths": paths,
        "components": {"schemas": _schemas()},
    }
    if keys:
        whole["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        whole["security"] = [{"key": []}]
    return whole


def _string(text: str = "") -> dict[str, Any]:
    return {"type": "string", **({"description": text} if text else {})}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


NUMBER = {"type": ["number", "null"]}


def _translation() -> dict[str, Any]:
    alternative = _object(text=_string(), score={**NUMBER, "description": "The model's score: higher is better"})
    link = {
        **_list({"type": "integer"}),
        "description": "Begin and end in the source, begin and end in the translation",
    }
    quality = _object(
        score={**NUMBER, "description": "From 0 to 1: how far the translation can be trusted"},
        unknown_share={**NUMBER, "description": "Share of the words that the translator does not know"},
        agreement={**NUMBER, "description": "How far the best alternatives agree"},
    )
    mark = _object(
        side={"enum": ["source", "target"]},
        begin={"type": "integer"},
        end={"type": "integer"},
        kind={"enum": ["kept", "term"]},
    )
    sentence = _object(
        begin={"type": "integer", "description": "Where the sentence begins in its text, in characters"},
        end={"type": "integer", "description": "Where it ends"},
    )
    return _object(
        text=_string(),
        alternatives=_list(alternative),
        alignment=_list(link),
        quality=quality,
        marks={**_list(mark), "description": "Protected spans and terms of the glossary"},
        sentences={**_list(sentence), "description": "In place of the others if asked for: each has all of them"},
    )


def _schemas() -> dict[str, Any]:
    translator = _object(
        name=_string(),
        source=_string(),
        source_name=_string(),
        target=_string(),
        target_name=_string(),
        card={"type": "object"},
    )
    language = _object(code=_string(), name=_string(), targets=_list(_string()))
    detection = _object(confidence=NUMBER, language=_string())
    return {
        "Error": {**_object(error=_string()), "required": ["error"]},
        "Translations": _object(
            translator=_string(),
            source=_string(),
            target=_string(),
            confidence={**NUMBER, "description": "Per cent of known words, if the source was auto"},
            translations=_list(_translation()),
        ),
        "Explanation": _object(translator=_string(), explanation=_string()),
        "Translators": _object(translators=_list(translator)),
        "Document": _object(
            id=_string(),
            name=_string(),
            url=_string(),
            left={**_list(_string()), "description": "Parts that were left as they were, and why"},
        ),
        "Learnt": _object(
            id=_string(),
            status={"enum": ["learnt", "set aside"]},
            phrases={**_list(_list(_string())), "description": "Source and target of phrases that were not known"},
            weights={"type": "object", "description": "What was added to the weights of features"},
            notes=_list(_string()),
            text=_string("Everything as text to read"),
        ),
        "Corrections": _object(count={"type": "integer"}, corrections=_list({"type": "object"})),
        "Undone": _object(undone=_list(_string())),
        "FileAddress": _object(translatedFileUrl=_string()),
        "Libre": _object(
            translatedText={"anyOf": [_string(), _list(_string())]}, alternatives=_list({}), detectedLanguage={}
        ),
        "Detections": _list(detection),
        "Languages": _list(language),
        "Settings": {"type": "object"},
        "Health": _object(status=_string()),
    }


def _body(required: tuple[str, ...] = (), media: str = "application/json", /, **properties: Any) -> dict[str, Any]:
    schema = {**_object(**properties), "required": list(required or properties)}
    return {"required": True, "content": {media: {"schema": schema}}}


def _operation(
    text: str, answer: str | None, body: dict[str, Any] | None = None, status: str = "200", **more: Any
) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{answer}"}}}
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    responses: dict[str, Any] = {status: {"description": text, "content": content if answer else {"text/plain": {}}}}
    if body is not None:
        responses |= {code: {"description": what, "content": error} for code, what in ERRORS.items()}
        more["requestBody"] = body
    return {"summary": text, "responses": responses, **more}


def _texts(limits: Limits, what: str) -> dict[str, Any]:
    many = {**_list(_string()), "maxItems": limits.texts}
    return {"anyOf": [_string(), many], "description": f"{what}; at most {limits.characters} characters in all"}


def _translate(limits: Limits) -> dict[str, Any]:
    body = _body(
        ("text", "target"),
        text=_texts(limits, "A text or a list of texts"),
        **LANGUAGES,
        format={"enum": ["text", "html"], "default": "text"},
        alternatives={"type": "integer", "default": 0, "maximum": limits.alternatives},
        sentences={"type": "boolean", "default": False, "description": "All of this for each sentence"},
    )
    return _operation("Translate texts, with alternatives, alignment and quality", "Translations", body)


def _libre_translate(limits: Limits) -> dict[str, Any]:
    body = _body(
        ("q", "source", "target"),
        q=_texts(limits, "A text or a list of texts"),
        **LANGUAGES,
        format={"enum": ["text", "html"], "default": "text"},
        alternatives={"type": "integer", "default": 0, "maximum": limits.alternatives},
        api_key=_string(),
    )
    return _operation("LibreTranslate: translate texts", "Libre", body)


def _explain() -> dict[str, Any]:
    body = _body(("text", "target"), text=_string(), **LANGUAGES)
    return _operation("Why a sentence is translated as it is: rules, features, weights", "Explanation", body)


def _correct() -> dict[str, Any]:
    texts = {"text": _string("What was translated"), "correction": _string("What the translation should be")}
    who = {"user": _string(), "project": _string()}
    body = _body(("text", "correction", "source", "target"), **texts, **LANGUAGES, **who)
    return _operation("Learn from the correction of a translation", "Learnt", body, "201")


def _listed() -> dict[str, Any]:
    pair = [_parameter("source", "query"), _parameter("target", "query")]
    more = [{**_parameter(name, "query"), "required": False} for name in ("q", "format")]
    what = "The corrections that were made; q: those that have this text; format=tmx: those that count, as a file"
    return _operation(what, "Corrections", parameters=[*pair, *more])


def _undo() -> dict[str, Any]:
    parameters = [_parameter("id", "path"), _parameter("source", "query"), _parameter("target", "query")]
    return _operation("Undo a correction", "Undone", parameters=parameters)


def _parameter(name: str, where: str) -> dict[str, Any]:
    return {"name": name, "in": where, "required": True, "schema": _string()}


def _file(text: str, answer: str, limits: Limits, status: str = "200") -> dict[str, Any]:
    kinds = f"A file of at most {limits.file_bytes >> 20} MB: {' '.join(FORMATS)}"
    file = {"type": "string", "contentMediaType": "application/octet-stream", "description": kinds}
    column = _string("Of a table (.csv, .tsv): the column to translate, by its name or number")
    body = _body(("file", "target"), "multipart/form-data", file=file, **LANGUAGES, column=column)
    return _operation(text, answer, body, status)


def _documents(limits: Limits) -> dict[str, Any]:
    return _file("Translate a document", "Document", limits, "201")


def _fetch() -> dict[str, Any]:
    return _operation("The translated document, for an hour", None, parameters=[_parameter("id", "path")])


def page(described: dict[str, Any]) -> str:
    """The description for people. Everything in it is escaped; it has no script and no style of its own."""
    info = described["info"]
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>",
        f"<title>{escape(info['title'])}: API</title>",
        "<link rel=icon href='../page/icon.svg'><link rel=stylesheet href='../page/page.css'>",
        f"<body class=docs><main><h1>{escape(info['title'])} {escape(info['version'])}: API</h1>",
        "<p><a href='../'>The page</a> &middot; <a href='openapi.json'>This description as OpenAPI</a></p>",
    ]
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            parts.append(f"<section><h2><code>{method.upper()} {escape(path)}</code></h2>")
            parts.append(f"<p>{escape(operation['summary'])}.</p>")
            for media, content in operation.get("requestBody", {}).get("content", {}).items():
                parts.append(f"<h3>Request: {escape(media)}</h3>{_fields(content['schema'])}")
            parts.append(f"<h3>Answers</h3>{_answers(operation['responses'], described)}</section>")
    return "".join([*parts, "</main></body></html>"])


def _fields(schema: dict[str, Any]) -> str:
    required = schema.get("required", [])
    rows = []
    for name, field in schema.get("properties", {}).items():
        kind = _kind(field)
        default = f"default {field['default']}" if "default" in field else ""
        need = "required" if name in required else default
        cells = [f"<code>{escape(name)}</code>", escape(kind), escape(need), escape(field.get("description", ""))]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return f"<table>{''.join(rows)}</table>"


def _kind(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(map(_kind, field["anyOf"]))
    if "enum" in field:
        return " or ".join(field["enum"])
    if field.get("type") == "array":
        return f"list of {_kind(field['items']) or 'values'}"
    kind = field.get("type", "")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _answers(responses: dict[str, Any], described: dict[str, Any]) -> str:
    rows = []
    for status, response in responses.items():
        reference = response["content"].get("application/json", {}).get("schema", {}).get("$ref", "")
        schema = described["components"]["schemas"].get(reference.rpartition("/")[2], {})
        if schema.get("type") == "array":
            schema = schema["items"]
        names = ", ".join(schema.get("properties", {}))
        cells = [escape(status), escape(response["description"]), f"<code>{escape(names)}</code>"]
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return f"<table>{''.join(rows)}</table>"
