"""Features of the place of a rule: the decoder's forests, edge by edge, against their definition."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hopefear._core import Forest
from hopefear.decode import Hiero
from hopefear.formats.forests import plf_lattices
from hopefear.model.features import distance_features
from hopefear.model.grammar import read_grammar
from tests.decode.models import Rule, model_of, random_lm, random_rules, random_weights
from tests.reference.hiero import derivations, matches, with_language_models
from tests.reference.place_features import distance

WORDS = ["a", "b", "c", "7", "?"]


@dataclass
class Case:
    """A decoder over rules with links, and what it is to find."""

    decoder: Hiero
    rules: list[Rule]

    def features(
        self, source: tuple[str, ...], target: tuple[str | int, ...], i: int, spans: list[tuple[int, int]]
    ) -> Counter[str]:
        """Of one rule application, or of a word that is copied."""
        return distance(target, spans)


def random_case(
    seed: int, folder: Path, *, lms: int = 0, templates: tuple[str, ...] = ("distance",), **limits: int
) -> Case:
    rng = random.Random(seed)
    rules = random_rules(rng, 12 if not limits.get("pop_limit") else 40)
    sparse = ("lex(u)", *distance_features(), "bigram(u,v)")
    plain = model_of(folder, rules, [random_lm(rng, 3), random_lm(rng, 2)][:lms])
    model = replace(plain, sparse_names=sparse)
    weights = random_weights(rng) | {name: round(rng.uniform(-1, 1), 3) for name in sparse}
    decoder = Hiero(model, weights, **{"pop_limit": 0, "max_options": 0, "max_span": 12, **limits}, templates=templates)
    return Case(decoder, rules)


def applications(case: Case, words: list[str]) -> Counter[tuple[Any, ...]]:
    """Every rule application over the words: spans of it and of its nonterminals, its target side, its features."""
    alone = {source[0] for source, _, _ in case.rules if len(source) == 1}
    counts: Counter[tuple[Any, ...]] = Counter()
    filled: set[Any] = set()
    for i, j in sorted(itertools.combinations(range(len(words) + 1), 2), key=lambda span: span[1] - span[0]):
        own = [(source, target, spans) for source, target, _ in case.rules for spans in matches(source, words, i, j)]
        if j == i + 1 and words[i] not in alone:
            own.append(((words[i],), (words[i],), ()))
        for source, target, spans in own:
            if filled.issuperset(spans):
                h = case.features(source, target, i, spans)
                counts[i, j, tuple(spans), target, frozenset(h.items())] += 1
                filled.add((i, j))
    return counts


def edges(forest: Forest, names: list[str]) -> Counter[tuple[Any, ...]]:
    """The same of a forest without language models, less glue and the goal."""
    counts: Counter[tuple[Any, ...]] = Counter()
    heads = np.repeat(np.arange(forest.node_count), np.diff(forest.edge_begin))
    glue, rule, copied = (names.index(name) for name in ("glue", "rule", "word"))
    for e in range(forest.edge_count):
        if forest.dense[e, glue] or not (forest.dense[e, rule] or forest.dense[e, copied]):
            continue
        tails = forest.tails[forest.tail_begin[e] : forest.tail_begin[e + 1]]
        spans = [tuple(forest.spans[2 * v : 2 * v + 2].tolist()) for v in (heads[e], *tails)]
        symbols = forest.words[forest.word_begin[e] : forest.word_begin[e + 1]].tolist()
        target = tuple(-s if s < 0 else forest.vocab[s] for s in symbols)
        own = slice(forest.sparse_begin[e], forest.sparse_begin[e + 1])
        h = {names[k]: v for k, v in zip(forest.sparse_ids[own], forest.sparse_values[own], strict=True)}
        counts[*spans[0], tuple(spans[1:]), target, frozenset(h.items())] += 1
    return counts


@pytest.mark.parametrize("seed", range(20))
def test_every_edge_has_the_features_of_its_place(seed: int, tmp_path: Path) -> None:
    case = random_case(seed, tmp_path)
    words = random.Random(seed).choices(["a", "b", "c"], k=13 if seed < 3 else 6)
    pool = case.decoder.decode([" ".join(words)])
    assert edges(pool[0], case.decoder.feature_names) == applications(case, words)


def test_an_example(tmp_path: Path) -> None:
    (tmp_path / "grammar").write_text(
        "[X] ||| [X,1] de [X,2] ||| [X,2] of the [X,1] ||| phrase_ef=-1 ||| 1-1\n"
        "[X] ||| la casa ||| the house ||| phrase_ef=-1 ||| 0-0 1-1\n"
        "[X] ||| juan ||| john ||| phrase_ef=-1 ||| 0-0\n"
    )
    sparse = tuple(distance_features())
    model = replace(model_of(tmp_path, [], []), grammar=read_grammar(tmp_path / "grammar"), sparse_names=sparse)
    decoder = Hiero(model, {"glue": -1.0}, templates=("distance",))
    best = decoder.decode(["la casa de juan"])[0].viterbi(decoder.weights)
    assert best.text == "john of the the house"
    assert {name: value for name, value in best.features.items() if "(" in name} == {
        "distance(swap,1)": 1.0,  # juan
        "distance(swap,2)": 1.0,  # la casa
    }
    wide = Hiero(model, {"glue": -1.0, "distance(swap,10)": 1.0}, max_span=20)
    best = wide.decode(["de " * 11 + "de juan"])[0].viterbi(wide.weights)
    assert best.features["distance(swap,10)"] == best.score == 1.0  # 11 words


@pytest.mark.parametrize("seed", range(12))
def test_without_limits_the_search_finds_every_derivation_with_its_score(seed: int, tmp_path: Path) -> None:
    case = random_case(100 + seed, tmp_path, lms=1 + seed % 2)
    rng = random.Random(seed)
    words = rng.choices(WORDS, [4, 4, 4, 1, 1], k=4)
    kinds = ["n" if word == "7" else "w" for word in words]
    derivations_expected = derivations(tuple(words), kinds, case.rules, case.decoder.max_span, case.features)
    models = case.decoder.model.language_models
    wanted = [(" ".join(text), h) for text, h in with_language_models(derivations_expected, models)]
    weights = case.decoder.weights
    scores = sorted((sum(weights[name] * v for name, v in h.items()) for _, h in wanted), reverse=True)
    got = case.decoder.decode([" ".join(words)])[0].kbest(weights, len(wanted) + 1)
    assert [d.score for d in got] == pytest.approx(scores, abs=1e-9)
    (top,) = case.decoder.kbest([" ".join(words)], 1).viterbi(weights)
    assert top.score == pytest.approx(scores[0], abs=1e-9)
    best = max(wanted, key=lambda item: sum(weights[name] * v for name, v in item[1].items()))
    if len(scores) == 1 or scores[0] - scores[1] > 1e-6:
        features = {name: v for name, v in best[1].items() if abs(v) > 1e-9}
        assert {name: v for name, v in got[0].features.items() if abs(v) > 1e-9} == pytest.approx(features, rel=1e-6)


LINES = ["a b c a b", "", "c", "? a 7", "b b a b c b b b b b c b a", "a ? ? c"]
ARRAYS = ("edge_begin", "tails", "words", "spans", "dense", "sparse_begin", "sparse_ids", "sparse_values")


def limited(folder: Path, templates: tuple[str, ...] = ("distance",)) -> Hiero:
    return random_case(3, folder, lms=1, templates=templates, pop_limit=20, max_options=4).decoder


def test_scores_of_the_search_are_those_of_its_edges(tmp_path: Path) -> None:
    """What the search prunes by its own scores is what the forest prunes by the features of its edges."""
    decoder = limited(tmp_path)
    pool = decoder.decode(LINES)
    for limits in ({"max_edges": 12}, {"beam": 0.7}, {"max_edges": 20, "beam": 1.5}):
        small, wanted = decoder.decode(LINES, **limits), pool.pruned(decoder.weights, **limits)
        for i in range(len(LINES)):
            for name in ARRAYS:
                assert np.array_equal(getattr(small[i], name), getattr(wanted[i], name)), (limits, i, name)


def test_place_features_matter_to_the_search(tmp_path: Path) -> None:
    decoder = limited(tmp_path)
    plain = replace(decoder, templates=("lex",))
    best = [d.score for d in decoder.decode(LINES).viterbi(decoder.weights)]
    pool = plain.decode(LINES)
    assert not any(name.startswith("distance") for d in pool.viterbi(plain.weights) for name in d.features)
    assert best != pytest.approx([d.score for d in pool.viterbi(plain.weights)])


def test_results_do_not_depend_on_jobs_or_on_sentences_before(tmp_path: Path) -> None:
    decoder = limited(tmp_path)
    serial, more = decoder.decode(LINES * 3, jobs=1), decoder.decode(LINES * 3, jobs=3)
    again = decoder.decode(LINES[::-1] * 3, jobs=1)
    for i in range(len(serial)):
        for name in ARRAYS:
            assert np.array_equal(getattr(serial[i], name), getattr(more[i], name))
            assert np.array_equal(getattr(serial[i], name), getattr(again[len(serial) - 1 - i], name))


def test_lists_and_features_of_neighbouring_words_keep_them(tmp_path: Path) -> None:
    decoder = limited(tmp_path, ("bigram", "distance"))
    pool, lists = decoder.decode(LINES), decoder.kbest(LINES, 5)
    assert decoder.decode(LINES)[4].count_derivations() > 1
    for i in range(len(LINES)):
        for j, d in enumerate(pool[i].kbest(decoder.weights, 5)):
            assert lists.text(i, j) == d.text
            assert d.score == pytest.approx(sum(decoder.weights[name] * v for name, v in d.features.items()), abs=1e-9)
    assert any("distance" in name for name in pool[4].viterbi(decoder.weights).features)


def test_widths_on_lattices_are_of_the_fewest_words(tmp_path: Path) -> None:
    rules: Any = [
        (("b", "[X]"), ("v", 1), {}),
        (("[X]", "b", "[X]"), (2, 1), {}),
        (("a",), ("u",), {}),
        (("a", "a"), ("w",), {}),
    ]
    sparse = tuple(distance_features())
    model = replace(model_of(tmp_path, rules, []), sparse_names=sparse)
    weights = dict.fromkeys(sparse, 0.5) | {"glue": -1.0, "rule": -0.1, "Feature_0": 1.0}
    decoder = Hiero(model, weights, pop_limit=0, max_options=0, arcs=("Feature_0",))
    chain = "".join(f"(('{word}',0,1),)," for word in "abaaba")
    text, lattice = decoder.decode(["a b a a b a"]), decoder.decode(plf_lattices([f"({chain})"], "x"))
    for name in ARRAYS:
        assert np.array_equal(getattr(text[0], name), getattr(lattice[0], name))
    # an arc over two nodes: the a behind b is one word wide, and so is what stands there as two
    both = decoder.decode(plf_lattices(["((('b',0,1),),(('a',1,2),('a',0,1),),(('a',0,1),),)"], "x"))
    translations = {d.text: d.features for d in both[0].kbest(weights, 20) if "glue" not in d.features}
    assert translations["v u"]["distance(keep,1)"] == translations["v w"]["distance(keep,1)"] == 1.0
