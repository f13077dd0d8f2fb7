"""Tables: the cells of a column."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings, strategies as st

from hopefear.documents.segment import Segment
from hopefear.documents.tables import read_csv, read_tsv
from hopefear.errors import InputError
from tests.documents.samples import CSV


def test_cells_of_a_column() -> None:
    expected = ['Ein "Haus", rot', "Noch eins", "Erste Zeile", "zweite Zeile"]
    assert [s.plain for s in read_csv(CSV.encode(), "a.csv", column="text").segments] == expected
    assert [s.plain for s in read_csv(CSV.encode(), "a.csv", column="2").segments] == ["text", *expected]
    assert [s.plain for s in read_csv(CSV.encode(), "a.csv", column=["note", "text"]).segments][1] == "a"


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_seen(separator: str) -> None:
    text = f"id{separator}text\n1{separator}Haus\n"
    document = read_csv(text.encode(), "a.csv", column="text")
    assert [s.plain for s in document.segments] == ["Haus"]
    written = document.write([Segment((f'a{separator}"b"',))]).decode()
    assert [*csv.reader(io.StringIO(written), delimiter=separator)][1] == ["1", f'a{separator}"b"'] or separator == "\t"


def test_quotes_of_a_tsv_are_letters_unless_they_enclose_a_cell() -> None:
    document = read_tsv(b'id\ttext\n1\t12" breit\n2\t"Haus" gut\n', "a.tsv", column="text")
    assert [s.plain for s in document.segments] == ['12" breit', '"Haus" gut']


def test_a_translation_has_no_line_of_its_own() -> None:
    document = read_csv(b"text\nHaus\n", "a.csv", column=1)
    assert document.write([None, Segment(("a\nb",))]) == b"text\na b\n"


cells = st.text(alphabet='aB ",;\né', max_size=6)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(cells, cells), max_size=4))
def test_what_the_library_reads(rows: list[tuple[str, str]]) -> None:
    out = io.StringIO()
    csv.writer(out).writerows([("id", "text"), *rows])
    document = read_csv(out.getvalue().encode(), "a.csv", column="text")
    assert document.write(document.segments) == out.getvalue().encode()
    new = [Segment(tuple(p.swapcase() if isinstance(p, str) else p for p in s.parts)) for s in document.segments]
    written = document.write(new).decode()
    read = [*csv.reader(io.StringIO(written, newline=""))]
    assert read[1:] == [[a, b.swapcase()] for a, b in rows]


@pytest.mark.parametrize(
    "text, cells",
    [
        ("id,text\n1,Ein Haus\n2,Tor\n", ["Ein Haus", "Tor"]),  # the names of columns stay
        ("1,Ein Haus\n2,Tor\n", ["Ein Haus", "Tor"]),
        ("Ein Haus\nTor\n", ["Ein Haus", "Tor"]),
        ("Haus\nTor\n", ["Haus", "Tor"]),
        ("text\nEin Haus\n", ["Ein Haus"]),
    ],
)
def test_the_only_column_with_text(text: str, cells: list[str]) -> None:
    assert [s.plain for s in read_csv(text.encode(), "a.csv").segments] == cells


@pytest.mark.parametrize("text", ["id,text\n1,Haus\n", "note,text\nein Tor,das Haus\n"])
def test_a_column_that_could_be_another_is_asked_for(text: str) -> None:
    with pytest.raises(InputError, match="which column"):
        read_csv(text.encode(), "a.csv")
