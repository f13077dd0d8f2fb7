"""Language codes, scripts, and texts in the other language."""

import pytest

from hopefear.corpus import languages
from hopefear.corpus.languages import is_language, look_swapped, looks_like, primary, script, scripts_of
from hopefear.errors import InputError


@pytest.mark.parametrize("code", ["de", "DE", "de-DE", "de_AT", "deu", "ger", "ger-DE", " de ", "de-Latn-DE"])
def test_codes_of_german(code: str) -> None:
    assert primary(code) == "de"


@pytest.mark.parametrize(
    "code, known", [("gn", True), ("grn", True), ("xyz", False), ("tmx", False), ("source", False)]
)
def test_known_codes(code: str, known: bool) -> None:
    assert is_language(code) is known


def test_old_and_norwegian_codes() -> None:
    assert [primary(code) for code in ("iw", "no", "nob", "nn", "fre", "zho")] == ["he", "nb", "nb", "nn", "fr", "zh"]


def test_languages_without_a_short_code_are_welcome() -> None:
    assert languages.check_languages("arn", "es") == ("arn", "es")
    with pytest.raises(InputError, match="not a language code"):
        languages.check_language("Deutsch bitte")


@pytest.mark.parametrize(
    "letter, name",
    [("a", "LATIN"), ("ß", "LATIN"), ("Ж", "CYRILLIC"), ("ے", "ARABIC"), ("中", "CJK"), ("1", ""), ("!", "")],
)
def test_script(letter: str, name: str) -> None:
    assert script(letter) == name


def test_scripts() -> None:
    assert scripts_of("ur") == {"ARABIC"}
    assert scripts_of("sr") == {"CYRILLIC", "LATIN"}
    assert scripts_of("gn") == {"LATIN"}
    assert not scripts_of("arn")


GERMAN = ["Der Mann und die Frau gehen mit dem Hund in den Wald.", "Das ist nicht der Weg zu dem Haus."] * 3
ENGLISH = ["The man and the woman go to the forest with the dog.", "That is not the way to the house."] * 3


def test_swapped_texts_are_seen_only_when_it_is_certain() -> None:
    assert look_swapped(ENGLISH, GERMAN, "de", "en")
    assert not look_swapped(GERMAN, ENGLISH, "de", "en")
    assert not look_swapped(ENGLISH, ENGLISH, "de", "en")
    assert not look_swapped(ENGLISH[:1], GERMAN[:1], "de", "en")
    assert not look_swapped(ENGLISH, GERMAN, "arn", "en")
    assert not look_swapped([], [], "de", "en")


def test_another_language_is_seen_only_when_it_is_certain() -> None:
    assert looks_like(GERMAN, "es") == "de"
    assert looks_like(ENGLISH, "fr") == "en"
    assert looks_like(GERMAN, "de") == looks_like(ENGLISH, "en") == ""
    assert looks_like([*GERMAN, *ENGLISH], "en") == ""
    assert looks_like(GERMAN, "gn") == ""
    assert looks_like(GERMAN[:1], "es") == looks_like([], "es") == ""


def test_words_of_both_languages_do_not_hide_that_texts_are_swapped() -> None:
    german = ["Ein Mann steht in einem Boot in der Stadt und lacht.", "Eine Frau sitzt in der Sonne, und ein Hund."] * 6
    english = ["A man is in a boat in the city and laughs.", "A woman is in the sun, and a dog with her."] * 6
    assert look_swapped(english, german, "de", "en")
    assert not look_swapped(german, english, "de", "en")


def test_every_pair_of_known_languages_can_be_told_apart() -> None:
    """Each list alone, seen as a text, is its own language."""
    words = languages._FREQUENT
    for own in words:
        for other in words:
            if own != other:
                assert not look_swapped([words[own]] * 9, [words[other]] * 9, own, other)
