"""Forced decoding against all derivations."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hopefear.decode.forced import Forced
from tests.decode.block_models import block_model, random_pairs
from tests.decode.models import model_of, random_rules, random_weights
from tests.decode.test_evidence import pool_of
from tests.reference import blocks
from tests.reference.hiero import derivations, forced


@pytest.mark.parametrize("seed", range(40))
def test_the_best_derivation_of_a_candidate(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    rules = random_rules(rng, rng.randint(3, 12))
    weights = random_weights(rng)
    words = rng.choices(["a", "b", "c", "7", "?"], [4, 4, 4, 1, 1], k=rng.randint(1, 5))
    kinds = ["n" if word == "7" else "w" for word in words]
    max_span = rng.choice([2, 3, 10])
    model = model_of(tmp_path, rules, [], weights=weights)
    strings = sorted({" ".join(text) for text, _ in derivations(tuple(words), kinds, rules, max_span)})
    texts = rng.sample(strings, min(len(strings), 8))
    texts += [" ".join(rng.choices(["u", "v", "w", "x", "7", "q"], k=rng.randint(1, 5))) for _ in range(4)]
    decoder = Forced(model, max_span)
    rows = decoder.columns(pool_of([texts], folder=tmp_path), [" ".join(words)])
    for text, values in zip(texts, rows, strict=True):
        row = dict(zip(decoder.names, values, strict=True))
        source, target, score = forced(tuple(words), kinds, rules, max_span, tuple(text.split()), weights)
        assert row["skipped_source"] + row["skipped_target"] == source + target
        assert row["missing"] == (text not in strings)
        assert sum(weights[name] * row[name] for name in decoder.features) == pytest.approx(score, abs=1e-6)


def test_features_are_those_of_the_derivation(tmp_path: Path) -> None:
    rules = [
        (("a", "[X]"), (1, "u"), {"phrase_ef": -1.0, "lexical_fe": -0.5}),
        (("b",), ("v",), {"phrase_ef": -0.25}),
        (("c",), ("w", "w"), {"phrase_fe": -2.0}),
    ]
    model = model_of(tmp_path, rules, [], weights={"phrase_ef": 1.0})
    decoder = Forced(model)
    rows = decoder.columns(pool_of([["v u w w ?", "v z w w"]], folder=tmp_path), ["a b c ?"])
    names = decoder.names
    first, second = ({name: value for name, value in zip(names, row, strict=True) if value} for row in rows.tolist())
    assert first == {
        **{"phrase_ef": -1.25, "phrase_fe": -2.0, "lexical_fe": -0.5},
        **{"rule": 3, "word": 5, "glue": 2, "unknown": 1},
    }
    assert second == {
        **{"phrase_ef": -0.25, "phrase_fe": -2.0, "rule": 2, "word": 3, "glue": 1},
        **{"skipped_source": 2, "skipped_target": 1, "missing": 1},
    }
    text = decoder.explain("a b c", "v u w w")
    assert [line[11:].split("  ")[0] or line[14:].split("  ")[0] for line in text.splitlines()[2:]] == [
        "a [X,1] -> [X,1] u",
        "b -> v",
        "c -> w w",
    ]
    assert "left out" not in text
    assert "left out of the candidate: z" in decoder.explain("a b", "v z")


@pytest.mark.parametrize("seed", range(40))
def test_the_best_block_sequence_of_a_candidate(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    pairs = random_pairs(rng, rng.randint(4, 12))
    weights = {
        name: rng.uniform(-1, 1) for name in ("phrase_ef", "rule", "word", "swap", "identity", "unknown", "number")
    }
    words = rng.choices(["a", "b", "c", "7", "?"], [4, 4, 4, 1, 1], k=rng.randint(1, 5))
    kinds = ["n" if word == "7" else "w" for word in words]
    model = block_model(tmp_path, pairs, weights=weights)
    strings = sorted({" ".join(blocks.yield_of(sequence)) for sequence in blocks.sequences(words, kinds, pairs, True)})
    texts = rng.sample(strings, min(len(strings), 8))
    texts += [" ".join(rng.choices(["u", "v", "w", "x", "7", "q"], k=rng.randint(1, 5))) for _ in range(4)]
    decoder = Forced(model)
    rows = decoder.columns(pool_of([texts], folder=tmp_path), [" ".join(words)])
    for text, values in zip(texts, rows, strict=True):
        row = dict(zip(decoder.names, values, strict=True))
        skipped, score = blocks.forced(words, kinds, pairs, text.split(), weights)
        assert row["skipped_source"] + row["skipped_target"] == skipped
        assert row["missing"] == (text not in strings)
        assert sum(weights.get(name, 0.0) * row[name] for name in decoder.features) == pytest.approx(score, abs=1e-6)


def test_blocks_that_swap(tmp_path: Path) -> None:
    pairs = [(("a",), ("u",)), (("b",), ("v", "w")), (("c",), ("x",))]
    decoder = Forced(block_model(tmp_path, pairs))
    texts = ["v w u x", "v w q u x", "u x v w"]
    rows = decoder.columns(pool_of([texts], folder=tmp_path), ["a b c"])
    features = [{name: value for name, value in zip(decoder.names, row, strict=True) if value} for row in rows.tolist()]
    all_words = {"phrase_ef": -1.5, "rule": 3, "word": 4, "swap": 1}
    assert features == [all_words, {**all_words, "skipped_target": 1, "missing": 1}, all_words]
    shown = decoder.explain("a b c", "v w q u x").splitlines()
    assert shown[2] == "left out of the candidate: q"
    assert [line.split()[-3:] for line in shown[3:]] == [
        ["2-2", "->", "1-2"],
        ["1-1", "->", "4-4"],
        ["3-3", "->", "5-5"],
    ]
