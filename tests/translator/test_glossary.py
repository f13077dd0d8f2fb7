"""Glossaries read and found."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopefear.errors import InputError
from hopefear.model.text import TextPipeline
from hopefear.translator.glossary import Glossary, Term, read_glossary


def test_a_glossary_is_read(tmp_path: Path) -> None:
    (tmp_path / "g.tsv").write_text(
        "# terms\nTor\tgoal\tpreferred\n\nBahn\tDB\tforced\tcase\tthe company\nHaus\thouse\n  Brot \t bread \t\n"
    )
    assert read_glossary(tmp_path / "g.tsv") == [
        Term("Tor", "goal", forced=False),
        Term("Bahn", "DB", case=True, note="the company"),
        Term("Haus", "house"),
        Term("Brot", "bread"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Tor goal", "has no source and target"),
        ("Tor\t", "has no source and target"),
        ("\tgoal", "has no source and target"),
        ("Tor\tgoal\tmust", "'must' is not a kind of term"),
        ("Tor\tgoal\tforced\tlower", "'lower' in the column case"),
        ("a\tb\tforced\t\tnote\tmore", "has 6 columns"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "g.tsv").write_text(f"Haus\thouse\n{line}\n")
    with pytest.raises(InputError, match=rf"g\.tsv:2: {message}"):
        read_glossary(tmp_path / "g.tsv")


def found(terms: list[Term], text: str, free: list[bool] | None = None) -> list[tuple[int, int, str]]:
    forms = text.split()
    matches = Glossary(terms, TextPipeline()).matches(forms, free or [True] * len(forms))
    return [(match.begin, match.end, match.term.target) for match in matches]


def test_terms_are_found() -> None:
    terms = [Term("rotes Haus", "A"), Term("Haus", "B"), Term("Haus am See", "C"), Term("am", "D", forced=False)]
    assert found(terms, "ein Haus") == [(1, 2, "B")]
    assert found(terms, "ein rotes Haus am See") == [(2, 5, "C")]  # the longest of those that overlap
    assert found(terms, "rotes Haus am Tor") == [(0, 2, "A"), (2, 3, "D")]
    assert found(terms, "HAUS haus") == [(0, 1, "B"), (1, 2, "B")]
    assert found(terms, "ein Haus", [True, False]) == []
    assert found([Term("Tor", "x", case=True)], "tor Tor") == [(1, 2, "x")]
    assert found([Term("Haus*", "x"), Term("gross* Tor", "y")], "Hauses grosses Tor Hau") == [(0, 1, "x"), (1, 3, "y")]
    assert found([Term("*", "star")], "a * b") == [(1, 2, "star")]
    assert found([Term("o.k.", "fine")], "alles o.k .") == []
    assert found([], "a b") == []


def test_the_first_of_equal_terms_wins() -> None:
    assert found([Term("Tor", "first"), Term("Tor", "second")], "Tor") == [(0, 1, "first")]
