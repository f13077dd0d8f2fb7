"""Derivations for people to look at."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hopefear.decode import Hiero
from hopefear.model.features import SMALL
from tests.decode.models import model_of
from tests.decode.test_hiero import LINES, limited

EXPLAINED = """\
source       a b ?
translation  y x ?
score        -4.500

feature        value     weight       adds
unknown        1.000         -3     -3.000  unknown words copied
phrase_ef     -3.000        0.5     -1.500  how often these source sides are translated this way (log)

How it was put together, 2 parts one after the other:

[1] and [2] stand for the indented lines below. Before each rule: what it adds to the score. After it: the source words
that it covers, and its score feature by feature.

   -0.500  a [1] -> [1] x                                  words 1-2  phrase_ef -0.500
   -1.000     b -> y                                          word 2  phrase_ef -1.000

   -3.000  ? -> ?                                             word 3  unknown -3.000

   +0.000  joining the parts, begin and end of sentence"""


def test_explanation_names_every_rule(tmp_path: Path) -> None:
    rules = [(("a", "[X]"), (1, "x"), {"phrase_ef": -1.0}), (("b",), ("y",), {"phrase_ef": -2.0})]
    model = model_of(tmp_path, rules, [])
    weights = dict.fromkeys(SMALL, 0.0) | {"phrase_ef": 0.5, "identity": -3.0, "unknown": -3.0}
    assert Hiero(model, weights).explain("a b ?") == EXPLAINED
    assert Hiero(model, weights).explain("") == "source       \ntranslation  \nscore        0.000"


@pytest.mark.parametrize("seed", range(5))
def test_the_lines_of_an_explanation_add_up(seed: int, tmp_path: Path) -> None:
    decoder = limited(tmp_path, seed=seed)
    for line in LINES:
        text = decoder.explain(line)
        score = float(re.search(r"score +(\S+)", text)[1])  # type: ignore[index]
        adds = [float(x) for x in re.findall(r"^ +([+-][0-9.]+)  ", text, re.MULTILINE)]
        assert sum(adds) == pytest.approx(score, abs=0.001 * (len(adds) + 1))
        table = [float(x) for x in re.findall(r"^\w+ +[0-9.-]+ +[0-9.e-]+ +([+-][0-9.]+)", text, re.MULTILINE)]
        assert sum(table) == pytest.approx(score, abs=0.001 * (len(table) + 1))
