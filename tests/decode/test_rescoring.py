"""Rescoring against the features of all derivations, counted on their strings."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hopefear as hf
from hopefear.decode import Hiero
from hopefear.errors import InputError
from tests.decode.models import model_of, random_lm, random_rules, random_weights
from tests.forest.pools import random_pool
from tests.reference import enumeration, extended_features
from tests.strategies import build

WORDS = ("the", "few", "countries", "that", "have")


def random_names(rng: random.Random, words: tuple[str, ...] = WORDS) -> list[str]:
    names = {f"unigram({rng.choice(words)})"}
    for template, order, count in (("bigram", 2, 8), ("trigram", 3, 25), ("trigger", 2, 10)):
        names |= {f"{template}({','.join(rng.choices(words, k=order))})" for _ in range(count)}
    return sorted(names)


def small_forest(pool: hf.Pool, rng: random.Random) -> hf.Forest:
    """Few derivations with long yields."""
    nodes = []
    for v in range(6):
        edges = []
        for _ in range(2):
            tails = [rng.randrange(v) for _ in range(min(v, rng.choice([1, 1, 2])))]
            words = [-1 - t for t in range(len(tails))] + rng.choices(range(5), k=rng.randint(0, 3))
            rng.shuffle(words)
            sparse = [(2, 1.0)] if rng.random() < 0.5 else []
            edges.append(
                {"tails": tails, "words": words, "dense": [rng.gauss(0, 1), rng.gauss(0, 1)], "sparse": sparse}
            )
        nodes.append(edges)
    return build(nodes, dense_names=["a", "b"], vocab=pool.vocab, features=pool.features)


def found(forest: hf.Forest, weights: dict[str, float]) -> list[tuple[float, str]]:
    names = forest.features.names()
    w = np.array([weights.get(name, 0.0) for name in names])
    scored = []
    for edges in enumeration.derivations(forest):
        h = enumeration.features(forest, edges)
        text = " ".join(forest.vocab[i] for i in enumeration.yielded(forest, edges))
        scored.append((round(float(h @ w[: len(h)]), 8), text))
    return sorted(scored)


@pytest.mark.parametrize("seed", range(12))
def test_without_a_limit_every_derivation_is_there_with_its_features(seed: int) -> None:
    rng = random.Random(seed)
    pool = random_pool(0)
    pool.append("x", small_forest(pool, rng))
    names = random_names(rng)
    lm = random_lm(rng, 3)
    weights = {name: rng.gauss(0, 1) for name in ("a", "b", "sparse", "extra", *names)}
    larger = hf.rescore(pool, weights, names, {"extra": lm}, pop_limit=0)
    wanted = []
    for score, text in found(pool[0], weights):
        more = extended_features.of_string(text.split(), names)
        more["extra"] = math.log(10) * lm.score(text)
        wanted.append((score + sum(weights[name] * value for name, value in more.items()), text))
    got = found(larger[0], weights)
    wanted.sort()
    assert len(got) == len(wanted)
    assert [score for score, _ in got] == pytest.approx([score for score, _ in wanted], abs=1e-6)
    assert Counter(text for _, text in got) == Counter(text for _, text in wanted)
    assert larger[0].viterbi(weights).score == pytest.approx(wanted[-1][0], abs=1e-6)
    for d in larger[0].kbest(weights, 20):
        counted = {name: d.features[name] for name in names if d.features.get(name)}
        assert counted == extended_features.of_string(d.text.split(), names)


def test_a_limit_keeps_good_derivations_and_scores_are_exact() -> None:
    rng = random.Random(1)
    pool, names = random_pool(0), random_names(rng)
    for i in range(5):
        pool.append(f"id{i}", small_forest(pool, rng), references=["the few"])
    weights = {name: rng.gauss(0, 1) for name in ("a", "b", "sparse", *names)}
    best = [d.score for d in hf.rescore(pool, weights, names, pop_limit=0).viterbi(weights)]
    limited = hf.rescore(pool, weights, names, pop_limit=3)
    for i, d in enumerate(limited.viterbi(weights)):
        assert d.score <= best[i] + 1e-9
        assert {n: v for n, v in d.features.items() if n in names} == extended_features.of_string(d.text.split(), names)
    assert pool.ids == limited.ids and limited.references(0) == pool.references(0)
    again = hf.rescore(pool, weights, names, pop_limit=3, jobs=2)
    for i in range(5):
        assert np.array_equal(limited[i].sparse_ids, again[i].sparse_ids)
        assert np.array_equal(limited[i].tails, again[i].tails)


def test_lists_stay_whole(tmp_path: Path) -> None:
    (tmp_path / "list").write_text(
        "".join(f"0 ||| the few {w} that ||| a= {k} ||| 0\n" for k, w in enumerate("uvwxyz"))
    )
    pool = hf.read_nbest(tmp_path / "list")
    larger = hf.rescore(pool, {"a0": 1.0, "a": 1.0}, ["bigram(few,x)", "trigger(the,that)"], pop_limit=2)
    assert larger[0].edge_count == 6
    texts = [larger.text(0, j) for j in range(6)]
    assert sorted(texts) == sorted(pool.text(0, j) for j in range(6))


def test_pairs_look_at_the_source_words_of_the_edge(tmp_path: Path) -> None:
    rules = [(("a", "[X]"), (1, "u"), {"phrase_ef": -1.0}), (("b",), ("v", "u"), {"phrase_ef": -2.0})]
    model = model_of(tmp_path, rules, [])
    weights = {"phrase_ef": 1.0, "identity": -9.0}
    decoder = Hiero(model, weights)
    pool = decoder.decode(["a b a b"])
    names = ["pair(a,u)", "pair(b,u)", "pair(b,v)", "pair(a,v)"]
    features = hf.rescore(pool, weights, names)[0].viterbi(weights).features
    wanted = {"pair(a,u)": 2.0, "pair(b,u)": 2.0, "pair(b,v)": 2.0}
    assert {name: features[name] for name in names if name in features} == wanted
    with pytest.raises(InputError, match="does not tell"):
        hf.rescore(random_pool(1), {}, names)
    alone = decoder.decode([])
    alone.append("0", pool[0])
    with pytest.raises(InputError, match="Name the source text"):
        hf.rescore(alone, weights, names)


@pytest.mark.parametrize("seed", range(4))
def test_the_decoder_takes_features_of_neighbouring_words(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    names = random_names(rng, tuple("uvwxyz"))
    plain = model_of(tmp_path, random_rules(rng, 12), [random_lm(rng, 2)])
    model = replace(plain, sparse_names=tuple(names))
    weights = random_weights(rng) | {name: rng.gauss(0, 1) for name in names}
    line = " ".join(rng.choices("abc?", k=3))
    exact = {"pop_limit": 0, "max_options": 0, "max_span": 3, "rescore_edges": 0, "rescore_limit": 0}
    decoder = Hiero(model, weights, **exact)
    assert set(decoder.templates or ()) == {"unigram", "bigram", "trigram", "trigger"}
    wanted = []
    base = Hiero(plain, weights, **exact).decode([line])[0]
    for score, text in found(base, weights):
        more = extended_features.of_string(text.split(), names)
        wanted.append(score + sum(weights[name] * value for name, value in more.items()))
    got = decoder.decode([line])[0].kbest(weights, 10)
    assert [d.score for d in got] == pytest.approx(sorted(wanted, reverse=True)[:10], abs=1e-6)
    assert decoder.translate([line]) == [got[0].text] or got[0].score == pytest.approx(got[1].score, abs=1e-9)
    small = decoder.decode([line], max_edges=5)[0]
    assert small.viterbi(weights).score == pytest.approx(got[0].score, abs=1e-9)


def test_what_cannot_be_added() -> None:
    pool = random_pool(1)
    for names, message in (
        (["lex(a,b)"], "only unigram"),
        (["bigram(a,b)", "bigram(a,b)"], "is there already"),
        (["bigram(the,few)", "bigram(a"], "expected template"),
        (["bigram(a)"], "no such template"),
    ):
        with pytest.raises(InputError, match=message):
            hf.rescore(pool, {}, names)
    with pytest.raises(InputError, match="cannot be negative"):
        hf.rescore(pool, {}, ["bigram(the,few)"], pop_limit=-1)
    with pytest.raises(InputError, match="not a finite number"):
        hf.rescore(pool, {"a": math.inf}, ["bigram(the,few)"])
