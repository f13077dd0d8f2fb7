import random

import numpy as np
import pytest

from hopefear._core import Extractor, ParallelText
from hopefear.learning.memory import CorrectedPair, Memory, View, distance, with_numbers
from hopefear.model import BuildOptions


def pair(source: str, target: str, links: str | None = None, owner: tuple[int, int] = (0, 1)) -> CorrectedPair:
    left, right = tuple(source.split()), tuple(target.split())
    if links is None:
        links = " ".join(f"{k}-{k}" for k in range(min(len(left), len(right))))
    pairs = [(int(s), int(t)) for s, t in (link.split("-") for link in links.split())]
    return CorrectedPair.of(owner, 0, (source, target), left, right, pairs)


def view_of(*pairs: CorrectedPair, undone: frozenset[tuple[int, int]] = frozenset()) -> View:
    memory = Memory()
    for each in pairs:
        memory.add(each)
    return View(memory, len(pairs), undone)


def extracted(source: list[str], target: list[str], links: list[tuple[int, int]], longest: int) -> set[tuple[str, str]]:
    """By the extractor of ``hopefear build``."""
    text = ParallelText()
    text.add([" ".join(source)], [" ".join(target)])
    text.add_links(np.array(links).flatten().tolist())
    extractor = Extractor(
        text,
        **{
            **BuildOptions(max_options=0, max_phrase=longest, max_source_symbols=longest).extraction(),
            "max_nonterminals": 0,
        },
    )
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
        own = CorrectedPair.of((0, 1), 0, ("", ""), tuple(source), tuple(target), links)
        longest = rng.randrange(1, 8)
        found = {(" ".join(source[b:e]), " ".join(target[s:t])) for b, e, s, t in own.phrases(longest)}
        assert found == extracted(source, target, links, longest)


def test_the_last_correction_of_a_sentence_counts() -> None:
    first, second = pair("a b", "A B", owner=(0, 1)), pair("a  b", "A Q", owner=(0, 2))
    view = view_of(first, second)
    assert view.exact("a b") is second
    assert view.live.tolist() == [0, 1]
    undone = View(view.memory, 2, frozenset([(0, 2)]))
    assert undone.exact(" a b ") is first
    assert undone.live.tolist() == [1, 0] and view.live.tolist() == [0, 1]
    assert not View(view.memory, 2, frozenset([(0, 1), (0, 2)]))


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
    assert view.exact("c") is None and view.live.tolist() == [1]
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
