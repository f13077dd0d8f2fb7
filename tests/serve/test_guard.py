"""Who may ask, what every answer carries, and what the log has."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from hopefear.serve.guard import Recent
from hopefear.serve.settings import Keys, Limits
from tests.serve.conftest import App
from tests.serve.fake import Fake

SENT = {"q": "Das Haus", "source": "de", "target": "en"}


def test_headers_of_safety(app: App) -> None:
    for answer in (app.get("/"), app.get("/nothing"), app.post("/translate", json=SENT), app.get("/page/page.js")):
        assert answer.headers["content-security-policy"].startswith("default-src 'self'")
        assert "unsafe" not in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("host", ["127.0.0.1:5000", "localhost", "LOCALHOST:80", "[::1]:5000", "a.localhost"])
def test_names_of_this_machine(app: App, host: str) -> None:
    assert app.get("/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "127.0.0.1:5000@evil", "", "a b", "localhost.evil:1"]
)
def test_another_name_is_not_answered(app: App, host: str) -> None:
    answer = app.get("/health", headers={"host": host})
    assert answer.status_code == 421 and "--allowed-host" in answer.json()["error"]


def test_names_that_are_allowed(start: Callable[..., App]) -> None:
    app = start(hosts=("translate.example",), url="https://other.example/translate")
    for host, status in (("translate.example", 200), ("other.example", 200), ("evil.example", 421)):
        assert app.get("/health", headers={"host": host}).status_code == status
    assert start(host="0.0.0.0").get("/health", headers={"host": "any.example"}).status_code == 200


def test_pages_of_other_sites_are_refused(app: App) -> None:
    for origin, status in (("http://evil.example", 403), ("null", 403), ("http://127.0.0.1:5000", 200)):
        assert app.post("/translate", json=SENT, headers={"origin": origin}).status_code == status


def test_keys(start: Callable[..., App], tmp_path: Any) -> None:
    path = tmp_path / "keys"
    path.write_text("first-key-of-all\n\n# a comment\nsecond-key somebody\n")
    app = start(keys=Keys.read(path))
    for given in ({"headers": {"authorization": "Bearer second-key"}}, {"headers": {"x-api-key": "first-key-of-all"}}):
        assert app.post("/translate", json=SENT, **given).status_code == 200
        assert app.get("/metrics", **given).status_code == 200
    assert app.post("/translate", json={**SENT, "api_key": "second-key"}).status_code == 200
    assert app.post("/translate?api_key=second-key", json=SENT).status_code == 200
    for key in ("somebody", "second-ke", "", None, 3, ["second-key"], "\u00fc"):
        answer = app.post("/translate", json={**SENT, "api_key": key})
        assert answer.status_code == 403 and "key" in answer.json()["error"], key
    file = {"file": ("a.txt", b"Das Haus")}
    for path_of, status in (("/translate_file", 403), ("/v1/documents", 403)):
        assert app.post(path_of, data={**SENT, "api_key": "wrong"}, files=file).status_code == status
        assert app.post(path_of, data=SENT, files=file).status_code == status
        assert app.post(path_of, data={**SENT, "api_key": "second-key"}, files=file).status_code < 300
    for address in ("/v1/translate", "/v1/explain", "/detect"):
        assert app.post(address, json={"text": "a", "q": "a", "target": "en"}).status_code == 403
    assert app.get("/metrics").status_code == 403
    for open_to_all in ("/", "/languages", "/health", "/frontend/settings", "/v1/openapi.json"):
        assert app.get(open_to_all).status_code == 200
    assert "key" not in json.dumps(app.log)


def test_the_log_has_no_text(app: App) -> None:
    app.post("/translate", json={**SENT, "q": "geheim"})
    app.get("/translate", params={**SENT, "q": "geheim"})
    app.get("/geheim")
    assert len(app.log) == 3 and "geheim" not in json.dumps(app.log)
    first = app.log[0]
    assert (first["path"], first["status"], first["pair"], first["characters"]) == ("/translate", 200, "de-en", 6)


def test_the_log_with_text(start: Callable[..., App]) -> None:
    app = start(log_text=True)
    app.post("/translate", json=SENT)
    assert app.log[0]["text"] == ["Das Haus"]


def test_a_defect_is_logged_with_its_place_and_told_without(start: Callable[..., App]) -> None:
    app = start(log=False)
    answer = app.post("/translate", json={**SENT, "q": "kaputt"})
    assert answer.status_code == 500 and answer.json() == {"error": "internal server error; see the log of the server"}
    assert app.log[0]["error"].startswith("ValueError at fake.py:") and "defect" not in json.dumps(app.log)
    assert app.post("/translate", json=SENT).status_code == 200 and len(app.log) == 1


def test_too_many_requests(start: Callable[..., App]) -> None:
    app = start(per_minute=3)
    answers = [app.post("/translate", json=SENT) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[3].json()["error"].startswith("Slowdown:") and 1 <= int(answers[3].headers["retry-after"]) <= 61
    assert app.get("/health").status_code == 200  # looking is free
    assert app.post("/translate", json=SENT, headers={"x-api-key": "another"}).status_code == 429


def test_who_has_a_key_is_counted_alone(start: Callable[..., App], tmp_path: Any) -> None:
    path = tmp_path / "keys"
    path.write_text("first-key\nsecond-key\n")
    app = start(per_minute=2, keys=Keys.read(path))
    keys = ["first-key"] * 3 + ["second-key"]
    statuses = [app.post("/translate", json=SENT, headers={"x-api-key": key}).status_code for key in keys]
    assert statuses == [200, 200, 429, 200]


def test_clients_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("hopefear.serve.guard.time.monotonic", lambda: now[0])
    recent = Recent(Limits(per_minute=2))
    assert [recent.wait("a") for _ in range(3)] == [0, 0, 61] and recent.wait("b") == 0
    now[0] = 61
    assert recent.wait("a") == 0
    for client in range(10_050):
        assert recent.wait(f"client {client}") == 0
    assert len(recent._times) < 10_003


def test_bodies_that_are_too_large(start: Callable[..., App]) -> None:
    app = start(Fake(), characters=100, file_bytes=1000)
    answer = app.post("/translate", content=b"x" * 100_000)
    assert answer.status_code == 413 and "too large" in answer.json()["error"]
    chunks = (b"x" * 10_000 for _ in range(10))  # without Content-Length
    assert app.post("/translate", content=chunks).status_code == 413
    file = {"file": ("a.txt", b"x" * 80_000)}
    assert app.post("/translate_file", data={"source": "de", "target": "en"}, files=file).status_code == 413
