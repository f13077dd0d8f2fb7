"""The API of our own, and its description."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest

from tests.serve.conftest import App
from tests.serve.fake import Fake, Quality, Translation


def test_all_that_a_translation_has(app: App) -> None:
    sent = {"text": "Das rote Haus", "source": "de", "target": "en", "alternatives": 2}
    answer = app.post("/v1/translate", json=sent).json()
    assert (answer["translator"], answer["source"], answer["target"]) == ("small", "de", "en")
    assert "confidence" not in answer
    (translation,) = answer["translations"]
    assert translation["text"] == "The rote house"
    assert translation["alternatives"] == [
        {"text": "The rote house (2)", "score": -1.0},
        {"text": "The rote house (3)", "score": -2.0},
    ]
    assert translation["alignment"] == [[0, 3, 0, 3], [4, 8, 4, 8], [9, 13, 9, 14]]
    assert translation["quality"] == {"score": 0.666667, "unknown_share": 0.333333, "agreement": 0.9}


def test_sentences_one_by_one(app: App) -> None:
    texts = ["  Das Haus ist rot.  Ein Hund ist rot!\nDas Haus und", "", " ", "Mann"]
    sent = {"text": texts, "target": "en", "source": "de", "sentences": True, "alternatives": 1}
    translations = app.post("/v1/translate", json=sent).json()["translations"]
    joined = [each["text"] for each in translations]
    assert joined == ["  the house is red.  A dog is red!\nThe house and", "", " ", "Man"]
    parts = translations[0]["sentences"]
    cut = [texts[0][part["begin"] : part["end"]] for part in parts]
    assert cut == ["  Das Haus ist rot.", "Ein Hund ist rot!", "Das Haus und"]
    assert parts[1]["alternatives"] == [{"text": "A dog is red! (2)", "score": -1.0}]
    assert parts[1]["alignment"][1] == [4, 8, 2, 5]  # within the sentence
    nothing = app.post("/v1/translate", json={"text": ["", ""], "target": "en", "sentences": True}).json()
    assert nothing["translations"] == [{"text": "", "sentences": []}] * 2 and nothing["confidence"] is None


def test_the_source_may_be_left_out(app: App) -> None:
    answer = app.post("/v1/translate", json={"text": ["das Haus", "ein Hund"], "target": "en"}).json()
    assert [each["text"] for each in answer["translations"]] == ["the house", "a dog"]
    assert answer["confidence"] == 100.0


def test_the_source_is_told_from_the_words(start: Callable[..., App]) -> None:
    french = Fake("fr", "en", "third", words={"la": "the", "maison": "house"})
    app = start(Fake(), french)
    for text, source in (("la maison", "fr"), ("das Haus und la", "de")):
        assert app.post("/v1/translate", json={"text": text, "target": "en"}).json()["source"] == source
    ranked = app.post("/detect", json={"q": "la maison"}).json()
    assert ranked == [{"confidence": 100.0, "language": "fr"}, {"confidence": 0.0, "language": "de"}]


def test_numbers_that_json_has_not(start: Callable[..., App]) -> None:
    class Odd(Fake):
        def translations(self, texts: object, *, n: int = 1, format: str = "text") -> list[Translation]:
            return [Translation("a", "b", (), [], Quality(float("nan"), float("inf"), 0.5))]

    answer = start(Odd()).post("/v1/translate", json={"text": "a", "target": "en"}).json()
    assert answer["translations"][0]["quality"] == {"score": None, "unknown_share": None, "agreement": 0.5}


def test_explanation(app: App) -> None:
    answer = app.post("/v1/explain", json={"text": "das Haus", "target": "en"}).json()
    assert answer == {"translator": "small", "explanation": "source       das Haus\ntranslation  the house\n"}


def test_documents(app: App) -> None:
    file = {"file": ("a/b\\Bericht.MD", b"das Haus")}
    answer = app.post("/v1/documents", data={"target": "en"}, files=file)
    assert answer.status_code == 201 and answer.json()["name"] == "Bericht.en.md"
    fetched = app.get(answer.headers["location"])
    assert fetched.text == "the house" and "Bericht.en.md" in fetched.headers["content-disposition"]


def test_translators(app: App) -> None:
    first, second = app.get("/v1/translators").json()["translators"]
    assert (first["name"], first["source_name"], first["card"]) == ("small", "German", {"licence": "CC0"})
    assert second["target"] == "de"


def test_every_route_is_described(app: App) -> None:
    from hopefear.serve.app import PATHS

    described = app.get("/v1/openapi.json").json()
    paths = {re.sub(r"\{\w+\}", "{}", path) for path in described["paths"]}
    own = {re.sub(r"\{\w+\}", "{}", path) for path in PATHS}
    assert own - paths == {"/", "/page/{}", "/suggest", "/download_file/{}", "/v1/openapi.json", "/v1/docs"}
    assert paths <= own
    references = set(re.findall(r'"#/components/schemas/(\w+)"', app.get("/v1/openapi.json").text))
    assert references == {*described["components"]["schemas"]}


def test_answers_are_as_described(app: App) -> None:
    schemas = app.get("/v1/openapi.json").json()["components"]["schemas"]
    sent = {"text": "das Haus", "target": "en", "alternatives": 1}
    answer = app.post("/v1/translate", json=sent).json()
    assert {*answer} == {*schemas["Translations"]["properties"]}
    translation = schemas["Translations"]["properties"]["translations"]["items"]["properties"]
    assert {*answer["translations"][0], "sentences"} == {*translation}
    assert {*app.get("/v1/translators").json()["translators"][0]} == {
        *schemas["Translators"]["properties"]["translators"]["items"]["properties"]
    }


def test_the_description_for_people(app: App) -> None:
    page = app.get("/v1/docs")
    assert page.headers["content-type"].startswith("text/html")
    tags: list[str] = []
    links: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append(tag)
            links.extend(value or "" for name, value in attrs if name in ("src", "href"))
            assert not [name for name, _ in attrs if name.startswith("on") or name == "style"]

    Reader().feed(page.text)
    assert "script" not in tags and "style" not in tags
    assert not [link for link in links if "://" in link]


@pytest.mark.parametrize("path", ["/v1/translate", "/v1/explain"])
def test_wrong_arguments_are_errors(app: App, path: str) -> None:
    for sent, error in (
        ({}, "missing text"),
        ({"text": "a"}, "missing target"),
        ({"text": 1, "target": "en"}, "not a string"),
    ):
        answer = app.post(path, json=sent)
        assert answer.status_code == 400 and error in answer.json()["error"]
    assert app.get(path).status_code == 405
