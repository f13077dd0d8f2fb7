import math
import random

import pytest

from hopefear._core import SentenceRule
from hopefear.learning.memory import PHRASE, CorrectedPair, Memory, View
from hopefear.learning.rules import RuleMaker
from hopefear.model.directory import Model
from tests.reference.learnt_rules import Place, evidence


class Learnt:
    """Pairs as corrections hand them on."""

    def __init__(self, model: Model, *pairs: tuple[str, str], links: str | None = None, decay: float = 1.0) -> None:
        self.memory, self.maker = Memory(), RuleMaker(model, decay)
        for source, target in pairs:
            self.add(source, target, links)

    def add(self, source: str, target: str, links: str | None = None) -> None:
        left, right = tuple(source.split()), tuple(target.split())
        if links is None:
            links = " ".join(f"{k}-{k}" for k in range(min(len(left), len(right))))
        own = [(int(s), int(t)) for s, t in (link.split("-") for link in links.split())]
        pair = CorrectedPair.of((0, len(self.memory.pairs) + 1), 0, (source, target), left, right, own)
        self.memory.add(pair)
        self.maker.add(pair)

    @property
    def view(self) -> View:
        return View(self.memory, len(self.memory.pairs))

    def rules(self, sentence: str) -> list[SentenceRule]:
        return self.maker.rules(self.view, sentence.split())


def place_of(rule: SentenceRule) -> Place:
    return rule.begin, rule.end, tuple(rule.gaps)


def target_of(rule: SentenceRule) -> tuple[str, ...]:
    return tuple(word if isinstance(word, str) else f"[X,{word}]" for word in rule.target)


def test_rules_are_those_of_the_slow_twin(model: Model) -> None:
    """On words that the model does not know, so that all evidence is that of the pairs."""
    rng = random.Random(7)
    for _ in range(60):
        learnt, pairs = Learnt(model, decay=0.9), []
        for _ in range(5):
            source = [rng.choice(["a1", "b1", "c1", "d1"]) for _ in range(rng.randrange(1, 9))]
            target = [rng.choice(["w1", "x1", "y1", "z1"]) for _ in range(rng.randrange(1, 9))]
            count = rng.randrange(1, 8)
            links = sorted({(rng.randrange(len(source)), rng.randrange(len(target))) for _ in range(count)})
            learnt.add(" ".join(source), " ".join(target), " ".join(f"{s}-{t}" for s, t in links))
            pairs.append((source, target, frozenset(links)))
        sentence = [rng.choice(["a1", "b1", "c1", "d1", "e1"]) for _ in range(10)]
        expected = evidence(pairs, learnt.view.live.tolist(), 0.9, sentence, PHRASE, 5, 10)
        found: dict[Place, dict[tuple[str, ...], dict[str, float]]] = {}
        for rule in learnt.rules(" ".join(sentence)):
            found.setdefault(place_of(rule), {})[target_of(rule)] = rule.features
        assert found.keys() == expected.keys()
        for place, ways in found.items():
            total = sum(expected[place].values())
            best = sorted(expected[place].values(), reverse=True)[:3]
            weights = {words: expected[place][words] for words in ways}
            assert sorted(weights.values(), reverse=True) == pytest.approx(best)
            for words, features in ways.items():
                assert math.exp(features["phrase_ef"]) == pytest.approx(weights[words] / total)
                assert math.exp(features["phrase_fe"]) == pytest.approx(weights[words] / (weights[words] + 1))


def test_counts_are_added_to_those_of_the_model(model: Model) -> None:
    grammar = model.grammar
    (number,) = range(*grammar.find("haus"))
    row = dict(zip(grammar.names, grammar.columns[number].tolist(), strict=True))
    count, seen = row["count"], row["count"] / math.exp(row["phrase_ef"])
    learnt = Learnt(model, ("haus", "house"), ("haus dort", "building there"))
    by_target = {rule.target[0]: rule.features for rule in learnt.rules("haus")}
    assert by_target["house"]["phrase_ef"] == pytest.approx(math.log((count + 1) / (seen + 2)))
    assert by_target["building"]["phrase_ef"] == pytest.approx(math.log(1 / (seen + 2)))
    assert by_target["house"]["lexical_ef"] == pytest.approx(row["lexical_ef"])
    assert by_target["building"]["lexical_ef"] == pytest.approx(math.log(1 / 11))
    assert all(
        value <= 1e-9 for each in by_target.values() for name, value in each.items() if name.startswith("phrase")
    )


def test_features_say_that_a_rule_was_corrected(model: Model) -> None:
    one, both, other = Learnt(model, ("haus dingsda", "house gizmo")).rules("haus dingsda")
    assert (one.begin, one.end, both.begin, both.end, other.begin, other.end) == (0, 1, 0, 2, 1, 2)
    assert both.target == ["house", "gizmo"] and both.links == [(0, 0), (1, 1)]
    named = [(each.features["corrected"], each.features["corrected_words"]) for each in (one, both, other)]
    assert named == [(1, 1), (1, 2), (1, 1)]
    assert [each.features["corrected_new"] for each in (one, both, other)] == [0, 2, 2]


def test_a_rule_with_a_gap(model: Model) -> None:
    learnt = Learnt(model, ("hat es dingsda abgeschaltet", "has it disabled gizmo"), links="0-0 1-1 2-3 3-2")
    (rule,) = [rule for rule in learnt.rules("hat es das rote tor abgeschaltet") if rule.gaps]
    assert (rule.begin, rule.end, rule.gaps, rule.target) == (0, 6, [(2, 5)], ["has", "it", "disabled", 1])
    assert rule.links == [(0, 0), (1, 1), (3, 2)] and rule.features["corrected_words"] == 3


def test_a_rule_with_a_gap_that_the_model_has_is_left_to_it(model: Model) -> None:
    grammar = model.grammar
    hierarchical = next(grammar.source(r) for r in range(len(grammar)) if grammar.source(r) == "[X,1] steht hier .")
    assert hierarchical
    rules = Learnt(model, ("dingsda steht hier .", "gizmo stands here .")).rules("ein tor steht hier .")
    assert not any(rule.gaps and rule.target == [1, "stands", "here", "."] for rule in rules)


def test_of_many_occurrences_the_latest_are_looked_at(model: Model) -> None:
    learnt = Learnt(model, *[(f"a1 n{n}", f"X{n // 50} Y") for n in range(100)])
    (rule,) = [rule for rule in learnt.rules("a1") if rule.end == 1]
    assert rule.target == ["X1"] and math.exp(rule.features["phrase_fe"]) == pytest.approx(25 / 26)


def test_recent_evidence_weighs_more(model: Model) -> None:
    learnt = Learnt(model, ("a1", "X"), ("a1 b1", "Y B"), ("c1", "C"), decay=0.5)
    targets = [(rule.target, math.exp(rule.features["phrase_ef"])) for rule in learnt.rules("a1")]
    assert [target for target, _ in targets] == [["Y"], ["X"]]
    assert [value for _, value in targets] == pytest.approx([2 / 3, 1 / 3])


def test_what_does_not_count_says_nothing(model: Model) -> None:
    learnt = Learnt(model, ("a1 b1", "A B"), ("a1  b1", "A Q"))
    assert [rule.target for rule in learnt.rules("b1")] == [["Q"]]
    assert learnt.maker.is_known(learnt.view, ["b1"], ["Q"]) and not learnt.maker.is_known(learnt.view, ["b1"], ["B"])
    earlier = View(learnt.memory, 1)
    assert [rule.target for rule in learnt.maker.rules(earlier, ["b1"])] == [["B"]]
    undone = View(learnt.memory, 2, frozenset([(0, 2)]))
    assert [rule.target for rule in learnt.maker.rules(undone, ["b1"])] == [["B"]]


def test_other_words_have_no_rules(model: Model) -> None:
    learnt = Learnt(model, ("haus", "house"))
    assert learnt.rules("tor") == []
    assert learnt.maker.rules(View(Memory()), ["haus"]) == []
    assert learnt.maker.is_known(learnt.view, ["tor"], ["gate"]) and not learnt.maker.is_known(
        learnt.view, ["q"], ["q"]
    )
