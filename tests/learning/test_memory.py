import random

import numpy as np
import pytest

from hopefear._core import Extractor, ParallelText
from hopefear.learning.memory import Memory, Pair, View, distance, with_numbers


def pair(source: str, target: str, links: str | None = None, owner: tuple[int, int] = (0, 1)) -> Pair:
    left, right = tuple(source.split()), tuple(target.split())
    if links is None:
        links = " ".join(f"{k}-{k}" for k in range(min(len(left), len(right))))
    pairs = [(int(s), int(t)) for s, t in (link.split("-") for link in links.split())]
    return Pair.of(owner, 0, (source, target), left, right, pairs)


def view_of(*pairs: Pair, undone: frozenset[tuple[int, int]] = frozenset(), decay: float = 1.0) -> View:
    memory = Memory()
    for each in pairs:
        memory.add(each)
    return View(memory, len(pairs), undone, decay)


def extracted(source: list[str], target: list[str], links: list[tuple[int, int]], longest: int) -> set[tuple[str, str]]:
    """By the extractor of ``hopefear build``."""
    text = ParallelText()
    text.add([" ".join(source)], [" ".join(target)])
    text.add_links(np.array(links).flatten().tolist())
    extractor = Extractor(text, max_phrase=longest, max_source_symbols=longest, max_nonterminals=0)
    extractor.run(0, 1, 1)
    table = extractor.finish(1)
    rules = set()
    for side in range(table.sides):
        left = [table.source_vocab[w] for w in table.source[table.source_begin[side] : table.source_begin[side + 1]]]
        for rule in range(table.rule_begin[side], table.rule_begin[side + 1]):
            begin, end = table.target_begin[rule], table.target_begin[rule + 1]
            rules.add((" ".join(left), " ".join(table.target_vocab[w] for w in table.target[begin:end])))
    return rules


def test_phrases_are_those_that_build_extracts() -> None:
    rng = random.Random(4)
    for _ in range(200):
        source = [rng.choice("abcd") for _ in range(rng.randrange(1, 9))]
        target = [rng.choice("wxyz") for _ in range(rng.randrange(1, 9))]
        count = rng.randrange(1, 8)
        links = sorted({(rng.randrange(len(source)), rng.randrange(len(target))) for _ in range(count)})
        own = Pair.of((0, 1), 0, ("", ""), tuple(source), tuple(target), links)
        longest = rng.randrange(1, 8)
        found = {(" ".join(source[b:e]), " ".join(target[s:t])) for b, e, s, t in own.phrases(longest)}
        assert found == extracted(source, target, links, longest)


def test_evidence_of_a_sentence() -> None:
    view = view_of(pair("a b c d e", "A B C D E"), pair("x b c", "X B Q"))
    said = {(b, e): [" ".join(way.target) for way in ways] for b, e, ways in view.evidence(["z", "b", "c", "d", "y"])}
    assert said == {
        (1, 2): ["B"],
        (1, 3): ["B Q", "B C"],
        (1, 4): ["B C D"],
        (2, 3): ["Q", "C"],
        (2, 4): ["C D"],
        (3, 4): ["D"],
    }


def test_evidence_is_that_of_all_phrases_of_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopefear.learning.memory._LOOKED_AT", 1000)
    rng = random.Random(5)
    pairs = []
    for number in range(30):
        words = " ".join(rng.choice("abc") for _ in range(rng.randrange(3, 12)))
        pairs.append(pair(words, words.upper(), owner=(0, number + 1)))
    view = view_of(*pairs)
    sentence = [rng.choice("abc") for _ in range(12)]
    said = {(b, e, way.target): way.weight for b, e, ways in view.evidence(sentence) for way in ways}
    expected: dict[tuple[int, int, tuple[str, ...]], float] = {}
    for number, each in enumerate(pairs):
        if not view.is_live(number):
            continue
        for b, e, s, t in each.phrases(view.longest):
            for begin in range(len(sentence) - (e - b) + 1):
                if tuple(sentence[begin : begin + e - b]) == each.source[b:e]:
                    key = (begin, begin + e - b, each.target[s:t])
                    expected[key] = expected.get(key, 0) + 1
    assert said == expected


def test_of_many_occurrences_the_latest_are_looked_at() -> None:
    view = view_of(*[pair(f"a {n}", f"X{n} Y", owner=(0, n + 1)) for n in range(100)])
    said = {way.target[0] for begin, end, ways in view.evidence(["a"]) for way in ways}
    assert said == {f"X{n}" for n in range(75, 100)}


def test_recent_evidence_weighs_more() -> None:
    view = view_of(pair("a", "X"), pair("a b", "Y B"), pair("c", "C"), decay=0.5)
    ((begin, end, ways),) = view.evidence(["a"])
    assert (begin, end) == (0, 1)
    assert [(way.target, way.weight) for way in ways] == [(("Y",), 0.5), (("X",), 0.25)]


def test_the_last_correction_of_a_sentence_counts() -> None:
    first, second = pair("a b", "A B", owner=(0, 1)), pair("a  b", "A Q", owner=(0, 2))
    view = view_of(first, second)
    assert view.exact("a b") is second
    assert [way.target for *_, ways in view.evidence(["b"]) for way in ways] == [("Q",)]
    undone = View(view.memory, 2, frozenset([(0, 2)]))
    assert undone.exact(" a b ") is first
    assert [way.target for *_, ways in undone.evidence(["b"]) for way in ways] == [("B",)]


def test_a_layer_comes_before_what_all_share() -> None:
    own, shared = pair("a b", "A Q", owner=(1, 1)), pair("a b", "A B", owner=(0, 7))
    assert view_of(own, shared).exact("a b") is own
    assert view_of(shared, own).exact("a b") is own


def test_a_view_does_not_see_what_comes_later() -> None:
    memory = Memory()
    memory.add(pair("a b", "A B"))
    view = View(memory, 1)
    memory.add(pair("a b", "A Q", owner=(0, 2)))
    memory.add(pair("c", "C", owner=(0, 3)))
    found = view.exact("a b")
    assert found is not None and found.correction == "A B"
    assert view.exact("c") is None and not list(view.evidence(["c"]))
    assert not view.near(["c"], 0.1, 5)


def test_sentences_like_one() -> None:
    view = view_of(pair("der hund hat 3 beine", "x"), pair("der hund hat 4 ohren und", "y"), pair("eine katze", "z"))
    matches = view.near(["der", "hund", "hat", "5", "beine"], 0.6, 5)
    assert [(round(match, 2), found.correction) for match, found in matches] == [(1.0, "x"), (0.67, "y")]


@pytest.mark.parametrize(
    ("target", "words", "text"),
    [
        ("it costs 30 euros .", "das kostet 45 euro .", "it costs 45 euros ."),
        ("it costs 30 euros .", "das kostet 45 dollar .", None),
        ("it costs 30 euros , 30 !", "das kostet 45 euro .", None),
        ("it costs thirty euros .", "das kostet 45 euro .", None),
        ("it costs 300 euros .", "das kostet 45 euro .", None),
    ],
)
def test_numbers_are_replaced(target: str, words: str, text: str | None) -> None:
    assert with_numbers(pair("das kostet 30 euro .", target), words.split()) == text


def test_two_numbers_may_change_places() -> None:
    assert with_numbers(pair("von 3 bis 5", "from 3 to 5"), ["von", "5", "bis", "3"]) == "from 5 to 3"


def test_distance() -> None:
    assert distance("kitten", "sitting") == 3
    assert distance("", "abc") == 3
    assert distance("abc", "abc") == 0
