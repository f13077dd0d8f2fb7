"""Capitals of translations: learnt from text, and given back."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

from hopefear.model.builder import build
from hopefear.model.casing import Casing
from hopefear.model.directory import Model
from hopefear.model.options import BuildOptions

LINES = [
    "The new mayor of New York met Anna .",
    "New shoes cost a lot in New York . Anna knows it .",
    "Anna met the mayor .",
    "In Rome they met the new mayor . They like Rome .",
    "a line that begins small , from Rome .",
]


@pytest.fixture
def casing() -> Casing:
    learnt = Casing.learn(LINES)
    assert learnt is not None
    return learnt


def test_capitals_come_back(casing: Casing) -> None:
    for line in LINES[:4]:
        assert " ".join(casing.spell(line.lower().split())) == line


def test_sentences_begin_as_they_mostly_do(casing: Casing) -> None:
    assert casing.first == 4 / 5
    assert casing.later == 1.0
    assert casing.spell(["zebras", "like", "rome", ".", "?", "(", "lions", ")"]) == [
        "Zebras", "like", "Rome", ".", "?", "(", "Lions", ")",
    ]  # fmt: skip
    small = Casing.learn(["the mayor of Rome .", "a man of Rome ."])
    assert small is not None
    assert small.spell(["they", "like", "rome"]) == ["they", "like", "Rome"]


def test_what_begins_small_begins_as_the_text_does() -> None:
    lines = ["The mayor of Rome .", "Anna likes Rome .", "in Rome .", "New shoes ."]
    never = Casing.learn(lines, small=[False] * 4)
    assert never is not None and never.small == 0.0
    assert never.spell(["they", "like", "rome"], ["sie", "mögen", "Rom"]) == ["they", "like", "Rome"]
    assert never.spell(["they", "like", "rome"], ["(", "Sie", "mögen", "Rom"]) == ["They", "like", "Rome"]
    often = Casing.learn(lines, small=[True, True, True, False])
    assert often is not None and often.small == 2 / 3
    assert often.spell(["they", "like", "rome"], ["sie", "mögen", "Rom"]) == ["They", "like", "Rome"]
    unknown = Casing.from_dict(often.model, {"first": 0.75, "later": 0.0})  # a model of version 0.3.0
    assert unknown.spell(["they"], ["sie"]) == ["They"]


def test_what_goes_on_behind_a_quotation_goes_on_small(casing: Casing) -> None:
    words = ["yes", "!", "hm", "said", "he"]
    assert casing.spell(words, ["Ja", "!", "hm", "sagte", "er"])[2] == "hm"
    assert casing.spell(words, ["Ja", "!", "Hm", "sagte", "er"])[2] == "Hm"


def test_unknown_words_are_spelled_as_in_the_source(casing: Casing) -> None:
    assert casing.spell(["anna", "met", "mcdonald"], ["Anna", "traf", "McDonald"]) == ["Anna", "met", "McDonald"]
    assert casing.spell(["anna", "met", "mcdonald"]) == ["Anna", "met", "mcdonald"]
    assert casing.spell(["ein", "haus", "ein"], ["Ein", "Haus", ",", "ein", "Tor"]) == ["Ein", "Haus", "ein"]
    assert casing.spell([]) == []


def test_the_spelling_is_the_most_probable_one(casing: Casing) -> None:
    forms: dict[str, list[str]] = {}
    for word in casing.model.vocab[3:]:
        forms.setdefault(word.lower(), []).append(word)

    def enumerated(words: Sequence[str]) -> float:
        return max(
            casing.model.score(" ".join(way), eos=False) for way in itertools.product(*(forms[w] for w in words))
        )

    for words in (
        ["new", "york"],
        ["the", "new", "mayor"],
        ["in", "new", "shoes", "they", "met", "the", "new", "york"],
    ):
        spelled = casing._most_probable(words, {})
        assert casing.model.score(" ".join(spelled), eos=False) == pytest.approx(enumerated(words))


def test_text_without_capitals_needs_none() -> None:
    assert Casing.learn(["no capital here", "nor here ."]) is None
    assert Casing.learn([]) is None


def test_a_built_model_spells_its_output(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("der mann .\nanna .\nder mann sieht anna .\nanna sieht Rom .\n" * 3)
    (tmp_path / "e").write_text("The man .\nAnna .\nThe man sees Anna .\nAnna sees Rome .\n" * 3)
    build(tmp_path / "f", tmp_path / "e", tmp_path / "model", BuildOptions(lm_order=2))
    model = Model.open(tmp_path / "model")
    assert model.running_text(["the man sees rome ."]) == ["The man sees Rome."]
    assert model.running_text(["the man sees klagenfurt ."], ["der Mann sieht Klagenfurt ."]) == [
        "The man sees Klagenfurt."
    ]
    build(tmp_path / "f", tmp_path / "e", tmp_path / "cased", BuildOptions(lm_order=2, lowercase=False))
    cased = Model.open(tmp_path / "cased")
    assert cased.casing is None and not (tmp_path / "cased" / "case.bin").exists()
    assert cased.running_text(["the man ."]) == ["the man."]
