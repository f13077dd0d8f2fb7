"""Maximum-BLEU block sequences against all block sequences."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from hopefear.decode import Blocks
from hopefear.metrics import Bleu
from tests.decode.block_models import block_model, random_pairs
from tests.reference import blocks as twin

WORDS = ["a", "b", "c", "7", "?"]


def sentence_bleu(hypothesis: list[str], reference: list[str]) -> float:
    stats = Bleu().corpus_stats([" ".join(hypothesis)], [[" ".join(reference)]])
    return float(Bleu().core.sentence_gain(stats[0]))


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("seed", range(25))
def test_without_limits_the_best_of_all_are_found(seed: int, few: bool, tmp_path: Path) -> None:
    rng = random.Random(seed)
    swap = seed % 3 > 0
    while True:
        pairs = random_pairs(rng, rng.randint(5, 14))
        words = rng.choices(WORDS, [5, 5, 5, 1, 1], k=rng.randint(1, 5))
        kinds = ["n" if w == "7" else "w" for w in words]
        sequences = twin.sequences(words, kinds, pairs, swap)
        if len(sequences) <= 500:
            break
    # A reference with repeated words, so that clipping matters.
    reference = rng.choices(rng.sample("uvwxyz7", 3), k=rng.randint(1, 9))
    ranked = sorted(
        ((sentence_bleu(twin.yield_of(z), reference), len(z) if few else -len(z)) for z in sequences),
        key=lambda item: (-round(item[0], 9), item[1]),
    )
    decoder = Blocks(block_model(tmp_path, pairs), {"word": 1.0}, reordering="swap" if swap else "monotone")
    corpus = decoder.corpus([" ".join(words)], [" ".join(reference)])
    k = 5
    got = decoder.core.oracle(corpus, k, few, 0, 0, 0, 0)
    assert list(got.sentence_begin) == [0, min(k, len(sequences))]
    assert got.bleu == pytest.approx([b for b, _ in ranked[:k]], abs=1e-6)
    lengths = [len(got.blocks(z)) for z in range(len(got))]
    assert lengths == [n if few else -n for _, n in ranked[:k]]
    for text, bleu in zip(got.texts(decoder.core, corpus), got.bleu, strict=True):
        assert sentence_bleu(text.split(), reference) == pytest.approx(bleu, abs=1e-6)
    assert len({tuple(got.blocks(z)) for z in range(len(got))}) == len(got)


def test_limits_never_find_more(tmp_path: Path) -> None:
    rng = random.Random(3)
    decoder = Blocks(block_model(tmp_path, random_pairs(rng, 40)), {"word": 1.0})
    lines = [" ".join(rng.choices("abc", k=rng.randint(0, 9))) for _ in range(100)]
    references = [" ".join(rng.choices("uvwxyz", k=rng.randint(1, 9))) for _ in lines]
    corpus = decoder.corpus(lines, references)
    exact = decoder.core.oracle(corpus, 1, True, 0, 0, 0, 0)
    wide = decoder.core.oracle(corpus, 1, True, 40, 5, 10, 0)
    narrow = decoder.core.oracle(corpus, 1, True, 3, 1, 2, 0)
    assert (wide.bleu <= exact.bleu + 1e-6).all()
    assert (narrow.bleu <= exact.bleu + 1e-6).all()
    assert np.mean(narrow.bleu) <= np.mean(wide.bleu) <= np.mean(exact.bleu)
    assert np.mean(wide.bleu) > 0.97 * np.mean(exact.bleu)
    alone = decoder.core.oracle(corpus, 1, True, 40, 5, 10, 0, jobs=1)
    assert [alone.blocks(z) for z in range(100)] == [wide.blocks(z) for z in range(100)]


def test_bags_have_a_block_for_every_interval(tmp_path: Path) -> None:
    pairs = [(("a",), ("u",)), (("a",), ("v",)), (("a", "b"), ("w",)), (("b", "a", "b"), ("x", "y"))]
    decoder = Blocks(block_model(tmp_path, pairs), {"word": 1.0})
    bags = decoder.core.bags(decoder.corpus(["a b a b ?", ""]))
    places = [(begin, begin + length, copy) for _, begin, length, copy in bags.blocks(0)]
    # "a" and "a b" twice, "b a b" once; "b" is known but has no block alone, "?" is not known.
    assert sorted(places) == [(0, 1, 0), (0, 2, 0), (1, 2, 1), (1, 4, 0), (2, 3, 0), (2, 4, 0), (3, 4, 1), (4, 5, 2)]
    assert bags.blocks(1) == []


def test_random_sequences_are_sequences(tmp_path: Path) -> None:
    rng = random.Random(4)
    pairs = random_pairs(rng, 12)
    for swap in (True, False):
        decoder = Blocks(block_model(tmp_path, pairs), {"word": 1.0}, reordering="swap" if swap else "monotone")
        lines = [" ".join(rng.choices(WORDS, [5, 5, 5, 1, 1], k=rng.randint(0, 5))) for _ in range(30)]
        references = [" ".join(rng.choices("uvwxyz", k=5)) for _ in lines]
        corpus = decoder.corpus(lines, references)
        drawn = decoder.core.random(corpus, 3, 7)
        texts = drawn.texts(decoder.core, corpus)
        assert [int(at) for at in drawn.sentence_begin] == list(range(0, 91, 3))
        for i, line in enumerate(lines):
            words = line.split()
            sequences = twin.sequences(words, ["n" if w == "7" else "w" for w in words], pairs, swap)
            spans = {tuple(block[:2] for block in z) for z in sequences}
            strings = {" ".join(twin.yield_of(z)) for z in sequences}
            for z in range(3 * i, 3 * i + 3):
                assert tuple((b, b + n) for _, b, n, _ in drawn.blocks(z)) in spans
                assert texts[z] in strings
                if words:
                    wanted = sentence_bleu(texts[z].split(), references[i].split())
                    assert drawn.bleu[z] == pytest.approx(wanted, abs=1e-6)
        assert len(set(texts)) > 20
        assert decoder.core.random(corpus, 3, 7, jobs=1).texts(decoder.core, corpus) == texts
