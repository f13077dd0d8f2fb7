import math

import pytest

from hopefear.learning.ngrams import BONUS, WINDOW, Ngrams, anchor, ngram_bonus
from tests.learning.test_memory import pair, view_of


def value(words: str, corrections: list[str]) -> float:
    lm = ngram_bonus([line.split() for line in corrections])
    return lm.score(words) * math.log(10)


def test_each_word_costs_one_less_the_bonus_of_its_ngram() -> None:
    corrections = ["the red gizmo", "a gizmo"]
    assert value("x y", corrections) == pytest.approx(-3, abs=1e-4)
    assert value("the red gizmo", corrections) == pytest.approx(-4 + 4 * BONUS[1], abs=1e-4)
    assert value("red gizmo y", corrections) == pytest.approx(-4 + BONUS[1], abs=1e-4)
    assert value("gizmo red", corrections) == pytest.approx(-3, abs=1e-4)


def test_it_is_rebuilt_after_a_twentieth_more_pairs() -> None:
    assert [anchor(count) for count in (0, 1, 2, 39, 40, 41, 42)] == [0, 1, 2, 39, 40, 40, 42]
    assert anchor(10_000) > 10_000 - 51


def test_pairs_that_do_not_count_are_left_out() -> None:
    pairs = [pair("a b", "A B", owner=(0, 1)), pair("c d", "C D", owner=(0, 2))]
    ngrams = Ngrams()
    model = ngrams.of(view_of(*pairs))
    assert model is not None and "C" in model and ngrams.of(view_of(*pairs)) is model
    less = ngrams.of(view_of(*pairs, undone=frozenset([(0, 2)])))
    assert less is not None and "C" not in less and "A" in less
    assert ngrams.of(view_of(*pairs, undone=frozenset([(0, 1), (0, 2)]))) is None
    assert Ngrams().of(view_of()) is None


def test_the_latest_pairs_are_those_of_the_window() -> None:
    pairs = [pair(f"a{n}", f"w{n}", owner=(0, n)) for n in range(WINDOW + 60)]
    model = Ngrams().of(view_of(*pairs))
    assert model is not None and "w0" not in model and f"w{WINDOW}" in model
