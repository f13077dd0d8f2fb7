"""LibreTranslate's API: its own client over a socket, and what Weblate and OmegaT send."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.error import HTTPError

import libretranslatepy
import pytest

from tests.serve.conftest import App, Server, launched

KEY = "0123456789abcdef"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    keys = tmp_path_factory.mktemp("keys") / "keys.txt"
    keys.write_text(f"# ours\n{KEY} for the tests\n")
    with launched("--api-keys", str(keys)) as running:
        yield running


def test_the_client_of_libretranslate(server: Server) -> None:
    client = libretranslatepy.LibreTranslateAPI(server.url, KEY)
    assert client.translate("Das Haus ist rot", "de", "en") == "The house is red"
    assert client.translate("the dog", "auto", "de") == "das hund"
    assert client.languages() == [
        {"code": "de", "name": "German", "targets": ["en"]},
        {"code": "en", "name": "English", "targets": ["de"]},
    ]
    assert client.detect("das Haus und der Hund")[0] == {"confidence": 80.0, "language": "de"}
    for key in (None, "0123456789abcdeg"):
        with pytest.raises(HTTPError) as refused:
            libretranslatepy.LibreTranslateAPI(server.url, key).translate("Das Haus", "de", "en")
        assert refused.value.code == 403


def test_a_text(app: App) -> None:
    answer = app.post("/translate", json={"q": "Das Haus", "source": "de", "target": "en"})
    assert answer.status_code == 200 and answer.json() == {"translatedText": "The house"}


def test_a_list_as_weblate_sends_it(app: App) -> None:
    sent = {"api_key": "", "q": ["Das Haus", "", "ein Hund"], "source": "de", "target": "en"}
    assert app.post("/translate", json=sent).json() == {"translatedText": ["The house", "", "a dog"]}


def test_a_query_as_omegat_sends_it(app: App) -> None:
    answer = app.get("/translate", params={"q": "Das Haus", "source": "de", "target": "en"})
    assert answer.json() == {"translatedText": "The house"}


def test_languages_in_the_address_and_text_in_the_form(app: App) -> None:
    address = {"q": "das Haus", "source": "de", "target": "en"}
    assert app.post("/translate", params=address, data={"q": "ein Hund"}).json() == {"translatedText": "a dog"}


def test_a_form_with_lines(app: App) -> None:
    answer = app.post("/translate", data={"q": "Das Haus\r\nein Hund", "source": "de", "target": "en"})
    assert answer.json() == {"translatedText": "The house\na dog"}


def test_alternatives_and_detection(app: App) -> None:
    sent = {"q": "Das Haus", "source": "auto", "target": "en", "alternatives": 2}
    assert app.post("/translate", json=sent).json() == {
        "translatedText": "The house",
        "alternatives": ["The house (2)", "The house (3)"],
        "detectedLanguage": {"confidence": 100.0, "language": "de"},
    }
    many = app.post("/translate", json={**sent, "q": ["Das Haus", "ein Hund"]}).json()
    assert many["alternatives"] == [["The house (2)", "The house (3)"], ["a dog (2)", "a dog (3)"]]
    assert len(many["detectedLanguage"]) == 2
    form = app.post("/translate", data={**sent, "alternatives": "1"}).json()
    assert form["alternatives"] == ["The house (2)"]


def test_markup_is_handed_on(start: Callable[..., App]) -> None:
    app = start()
    sent = {"q": "<b>Das</b> Haus", "source": "de", "target": "en", "format": "html"}
    assert app.post("/translate", json=sent).json() == {"translatedText": "<b>the</b> house"}


@pytest.mark.parametrize(
    ("change", "status", "error"),
    [
        ({"q": None}, 400, "missing q parameter"),
        ({"q": ""}, 400, "missing q parameter"),
        ({"q": []}, 400, "missing q parameter"),
        ({"q": [1]}, 400, "not a string"),
        ({"q": {}}, 400, "not a string"),
        ({"q": "a\0b"}, 400, "NUL"),
        ({"q": "x" * 101}, 400, "exceeds text limit"),
        ({"q": ["x"] * 11}, 400, "exceeds text limit"),
        ({"source": None}, 400, "missing source parameter"),
        ({"source": 3}, 400, "source parameter is not a string"),
        ({"source": "xx"}, 400, "xx is not supported"),
        ({"target": "xx"}, 400, "xx is not supported"),
        ({"target": None}, 400, "missing target parameter"),
        ({"target": "de"}, 400, "German (de) is not available as a target language from German (de)"),
        ({"format": "pdf"}, 400, "pdf format is not supported"),
        ({"alternatives": "many"}, 400, "alternatives parameter is not a number"),
        ({"alternatives": 1000}, 400, "alternatives parameter must be <= 20"),
        ({"alternatives": 1.5}, 400, "alternatives parameter is not a number"),
        ({"alternatives": True}, 400, "alternatives parameter is not a number"),
        ({"q": "verboten"}, 400, "has the word verboten"),
    ],
)
def test_wrong_arguments_are_errors(
    start: Callable[..., App], change: dict[str, object], status: int, error: str
) -> None:
    app = start(characters=100, texts=10)
    answer = app.post("/translate", json={"q": "Das Haus", "source": "de", "target": "en", **change})
    assert answer.status_code == status
    assert list(answer.json()) == ["error"] and error in answer.json()["error"]


def test_countries_and_scripts_of_languages(app: App) -> None:
    for source in ("de", "DE", "de-AT", "de_AT"):
        assert app.post("/translate", json={"q": "Das Haus", "source": source, "target": "en-GB"}).status_code == 200


def test_settings(start: Callable[..., App]) -> None:
    settings = start(characters=123).get("/frontend/settings").json()
    assert settings["charLimit"] == 123 and settings["keyRequired"] is False
    assert settings["language"]["source"] == {"code": "de", "name": "German"}
    assert ".docx" in settings["supportedFilesFormat"]


def test_health_and_suggestions(app: App) -> None:
    assert app.get("/health").json() == {"status": "ok"}
    refused = app.post("/suggest", json={"q": "a", "s": "b", "source": "de", "target": "en"})
    assert refused.status_code == 403 and "disabled" in refused.json()["error"]


def test_a_file(app: App, tmp_path: Path) -> None:
    sent = {"source": "de", "target": "en"}
    answer = app.post("/translate_file", data=sent, files={"file": ("Große Tür.txt", b"Das Haus ist rot")})
    url = answer.json()["translatedFileUrl"]
    assert url.startswith("http://127.0.0.1:5000/download_file/")
    fetched = app.get(url)
    assert fetched.text == "The house is red"
    assert fetched.headers["content-disposition"] == "attachment; filename*=UTF-8''Gro%C3%9Fe%20T%C3%BCr.en.txt"
    assert fetched.headers["content-type"] == "application/octet-stream"
    assert "sandbox" in fetched.headers["content-security-policy"]
    assert re.fullmatch(r"[\w-]{32}\.txt", next(tmp_path.iterdir()).name)  # the name of the user is not on the disk


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("a.exe", b"x", "file format not supported"),
        ("", b"x", "missing file"),
        ("a.txt", b"", "empty file"),
        ("a.txt", b"\xff\xfe\xfa", "a.txt:1: byte 1 of the file is not"),
    ],
)
def test_files_that_are_refused(app: App, name: str, data: bytes, error: str, tmp_path: Path) -> None:
    answer = app.post("/translate_file", data={"source": "de", "target": "en"}, files={"file": (name, data)})
    assert answer.status_code == 400 and error in answer.json()["error"]
    assert str(tmp_path) not in answer.text
    assert list(tmp_path.iterdir()) == []


def test_a_long_document(start: Callable[..., App]) -> None:
    app = start(characters=10)
    sent = {"source": "de", "target": "en"}
    assert app.post("/translate_file", data=sent, files={"file": ("a.txt", b"x" * 250)}).status_code == 200
    answer = app.post("/translate_file", data=sent, files={"file": ("a.txt", b"x" * 251)})
    assert answer.status_code == 413 and "it has 251 characters" in answer.json()["error"]


@pytest.mark.parametrize("name", ["../../etc/passwd", "..%2F..%2Fetc%2Fpasswd", "x" * 32 + ".a.txt", "%00", "a.txt"])
def test_no_other_file_can_be_fetched(app: App, name: str) -> None:
    assert app.get(f"/download_file/{name}").status_code == 404
    assert app.get(f"/v1/documents/{name}").status_code == 404
    assert app.get(f"/page/{name}").status_code == 404
