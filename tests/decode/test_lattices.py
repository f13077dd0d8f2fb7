"""Word lattices as input: the best over all their paths, each decoded as text."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hopefear import InputError, Pool
from hopefear.decode import Hiero
from hopefear.formats.forests import plf_lattices
from tests.decode.models import model_of, random_lm, random_rules, random_weights

Arc = tuple[str, float, int]


def random_lattice(rng: random.Random, nodes: int) -> list[list[Arc]]:
    """The arcs of each node but the last; some are empty, some have two words, some skip nodes."""
    columns = []
    for v in range(nodes):
        words = rng.choices(["a", "b", "c", "?", "7", "*EPS*", "a b"], k=rng.randint(1, 3))
        columns.append([(word, round(rng.gauss(0, 1), 3), rng.randint(1, min(2, nodes - v))) for word in words])
        if all(step > 1 for _, _, step in columns[-1]):
            columns[-1].append(("c", 0.5, 1))
    return columns


def plf(columns: list[list[Arc]]) -> str:
    return "(" + "".join("(" + "".join(f"{arc!r}," for arc in column) + ")," for column in columns) + ")"


def paths(columns: list[list[Arc]], at: int = 0) -> list[tuple[str, float]]:
    if at == len(columns):
        return [("", 0.0)]
    ways = []
    for word, score, step in columns[at]:
        for text, rest in paths(columns, at + step):
            ways.append((f"{'' if word == '*EPS*' else word} {text}".strip(), score + rest))
    return ways


@pytest.mark.parametrize("seed", range(25))
def test_a_lattice_is_all_its_paths(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    columns = random_lattice(rng, rng.randint(1, 4))
    model = model_of(tmp_path, random_rules(rng, 15), [random_lm(rng, 3)])
    weights = random_weights(rng) | {"Feature_0": 0.7}
    limits = {"pop_limit": 0, "max_options": 0, "max_span": 20}
    text = Hiero(model, weights, **limits)
    wanted = []
    for line, score in paths(columns):
        for d in text.decode([line])[0].kbest(weights, 1000) if line else []:
            wanted.append((d.score + 0.7 * score, d.text, score))
    decoder = replace(text, arcs=("Feature_0",))
    pool = decoder.decode(plf_lattices([plf(columns)], "lattices"))
    if not wanted:
        assert pool[0].kbest(weights, 5)[0].text == ""
        return
    wanted.sort(reverse=True)
    got = pool[0].kbest(weights, len(wanted) + 5)
    assert [d.score for d in got[:200]] == pytest.approx([score for score, _, _ in wanted[:200]], abs=1e-6)
    if len(wanted) >= 1000:  # one path may have more
        return
    assert len(got) == len(wanted)
    assert sorted(d.text for d in got) == sorted(text for _, text, _ in wanted)
    assert sorted(d.features.get("Feature_0", 0.0) for d in got) == pytest.approx(
        sorted(s for _, _, s in wanted), abs=1e-9
    )
    assert decoder.kbest(plf_lattices([plf(columns)], "lattices"), 1).text(0, 0) == got[0].text


def test_text_is_a_lattice_with_one_path(tmp_path: Path) -> None:
    rng = random.Random(3)
    model = model_of(tmp_path, random_rules(rng, 40), [random_lm(rng, 3)])
    decoder = Hiero(model, random_weights(rng), 20, 5, 4)
    lines = ["a b c a b ? c a 7 b c", "", "c"]
    plain = decoder.decode(lines)
    chains = [plf([[(word, 0.0, 1)] for word in line.split()]) if line else "" for line in lines]
    lattices = decoder.decode(plf_lattices(chains, "lattices"))
    for i in range(3):
        for name in ("edge_begin", "tails", "words", "spans", "dense"):
            assert (getattr(plain[i], name) == getattr(lattices[i], name)).all()


def test_limits_are_by_the_shortest_path(tmp_path: Path) -> None:
    rules: Any = [(("a", "[X]", "a"), ("u", 1, "v"), {}), (("b",), ("x",), {})]
    model = model_of(tmp_path, rules, [])
    weights = {"identity": -9.0, "unknown": -9.0, "Feature_0": 1.0}
    decoder = Hiero(model, weights, max_span=3, arcs=("Feature_0",))
    lattice = "((('a',0,1),),(('b',0,1),('b',0,2),),(('b',1,1),),(('a',0,1),),)"
    assert decoder.translate(plf_lattices([lattice], "x")) == ["u x v"]


def test_features_and_words_of_lattices(tmp_path: Path) -> None:
    rules = [(("a",), ("u",), {"phrase_ef": -1.0})]
    model = replace(model_of(tmp_path, rules, []), sparse_names=("unigram(u)",))
    weights = {"unigram(u)": 0.25, "Feature_0": 2.0, "Feature_1": -1.0}
    decoder = Hiero(model, weights, arcs=("Feature_0", "Feature_1"))
    lattices = plf_lattices(["((('a',1,2,1),('b',3,0,1),),)"], "x")
    second, first = sorted(decoder.decode(lattices)[0].kbest(weights, 5), key=lambda d: d.score)
    assert first.text == "b" and first.score == pytest.approx(6.0)
    assert second.features["unigram(u)"] == 1.0 and second.score == pytest.approx(0.25)
    with pytest.raises(InputError, match=r"sentence 0: the lattice has the feature Feature_1, which"):
        Hiero(model, weights, arcs=("Feature_0",)).decode(lattices)
    with pytest.raises(InputError, match="a score of arcs and a feature of the model are both named lm"):
        Hiero(model, weights, arcs=("lm",))


def test_forests_are_no_lattices(tmp_path: Path) -> None:
    model = model_of(tmp_path, [(("a",), ("u",), {})], [])
    decoder = Hiero(model)
    forests: Pool = decoder.decode(["a a"])
    with pytest.raises(InputError, match="no lattice of words"):
        decoder.decode(forests)


def test_a_lattice_that_is_too_large(tmp_path: Path) -> None:
    model = model_of(tmp_path, [(("a",), ("u",), {})], [])
    columns: list[list[Arc]] = [[("a", 0.0, 1)] for _ in range(10000)]
    columns[0].append(("a", 0.0, 10000))
    with pytest.raises(
        InputError, match="sentence 0: a lattice of 10001 nodes with arcs over 10000 of them is too large"
    ):
        Hiero(model, arcs=("Feature_0",)).decode(plf_lattices([plf(columns)], "x"))


def test_many_empty_arcs_in_a_row(tmp_path: Path) -> None:
    model = model_of(tmp_path, [(("a",), ("u",), {})], [])
    columns: list[list[Arc]] = [[("*EPS*", 0.0, 1), ("*EPS*", 1.0, 1)] for _ in range(40)]
    with pytest.raises(InputError, match="too many arcs without words"):
        Hiero(model, arcs=("Feature_0",)).decode(plf_lattices([plf(columns)], "x"))
