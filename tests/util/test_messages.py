"""The words that messages are made of."""

from hopefear.util.messages import plural, some, suggestion


def test_plural() -> None:
    assert [plural(n, "weight") for n in (0, 1, 2)] == ["0 weights", "1 weight", "2 weights"]


def test_some_of_many() -> None:
    assert some("abc") == "a, b, c"
    assert some("abcde") == "a, b, c, d, e"
    assert some("abcdefg") == "a, b, c, d, e and 2 more"
    assert some(iter("abc"), most=1) == "a and 2 more"


def test_what_may_have_been_meant() -> None:
    assert suggestion("blue", ["bleu", "ter"]) == " Did you mean 'bleu'?"
    assert suggestion("xyzzy", ["bleu", "ter"]) == ""
