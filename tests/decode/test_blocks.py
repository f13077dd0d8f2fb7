"""The block decoder against all block sequences, and its lattices against the decoder."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from hopefear._core import set_references
from hopefear.decode import Blocks, Hiero, decoder_for
from hopefear.decode.blocks import read_block_weights
from hopefear.errors import InputError
from tests.decode.block_models import block_model, random_pairs
from tests.decode.models import random_lm
from tests.reference import blocks as twin

KINDS = {"7": "n"}


def random_case(seed: int, folder: Path, lm: bool = False) -> Any:
    """A decoder without limits, a sentence, and every sequence with its features."""
    rng = random.Random(seed)
    features = rng.choice(["none", "phrase", "word", "both"])
    swap = rng.random() < 0.6
    phrase, word = features in ("phrase", "both"), features in ("word", "both")
    while True:
        pairs = random_pairs(rng, rng.randint(4, 14))
        words = rng.choices(["a", "b", "c", "d,|", "7", "?"], [5, 5, 5, 2, 1, 1], k=rng.randint(1, 6))
        kinds = [KINDS.get(w, "w") for w in words]
        sequences = twin.sequences(words, kinds, pairs, swap)
        if len(sequences) <= 2000:
            break
    wanted = [(twin.yield_of(z), twin.features(z, phrase, word, swap), z) for z in sequences]
    models = (random_lm(rng, 3),) if lm else ()
    names = sorted({name for _, h, _ in wanted for name in h} | {"phrase_ef"} | ({"lm"} if lm else set()))
    weights = {name: round(rng.uniform(-1, 1), 3) for name in names if rng.random() < 0.8}
    for text, h, z in wanted:
        h["phrase_ef"] = -0.5 * sum(block[4] is None for block in z)
        if lm:
            h["lm"] = 2.302585092994045684 * models[0].score(" ".join(text))
    reordering = "swap" if swap else "monotone"
    model = block_model(folder, pairs, models)
    decoder = Blocks(model, weights, pop_limit=0, max_options=0, features=features, reordering=reordering, lms=lm)
    return decoder, words, wanted


def dot(weights: Any, h: Any) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in h.items())


@pytest.mark.parametrize("seed", range(60))
def test_without_limits_the_lattice_is_every_sequence(seed: int, tmp_path: Path) -> None:
    decoder, words, wanted = random_case(seed, tmp_path, lm=seed % 3 == 0)
    line = " ".join(words)
    pool = decoder.decode([line])
    assert pool[0].count_derivations() == len(wanted)
    got = pool[0].kbest(decoder.weights, len(wanted) + 1)
    ranked = sorted((dot(decoder.weights, h) for _, h, _ in wanted), reverse=True)
    assert [d.score for d in got] == pytest.approx(ranked, abs=1e-9)

    def plain(h: Any) -> Any:
        return tuple(sorted((name, round(value, 6)) for name, value in h.items() if abs(value) > 1e-9))

    translations = sorted((d.text, plain(d.features)) for d in got)
    assert translations == sorted((" ".join(text), plain(h)) for text, h, _ in wanted)
    text, _, _ = max(wanted, key=lambda item: dot(decoder.weights, item[1]))
    if len(ranked) == 1 or ranked[0] - ranked[1] > 1e-6:
        assert decoder.translate([line], tokens=True) == [" ".join(text)]
    lists = decoder.kbest([line], 5)
    assert [d.score for d in lists[0].kbest(decoder.weights, 5)] == pytest.approx(ranked[:5], abs=1e-9)
    strings = list(dict.fromkeys(d.text for d in got))[:5]
    distinct = decoder.kbest([line], 5, distinct=True)
    if len({round(s, 6) for s in ranked}) == len(ranked):
        assert [distinct.text(0, k) for k in range(len(strings))] == strings


@pytest.mark.parametrize("seed", range(20))
def test_limits_only_leave_out(seed: int, tmp_path: Path) -> None:
    decoder, words, wanted = random_case(seed, tmp_path)
    narrow = Blocks(
        decoder.model, decoder.weights, 3, 2, decoder.features, decoder.reordering, swap_limit=1, lms=decoder.lms
    )
    pool = narrow.decode([" ".join(words)])
    scores = {round(dot(decoder.weights, h), 6) for _, h, _ in wanted}
    for d in pool[0].kbest(decoder.weights, 20):
        assert round(d.score, 6) in scores
    best = max(dot(decoder.weights, h) for _, h, _ in wanted)
    assert pool[0].viterbi(decoder.weights).score <= best + 1e-9


def test_precomputed_scores_and_jobs_change_nothing(tmp_path: Path) -> None:
    decoder, _, _ = random_case(3, tmp_path)
    rng = random.Random(5)
    lines = [" ".join(rng.choices("abc7", k=rng.randint(0, 9))) for _ in range(2100)]
    many = decoder.translate(lines, tokens=True)
    assert many == decoder.translate(lines, tokens=True, jobs=1)
    assert many == [line for i in range(0, 2100, 300) for line in decoder.translate(lines[i : i + 300], tokens=True)]


@pytest.mark.parametrize("features", ["none", "both"])
def test_words_and_features_that_pools_added_are_known(features: str, tmp_path: Path) -> None:
    """Pools share words and features with the decoder; references bring words that a sentence then copies."""
    rng = random.Random(1)
    model = block_model(tmp_path, random_pairs(rng, 12), (random_lm(rng, 3),))
    new = [f"new{i}" for i in range(3000)]
    lines = ["a " + " ".join(rng.sample(new, 5)) + " b" for _ in range(50)]

    def fresh() -> Blocks:
        return Blocks(model, {"lm": 1.0, "phrase_ef": 1.0, "word": 0.3}, features=features, lms=True)

    decoder = fresh()
    pool = decoder.kbest(["a b c"], 5)
    set_references(pool, [[" ".join(new)]])
    pool.features.add("other(x)")
    again = decoder.kbest(lines, 5)
    want = fresh().kbest(lines, 5)
    weights = {name: rng.uniform(-1, 1) for name in want.feature_names}
    for i in range(len(lines)):
        assert [again.text(i, k) for k in range(5)] == [want.text(i, k) for k in range(5)]
    assert decoder.kbest(lines, 1, weights=decoder.weights_over(again, weights)).text(7, 0) == fresh().kbest(
        lines, 1, weights=weights
    ).text(7, 0)


def test_empty_lines_and_empty_input(tmp_path: Path) -> None:
    decoder, _, _ = random_case(1, tmp_path)
    assert decoder.translate(["", "a"], tokens=True)[0] == ""
    assert decoder.translate([]) == []
    assert len(decoder.decode([])) == 0
    pool = decoder.decode(["", "b"], first=7)
    assert list(pool.ids) == ["7", "8"]
    assert pool[0].viterbi(decoder.weights).text == ""


def test_the_kind_of_the_model_chooses_the_decoder(tmp_path: Path) -> None:
    model = block_model(tmp_path, random_pairs(random.Random(1), 5))
    decoder = decoder_for(model)
    assert isinstance(decoder, Blocks)
    assert (decoder.features, decoder.reordering) == ("none", "swap")
    with pytest.raises(InputError, match="this decoder is for hiero"):
        Hiero(model)


@pytest.mark.parametrize(
    ("weights", "features", "reordering"),
    [
        ({"block(a|u)": 1.0}, "phrase", "monotone"),
        ({"pair(a|u)": 1.0, "orient(L)": -1.0}, "both", "swap"),
        ({"ngram(u)": 1.0, "block(a|u)": 0.0}, "word", "monotone"),
        ({"lm": 1.0}, "none", "swap"),
    ],
)
def test_weights_tell_what_there_is(weights: Any, features: Any, reordering: Any, tmp_path: Path) -> None:
    decoder = Blocks(block_model(tmp_path, random_pairs(random.Random(1), 5)), weights)
    assert (decoder.features, decoder.reordering) == (features, reordering)


def test_refuses(tmp_path: Path) -> None:
    model = block_model(tmp_path, random_pairs(random.Random(1), 5))
    with pytest.raises(InputError, match="features: 'all' is not known"):
        Blocks(model, features="all")
    with pytest.raises(InputError, match="not a finite number"):
        Blocks(model, {"word": float("nan")}).translate(["a"])
    with pytest.raises(InputError, match="cannot be negative"):
        Blocks(model, pop_limit=-1).translate(["a"])


def test_weights_of_a_file_large_and_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decoder, words, _ = random_case(2, tmp_path)
    lines = [" ".join(words), "a b c", "c c a 7"]
    path = tmp_path / "weights.txt"
    path.write_text("".join(f"{name} {value!r}\n" for name, value in decoder.weights.items()))
    named = read_block_weights(path)
    assert named == decoder.weights
    monkeypatch.setattr("hopefear.formats.weights._LARGE", 0)
    table = read_block_weights(path)
    assert not isinstance(table, dict)
    assert len(table) == len(named)
    assert all(table[name] == value for name, value in named.items())
    small, large = Blocks(decoder.model, named), Blocks(decoder.model, table)
    assert (small.features, small.reordering, small.lms) == (large.features, large.reordering, large.lms)
    assert small.translate(lines) == large.translate(lines)
    pool = large.decode(lines)
    assert large.weights_over(pool).tolist() == [named.get(name, 0.0) for name in pool.feature_names]
    assert large.decode(lines, large.weights_over(pool)).kbest(large.weights_over(pool), 1).text(0, 0) == pool.kbest(
        large.weights_over(pool), 1
    ).text(0, 0)
    for text, finding in (
        ("LM0 0.5\n", "no weight here belongs to a feature of blocks"),
        ("lm 0.5\nword\n", r"weights\.txt:2: is not a name and a finite number"),
        ("lm nan\n", r"weights\.txt:1: is not a name"),
        ("\n", "no weights in this file"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=finding):
            read_block_weights(path)
