"""The core's CSV reader against Python's, which is the slow and obviously right one."""

import csv
import io
import math
import random

import pytest

from hopefear._core import CsvColumns
from hopefear.formats.table_columns import as_number

WORDS = [
    "1",
    "-2.5",
    "+3",
    "1e-3",
    " 4 ",
    "",
    "NA",
    "nan",
    "null",
    "None",
    "true",
    "FALSE",
    "1_000",
    "x",
    "0x10",
    "1e999",
]
TEXTS = ["plain", 'in "quotes"', "a,b", "two\nlines", "", "ä", "7", " blank "]


def columns(text: str, cut: int, as_text: list[int], delimiter: str = ",") -> list[list[object]] | None:
    """The columns as the core has them, fed in pieces of so many bytes."""
    data = text.encode()
    while True:
        parser = CsvColumns(delimiter, as_text)
        for at in range(0, len(data), cut):
            parser.feed(data[at : at + cut])
        if not parser.finish():
            return None
        if not parser.late:
            break
        for j in parser.late:
            as_text[j] = 1
    return [parser.texts(j) if parser.is_text(j) else parser.numbers(j).tolist() for j in range(len(as_text))]


def expected(text: str, as_text: list[int], delimiter: str = ",") -> list[list[object]]:
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row][1:]
    chunks: list[list[object]] = []
    for j, column in enumerate(zip(*rows, strict=True)):
        numbers = [as_number(value) for value in column]
        chunks.append(list(column) if as_text[j] or None in numbers else list(numbers))
    return chunks


def same(first: list[list[object]] | None, other: list[list[object]]) -> bool:
    return repr(first).replace("-nan", "nan") == repr(other)


@pytest.mark.parametrize("seed", range(60))
def test_as_python_reads_it(seed: int) -> None:
    draw = random.Random(seed)
    delimiter = draw.choice([",", "\t", ";"])
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=draw.choice(["\n", "\r\n"]))
    writer.writerow(["name", "score", "text"])
    few = draw.sample(WORDS, draw.randint(1, 6))
    for _ in range(draw.randint(1, 12)):
        writer.writerow([f"g{draw.randint(0, 3)}", draw.choice(few), draw.choice(TEXTS)])
    text = out.getvalue()
    if draw.random() < 0.3:
        text = text.rstrip("\r\n")  # no line break at the end
    if draw.random() < 0.3:
        text = text.replace("\n", "\n\n", 1)  # an empty line
    as_text = [1, 0, draw.randint(0, 1)]
    wanted = expected(text, as_text, delimiter)
    for cut in (1, 7, 1 << 20):
        assert same(columns(text, cut, list(as_text), delimiter), wanted), (cut, text)


@pytest.mark.parametrize("text", ["a,b\n1\n", "a,b\n1,2,3\n", 'a,b\n1,"x\n', 'a,b\n1,"x"y\n'])
def test_what_is_malformed_is_left_to_python(text: str) -> None:
    for cut in (1, 100):
        assert columns(text, cut, [0, 0]) is None


def test_numbers_are_exact_and_a_mark_of_utf8_is_passed_over() -> None:
    values = [random.Random(1).uniform(-1, 1) * 10.0**k for k in range(-300, 300, 7)]
    chunks = columns("\ufeffx\n" + "".join(f"{value!r}\n" for value in values), 13, [0])
    assert chunks == [values]
    late = columns("x\n1\n2\nmany\n", 100, [0])
    assert late == [["1", "2", "many"]]
    assert math.isinf(columns("x\n1e999\n", 100, [0])[0][0])


def test_equal_texts_in_a_row_are_one_object() -> None:
    chunks = columns("x\naa\naa\nb\n", 100, [1])
    assert chunks is not None
    assert chunks[0][0] is chunks[0][1]
