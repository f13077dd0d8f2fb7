"""Tables: which columns are the two sides, documents, quotes, and faults."""

import json
from pathlib import Path
from typing import Any

import pytest

from hopefear.errors import InputError
from tests.corpus.files import TEXTS, comma_separated, parquet, read, texts_of, tsv


def write(folder: Path, text: str, name: str = "x.tsv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def message(path: Path, **more: Any) -> str:
    with pytest.raises(InputError) as caught:
        read(path, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    "header", ["", "de\ten\n", "de-DE\tEN\n", "deu\teng\n", "source\ttarget\n", "src\ttgt\n", "\ufeffSource\tTarget\n"]
)
def test_headers(tmp_path: Path, header: str) -> None:
    assert texts_of(read(write(tmp_path, tsv(header=header)))) == TEXTS


def test_a_header_decides_the_order(tmp_path: Path) -> None:
    swapped = [(e, f) for f, e in TEXTS]
    assert texts_of(read(write(tmp_path, tsv(swapped, header="en\tde\n")))) == TEXTS


def test_a_header_of_other_languages(tmp_path: Path) -> None:
    said = message(write(tmp_path, tsv(header="fr\tit\n")))
    assert ":1: 2 columns, and none named de and en (the first line has: fr, it). Name them" in said


def test_more_columns(tmp_path: Path) -> None:
    rows = "".join(f"{i}\tdoc{i // 2}\t{e}\t{f}\n" for i, (f, e) in enumerate(TEXTS))
    path = write(tmp_path, "id\tdocument\ten\tde\n" + rows)
    pairs = read(path)
    assert texts_of(pairs) == TEXTS
    assert [pair.document for pair in pairs] == [f"doc{i // 2}" for i in range(len(TEXTS))]
    path = write(tmp_path, rows)
    assert "4 columns, and none named de and en" in message(path)
    assert texts_of(read(path, columns=("4", "3"))) == TEXTS
    assert "there is no column 5 or 3" in message(path, columns=("5", "3"))


def test_columns_by_name(tmp_path: Path) -> None:
    path = write(tmp_path, comma_separated(header=("Deutsch", "English")), "x.csv")
    assert texts_of(read(path, columns=("deutsch", "English"))) == TEXTS
    assert "there is no column German or English. The first line has: Deutsch, English" in message(
        path, columns=("German", "English")
    )


def test_a_header_is_no_sentence_also_with_columns_by_number(tmp_path: Path) -> None:
    assert texts_of(read(write(tmp_path, tsv(header="de\ten\n")), columns=("1", "2"))) == TEXTS
    assert texts_of(read(write(tmp_path, tsv()), columns=("1", "2"))) == TEXTS


def test_quotes_and_line_breaks_of_spreadsheets(tmp_path: Path) -> None:
    texts = [("eins, zwei", 'he said "no"'), ("zwei\nZeilen", "two\nlines"), ("drei", "three")]
    pairs = read(write(tmp_path, comma_separated(texts), "x.csv"))
    assert texts_of(pairs) == [("eins, zwei", 'he said "no"'), ("zwei Zeilen", "two lines"), ("drei", "three")]
    assert [pair.origin.rpartition(":")[2] for pair in pairs] == ["1", "2", "5"]


def test_quotes_are_quotes_between_tabs(tmp_path: Path) -> None:
    assert texts_of(read(write(tmp_path, '"Ja"\t"Yes\n'))) == [('"Ja"', '"Yes')]


@pytest.mark.parametrize(
    "name, text, finding",
    [
        ("x.tsv", "a\tb\nonly one\n", ":2: 1 columns where 2 are needed. Is there a line break inside a sentence?"),
        ("x.csv", 'a,b\n"c,d\n', ":2: not a row of a table"),
        ("x.jsonl", '{"de": "a", "en": "b"}\n{"de": "a"\n', ":2: not JSON"),
        ("x.jsonl", '{"de": "a", "en": "b"}\n[1]\n', ":2: not an object"),
        ("x.jsonl", '{"de": "a", "en": 5}\n', ":1: en is not a text"),
        ("x.jsonl", '{"de": "a", "fr": "b"}\n', ":1: 2 columns, and none named de and en"),
        ("x.jsonl", '{"de": ' + "[" * 100_000 + "\n", ":1: not JSON"),
    ],
)
def test_faults(tmp_path: Path, name: str, text: str, finding: str) -> None:
    assert finding in message(write(tmp_path, text, name))


def test_json_lines_have_documents_and_nulls(tmp_path: Path) -> None:
    rows = [{"translation": {"de": "a", "en": "b"}, "doc_id": 7}, {"source": "c", "target": None}]
    pairs = read(write(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "x.jsonl"))
    assert texts_of(pairs) == [("a", "b"), ("c", "")]
    assert [pair.document for pair in pairs] == ["7", None]


def test_parquet_columns(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = parquet(tmp_path / "x.parquet", nested=True)
    assert "none named ru and en" in message(path, source="ru")
    path = parquet(tmp_path / "y.parquet")
    assert texts_of(read(path, columns=("en", "de"), source="en", target="de")) == [(e, f) for f, e in TEXTS]
    path.write_bytes(path.read_bytes()[:-40])
    assert "the Parquet file is damaged" in message(path)


def test_parquet_columns_of_numbers(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    write_table(pyarrow.table({"de": ["a"], "en": [1]}), tmp_path / "x.parquet")
    assert "column en has int64, not text" in message(tmp_path / "x.parquet")
