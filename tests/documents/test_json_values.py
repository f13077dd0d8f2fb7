"""JSON: strings that are values, and how they are written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from hopefear.documents.json_values import read_json
from hopefear.documents.segment import Segment
from hopefear.errors import InputError
from tests.documents.samples import JSON


def test_values_and_their_lines() -> None:
    assert [s.text for s in read_json(JSON.encode(), "a.json").segments] == [
        'Ein "Haus" am See',
        "Eins",
        "Zwei",
        "Drei",
        "a/b und c",
        "Ein <b>rotes</b> Haus",
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [(["liste.0"], ["Eins"]), (["*.text"], ["Zwei", "Drei"]), (["titel", "pfad"], ['Ein "Haus" am See', "a/b und c"])],
)
def test_fields(fields: list[str], expected: list[str]) -> None:
    assert [s.plain for s in read_json(JSON.encode(), "a.json", fields=fields).segments] == expected


def test_a_field_that_nothing_has() -> None:
    with pytest.raises(InputError, match=r"a.json: has no value x. Write fields such as items"):
        read_json(JSON.encode(), "a.json", fields=["x"])


def test_escapes_as_the_file_has_them() -> None:
    plain, escaped = read_json(b'"Haus"', "a.json"), read_json(b'"H\\u00e4user"', "a.json")
    new = [Segment(('Łódź "x"\\',))]
    assert plain.write(new).decode() == '"Łódź \\"x\\"\\\\"'
    assert escaped.write(new) == b'"\\u0141\\u00f3d\\u017a \\"x\\"\\\\"'


def test_half_a_character_stays() -> None:
    data = b'["Ein \\ud800 Wort", "Haus"]'
    document = read_json(data, "a.json")
    assert [s.plain for s in document.segments] == ["Haus"] and document.write(document.segments) == data


values = st.recursive(
    st.one_of(st.none(), st.integers(), st.text(alphabet='aB "\\\n\t/é\u2028,{}[]:', max_size=12)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(values, st.booleans(), st.sampled_from([None, 1]))
def test_other_letters_in_any_value(value: Any, ascii_only: bool, indent: int | None) -> None:
    data = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode()
    document = read_json(data, "a.json")
    assert document.write(document.segments) == data
    new = [Segment(tuple(p.swapcase() if isinstance(p, str) else p for p in s.parts)) for s in document.segments]
    assert json.loads(document.write(new)) == swapped(value)


def swapped(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: swapped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [swapped(item) for item in value]
    return value.swapcase() if isinstance(value, str) else value
