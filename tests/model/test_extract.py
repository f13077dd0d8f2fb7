"""Extraction, symmetrisation and lexical weights against their slow twins."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from hopefear import _core
from hopefear.errors import InputError
from hopefear.model import BuildOptions
from tests.reference import extraction as twin

EVERY_RULE = BuildOptions(max_options=0).extraction()


@st.composite
def aligned_pairs(draw: st.DrawFn, longest: int = 7) -> list[twin.Pair]:
    pairs = []
    for _ in range(draw(st.integers(1, 4))):
        source = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=longest))
        target = draw(st.lists(st.sampled_from("uvw"), min_size=1, max_size=longest))
        point = st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1))
        pairs.append((source, target, draw(st.frozensets(point, max_size=9))))
    return pairs


def parallel_text(pairs: list[twin.Pair]) -> _core.ParallelText:
    text = _core.ParallelText()
    text.add([" ".join(s) for s, _, _ in pairs], [" ".join(t) for _, t, _ in pairs])
    for _, _, links in pairs:
        text.add_links([i for link in links for i in link])
    return text


def extract(pairs: list[twin.Pair], jobs: int = 1, **options: Any) -> _core.RuleTable:
    extractor = _core.Extractor(parallel_text(pairs), **{**EVERY_RULE, **options})
    extractor.run(0, len(pairs), jobs)
    return extractor.finish(jobs)


def rules_of(table: _core.RuleTable) -> dict[twin.Rule, twin.Scored]:
    rules: dict[twin.Rule, twin.Scored] = {}
    for side in range(table.sides):
        ids = table.source[table.source_begin[side] : table.source_begin[side + 1]]
        gamma = tuple(twin.X if i < 0 else table.source_vocab[int(i)] for i in ids)
        for r in range(table.rule_begin[side], table.rule_begin[side + 1]):
            ids = table.target[table.target_begin[r] : table.target_begin[r + 1]]
            alpha = tuple(f"[X,{-i}]" if i < 0 else table.target_vocab[int(i)] for i in ids)
            links = tuple((int(s), int(t)) for s, t in table.links[table.link_begin[r] : table.link_begin[r + 1]])
            row = table.columns[r]
            orientations = dict(zip(table.names[5:], (float(v) for v in row[5:]), strict=True))
            rule = twin.Rule(gamma, alpha)
            assert rule not in rules
            rules[rule] = twin.Scored(*(float(v) for v in row[:5]), links, orientations, 0)
    return rules


def assert_same(rules: dict[twin.Rule, twin.Scored], wanted: dict[twin.Rule, twin.Scored]) -> None:
    assert rules.keys() == wanted.keys()
    for rule, scored in wanted.items():
        assert rules[rule][:5] == pytest.approx(scored[:5], abs=1e-5)
        assert rules[rule].links == scored.links, rule


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    pairs=aligned_pairs(),
    max_phrase=st.integers(1, 7),
    max_source_symbols=st.integers(1, 6),
    max_nonterminals=st.integers(0, 2),
    min_hole=st.integers(1, 2),
    tight=st.booleans(),
    fractional=st.booleans(),
)
def test_same_rules_and_counts_as_the_definition(pairs: list[twin.Pair], **options: Any) -> None:
    assert_same(rules_of(extract(pairs, **options)), twin.score(pairs, **options))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(pairs=aligned_pairs(), tight=st.booleans(), max_phrase=st.integers(1, 7))
def test_orientations(pairs: list[twin.Pair], tight: bool, max_phrase: int) -> None:
    options: dict[str, Any] = {
        "tight": tight,
        "max_phrase": max_phrase,
        "max_nonterminals": 0,
        "max_source_symbols": max_phrase,
    }
    rules = rules_of(extract(pairs, orientations=True, fractional=False, **options))
    wanted = twin.score(pairs, fractional=False, **options)
    assert_same(rules, wanted)
    for rule, scored in wanted.items():
        assert {k: v for k, v in rules[rule].orientations.items() if v} == scored.orientations


@settings(max_examples=40, deadline=None, derandomize=True)
@given(pairs=aligned_pairs(), max_options=st.integers(1, 3), least=st.integers(1, 3), hierarchical=st.integers(1, 3))
def test_limits_keep_the_most_probable_and_leave_probabilities_alone(
    pairs: list[twin.Pair], max_options: int, least: int, hierarchical: int
) -> None:
    rules = rules_of(extract(pairs, max_options=max_options, min_occurrences=least, min_hierarchical=hierarchical))
    wanted = twin.score(pairs)
    eligible: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for rule, scored in wanted.items():
        if scored.seen >= (hierarchical if twin.X in rule.gamma else least):
            eligible[rule.gamma].append(scored.phrase_ef)
    kept: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for rule, scored in rules.items():
        assert scored[:5] == pytest.approx(wanted[rule][:5], abs=1e-5)
        kept[rule.gamma].append(scored.phrase_ef)
    assert kept.keys() == eligible.keys()
    for gamma, values in eligible.items():
        assert sorted(kept[gamma], reverse=True) == pytest.approx(sorted(values, reverse=True)[:max_options], abs=1e-5)


def random_pairs(count: int, seed: int) -> list[twin.Pair]:
    random = np.random.default_rng(seed)
    pairs: list[twin.Pair] = []
    for _ in range(count):
        n, m = random.integers(1, 14, 2)
        links = frozenset(
            (int(s), int(t)) for s, t in zip(random.integers(0, n, n), random.integers(0, m, n), strict=True)
        )
        diagonal = frozenset((i, min(i, int(m) - 1)) for i in range(n) if random.random() < 0.7)
        chosen = diagonal if random.random() < 0.8 else links
        pairs.append(([f"f{i}" for i in random.integers(0, 9, n)], [f"e{i}" for i in random.integers(0, 9, m)], chosen))
    return pairs


@pytest.mark.parametrize("tight", [True, False])
def test_longer_sentences(tight: bool) -> None:
    pairs = random_pairs(12, seed=3)
    assert_same(rules_of(extract(pairs, tight=tight)), twin.score(pairs, tight=tight))


def test_jobs_change_nothing() -> None:
    pairs = random_pairs(300, seed=5)
    serial = extract(pairs, jobs=1, max_options=5)
    for jobs in (2, 4):
        other = extract(pairs, jobs=jobs, max_options=5)
        for name in (
            "source_begin",
            "source",
            "rule_begin",
            "target_begin",
            "target",
            "link_begin",
            "links",
            "columns",
        ):
            assert np.array_equal(getattr(serial, name), getattr(other, name)), (name, jobs)


def test_probabilities_sum_to_one() -> None:
    table = rules_of(extract(random_pairs(100, seed=7)))
    gammas: dict[Any, float] = defaultdict(float)
    alphas: dict[Any, float] = defaultdict(float)
    for rule, scored in table.items():
        gammas[rule.gamma] += math.exp(scored.phrase_ef)
        alphas[rule.alpha] += math.exp(scored.phrase_fe)
    assert len(gammas) > 100
    assert list(gammas.values()) == pytest.approx([1.0] * len(gammas), abs=1e-4)
    assert list(alphas.values()) == pytest.approx([1.0] * len(alphas), abs=1e-4)


def test_sides_are_sorted_and_rules_fall_in_probability() -> None:
    table = extract(random_pairs(100, seed=9))
    sides = [tuple(table.source[b:e]) for b, e in zip(table.source_begin, table.source_begin[1:], strict=False)]
    assert sides == sorted(sides)
    for begin, end in zip(table.rule_begin, table.rule_begin[1:], strict=False):
        assert all(np.diff(table.columns[begin:end, 0]) <= 0)


def test_word_probabilities_sum_to_one_and_equal_the_twin() -> None:
    pairs = random_pairs(50, seed=11)
    text = parallel_text(pairs)
    table, lexical = _core.LexicalTable(text), twin.Lexical(pairs)
    sources = {f"f{i}": text.source_vocab.find(f"f{i}") for i in range(9)}
    targets = {f"e{i}": text.target_vocab.find(f"e{i}") for i in range(9)}
    for f, i in [*sources.items(), (None, -1)]:
        assert sum(table.ef(i, j) for j in [*targets.values(), -1]) == pytest.approx(1.0)
        for e, j in [*targets.items(), (None, -1)]:
            assert table.ef(i, j) == pytest.approx(lexical.ef(f, e))
            assert table.fe(i, j) == pytest.approx(lexical.fe(f, e))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(data=st.data(), n=st.integers(1, 8), m=st.integers(1, 8))
def test_symmetrisation_follows_the_published_order(data: st.DataObject, n: int, m: int) -> None:
    forward = data.draw(st.lists(st.integers(-1, n - 1), min_size=m, max_size=m))
    backward = data.draw(st.lists(st.integers(-1, m - 1), min_size=n, max_size=n))
    text = _core.ParallelText()
    text.add([" ".join("f" * n)], [" ".join("e" * m)])
    text.symmetrize(np.array(forward, np.int32), np.array(backward, np.int32))
    assert {(int(s), int(t)) for s, t in text.links(0)} == twin.grow_diag_final_and(n, m, forward, backward)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0-0 1", r'a\.align:7: "1" is no alignment point'),
        ("0-0 x-1", r'a\.align:7: "x-1" is no alignment point'),
        ("0--1", "is no alignment point"),
        ("0-0-0", "is no alignment point"),
        ("99999999999999999999-0", "is no alignment point"),
        ("2-0", "2-0 is out of range: the source sentence has 2 words"),
        ("0-3", "0-3 is out of range: the target sentence has 3 words"),
    ],
)
def test_bad_alignment_points_are_named(line: str, message: str) -> None:
    text = _core.ParallelText()
    text.add(["a b"], ["u v w"])
    with pytest.raises(InputError, match=message):
        text.add_pharaoh([line], "a.align", [7])


def test_more_alignments_than_pairs() -> None:
    text = _core.ParallelText()
    text.add(["a"], ["u"])
    text.add_pharaoh(["0-0"], "a.align", [1])
    with pytest.raises(InputError, match=r"a\.align:2: more lines than sentence pairs"):
        text.add_pharaoh(["0-0"], "a.align", [2])


def test_the_text_must_be_aligned_and_options_in_range() -> None:
    text = _core.ParallelText()
    text.add(["a"], ["u"])
    with pytest.raises(InputError, match="no word alignment"):
        _core.Extractor(text, **EVERY_RULE)
    text.add_links([0, 0])
    with pytest.raises(InputError, match="max_phrase: 16 is not between 1 and 15"):
        _core.Extractor(text, **{**EVERY_RULE, "max_phrase": 16})


def test_empty_sentences_and_no_links_are_harmless() -> None:
    text = _core.ParallelText()
    text.add(["", "a", "b"], ["u", "", "v"])
    for _ in range(3):
        text.add_links([])
    extractor = _core.Extractor(text, **EVERY_RULE)
    extractor.run(0, 3)
    assert len(extractor.finish()) == 0
