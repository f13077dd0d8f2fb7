"""The decoder against all derivations, and the forest against the decoder."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hopefear.decode import Hiero
from hopefear.errors import InputError
from hopefear.model.features import SMALL
from hopefear.model.grammar import read_grammar
from tests.decode.models import Rule, model_of, random_lm, random_rules, random_weights
from tests.reference.hiero import derivations, with_language_models


def random_case(
    seed: int, folder: Path, models: int = 1
) -> tuple[Hiero, list[str], list[tuple[tuple[str, ...], dict[str, float]]]]:
    """A decoder without limits, a sentence, and all of its derivations."""
    rng = random.Random(seed)
    while True:
        rules = random_rules(rng, rng.randint(3, 9))
        words = rng.choices(["a", "b", "c", "7", "?"], [4, 4, 4, 1, 1], k=rng.randint(1, 5))
        max_span = rng.choice([2, 3, 10])
        derivations_expected = derivations(
            tuple(words), ["n" if word == "7" else "w" for word in words], rules, max_span
        )
        if len(derivations_expected) <= 1500:
            break
    lms = [random_lm(rng, 3), random_lm(rng, 2)][:models]
    decoder = Hiero(model_of(folder, rules, lms), random_weights(rng), pop_limit=0, max_options=0, max_span=max_span)
    return decoder, words, list(with_language_models(derivations_expected, lms))


def dot(weights: dict[str, float], h: dict[str, float]) -> float:
    return sum(weights[name] * value for name, value in h.items())


@pytest.mark.parametrize("seed", range(40))
def test_without_limits_the_forest_is_every_derivation(seed: int, tmp_path: Path) -> None:
    decoder, words, wanted = random_case(seed, tmp_path, models=1 + seed % 2)
    pool = decoder.decode([" ".join(words)])
    assert pool[0].count_derivations() == len(wanted)
    got = pool[0].kbest(decoder.weights, len(wanted) + 1)
    ranked = sorted((dot(dict(decoder.weights), h) for _, h in wanted), reverse=True)
    assert [d.score for d in got] == pytest.approx(ranked, abs=1e-9)
    strings = sorted(" ".join(text) for text, _ in wanted)
    assert sorted(d.text for d in got) == strings
    best = max(wanted, key=lambda item: dot(dict(decoder.weights), item[1]))
    top = {name: value for name, value in best[1].items() if abs(value) > 1e-9}
    if len(ranked) == 1 or ranked[0] - ranked[1] > 1e-6:
        assert decoder.translate([" ".join(words)], tokens=True) == [" ".join(best[0])]
        features = {name: value for name, value in got[0].features.items() if abs(value) > 1e-9}
        assert features == pytest.approx(top, rel=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_language_model_features_are_those_of_the_string(seed: int, tmp_path: Path) -> None:
    decoder, words, _ = random_case(100 + seed, tmp_path, models=2)
    for d in decoder.decode([" ".join(words * 4)])[0].kbest(decoder.weights, 30):
        for name, lm in zip(("lm", "lm2"), decoder.model.language_models, strict=True):
            assert d.features.get(name, 0.0) == pytest.approx(math.log(10) * lm.score(d.text), abs=1e-6)
        assert d.score == pytest.approx(dot(dict(decoder.weights), d.features), abs=1e-9)


def limited(folder: Path, pop_limit: int = 5, max_options: int = 2, seed: int = 3) -> Hiero:
    rng = random.Random(seed)
    model = model_of(folder, random_rules(rng, 40), [random_lm(rng, 3)])
    return Hiero(model, random_weights(rng), pop_limit, max_options, max_span=4)


LINES = ["a b c a b", "", "c", "? a 7", "b b b b b b b b b b b b", "a ? ? c"]


def test_lists_are_the_k_best_of_the_forests(tmp_path: Path) -> None:
    decoder = limited(tmp_path)
    pool = decoder.decode(LINES, first=7)
    lists = decoder.kbest(LINES, 10, first=7)
    assert pool.ids == lists.ids == [str(i) for i in range(7, 13)]
    for i in range(len(LINES)):
        wanted = pool[i].kbest(decoder.weights, 10)
        assert [lists.text(i, j) for j in range(lists[i].edge_count)] == [d.text for d in wanted]
        assert np.array_equal(lists[i].dense, [d.h for d in wanted])
        assert pool[i].viterbi(decoder.weights).text == lists.text(i, 0)


def test_results_do_not_depend_on_jobs(tmp_path: Path) -> None:
    decoder = limited(tmp_path)
    serial, more = decoder.decode(LINES * 5, jobs=1), decoder.decode(LINES * 5, jobs=3)
    for i in range(len(serial)):
        for name in ("edge_begin", "tails", "words", "spans", "dense"):
            assert np.array_equal(getattr(serial[i], name), getattr(more[i], name))


def test_a_higher_pop_limit_finds_no_worse_and_no_limit_the_best(tmp_path: Path) -> None:
    scores = []
    lines = [" ".join(random.Random(i).choices("abc", k=6)) for i in range(10)]
    for pop_limit in (1, 20, 0):
        decoder = limited(tmp_path, pop_limit, 0)
        scores.append(sum(d.score for d in decoder.decode(lines).viterbi(decoder.weights)))
    assert scores[0] <= scores[2] + 1e-9 and scores[1] <= scores[2] + 1e-9
    assert scores[0] <= scores[1] + 1e-9


def test_without_limits_cubes_are_searched_to_their_far_corners(tmp_path: Path) -> None:
    rng = random.Random(5)
    rules: list[Rule] = [((f,), (e,), {"phrase_ef": -rng.random()}) for f in "ab" for e in "uvwxyz"]
    for e, f in [*itertools.product("uvw", "xyz")][:7]:
        rules.append((("[X]", "c", "[X]"), (e, 2, f, 1), {"phrase_ef": -rng.random()}))
    decoder = Hiero(
        model_of(tmp_path, rules, [random_lm(rng, 3)]),
        {"lm": 1.0, "phrase_ef": 1.0, "identity": -100.0},
        pop_limit=0,
        max_options=0,
    )
    forest = decoder.decode(["a c b"])[0]
    assert forest.count_derivations() == 7 * 6 * 6 + 6 * 6  # c in a rule or copied
    texts = [d.text for d in forest.kbest(decoder.weights, 1000)]
    assert len(set(texts)) == len(texts) == 7 * 6 * 6 + 6 * 6


def test_pop_limit_bounds_the_edges_of_a_span(tmp_path: Path) -> None:
    forest = limited(tmp_path, 5, 0).decode(["a b c a b c"])[0]
    per_span: dict[tuple[int, int], int] = {}
    for node in range(forest.node_count - 1):
        span = (int(forest.spans[2 * node]), int(forest.spans[2 * node + 1]))
        per_span[span] = per_span.get(span, 0) + int(forest.edge_begin[node + 1] - forest.edge_begin[node])
    for (begin, end), count in per_span.items():
        most = max(1, round(5 * math.sqrt((end - begin) / 10)))  # of X, by its width
        assert count <= most + (15 if begin == 0 else 0)  # of S, three times as many


def test_best_options_of_a_source_side_are_kept(tmp_path: Path) -> None:
    rules = [(("a",), (letter,), {"phrase_ef": -float(k)}) for k, letter in enumerate("uvwxyz")]
    model = model_of(tmp_path, rules, [])
    weights = dict.fromkeys(SMALL, 0.0) | {"phrase_ef": -1.0}
    lists = Hiero(model, weights, max_options=2).kbest(["a"], 10)
    assert [lists.text(0, j) for j in range(lists[0].edge_count)] == ["z", "y"]


def test_empty_and_long_lines(tmp_path: Path) -> None:
    decoder = limited(tmp_path)
    long = " ".join(random.Random(1).choices(["a", "b", "c", "?"], k=500))
    empty, blank, full = decoder.translate(["", "   ", long])
    assert empty == blank == ""
    assert full
    assert decoder.decode([]).ids == []


def test_other_weights_at_a_call(tmp_path: Path) -> None:
    decoder = limited(tmp_path)
    other = {name: -value for name, value in decoder.weights.items()}
    pool = decoder.decode(LINES, other)
    again = Hiero(decoder.model, other, 5, 2, 4).decode(LINES)
    assert [d.text for d in pool.viterbi(other)] == [d.text for d in again.viterbi(other)]


def test_grammars_of_other_toolkits(tmp_path: Path) -> None:
    (tmp_path / "grammar").write_text(
        "[X] ||| el [X,1] verde ||| the green [X,1] ||| EgivenF=-0.5 Rare=1 ||| 0-0 2-1\n"
        "[X] ||| gato ||| cat ||| EgivenF=-0.1\n"
        "[X] ||| gato ||| tomcat ||| EgivenF=-0.2 Rare=2\n"
        "[S] ||| [X,1] ||| [X,1] |||\n"
    )
    decoder = Hiero.over(read_grammar(tmp_path / "grammar"), [], {"EgivenF": 1.0, "Rare": 0.5, "identity": -2.0})
    best, second = decoder.decode(["el gato verde ?"])[0].kbest(decoder.weights, 2)
    assert (best.text, second.text) == ("the green tomcat ?", "the green cat ?")
    wanted = {"EgivenF": -0.7, "Rare": 3.0, "rule": 2.0, "word": 4.0, "glue": 1.0, "unknown": 1.0}
    assert best.features == pytest.approx(wanted, rel=1e-6)


def test_sparse_features_are_those_of_the_templates(tmp_path: Path) -> None:
    names = ("lex(u)", "lex(UNK)", "lex(a,u)", "lex(NULL,u)", "unigram(u)")
    (tmp_path / "grammar").write_text(
        "[X] ||| a ||| u u ||| phrase_ef=-1 ||| 0-0\n[X] ||| a ||| v ||| phrase_ef=-1 ||| 0-0\n"
    )
    plain = model_of(tmp_path, [], [])
    model = replace(plain, grammar=read_grammar(tmp_path / "grammar"), sparse_names=names)
    first = Hiero(model, {"lex(a,u)": 1.0, "unigram(u)": 0.5, "phrase_ef": 1.0})
    assert first.templates == ("lex", "unigram")
    best = first.decode(["a"])[0].viterbi(first.weights)
    wanted = {"phrase_ef": -1, "rule": 1, "word": 2, "lex(u)": 2, "lex(a,u)": 1, "lex(NULL,u)": 1, "unigram(u)": 2}
    assert best.text == "u u" and best.features == wanted
    assert best.score == pytest.approx(1.0)
    assert Hiero(model, {"lex(a,u)": -1.0}).translate(["a"]) == ["v"]
    assert Hiero(model, {"phrase_ef": 1.0}).feature_names == list(SMALL)


def test_wrong_models_weights_and_limits(tmp_path: Path) -> None:
    decoder = limited(tmp_path)
    with pytest.raises(InputError, match="not a finite number"):
        Hiero(decoder.model, {"lm": math.nan}).decode(["a"])
    with pytest.raises(InputError, match="cannot be negative"):
        Hiero(decoder.model, pop_limit=-1).decode(["a"])
    with pytest.raises(InputError, match="is a model of blocks"):
        Hiero(model_of(tmp_path, random_rules(random.Random(1), 3), [], kind="blocks"))
    with pytest.raises(InputError, match="there is no template 'fourgram'"):
        Hiero(decoder.model, templates=("fourgram",))


def test_pruning_while_decoding_is_pruning_the_forest(tmp_path: Path) -> None:
    decoder = limited(tmp_path, 30, 0)
    pool = decoder.decode(LINES)
    for limits in ({"max_edges": 12}, {"beam": 0.7}, {"max_edges": 20, "beam": 1.5}, {"beam": 0.0}):
        small, wanted = decoder.decode(LINES, **limits), pool.pruned(decoder.weights, **limits)
        for i in range(len(LINES)):
            for name in ("edge_begin", "tails", "words", "spans", "dense"):
                assert np.array_equal(getattr(small[i], name), getattr(wanted[i], name)), (limits, i, name)
    with pytest.raises(InputError, match="cannot be negative"):
        decoder.decode(LINES, beam=-1.0)


def test_a_sentence_does_not_depend_on_those_before(tmp_path: Path) -> None:
    decoder, weights = limited(tmp_path), random_weights(random.Random(9))
    for line in LINES:
        decoder.decode([line])
        again = decoder.decode([line], weights)[0]
        alone = limited(tmp_path).decode([line], weights)[0]
        for name in ("edge_begin", "tails", "words", "spans", "dense"):
            assert np.array_equal(getattr(again, name), getattr(alone, name))


def test_features_without_a_weight_are_on_the_edges_if_asked_for(tmp_path: Path) -> None:
    plain = model_of(tmp_path, [(("a",), ("u",), {"phrase_ef": -1.0})], [])
    model = replace(plain, sparse_names=("unigram(u)",))
    best = Hiero(model, {"phrase_ef": 1.0}, templates=("unigram",)).decode(["a"])[0].viterbi({"phrase_ef": 1.0})
    assert best.features["unigram(u)"] == 1.0


def test_a_string_is_one_line(tmp_path: Path) -> None:
    decoder = limited(tmp_path)
    assert decoder.translate("a b c") == decoder.translate(["a b c"])[0]
    assert decoder.translate("") == ""


def test_a_path_is_opened_and_texts_of_objects_are_short(task: Path) -> None:
    from hopefear.model.directory import Model

    model = Model.open(task / "model")
    decoder = Hiero(task / "model")
    line = (task / "dev.source").read_text().splitlines()[0]
    assert decoder.translate(line) == Hiero(model).translate(line)
    assert repr(model) == f"Model({str(task / 'model')!r}, hiero, {len(model.grammar):,} rules)"
    assert repr(decoder) == f"Hiero({model!r}, {len(model.weights)} weights, pop_limit=200)"
    assert Hiero(str(task / "model")).model.path == task / "model"
