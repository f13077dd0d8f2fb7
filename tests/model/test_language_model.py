"""Queries, states and files of the language model."""

import gzip
import math
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hopefear import InputError, Vocab
from hopefear._core import LmSeams
from hopefear.cli.main import main
from hopefear.model.language_model import LanguageModel
from tests.model.lm_corpora import arpa_text, backoff_arpa, zipf_sentences
from tests.reference.language_model import BackoffTwin, kneser_ney

KINDS = [(order, closed) for order in (1, 2, 3, 4, 6) for closed in (True, False)]


def random_model(seed: Any, order: Any, closed: Any, path: Any) -> Any:
    """A random model and its twin; about half of all n-grams of words are in it."""
    p, b = backoff_arpa(seed, order, types=4, rate=1.2, closed=closed)
    path.write_text(arpa_text(p, b, order))
    p = {g: float(np.float32(v)) for g, v in p.items()}
    b = {g: float(np.float32(v)) for g, v in b.items()}
    return LanguageModel.read_arpa(path), BackoffTwin(p, b, order)


def random_sentences(seed: Any, count: Any = 60, longest: Any = 8, words: Any = ("w0", "w1", "w2", "w3", "new")) -> Any:
    generator = random.Random(seed)
    return [generator.choices(words, k=generator.randint(0, longest)) for _ in range(count)]


@pytest.mark.parametrize(("order", "closed"), KINDS)
def test_equals_the_backoff_rule(order: Any, closed: Any, tmp_path: Path) -> None:
    for seed in range(4):
        model, twin = random_model(seed, order, closed, tmp_path / "a")
        for words in random_sentences(seed):
            for bos, eos in ((True, True), (False, False)):
                expected = twin.score(words, bos, eos)
                assert model.score(" ".join(words), bos, eos) == pytest.approx(expected, abs=2e-6)
            for i, got in enumerate(model.full_scores(" ".join(words), bos=False)):
                word = [*words, "</s>"][i]
                prob, length = twin.prob(tuple(words[max(0, i - order + 1) : i]), word)
                assert got.log10_prob == pytest.approx(prob, abs=2e-6)
                assert got.unknown == (word == "new")
                if closed:
                    assert got.ngram_length == length


@pytest.mark.parametrize(("order", "closed"), KINDS)
def test_a_minimised_context_is_as_good_as_the_whole(order: Any, closed: Any, tmp_path: Path) -> None:
    for seed in range(4):
        model, twin = random_model(seed, order, closed, tmp_path / "a")
        core, minimised = model.core, 0
        same: dict[Any, Any] = {}  # context -> scores of all next words
        for words in random_sentences(seed, 40):
            context = core.context(bos=False)
            for word in words:
                _, _, context = core.score_word(context, core.find(word))
            kept = [core.word(i) for i in context.words]
            assert kept == [w if w in model else "<unk>" for w in words[::-1][: len(kept)]]
            minimised += len(kept) < min(len(words), order - 1)
            scores = []
            for word in range(len(core)):
                scores.append(core.score_word(context, word)[0])
                expected, _ = twin.prob(tuple(words[max(0, len(words) - order + 1) :]), core.word(word))
                assert scores[-1] == pytest.approx(expected, abs=2e-6)
            assert same.setdefault(context, scores) == scores
        assert order < 3 or minimised > 0


@pytest.mark.parametrize(("order", "closed"), KINDS)
def test_chart_scores_of_random_trees_are_scores_of_strings(order: Any, closed: Any, tmp_path: Path) -> None:
    for seed in range(4):
        model, twin = random_model(seed, order, closed, tmp_path / "a")
        sentences = random_sentences(seed, 50, 12)
        ids = np.array([model.core.find(w) for words in sentences for w in words], np.uint32)
        begin = np.cumsum([0, *[len(words) for words in sentences]])
        for trial in range(4):
            for marks in (True, False):
                scores, _ = model.core.bracketed_scores(ids, begin, seed=trial, marks=marks)
                expected = [model.score(" ".join(words), marks, marks) for words in sentences]
                np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)
        scores, _ = model.core.bracketed_scores(ids, begin, seed=9)
        np.testing.assert_allclose(scores, [twin.score(words) for words in sentences], rtol=0, atol=1e-5)


def chart(core: Any, words: Any, generator: Any) -> Any:
    """The score and state of words, by a random tree built here."""
    if len(words) < 2 or generator.random() < 0.2:
        return core.score_rule(words)
    i, j = sorted(generator.choices(range(len(words) + 1), k=2))
    if (i, j) == (0, len(words)):
        i = generator.randrange(1, len(words))
    score, child = chart(core, words[i:j], generator)
    added, state = core.score_rule([*words[:i], child, *words[j:]])
    return score + added, state


@pytest.mark.parametrize(("order", "closed"), KINDS)
def test_equal_chart_states_are_equal_in_every_context(order: Any, closed: Any, tmp_path: Path) -> None:
    for seed in range(3):
        model, _ = random_model(seed, order, closed, tmp_path / "a")
        core, generator = model.core, random.Random(seed)
        by_state: dict[Any, Any] = {}
        for words in random_sentences(seed, 100, 7):
            words = [core.find(w) for w in words]
            score, state = chart(core, words, generator)
            once, flat = core.score_rule(words)
            assert score == pytest.approx(once, abs=1e-12)
            assert state == flat and hash(state) == hash(flat) and state.compare(flat) == 0
            assert state.left == words[: len(state.left)]
            assert state.right == words[::-1][: len(state.right)]
            assert max(len(state.left), len(state.right)) < order
            by_state.setdefault(state, []).append(words)
        assert any(len(group) > 1 for group in by_state.values())
        outside = [
            ([core.find(w) for w in a], [core.find(w) for w in b]) for a, b in pairwise(random_sentences(8, 12, 6))
        ]
        for state, group in by_state.items():
            for left, right in outside:
                for begin_sentence in (True, False):
                    added, _ = core.score_rule([*left, state, *right, 2], begin_sentence)
                    for words in group:
                        whole, _ = core.score_rule([*left, *words, *right, 2], begin_sentence)
                        alone, _ = core.score_rule(words)
                        assert added + alone == pytest.approx(whole, abs=1e-12)
        states = list(by_state)
        assert all((a.compare(b) == 0) == (a == b) for a in states for b in states)
        assert all((a.compare(b) < 0) == (b.compare(a) > 0) for a in states for b in states)


class Seamed:
    """A random tree by both ways of scoring; some spans have no words, some rules none of their own."""

    def __init__(self, core: Any, generator: Any) -> None:
        self.core, self.seams, self.generator = core, LmSeams(core), generator
        self.item_of = {}  # state -> item

    def span(self, words: Any, depth: Any = 0) -> Any:
        if depth > 5 or self.generator.random() < 0.15:
            return self.rule([words])
        cuts = sorted(self.generator.choices(range(len(words) + 1), k=4))
        first, second = self.span(words[cuts[0] : cuts[1]], depth + 1), self.span(words[cuts[2] : cuts[3]], depth + 1)
        return self.rule([words[: cuts[0]], first, words[cuts[1] : cuts[2]], second, words[cuts[3] :]])

    def rule(self, parts: Any, begin_sentence: bool = False) -> Any:
        flat = []
        for part in parts:
            flat.extend(part if isinstance(part, list) else [part[0]])
        score, state = self.core.score_rule(flat, begin_sentence)
        runs = [part if isinstance(part, list) else part[1] for part in parts]
        for _ in range(2):  # computed, and remembered
            seamed, item = self.seams.score_rule(runs, begin_sentence)
            assert seamed == pytest.approx(score, abs=1e-12)
            assert self.item_of.setdefault(state, item) == item
        return state, item


@pytest.mark.parametrize(("order", "closed"), KINDS)
def test_what_seams_remember_is_what_a_rule_gets(order: Any, closed: Any, tmp_path: Path) -> None:
    for seed in range(4):
        model, _ = random_model(seed, order, closed, tmp_path / "a")
        both = Seamed(model.core, random.Random(seed))
        for words in random_sentences(seed, 60, 12):
            child = both.span([model.core.find(w) for w in words])
            both.rule([child], begin_sentence=True)
            both.rule([child, child, [2]], begin_sentence=True)
        assert len(set(both.item_of.values())) == len(both.item_of) >= (1 if order == 1 else 4)


def test_seams_know_their_words_and_items(tmp_path: Path) -> None:
    model, _ = random_model(1, 4, True, tmp_path / "a")
    seams = LmSeams(model.core)
    assert seams.score_rule([[], 0, [], 0]) == (0.0, 0)
    for parts in ([[99]], [[-1]], [7], [-1]):
        with pytest.raises(IndexError):
            seams.score_rule(parts)


def test_an_empty_span_is_nothing(tmp_path: Path) -> None:
    model, _ = random_model(1, 4, True, tmp_path / "a")
    core = model.core
    score, empty = core.score_rule([])
    assert score == 0
    assert core.score_rule([3, empty, 4, empty]) == core.score_rule([3, 4])
    assert core.score_rule([empty, 3], True) == core.score_rule([3], True)


def test_states_of_another_model_are_refused(tmp_path: Path) -> None:
    model, _ = random_model(1, 3, True, tmp_path / "a")
    two, _ = random_model(2, 3, True, tmp_path / "a")
    _, state = model.core.score_rule([3, 4])
    with pytest.raises(InputError, match="a state of another language model"):
        two.core.score_rule([state])
    with pytest.raises(InputError, match="a context of another language model"):
        two.core.score_word(model.core.context(), 3)
    assert state != two.core.score_rule([3, 4])[1]
    assert state != "something else"
    with pytest.raises(IndexError):
        model.core.score_rule([99])
    with pytest.raises(IndexError):
        model.core.score_rule([-1])
    for words, begin in (([99], [0, 1]), ([3], [0, 2]), ([3], [1, 1]), ([3, 4], [0, 2, 1, 2]), ([], [])):
        with pytest.raises(InputError):
            model.core.score_ids(np.array(words, np.uint32), np.array(begin, np.int64))


def test_evaluation_and_perplexity(tmp_path: Path) -> None:
    train = [" ".join(s) for s in zipf_sentences(1, 200)]
    test = [*train[:30], "w0 new w1", "", "new"]
    model = LanguageModel.estimate(train, 3)
    p, b, _ = kneser_ney([line.split() for line in train], 3)
    twin = BackoffTwin.from_probabilities(p, b, 3)
    total = sum(twin.score(line.split()) for line in test)
    got = model.evaluate(test)
    assert (got.sentences, got.tokens, got.unknown) == (33, sum(len(line.split()) + 1 for line in test), 2)
    assert got.log10_prob == pytest.approx(total, abs=1e-3)
    assert got.perplexity == pytest.approx(10 ** (-total / got.tokens), rel=1e-5)
    assert model.perplexity(test) == got.perplexity
    known = [s.log10_prob for line in test for s in model.full_scores(line) if not s.unknown]
    assert got.perplexity_without_unknown == pytest.approx(10 ** (-sum(known) / len(known)))
    (tmp_path / "text").write_text("\n".join(test) + "\n")
    assert model.evaluate(tmp_path / "text", jobs=1) == got == model.evaluate(test, jobs=3)
    assert math.isnan(model.perplexity([]))


def test_batched_ids_equal_sentences() -> None:
    model = LanguageModel.estimate([" ".join(s) for s in zipf_sentences(1, 200)], 4)
    sentences = random_sentences(3)
    ids = np.array([model.core.find(w) for words in sentences for w in words], np.uint32)
    begin = np.cumsum([0, *[len(words) for words in sentences]])
    scores = model.core.score_ids(ids, begin)
    expected = [s.log10_prob for words in sentences for s in model.full_scores(" ".join(words), eos=False)]
    assert scores.tolist() == expected


def test_vocabularies_are_mapped() -> None:
    model = LanguageModel.estimate(["b a", "c"], 2)
    vocab = Vocab()
    for word in ("a", "zzz", "c", "<s>", "</s>", "<unk>", "b"):
        vocab.add(word)
    assert model.vocab == ["<unk>", "<s>", "</s>", "b", "a", "c"]
    assert model.map_words(vocab).tolist() == [4, 0, 5, 0, 0, 0, 3]
    assert len(model) == 6
    assert "a" in model and "<s>" in model and "<unk>" in model and "zzz" not in model and "" not in model


def test_many_words_are_found() -> None:
    words = [f"{i}{'x' * (i % 23)}" for i in range(5000)]
    model = LanguageModel.estimate([" ".join(words)], 2)
    assert model.vocab[3:] == words
    assert [model.core.find(word) for word in words] == list(range(3, 5003))
    assert all(model.core.find(word + "y") == 0 for word in words)


def test_save_and_open(tmp_path: Path) -> None:
    for order in (1, 2, 5):
        model = LanguageModel.estimate([" ".join(s) for s in zipf_sentences(order)], order)
        model.save(tmp_path / "lm")
        for verify in (True, False):
            again = LanguageModel.open(tmp_path / "lm", verify=verify)
            assert np.array_equal(again.core.data, model.core.data)
            assert (again.order, again.counts, again.vocab) == (order, model.counts, model.vocab)
            for words in random_sentences(2):
                assert again.score(" ".join(words)) == model.score(" ".join(words))
        model.write_arpa(tmp_path / "a")
        again.write_arpa(tmp_path / "b")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "lm"
    LanguageModel.estimate(["a b c", "a b"], 3).save(path)
    whole = path.read_bytes()
    assert len(whole) % 64 == 0

    def refused(content: Any) -> Any:
        path.write_bytes(content)
        with pytest.raises(InputError) as error:
            LanguageModel.open(path)
        message = str(error.value)
        assert message.startswith(f"{path}: ") and "\n" not in message
        return message

    for size in (*range(0, len(whole), 37), len(whole) - 1):
        assert "cut off" in refused(whole[:size])
    assert "there should be" in refused(whole + b"\0")
    for i in range(0, len(whole), 3):
        flipped = bytearray(whole)
        flipped[i] ^= 1 << i % 8
        refused(bytes(flipped))
    assert "not a language model of hopefear" in refused(b"\\data\\\n" * 100)
    other = bytearray(whole)
    other[16] = 9
    assert "format 9, where this program reads formats 1 and 2" in refused(bytes(other))
    with pytest.raises(InputError, match="cannot be read"):
        LanguageModel.open(tmp_path / "none")
    with pytest.raises(InputError, match="not a regular file"):
        LanguageModel.open(tmp_path)


def test_a_damaged_table_that_nobody_checked_is_still_safe(tmp_path: Path) -> None:
    path = tmp_path / "lm"
    model = LanguageModel.estimate([" ".join(s) for s in zipf_sentences(1)], 4)
    model.save(path)
    whole = path.read_bytes()
    generator = random.Random(7)
    for _ in range(150):
        content = bytearray(whole)
        for _ in range(200):
            content[generator.randrange(512, len(content))] = generator.randrange(256)
        path.write_bytes(content)
        try:
            damaged = LanguageModel.open(path, verify=False)
            damaged.write_arpa(tmp_path / "a")
        except InputError:
            continue
        damaged.score("w0 w1 w2 new w3")
        damaged.core.bracketed_scores(np.array([3, 4, 5, 3, 4], np.uint32), np.array([0, 5]), seed=1)


@pytest.mark.parametrize(
    ("content", "finding"),
    [
        (bytes(3000), "neither an ARPA file nor a model that hopefear saved. Give the ARPA file, which may be packed"),
        (
            b"mmap lm http://kheafield.com/code format version 5\n\0" + bytes(100),
            "a binary file of KenLM. Give the ARPA",
        ),
    ],
)
def test_the_command_line_is_told_which_file_to_give(
    content: bytes, finding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "list.jsonl").write_text('{"candidates": [{"text": "a", "features": {"f": 1}}]}\n')
    packed = tmp_path / "big.arpa.gz"
    packed.write_bytes(gzip.compress(content))
    options = ["--out", str(tmp_path / "out.jsonl"), "--lm", str(packed)]
    assert main(["features", str(tmp_path / "list.jsonl"), *options]) == 2
    assert f"{packed}: {finding}" in capsys.readouterr().err


def test_a_packed_model_has_to_be_unpacked(tmp_path: Path) -> None:
    LanguageModel.estimate(["a b"], 2).save(tmp_path / "lm.bin")
    packed = tmp_path / "lm.bin.gz"
    packed.write_bytes(gzip.compress((tmp_path / "lm.bin").read_bytes()))
    with pytest.raises(InputError, match=r"lm\.bin\.gz: a packed model of hopefear\. Unpack it"):
        LanguageModel.read(packed)
