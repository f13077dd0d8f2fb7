"""The parts of a corpus: sizes, documents, and that no part knows another's sentences."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from hopefear.corpus import Pair, split
from hopefear.corpus.splitting import LEAST, MOST, Split, letters, part_size


def corpus(count: int, documents: int = 0, seed: int = 0) -> list[Pair]:
    rng = random.Random(seed)
    words = [f"w{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(400)]
    pairs = []
    for n in range(count):
        source, target = (" ".join(rng.choices(words, k=rng.randint(5, 9))) for _ in range(2))
        pairs.append(Pair(source, target, f"d{n % documents}" if documents else None, "x", f"x:{n}"))
    return pairs


def near(pairs: list[Pair]) -> set[str]:
    """The slow twin of what near copies have in common."""
    return {"".join(c for c in text.lower() if c.isalpha()) for p in pairs for text in (p.source, p.target)}


def check(parts: Split) -> None:
    train, dev, test = near(parts.train), near(parts.dev), near(parts.test)
    assert not train & dev
    assert not train & test
    assert not dev & test


@pytest.mark.parametrize(
    "usable, size", [(0, 0), (16, 2), (400, 50), (1600, 200), (4000, 200), (10_000, 500), (30_000, 1500), (10**6, MOST)]
)
def test_sizes(usable: int, size: int) -> None:
    assert part_size(usable) == size


def test_sizes_never_fall() -> None:
    assert all(one <= other for one, other in pairwise(part_size(n) for n in range(0, 60_000, 50)))
    assert part_size(1600) == LEAST


def test_random_parts() -> None:
    pairs = corpus(4000)
    parts = split(pairs, 1)
    assert (len(parts.dev), len(parts.test)) == (200, 200)
    assert sorted(p.origin for p in parts.train + parts.dev + parts.test) == sorted(p.origin for p in pairs)
    check(parts)
    assert split(pairs, 1) == parts
    assert split(pairs, 2).test != parts.test
    assert [p.origin for p in parts.train] == sorted((p.origin for p in parts.train), key=lambda o: int(o[2:]))


def test_whole_documents() -> None:
    pairs = corpus(4000, documents=50)
    parts = split(pairs, 1)
    names = [{p.document for p in part} for part in (parts.train, parts.dev, parts.test)]
    assert not names[0] & names[1] and not names[0] & names[2] and not names[1] & names[2]
    assert parts.documents == {"dev": len(names[1]), "test": len(names[2])}
    assert 200 <= len(parts.dev) <= 400
    check(parts)


@pytest.mark.parametrize("documents", [1, 9])
def test_too_few_documents(documents: int) -> None:
    parts = split(corpus(2000, documents=documents), 1)
    assert not parts.documents
    assert len({p.document for p in parts.test}) == documents


def test_one_document_that_is_nearly_everything() -> None:
    pairs = [
        Pair(p.source, p.target, "big" if n > 100 else p.document, "x", p.origin)
        for n, p in enumerate(corpus(2000, 20))
    ]
    assert not split(pairs, 1).documents


def test_near_copies_leave_the_training_text() -> None:
    pairs = corpus(2000)
    copies = [Pair(p.source.upper() + " 7!", "something else here", None, "x", f"c:{n}") for n, p in enumerate(pairs)]
    other = [Pair("noch ein Satz dazu", p.target + "...", None, "x", f"t:{n}") for n, p in enumerate(pairs[:500])]
    parts = split(pairs + copies + other, 1)
    check(parts)
    assert parts.near_copies > 0
    assert len(parts.train) + len(parts.dev) + len(parts.test) + parts.near_copies == 4500


def test_your_own_test_set() -> None:
    pairs = corpus(3000)
    test = [Pair(p.source.title(), "a reference " + str(n), None, "t", f"t:{n}") for n, p in enumerate(pairs[:100])]
    parts = split(pairs, 1, test=test, test_lines=[p.target.upper() for p in pairs[100:150]])
    assert parts.test == test
    check(parts)
    assert parts.near_copies == 150
    assert len(parts.train) + len(parts.dev) == 2850


def test_sentences_that_come_often_stay_in_the_training_text() -> None:
    pairs = corpus(2000)
    common = [Pair("dieser Satz kommt sehr oft vor", f"{p.target} x", None, "x", f"c:{n}") for n, p in enumerate(pairs)]
    parts = split(pairs + common, 1)
    assert all(p.origin.startswith("x") for p in parts.dev + parts.test)


def test_entries_of_a_dictionary_are_not_tested() -> None:
    entries = [
        Pair(f"Wort{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{n}", "word", None, "d", f"d:{n}") for n in range(5000)
    ]
    parts = split(entries + corpus(1600), 1)
    assert len(parts.test) == len(parts.dev) == 200
    assert {p.domain for p in parts.dev + parts.test} == {"x"}


@pytest.mark.parametrize("count", [0, 1, 3, 10])
def test_tiny_corpora(count: int) -> None:
    parts = split(corpus(count), 1)
    assert len(parts.train) + len(parts.dev) + len(parts.test) == count


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("wxyz"), st.integers(0, 12)), max_size=60),
    st.integers(0, 5),
    st.integers(0, 12),
)
@settings(max_examples=60, deadline=None)
def test_parts_share_nothing_whatever_the_corpus(texts: list[tuple[str, str, int]], seed: int, size: int) -> None:
    pairs = [Pair(f * 20 + str(d), e * 20 + "!" * d, f"d{d}", "x", f"x:{n}") for n, (f, e, d) in enumerate(texts)]
    parts = split(pairs, seed, size=size)
    check(parts)
    assert len(parts.train) + len(parts.dev) + len(parts.test) + parts.near_copies == len(pairs)


@pytest.mark.parametrize(
    "text, kept",
    [
        ("Ein Satz, 12!", "einsatz"),
        ("STRASSE straße", "strassestrasse"),
        ("1967", "1967"),
        ("हिन्दी में", "हिन्दीमें"),
        ("Ñe'ẽ", "ñeẽ"),
        ("", ""),
    ],
)
def test_letters(text: str, kept: str) -> None:
    assert letters(text) == kept


def test_characters_that_are_words_count_as_such() -> None:
    """Chinese of eight characters is a sentence; eight letters are not."""
    rng = random.Random(1)
    texts = ["".join(chr(rng.randrange(0x4E00, 0x5E00)) for _ in range(8)) for _ in range(800)]
    others = [" ".join("".join(rng.choices("abcdef", k=5)) for _ in range(5)) for _ in texts]
    greetings = [Pair(f"hallo{chr(97 + n % 26)}{chr(97 + n // 26)}", "hi", None, "x", "x") for n in range(400)]
    parts = split([Pair(f, e, None, "x", "x") for f, e in zip(texts, others, strict=True)] + greetings)
    assert len(parts.test) == len(parts.dev) == 100
    assert {pair.target for pair in parts.test} <= set(others)
