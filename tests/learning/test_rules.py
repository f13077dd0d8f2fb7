import math

import pytest

from hopefear.learning.alignment import WordTable
from hopefear.learning.memory import Memory, Pair, View
from hopefear.learning.rules import RuleMaker
from hopefear.model.directory import Model


@pytest.fixture
def maker(model: Model) -> RuleMaker:
    return RuleMaker(model, WordTable(model))


def view(*pairs: tuple[str, str]) -> View:
    memory = Memory()
    for number, (source, target) in enumerate(pairs, 1):
        left, right = tuple(source.split()), tuple(target.split())
        links = [(k, k) for k in range(len(left))]
        memory.add(Pair.of((0, number), 0, (source, target), left, right, links))
    return View(memory, len(pairs), decay=1.0)


def test_counts_are_added_to_those_of_the_model(maker: RuleMaker) -> None:
    ((row_name, row),) = maker.static(["haus"]).items()
    assert row_name == "house"
    count, seen = row[4], row[4] / math.exp(row[0])
    rules = maker.rules(view(("haus", "house"), ("haus dort", "building there")), ["haus"])
    by_target = {rule.target[0]: rule.features for rule in rules}
    assert by_target["house"]["phrase_ef"] == pytest.approx(math.log((count + 1) / (seen + 2)))
    assert by_target["building"]["phrase_ef"] == pytest.approx(math.log(1 / (seen + 2)))
    assert by_target["house"]["lexical_ef"] == row[2]
    assert all(
        value <= 1e-9 for each in by_target.values() for name, value in each.items() if name.startswith("phrase")
    )


def test_features_say_that_a_rule_was_corrected(maker: RuleMaker) -> None:
    (one, both, other) = maker.rules(view(("haus dingsda", "house gizmo")), ["haus", "dingsda"])
    assert (one.begin, one.end, both.begin, both.end, other.begin, other.end) == (0, 1, 0, 2, 1, 2)
    assert both.target == ["house", "gizmo"] and both.links == [(0, 0), (1, 1)]
    named = [(each.features["corrected"], each.features["corrected_words"]) for each in (one, both, other)]
    assert named == [(1, 1), (1, 2), (1, 1)]
    assert [each.features["corrected_new"] for each in (one, both, other)] == [0, 2, 2]


def test_nothing_is_said_of_other_words(maker: RuleMaker) -> None:
    assert maker.rules(view(("haus", "house")), ["tor"]) == []
    assert maker.rules(view(), ["haus"]) == []
