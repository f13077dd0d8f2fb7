"""What is underlined: it stands on both sides."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hopefear.documents.protect import Protector
from hopefear.serve.marks import Marker
from tests.serve.conftest import App
from tests.serve.fake import Fake, Quality, Term, Translation


def marked(
    source: str, target: str, alignment: list[tuple[int, int, int, int]], marker: Marker
) -> list[tuple[str, str]]:
    translation = Translation(source, target, (), alignment, Quality(1.0, 0.0, 1.0))
    texts = {"source": source, "target": target}
    return [(mark["kind"], texts[mark["side"]][mark["begin"] : mark["end"]]) for mark in marker.marks(translation)]


def test_protected_spans_that_were_kept() -> None:
    marker = Marker(Protector())
    marks = marked("Das {{haus}} kostet %s und 42 €.", "The {{haus}} costs 42 € and %s.", [], marker)
    assert marks == [("kept", text) for text in ("{{haus}}", "{{haus}}", "%s", "%s", "42 €", "42 €")]
    assert marked("Das {{haus}}", "The house", [], marker) == []  # it was not


def test_the_same_span_twice_is_marked_at_two_places() -> None:
    source, target = "%s und %s", "%s and %s"
    translation = Translation(source, target, (), [(0, 2, 7, 9), (7, 9, 0, 2)], Quality(1.0, 0.0, 1.0))
    marks = Marker(Protector()).marks(translation)
    assert [mark["begin"] for mark in marks] == [0, 7, 7, 0]


@pytest.mark.parametrize(
    ("source", "target", "texts"),
    [
        ("Der Bremsbelag ist neu", "The brake pad is new", ["Bremsbelag", "brake pad"]),
        ("BREMSBELAG", "Brake pad", ["BREMSBELAG", "Brake pad"]),
        ("Der Bremsbelagsatz", "The brake pad", []),
        ("Fische im Wasser", "The fish swim", ["Fische", "fish"]),
        ("guten  Morgen Welt", "good morning world", ["guten  Morgen", "good morning"]),
        ("Der Bremsbelag", "The pad", []),
    ],
)
def test_terms(source: str, target: str, texts: list[str]) -> None:
    terms = [Term("Bremsbelag", "brake pad"), Term("Fisch*", "fish"), Term("guten Morgen", "good morning")]
    assert marked(source, target, [], Marker(Protector(), terms)) == [("term", text) for text in texts]


def test_the_api_has_them(start: Callable[..., App]) -> None:
    app = start(Fake(glossary=(Term("Haus", "house"),)), protect=("rot",))
    answer = app.post("/v1/translate", json={"text": "Haus {{x}}", "target": "en"}).json()
    assert answer["translations"][0]["marks"] == [
        {"side": "source", "begin": 5, "end": 10, "kind": "kept"},
        {"side": "target", "begin": 6, "end": 11, "kind": "kept"},
        {"side": "source", "begin": 0, "end": 4, "kind": "term"},
        {"side": "target", "begin": 0, "end": 5, "kind": "term"},
    ]


def test_what_was_left_of_a_document_is_said(app: App) -> None:
    answer = app.post("/v1/documents", data={"target": "en"}, files={"file": ("a.txt", b"schwierig")})
    assert answer.json()["left"] == ["a.txt:1: left as it was (schwierig)"]


def test_the_column_of_a_table(app: App) -> None:
    file = {"file": ("a.csv", b"note,text\nein Tor,das Haus\nrot,ein Hund\n")}
    refused = app.post("/v1/documents", data={"target": "en"}, files=file)
    assert refused.status_code == 400 and "in the field column" in refused.json()["error"]
    for column in ("text", "2"):
        assert app.post("/v1/documents", data={"target": "en", "column": column}, files=file).status_code == 201
    for column in ("3", "nothing", "99999999999", "\u0663"):
        answer = app.post("/v1/documents", data={"target": "en", "column": column}, files=file)
        assert answer.status_code == 400 and "has no column" in answer.json()["error"]
