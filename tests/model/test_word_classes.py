"""Word classes: the exchange against its slow twin, their files, and the features that read them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from hopefear import _core
from hopefear.decode import Hiero
from hopefear.errors import InputError
from hopefear.model import features
from hopefear.model.builder import BuildOptions, build
from hopefear.model.directory import Model
from hopefear.model.features import NULL, UNK, FeatureTemplates, feature_name, template_of
from hopefear.model.grammar import Grammar
from hopefear.model.inspection import inspect_model
from hopefear.model.word_classes import FILES, WordClasses
from tests.model.test_extract import extract, parallel_text, random_pairs
from tests.model.test_features import fired
from tests.reference import word_classes as twin


def random_text(seed: int) -> list[str]:
    """Sentences that go from one kind of word to another, with repeated words and some that occur once."""
    random = np.random.default_rng(seed)
    kinds = [[f"{kind}{i}" for i in range(4)] for kind in "abc"]
    lines = []
    for _ in range(25):
        words = [str(random.choice(kinds[i % 3])) for i in range(random.integers(1, 7))]
        lines.append(" ".join(words + words[-1:] * int(random.integers(0, 3))))
    return lines


@pytest.mark.parametrize(("number", "rounds"), [(1, 2), (2, 1), (3, 4), (5, 3), (40, 2)])
def test_exchange_equals_its_twin(number: int, rounds: int) -> None:
    sides = random_text(number), random_text(number + 100)
    text = _core.ParallelText()
    text.add(*sides)
    got = WordClasses.learn(text, number, rounds=rounds)
    for lines, classes in zip(sides, (got.source, got.target), strict=True):
        wanted = twin.exchange([line.split() for line in lines], number, rounds)
        assert classes == wanted
        assert len(set(wanted.values())) > 1 or number == 1


def test_classes_find_the_kinds_of_words_and_rounds_never_hurt() -> None:
    lines = [line for seed in range(20) for line in random_text(seed)]
    text = _core.ParallelText()
    text.add(lines, lines)
    sentences = [line.split() for line in lines]
    scores = []
    for rounds in (0, 1, 2, 10):
        classes = WordClasses.learn(text, 3, rounds=rounds).source
        scores.append(twin.objective(sentences, classes))
    assert scores == sorted(scores)
    assert scores[0] < scores[1]
    assert {frozenset(w for w in classes if classes[w] == c) for c in range(3)} == {
        frozenset(f"{kind}{i}" for i in range(4)) for kind in "abc"
    }


def test_class_features_of_rules_equal_the_definition() -> None:
    pairs = random_pairs(60, seed=41)
    text = parallel_text(pairs)
    grammar = Grammar.build(extract(pairs))
    learnt = WordClasses.learn(text, 3)
    # some words without a class, as unknown words are
    classes = WordClasses(*({w: c for w, c in of.items() if w[1] != "4"} for of in (learnt.source, learnt.target)))
    names = features.class_features(text, _core.LexicalTable(text), classes)
    assert len(set(names)) == len(names)
    templates = FeatureTemplates(names, 13, grammar, "f.txt", classes.of(grammar))
    unknown = 0
    for rule in np.random.default_rng(1).choice(len(grammar), 300, replace=False).tolist():
        source, target = grammar.source(rule).split(), grammar.target(rule).split()
        wanted: Counter[str] = Counter()
        for t, word in enumerate(target):
            if word.startswith("[X,"):
                continue
            e = str(classes.target.get(word, UNK))
            unknown += e == UNK
            wanted[feature_name(["class", e])] += 1
            partners = [str(classes.source.get(source[s], UNK)) for s, t2 in grammar.links(rule) if t2 == t]
            for f in partners or [NULL]:
                wanted[feature_name(["class", f, e])] += 1
        assert fired(templates, names, 13, grammar, rule) == wanted
    assert unknown > 0


@pytest.mark.parametrize("name", ["class(2)", "class(x)", "class(-1,0)", "class(0,2)", "class(2,0)"])
def test_features_of_classes_that_are_not_there(name: str) -> None:
    grammar = Grammar.build(extract(random_pairs(10, seed=3)))
    vocabularies = (grammar.source_vocab, grammar.target_vocab)
    some = tuple(np.arange(len(vocab), dtype=np.int32) % 2 for vocab in vocabularies)
    FeatureTemplates(["class(1)", "class(0,1)", "class(UNK,0)"], 13, grammar, "f.txt", some)
    for classes in (some, None):
        with pytest.raises(InputError, match=r"f\.txt:1: feature .*: the model has (the|no) word classes"):
            FeatureTemplates([name], 13, grammar, "f.txt", classes)


def test_a_model_with_classes(corpus: Path, tmp_path: Path) -> None:
    models = []
    for jobs in (1, 2):
        options = BuildOptions(tokenizer="none", classes=5)
        build(corpus / "f", corpus / "e", tmp_path / f"model{jobs}", options, jobs=jobs)
        models.append(Model.open(tmp_path / f"model{jobs}"))
    for name in (*FILES, "features.txt"):
        assert len({(model.path / name).read_bytes() for model in models}) == 1
    model = models[0]
    assert model.classes is not None
    assert set(model.classes.target.values()) == set(range(5))
    assert len(model.classes.target) == model.info["counts"]["target_vocabulary"]
    about = inspect_model(model.path)
    assert about["classes"]["source"] == {"classes": 5, "words": len(model.classes.source)}
    assert 5 * 2 < about["features"]["sparse"]["class"] <= 6 * 8
    rules = np.arange(100)
    ids = model.templates(["class"]).rule_features(model.grammar, rules)[1]
    assert len(ids) > 100
    assert {template_of(model.feature_names[i]) for i in ids} == {"class"}

    decoder = Hiero(model, {**model.weights, "class(UNK,UNK)": 0.5, "shape(a,a)": 0.1})
    assert decoder.templates == ("class", "shape")
    for line in (corpus / "test.f").read_text().splitlines():
        best = decoder.decode([f"{line} zzz"])[0].viterbi(decoder.weights)
        assert best.features["class(UNK,UNK)"] == 1
        shapes = sum(n for name, n in best.features.items() if name.startswith("shape("))
        assert shapes == best.features["rule"] > 0
        words = sum(n for name, n in best.features.items() if name.startswith("class(") and "," not in name)
        assert words == best.features["word"]


def test_models_have_no_classes_unless_asked(model: Model) -> None:
    assert model.classes is None
    with pytest.raises(InputError, match="has no features of the template 'class'"):
        model.templates(["class"])


@pytest.mark.parametrize("line", ["word", "word\tx", "\t1", "word\t1000", "word\t-1"])
def test_bad_files(tmp_path: Path, line: str) -> None:
    (tmp_path / FILES[0]).write_text(f"a\t0\n{line}\n")
    with pytest.raises(InputError, match=r"classes\.source\.txt:2: expected a word, a tab and a class below 1000"):
        WordClasses.open(tmp_path)


def test_options() -> None:
    with pytest.raises(InputError, match="word classes are for hierarchical models"):
        BuildOptions(kind="blocks", classes=5)
    with pytest.raises(InputError, match="classes: 1001 is not between 0 and 1000"):
        BuildOptions(classes=1001)
