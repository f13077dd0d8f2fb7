"""Declared features: what the lists contain, and which features a rule fires."""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from hopefear import _core
from hopefear._core import FeatureTemplates, feature_name, parse_feature
from hopefear.decode import Hiero
from hopefear.errors import InputError
from hopefear.model import features
from hopefear.model.builder import build
from hopefear.model.directory import Model
from hopefear.model.features import NULL, UNK
from hopefear.model.grammar import Grammar
from hopefear.model.inspection import inspect_model
from hopefear.model.options import BuildOptions
from tests.model.test_extract import extract, parallel_text, random_pairs


def fired(templates: FeatureTemplates, names: list[str], first: int, grammar: Grammar, rule: int) -> Counter[str]:
    begin, ids, values = templates.rule_features(grammar, np.array([rule]))
    assert begin.tolist() == [0, len(ids)]
    counts: Counter[str] = Counter()
    for i, value in zip(ids.tolist(), values.tolist(), strict=True):
        counts[names[i - first]] += value
    return counts


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1, max_size=3))
def test_names_and_back(words: list[str]) -> None:
    name = feature_name(["pair", *words])
    assert parse_feature(name) == ["pair", *words]
    assert not any((c.isspace() and c.isascii()) or c in "=|" for c in name)


def test_marks_are_not_words() -> None:
    assert feature_name(["lex", NULL, UNK]) == "lex(NULL,UNK)"
    assert feature_name(["lex", "NULL", "UNK"]) == "lex(%4EULL,%55NK)"
    assert parse_feature("lex(NULL,%55NK)") == ["lex", NULL, "UNK"]


def test_lex_features_of_rules_equal_the_definition() -> None:
    pairs = random_pairs(60, seed=31)
    text = parallel_text(pairs)
    grammar = Grammar.build(extract(pairs))
    frequency = 45
    names = features.lex_features(text, _core.LexicalTable(text), frequency)
    assert len(set(names)) == len(names)
    first = 13
    templates = FeatureTemplates(names, first, grammar, "features")
    counts = (Counter(w for s, _, _ in pairs for w in s), Counter(w for _, t, _ in pairs for w in t))
    known = [{w for w, n in side.items() if n >= frequency} for side in counts]
    assert all(0 < len(k) < 9 for k in known)
    rules = np.random.default_rng(1).choice(len(grammar), 300, replace=False)
    for rule in rules.tolist():
        source, target = grammar.source(rule).split(), grammar.target(rule).split()
        wanted: Counter[str] = Counter()
        for t, e in enumerate(target):
            if e.startswith("[X,"):
                continue
            e = e if e in known[1] else UNK
            wanted[feature_name(["lex", e])] += 1
            partners = [source[s] for s, t2 in grammar.links(rule) if t2 == t]
            for f in partners:
                wanted[feature_name(["lex", f if f in known[0] else UNK, e])] += 1
            if not partners:
                wanted[feature_name(["lex", NULL, e])] += 1
        assert fired(templates, names, first, grammar, rule) == wanted


def test_there_are_220_group_features_and_each_rule_fires_its_ranges() -> None:
    names = features.group_features()
    assert len(names) == len(set(names)) == 220
    pairs = random_pairs(30, seed=33)
    grammar = Grammar.build(extract(pairs))
    templates = FeatureTemplates(names, 5, grammar, "features")
    for rule in range(0, len(grammar), 97):
        s, t = len(grammar.source(rule).split()), len(grammar.target(rule).split())
        row = dict(zip(grammar.names, grammar.columns[rule].tolist(), strict=True))
        wanted = {
            f"group({kind},{a},{b})": row[kind]
            for kind in features.PROBABILITIES
            for a in range(1, 11)
            for b in range(a, 11)
            if a <= s <= b and a <= t <= b
        }
        got = fired(templates, names, 5, grammar, rule)
        assert {k: v for k, v in got.items() if v} == {k: v for k, v in wanted.items() if v}


def shape(source: str, target: str) -> str:
    """The slow twin: what a rule's shape is called."""
    spelled = {"[X]": "X", "[X,1]": "X", "[X,2]": "Y"}
    sides = ["".join(spelled.get(symbol, "a") for symbol in side.split()) for side in (source, target)]
    return f"shape({','.join(re.sub('a+', 'a', side) for side in sides)})"


def test_shapes_of_rules_equal_the_definition() -> None:
    swapped = ([f"f{i}" for i in range(4)], [f"e{i}" for i in range(4)], frozenset((i, 3 - i) for i in range(4)))
    grammar = Grammar.build(extract([*random_pairs(60, seed=36), swapped]))
    names = _core.grammar_shapes(grammar)
    wanted = [shape(grammar.source(rule), grammar.target(rule)) for rule in range(len(grammar))]
    counts = Counter(wanted)
    assert Counter(names) == Counter(set(counts))
    assert [counts[name] for name in names] == sorted(counts.values(), reverse=True)
    assert {"shape(a,a)", "shape(aXa,aXa)", "shape(aXaY,YaXa)"} < set(names)
    templates = FeatureTemplates(names, 4, grammar, "features")
    for rule in np.random.default_rng(2).choice(len(grammar), 300, replace=False).tolist():
        assert fired(templates, names, 4, grammar, rule) == Counter([wanted[rule]])


def test_only_declared_shapes_fire() -> None:
    grammar = Grammar.build(extract(random_pairs(10, seed=37)))
    names = ["shape(a,a)"]
    begin = FeatureTemplates(names, 0, grammar, "features").rule_features(grammar, np.arange(len(grammar)))[0]
    wanted = [names[0] == shape(grammar.source(rule), grammar.target(rule)) for rule in range(len(grammar))]
    assert 0 < sum(wanted) < len(wanted)
    assert np.diff(begin).tolist() == wanted


def test_there_are_20_distance_features() -> None:
    names = features.distance_features()
    assert len(set(names)) == len(names) == 20
    assert names[0] == "distance(keep,1)" and names[-1] == "distance(swap,10)"


def test_extended_features_are_the_most_frequent_patterns() -> None:
    pairs = random_pairs(400, seed=35)
    text = parallel_text(pairs)
    table = extract(pairs)
    sizes = {"pair": 7, "unigram": 4, "bigram": 9, "trigram": 11, "trigger": 6}
    names = features.extended_features(text, table, sizes)
    made = Counter(map(features.template_of, names))
    assert {**made, "trigger": 6} == sizes
    assert 0 < made["trigger"] <= 6
    for order, template in enumerate(("unigram", "bigram", "trigram"), 1):
        ngrams: Counter[tuple[str, ...]] = Counter()
        for _, target, _ in pairs:
            ngrams.update(tuple(target[i : i + order]) for i in range(len(target) - order + 1))
        best = sorted(ngrams.values(), reverse=True)[: sizes[template]]
        assert [ngrams[tuple(parse_feature(n)[1:])] for n in names if features.template_of(n) == template] == best

    grammar = Grammar.build(table)
    templates = FeatureTemplates(names, 13, grammar, "features")
    assert templates.stateful
    words = grammar.target_vocab
    for i, name in enumerate(names):
        kind, *parts = parse_feature(name)
        if kind not in ("pair", "trigger"):
            assert getattr(templates, kind)(*(words.find(p) for p in parts)) == 13 + i
    assert templates.bigram(words.find("e0"), -1) == -1
    rule = grammar.find(parse_feature(names[0])[1])[0]
    pair = parse_feature(names[0])
    rule = next(r for r in range(*grammar.find(pair[1])) if grammar.target(r) == pair[2])
    assert fired(templates, names, 13, grammar, rule)[names[0]] == 1


def test_triggers_are_ranked_by_average_mutual_information() -> None:
    random = np.random.default_rng(5)
    lines = []
    for _ in range(200):
        words = [f"w{i}" for i in random.integers(0, 12, random.integers(1, 12))]
        lines.append(" ".join(["if", *words, "then"] if random.random() < 0.3 else words))
    text = _core.ParallelText()
    text.add(lines, lines)
    for _ in lines:
        text.add_links([])
    names = features.extended_features(text, extract([(["a"], ["a"], frozenset({(0, 0)}))]), {"trigger": 5})
    got = [tuple(parse_feature(n)[1:]) for n in names if n.startswith("trigger")]
    places = [(words[:i], w) for words in map(str.split, lines) for i, w in enumerate(words)]
    n = len(places)
    vocab = sorted({w for _, w in places})

    def information(d: str, e: str) -> float:
        cells = Counter((d in history[:-2], w == e) for history, w in places)
        if cells[True, True] < 5 or cells[True, True] * n <= (cells[True, True] + cells[True, False]) * (
            cells[True, True] + cells[False, True]
        ):
            return -1
        total = 0.0
        for a, b in cells:
            p = cells[a, b] / n
            total += p * math.log(p / ((cells[a, True] + cells[a, False]) / n * (cells[True, b] + cells[False, b]) / n))
        return total

    best = sorted((information(d, e) for d in vocab for e in vocab), reverse=True)[: len(got)]
    assert len(got) == 5
    assert got[0] == ("if", "then")
    assert [information(d, e) for d, e in got] == pytest.approx(best)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["lex(a)", "what(b)"], r'f\.txt:2: feature "what\(b\)": no such template'),
        (["lex"], "expected template"),
        (["pair(e1%,f0)"], "a % without two digits"),
        (["unigram(e1)", "unigram(e1)"], r"f\.txt:2: .* stands twice"),
        (["group(nothing,1,2)"], "has no column"),
        (["group(phrase_ef,0,2)"], "lengths are 1 to 10"),
        (["shape(1,X)"], "a side of a shape has a for words, X and Y"),
        (["shape(aX,Xa)", "shape(aX,Xa)"], r"f\.txt:2: .* stands twice"),
        (["shape(aXaXaXaXaXa,XaXaXaXaXaXa)"], "no rule has so long a shape"),
        (["distance(turn,3)"], r"expected distance\(keep,n\) or distance\(swap,n\) with n from 1 to 10"),
        (["distance(swap,11)"], "with n from 1 to 10"),
        (["distance(keep,0)"], "with n from 1 to 10"),
        (["distance(keep,2x)"], "with n from 1 to 10"),
        (["distance(keep,2)", "distance(keep,2)"], r"f\.txt:2: .* stands twice"),
        (["distance(keep)"], "no such template"),
        (["context(f1,e1,-1,f2)"], "no such template"),
    ],
)
def test_bad_names(names: list[str], message: str) -> None:
    grammar = Grammar.build(extract(random_pairs(10, seed=3)))
    with pytest.raises(InputError, match=message):
        FeatureTemplates(names, 13, grammar, "f.txt")


def test_a_model_with_features_of_places(corpus: Path, model: Model, tmp_path: Path) -> None:
    options = BuildOptions(tokenizer="none")
    for jobs in (1, 2):
        build(corpus / "f", corpus / "e", tmp_path / f"model{jobs}", options, jobs=jobs)
    built = Model.open(tmp_path / "model1")
    assert (tmp_path / "model2/features.txt").read_bytes() == (built.path / "features.txt").read_bytes()
    sparse = inspect_model(built.path, 10)["features"]["sparse"]
    assert sparse["distance"] == 20
    decoder = Hiero(built, {**built.weights, "distance(keep,1)": 0.5})
    assert decoder.templates == ("distance",)
    lines = (corpus / "test.f").read_text().splitlines()[:20]
    assert any("distance(keep,1)" in best.features for best in decoder.decode(lines).viterbi(decoder.weights))
    with pytest.raises(InputError, match="there is no template 'context'"):
        Hiero(model, templates=("context",))
