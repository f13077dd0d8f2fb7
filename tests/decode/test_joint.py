"""The neural joint model in the decoder, against all derivations."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hopefear._core import Pool, joint_column
from hopefear.decode import Hiero
from hopefear.errors import InputError
from hopefear.formats.forests import plf_lattices
from hopefear.model.directory import Model
from hopefear.model.features import SMALL
from hopefear.model.grammar import read_grammar
from hopefear.model.joint import MARKS, JointModel
from tests.decode.models import PLAIN, grammar_lines, random_lm, random_rules, random_weights
from tests.reference.joint import derivations, score, text_score

Linked = tuple[tuple[str, ...], tuple[str | int, ...], dict[str, float], tuple[tuple[int, int], ...]]
NAMES = (*SMALL, "njm")


def random_joint(seed: int) -> JointModel:
    """It does not know all words of the tests, and its sizes are not round."""
    rng = np.random.default_rng(seed)
    source, target, d, h = (*MARKS, "a", "b", "7"), (*MARKS, *"uvwxy", "7"), 3, 5
    shapes = {
        "source": (len(source), d),
        "target": (len(target), d),
        "hidden": (14 * d, h),
        "hidden_bias": (h,),
        "output": (len(target), h),
        "output_bias": (len(target),),
    }
    return JointModel(source, target, {name: rng.normal(0, 0.7, s).astype(np.float32) for name, s in shapes.items()})


def linked(
    rng: random.Random, rules: list[tuple[tuple[str, ...], tuple[str | int, ...], dict[str, float]]]
) -> list[Linked]:
    links = []
    for source, target, values in rules:
        pairs = [
            (s, t)
            for s, f in enumerate(source)
            for t, e in enumerate(target)
            if f != "[X]" and not isinstance(e, int) and rng.random() < 0.5
        ]
        links.append((source, target, values, tuple(pairs)))
    return links


def model_of(folder: Path, rules: list[Linked], order: int, rng: random.Random, joint: JointModel) -> Model:
    path = folder / "grammar.txt"
    lines = grammar_lines([rule[:3] for rule in rules])
    links = [" ".join(f"{s}-{t}" for s, t in rule[3]) for rule in rules]
    path.write_text("".join(f"{line} ||| {pairs}\n" for line, pairs in zip(lines, links, strict=True)))
    text = {"source": PLAIN, "target": PLAIN}
    info = {"kind": "hiero", "options": {}, "text": text, "weights": {}, "features": list(NAMES)}
    return Model(folder, info, read_grammar(path), (random_lm(rng, order),), (), joint=joint)


def dot(weights: dict[str, float], h: dict[str, float]) -> float:
    return sum(weights[name] * value for name, value in h.items())


@pytest.mark.parametrize("seed", range(40))
def test_every_derivation_has_the_score_of_its_words(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    while True:
        rules = linked(rng, random_rules(rng, rng.randint(3, 9)))
        words = tuple(rng.choices(["a", "b", "c", "?"], [4, 4, 4, 1], k=rng.randint(1, 5)))
        max_span = rng.choice([2, 3, 10])
        wanted = derivations(words, rules, max_span)
        if len(wanted) <= 700:
            break
    joint = random_joint(seed)
    model = model_of(tmp_path, rules, 3, rng, joint)
    weights = random_weights(rng) | {"njm": rng.uniform(0.2, 1), "lm": 0.0}
    forest = Hiero(model, weights, pop_limit=0, max_options=0, max_span=max_span).decode([" ".join(words)])[0]
    assert forest.count_derivations() == len(wanted)
    got = forest.kbest(weights, len(wanted) + 1)
    values = [text_score(joint, words, text) for text, _ in wanted]
    ranked = sorted((dot(weights, {**h, "njm": v}) for (_, h), v in zip(wanted, values, strict=True)), reverse=True)
    assert [d.score for d in got] == pytest.approx(ranked, abs=1e-4)
    assert sorted(d.features.get("njm", 0.0) for d in got) == pytest.approx(sorted(values), abs=1e-4)


def test_the_score_of_a_text(tmp_path: Path) -> None:
    joint = random_joint(1)
    source, words, at = ["a", "?", "b"], ["u", "z", "v", "v"], [2, 0, 1, 1]
    each = joint.core.scores(source, words, at)
    assert float(each.sum()) == pytest.approx(text_score(joint, source, list(zip(words, at, strict=True))), abs=1e-5)
    assert each[0] == pytest.approx(score(joint, source, 2, [1, 1, 1], 4), abs=1e-5)
    with pytest.raises(InputError, match="no such source word"):
        joint.core.scores(source, ["u"], [3])


LINES = ["a b c a b", "", "c", "? a 7", "b b b b b b b b b b b b", "a ? ? c"]


def limited(folder: Path, seed: int = 3, weight: float = 0.7) -> Hiero:
    rng = random.Random(seed)
    model = model_of(folder, linked(rng, random_rules(rng, 40)), 3, rng, random_joint(seed))
    return Hiero(model, random_weights(rng) | {"njm": weight}, 8, 3, max_span=4)


def test_results_do_not_depend_on_jobs_or_on_sentences_before(tmp_path: Path) -> None:
    decoder = limited(tmp_path)
    serial, more = decoder.decode(LINES * 5, jobs=1), decoder.decode(LINES * 5, jobs=3)
    alone = [decoder.decode([line])[0] for line in LINES]
    for i in range(len(serial)):
        for name in ("edge_begin", "tails", "words", "spans", "dense"):
            assert np.array_equal(getattr(serial[i], name), getattr(more[i], name))
            assert np.array_equal(getattr(serial[i], name), getattr(alone[i % len(LINES)], name))


def test_the_score_of_a_list_is_its_features_times_the_weights(tmp_path: Path) -> None:
    decoder = limited(tmp_path)
    for forest in decoder.decode(LINES):
        for d in forest.kbest(decoder.weights, 20):
            assert d.score == pytest.approx(dot(dict(decoder.weights), d.features), abs=1e-9)


def test_a_weight_of_zero_finds_what_is_found_without(tmp_path: Path) -> None:
    decoder = limited(tmp_path, weight=0.0)
    info = {**decoder.model.info, "features": list(SMALL)}
    without = Hiero(replace(decoder.model, joint=None, info=info), decoder.weights, 0, 0, max_span=4)
    unlimited = Hiero(decoder.model, decoder.weights, 0, 0, max_span=4)
    lines = ["a b c a", "c", "? a 7"]
    for a, b in zip(unlimited.decode(lines), without.decode(lines), strict=True):
        assert a.viterbi(decoder.weights).score == pytest.approx(b.viterbi(decoder.weights).score, abs=1e-9)


def test_lattices_are_rejected_in_one_line(tmp_path: Path) -> None:
    lattices: Pool = plf_lattices(["((('a',0,1),),)"], "source", 0)
    with pytest.raises(
        InputError, match=r"neural joint model, which is for text only\. Build one without --joint-model"
    ):
        limited(tmp_path).decode(lattices)


def by_lexical_weights(rules: list[Linked], source: list[str], words: list[str]) -> list[int]:
    """The best source word of each word; where there is none, that of the nearest word, of two the one to the right."""
    t = {(f[0], e[0]): values.get("lexical_ef", 0.0) for f, e, values, _ in rules if len(f) == len(e) == 1}
    known = [{s for f, *_ in rules for s in f}, {s for _, e, *_ in rules for s in e}]
    links = []
    for word in words:
        each = []
        for f in source:
            copied = word == f and (f not in known[0] or word not in known[1])
            each.append(1.0 if copied else math.exp(t[f, word]) if (f, word) in t else 0.0)
        links.append(each.index(max(each)) if max(each) >= 0.01 else None)
    linked = [k for k, place in enumerate(links) if place is not None]
    nearest = [min(linked, key=lambda j: (abs(j - k), j < k)) if linked else None for k in range(len(words))]
    return [min(k, len(source) - 1) if j is None else links[j] for k, j in enumerate(nearest)]  # type: ignore[misc]


def test_a_column_for_lists(tmp_path: Path) -> None:
    rng = random.Random(5)
    rules = linked(rng, random_rules(rng, 60))
    joint = random_joint(5)
    model = model_of(tmp_path, rules, 2, rng, joint)
    lines = ["a b c a b", "c", "? a ? ? b", "b b"]
    pool = Hiero(model, random_weights(rng) | {"njm": 0.3}, 20, 0, 5).kbest(lines, 10)
    column = joint_column(pool, lines, model.grammar, joint.core, 1)
    row = 0
    for i, line in enumerate(lines):
        for j in range(pool[i].edge_count):
            words = pool.text(i, j).split()
            pairs = list(zip(words, by_lexical_weights(rules, line.split(), words), strict=True))
            assert column[row, 0] == pytest.approx(text_score(joint, line.split(), pairs), abs=1e-4)
            row += 1
    assert column.shape == (row, 1)
    assert np.array_equal(column, joint_column(pool, lines, model.grammar, joint.core, 3))
    with pytest.raises(InputError, match="as many source lines"):
        joint_column(pool, lines[1:], model.grammar, joint.core)
