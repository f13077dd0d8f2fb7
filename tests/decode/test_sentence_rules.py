"""Rules of one sentence next to those of the grammar, against all derivations."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hopefear.decode import Hiero
from hopefear.decode.hiero import Prepared, SentenceRule
from hopefear.errors import InputError
from hopefear.model.grammar import read_grammar
from hopefear.model.language_model import LanguageModel
from tests.decode.models import Rule, model_of, random_lm, random_rules, random_weights
from tests.decode.test_hiero import LINES, dot, limited
from tests.decode.test_joint import Linked, model_of as linked_model, random_joint
from tests.reference.hiero import derivations, matches, with_language_models


def random_own(rng: random.Random, length: int) -> list[SentenceRule]:
    """Rules over a sentence; forced ones do not overlap."""
    rules, taken = [], set[int]()
    for _ in range(rng.randint(1, 5)):
        begin = rng.randrange(length)
        end = min(length, begin + rng.choice([1, 1, 2, 3]))
        forced = rng.random() < 0.5 and not taken & {*range(begin, end)}
        if forced:
            taken |= {*range(begin, end)}
        gaps = []
        if not forced and end - begin > 1 and rng.random() < 0.5:
            cut = rng.randint(begin + 1, end - 1)
            gaps = [(begin, cut)] if rng.random() < 0.5 else [(begin, cut), (cut, end)]
        target: list[str | int] = [*range(1, len(gaps) + 1), *rng.choices(["u", "v", "new"], k=rng.randint(0, 2))]
        rng.shuffle(target)
        features = {"phrase_ef": rng.randint(-9, 9) / 8, "own": 1.0} if rng.random() < 0.8 else {}
        rules.append(SentenceRule(begin, end, target, features, forced=forced, gaps=gaps))
    return rules


def case(seed: int, folder: Path) -> tuple[Hiero, list[str], list[SentenceRule], list[Rule], int]:
    rng = random.Random(seed)
    rules = random_rules(rng, rng.randint(2, 7))
    words = rng.choices(["a", "b", "c", "7", "?"], [4, 4, 4, 1, 1], k=rng.randint(1, 4))
    max_span = rng.choice([2, 10])
    model = model_of(folder, rules, [random_lm(rng, 3)])
    weights = random_weights(rng) | {"own": rng.uniform(-1, 1)}
    decoder = Hiero(model, weights, pop_limit=0, max_options=0, max_span=max_span, extra=("own",))
    return decoder, words, random_own(rng, len(words)), rules, max_span


@pytest.mark.parametrize("seed", range(60))
def test_without_limits_the_forest_is_every_derivation(seed: int, tmp_path: Path) -> None:
    decoder, words, own, rules, max_span = case(seed, tmp_path)
    kinds = "".join("n" if word == "7" else "w" for word in words)
    every = derivations(tuple(words), kinds, rules, max_span, own=own)
    wanted = list(with_language_models(every, decoder.model.language_models))
    pool = decoder.decode(Prepared([words], [kinds], [own]))
    assert pool[0].count_derivations() == len(wanted)
    got = pool[0].kbest(decoder.weights, len(wanted) + 1)
    weights = dict(decoder.weights)
    assert sorted(d.text for d in got) == sorted(" ".join(text) for text, _ in wanted)
    assert [d.score for d in got] == pytest.approx(sorted((dot(weights, h) for _, h in wanted), reverse=True), abs=1e-9)
    assert [dot(weights, d.features) for d in got] == pytest.approx([d.score for d in got], abs=1e-6)


def test_a_forced_rule_is_in_every_derivation_once(tmp_path: Path) -> None:
    """Also under limits and in a long sentence, where the words it covers stand elsewhere too."""
    decoder = limited(tmp_path, pop_limit=3)
    words = ["a", "b", "c", "a", "b", "c", "?", "a", "b", "a", "b", "c", "b"]
    own = [SentenceRule(4, 6, ["\ue000one"], forced=True), SentenceRule(7, 10, ["\ue000two", "z"], forced=True)]
    forest = decoder.decode(Prepared([words], ["w" * len(words)], [own]))[0]
    for d in forest.kbest(decoder.weights, 200):
        text = d.text.split()
        assert text.count("\ue000one") == text.count("\ue000two") == 1
        assert text[text.index("\ue000two") + 1] == "z"


def test_a_rule_may_be_longer_than_those_of_the_grammar(tmp_path: Path) -> None:
    decoder = limited(tmp_path)
    words = list("abcabcabcabc")
    own = [SentenceRule(0, 12, ["all"], forced=True)]
    assert decoder.kbest(Prepared([words], ["w" * 12], [own]), 5).text(0, 0) == "all"


def test_without_rules_the_forests_have_the_same_bytes(tmp_path: Path) -> None:
    decoder = limited(tmp_path)
    plain = decoder.decode(LINES)
    pairs = [decoder.model.source_text.kinds(line) for line in LINES]
    letters = ["".join({"word": "w", "number": "n", "name": "c"}[kind] for _, kind in line) for line in pairs]
    words = [[word for word, _ in line] for line in pairs]
    for prepared in (Prepared(words, letters), Prepared(words, letters, [[] for _ in words])):
        again = decoder.decode(prepared)
        for i in range(len(LINES)):
            for name in ("edge_begin", "tails", "words", "spans", "dense"):
                assert np.array_equal(getattr(plain[i], name), getattr(again[i], name))


def test_rules_of_one_sentence_are_gone_in_the_next(tmp_path: Path) -> None:
    decoder = limited(tmp_path)
    words = ["a", "b"]
    own = [SentenceRule(0, 1, ["own"], forced=True)]
    three = decoder.kbest(Prepared([words] * 3, ["ww"] * 3, [[], own, []]), 1, jobs=1)
    assert three.text(0, 0) == three.text(2, 0)
    assert "own" in three.text(1, 0) and "own" not in three.text(2, 0)


def test_templates_fire_on_rules_of_sentences(tmp_path: Path) -> None:
    (tmp_path / "grammar").write_text("[X] ||| a ||| u ||| phrase_ef=-1 ||| 0-0\n")
    names = ("lex(u)", "lex(UNK)", "lex(a,u)", "lex(NULL,u)")
    model = replace(model_of(tmp_path, [], []), grammar=read_grammar(tmp_path / "grammar"), sparse_names=names)
    decoder = Hiero(model, {"lex(a,u)": 1.0, "phrase_ef": 1.0})
    own = [SentenceRule(0, 1, ["u", "new"], {"lex(u)": 2.0, "rule": 1.0}, links=[(0, 0)], forced=True)]
    best = decoder.decode(Prepared([["a"]], ["w"], [own]))[0].viterbi(decoder.weights)
    assert best.text == "u new"
    assert best.features == {"lex(u)": 3.0, "lex(a,u)": 1.0, "lex(UNK)": 1.0, "rule": 1.0, "word": 2.0}


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (SentenceRule(0, 3, ["u"]), r"the rule over \[0, 3\) is not inside the sentence, which has 2 words"),
        (SentenceRule(1, 1, ["u"]), "is not inside"),
        (SentenceRule(0, 2, [1, "u"], gaps=[(0, 1)], forced=True), "gaps and is forced"),
        (SentenceRule(0, 2, ["u"], gaps=[(0, 1)]), "does not have each of its gaps once"),
        (SentenceRule(0, 2, [1, 2], gaps=[(0, 1)]), "has no gap 2"),
        (SentenceRule(0, 2, [1, "u"], gaps=[(0, 2)]), "has no word"),
        (SentenceRule(0, 2, [1, 2], gaps=[(1, 2), (0, 1)]), "from left to right"),
        (SentenceRule(0, 1, ["u v"]), "has a blank in it"),
        (SentenceRule(0, 1, ["u"], {"nothing": 1.0}), "the feature nothing, which the decoder does not have"),
        (SentenceRule(0, 1, ["u"], {"lm": float("nan")}), "not a finite number"),
        (SentenceRule(0, 1, ["u"], links=[(0, 4)]), "has a link to no word"),
    ],
)
def test_wrong_rules(rule: SentenceRule, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        limited(tmp_path).decode(Prepared([["a", "b"]], ["ww"], [[rule]]))


def test_wrong_sets_of_rules(tmp_path: Path) -> None:
    decoder = limited(tmp_path)
    crossing = [SentenceRule(0, 2, ["u"], forced=True), SentenceRule(1, 3, ["u"], forced=True)]
    with pytest.raises(InputError, match=r"two forced rules, over \[0, 2\) and \[1, 3\), overlap"):
        decoder.decode(Prepared([["a", "b", "c"]], ["www"], [crossing]))
    with pytest.raises(InputError, match="rules of 1 sentences for 2 lines"):
        decoder.decode(Prepared([["a"], ["b"]], ["w", "w"], [[]]))
    with pytest.raises(InputError, match="an extra feature has the name of another feature, lm"):
        Hiero(decoder.model, extra=("lm",))


@pytest.mark.parametrize("seed", range(10))
def test_a_rule_of_the_sentence_scores_as_one_of_the_grammar(seed: int, tmp_path: Path) -> None:
    """With a joint model and templates, which look at links and places."""
    rng = random.Random(seed)
    names = ("lex(u)", "lex(v)", "lex(UNK)", "lex(a,u)", "lex(b,v)", "distance(keep,1)", "distance(keep,2)")
    names += ("distance(swap,1)",)
    kept: list[Linked] = [
        (("a",), ("u",), {"phrase_ef": -0.5}, ((0, 0),)),
        (("b",), ("v",), {"phrase_ef": -1.0}, ((0, 0),)),
        (("c", "[X]"), (1, "w"), {"phrase_ef": -1.0}, ((0, 1),)),
        (("c",), ("x",), {}, ((0, 0),)),
    ]
    moved: list[Linked] = [
        (("a", "[X]", "b"), ("v", 1, "u"), {"phrase_fe": -0.5}, ((0, 2), (2, 0))),
        (("[X]", "a", "[X]"), (2, "u", 1), {"lexical_ef": 0.75}, ((1, 1),)),
        (("a", "b"), ("u", "y"), {"phrase_ef": 0.25}, ((0, 0),)),
    ]
    words, joint = ["a", "c", "b", "a", "b"], random_joint(seed)
    weights = random_weights(rng) | {"njm": 0.6} | {name: rng.uniform(-1, 1) for name in names}
    whole, less = (
        replace(linked_model(tmp_path, rules, 3, random.Random(seed), joint), sparse_names=names)
        for rules in ([*kept, *moved], kept)
    )
    own = [
        SentenceRule(i, j, list(target), {**values, "rule": 1.0}, gaps=list(gaps), links=list(links))
        for source, target, values, links in moved
        for i in range(5)
        for j in range(i + 1, min(i + 4, 5) + 1)
        for gaps in matches(source, words, i, j)
    ]
    translation = Hiero(whole, weights, 0, 0, max_span=4).decode([" ".join(words)])[0]
    other = Hiero(less, weights, 0, 0, max_span=4).decode(Prepared([words], ["w" * 5], [own]))[0]
    assert translation.count_derivations() == other.count_derivations() > 5
    for a, b in zip(translation.kbest(weights, 50), other.kbest(weights, 50), strict=True):
        assert a.score == pytest.approx(b.score, abs=1e-5)
        assert a.features == pytest.approx(b.features, abs=1e-5)


def test_what_belongs_to_a_sentence_is_not_kept_behind_it(tmp_path: Path) -> None:
    words = [f"w{number}" for number in range(400)]
    lm = LanguageModel.estimate([" ".join(words)], 2)
    model = model_of(tmp_path, [(("a",), ("u",), {"phrase_ef": -1.0})], [lm])
    decoder = Hiero(replace(model, sparse_names=("unigram(u)",)), {"own": 1.0}, extra=("own",), templates=("unigram",))
    stored = set()
    for first in range(0, 400, 2):
        own = [SentenceRule(0, 1, [words[first], "u", words[first + 1]], {"own": 1.0})]
        decoder.kbest(Prepared([["a", words[first], "7"]], ["wwn"], [own]), 3, jobs=1)
        stored.add(decoder._core.stored)
    assert len(stored) == 1
    decoder.kbest(["a"], 1, jobs=1)
    assert 0 < decoder._core.stored < stored.pop()
