"""Corrections over the API of a real translator."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hopefear.learning.journal import Journal
from hopefear.serve.settings import Keys
from hopefear.translator.folder import write_card
from hopefear.translator.translator import Translator
from tests.elsewhere import held_elsewhere
from tests.serve.conftest import App

PAIR = {"source": "es", "target": "en"}
SENT = {"text": "un dingsda", "correction": "a gizmo", **PAIR}


@pytest.fixture
def folder(task: Path, tmp_path: Path) -> Path:
    """A translator to correct."""
    shutil.copytree(task / "model", tmp_path / "small")
    write_card(tmp_path / "small", {"name": "small", "source": "es", "target": "en"})
    return tmp_path / "small"


def translated(app: App, text: str) -> str:
    answer = app.post("/v1/translate", json={"text": text, **PAIR}).json()
    return str(answer["translations"][0]["text"])


def test_learn_list_undo(start: Callable[..., App], folder: Path) -> None:
    app = start(Translator(folder))
    before = translated(app, "un dingsda")
    answer = app.post("/v1/corrections", json={**SENT, "user": "eve"})
    assert answer.status_code == 201
    learnt = answer.json()
    assert (learnt["id"], learnt["status"]) == ("1", "learnt") and learnt["text"].startswith("1 learnt")
    assert translated(app, "un dingsda") == "a gizmo"
    listed = app.get("/v1/corrections", params=PAIR).json()
    assert listed["count"] == 1 and listed["corrections"][0]["user"] == "eve"
    assert app.get("/v1/corrections", params={**PAIR, "q": "nothing"}).json()["count"] == 0
    assert app.client.delete("/v1/corrections/1", params=PAIR).json() == {"undone": ["1"]}
    assert translated(app, "un dingsda") == before


@pytest.mark.parametrize("wrong", [{"correction": ""}, {"text": " "}, {"correction": 5}, {"correction": "x" * 20_000}])
def test_what_cannot_be_learnt(start: Callable[..., App], folder: Path, wrong: dict[str, object]) -> None:
    app = start(Translator(folder))
    answer = app.post("/v1/corrections", json={**SENT, **wrong})
    assert answer.status_code == 400 and "Invalid request" in answer.json()["error"]
    assert app.get("/v1/corrections", params=PAIR).json()["count"] == 0


def test_export_as_tmx(start: Callable[..., App], folder: Path) -> None:
    app = start(Translator(folder))
    app.post("/v1/corrections", json=SENT)
    app.post("/v1/corrections", json={**SENT, "text": "un dingsda", "correction": "un dingsda"})
    app.post("/v1/corrections", json={**SENT, "text": "otro", "correction": "other <one>"})
    app.client.delete("/v1/corrections/3", params=PAIR)
    answer = app.get("/v1/corrections", params={**PAIR, "format": "tmx"})
    assert answer.headers["content-disposition"] == 'attachment; filename="corrections-es-en.tmx"'
    assert "a gizmo" in answer.text and "&lt;one&gt;" not in answer.text and answer.text.endswith("</tmx>\n")


def test_no_such_correction(start: Callable[..., App], folder: Path) -> None:
    app = start(Translator(folder))
    assert app.client.delete("/v1/corrections/9", params=PAIR).status_code == 404


def test_a_flood_is_refused(start: Callable[..., App], folder: Path) -> None:
    app = start(Translator(folder), corrections=2)
    codes = [app.post("/v1/corrections", json=SENT).status_code for _ in range(3)]
    assert codes == [201, 201, 429]


def test_another_process_has_the_journal(start: Callable[..., App], folder: Path) -> None:
    with held_elsewhere(folder / "corrections"):
        app = start(Translator(folder))
        answer = app.post("/v1/corrections", json=SENT)
        assert answer.status_code == 409 and "another process" in answer.json()["error"]
    assert app.post("/v1/corrections", json=SENT).status_code == 201


def test_a_full_disk_is_no_mistake_of_the_client(
    start: Callable[..., App], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(journal: Journal, line: bytes) -> None:
        raise OSError(28, "No space left on device")

    app = start(Translator(folder))
    with monkeypatch.context() as patch:
        patch.setattr(Journal, "_write", full)
        answer = app.post("/v1/corrections", json=SENT)
    assert answer.status_code == 507 and answer.json() == {"error": "the server has no space to store it"}
    assert app.log[-1]["error"].endswith(": No space left on device") and "dingsda" not in str(app.log)
    assert app.post("/v1/corrections", json=SENT).status_code == 201


def test_strangers_need_a_key(start: Callable[..., App], folder: Path, tmp_path: Path) -> None:
    app = start(Translator(folder), host="0.0.0.0")
    assert app.post("/v1/corrections", json=SENT).status_code == 403
    assert app.get("/v1/corrections", params=PAIR).status_code == 403
    (tmp_path / "keys").write_text("a-long-secret\n")
    app = start(Translator(folder), host="0.0.0.0", keys=Keys.read(tmp_path / "keys"))
    assert app.post("/v1/corrections", json=SENT).status_code == 403
    assert app.get("/v1/corrections", params=PAIR).status_code == 403
    assert app.client.delete("/v1/corrections/1", params=PAIR).status_code == 403
    with_key = {"Authorization": "Bearer a-long-secret"}
    assert app.post("/v1/corrections", json=SENT, headers=with_key).status_code == 201


def test_a_translator_that_does_not_learn(app: App) -> None:
    answer = app.post("/v1/corrections", json={**SENT, "source": "de"})
    assert answer.status_code == 404 and "takes no corrections" in answer.json()["error"]
