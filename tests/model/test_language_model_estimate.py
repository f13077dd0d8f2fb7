"""Estimation against the formulas."""

import math
import random
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hopefear import InputError, _core
from hopefear._core import LmSeams
from hopefear.model.language_model import LanguageModel
from tests.model.lm_corpora import zipf_sentences
from tests.reference.language_model import kneser_ney
from tests.shared_data import SHARED


def read_back(model: Any, path: Any) -> Any:
    """{n-gram: (p, b)} through an ARPA file, read here by hand."""
    model.write_arpa(path)
    values = {}
    for line in path.read_text().split("\n"):
        fields = line.split("\t")
        if len(fields) > 1:
            values[tuple(fields[1].split(" "))] = (float(fields[0]), float(fields[2]) if len(fields) > 2 else 0.0)
    return values


def assert_equals_twin(sentences: Any, order: Any, prune: Any, path: Any, fallback: Any = (0.5, 1.0, 1.5)) -> Any:
    model = LanguageModel.estimate([" ".join(s) for s in sentences], order, prune, discount_fallback=fallback, jobs=1)
    p, b, discounts = kneser_ney(sentences, order, prune, fallback)
    got = read_back(model, path)
    assert set(got) == set(p)
    for gram, value in p.items():
        if gram != ("<s>",):
            assert got[gram][0] == pytest.approx(math.log10(value), abs=2e-6), gram
        assert got[gram][1] == pytest.approx(math.log10(b.get(gram, 1.0)), abs=2e-6), gram
    for ours, (d, fell_back) in zip(model.discounts, discounts, strict=True):
        assert ours.d == pytest.approx(d)
        assert ours.fallback == fell_back
    return discounts


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 6])
def test_every_order_equals_the_formulas(order: Any, tmp_path: Path) -> None:
    discounts = [assert_equals_twin(zipf_sentences(seed), order, (), tmp_path / "a") for seed in range(6)]
    assert order == 1 or any(not fallback for each in discounts for _, fallback in each)


@pytest.mark.parametrize("prune", [(0, 1), (0, 0, 1), (0, 0, 1, 2, 3), (0, 2, 2, 5), (0, 1000)])
def test_pruning_equals_the_formulas(prune: Any, tmp_path: Path) -> None:
    for seed in range(4):
        assert_equals_twin(zipf_sentences(seed, 80), 5, prune, tmp_path / "a")


@pytest.mark.parametrize(("order", "prune"), [(1, ()), (2, ()), (4, ()), (6, ()), (4, (0, 0, 1)), (5, (0, 1, 1, 2))])
def test_rest_costs_are_those_of_models_of_each_order(order: Any, prune: Any, tmp_path: Path) -> None:
    for seed in range(3):
        sentences = zipf_sentences(seed, 80)
        lines = [" ".join(s) for s in sentences]
        model = LanguageModel.estimate(lines, order, prune)
        model.save(tmp_path / "lm")
        by_order = [LanguageModel.estimate(lines, n, prune[:n]) for n in range(1, order)]
        for each in (model, LanguageModel.open(tmp_path / "lm")):
            seams = LmSeams(each.core)
            priced = 0
            for words in zipf_sentences(seed + 10, 40, types=14):
                _, state = each.core.score_rule([each.core.find(w) for w in words])
                _, item = seams.score_rule([[each.core.find(w) for w in words]])
                first = words[: len(state.left)]
                priced += len(first)
                expected = sum(
                    model_of_order.full_scores(" ".join(first[:n]), bos=False, eos=False)[-1].log10_prob
                    - each.full_scores(" ".join(first[:n]), bos=False, eos=False)[-1].log10_prob
                    for n, model_of_order in enumerate(by_order[: len(first)], 1)
                )
                assert seams.rest(item) == pytest.approx(expected, abs=1e-5)
            assert order == 1 or priced > 0


def test_a_model_without_rest_costs_has_the_older_format(tmp_path: Path) -> None:
    model = LanguageModel.estimate([" ".join(s) for s in zipf_sentences(1)], 3)
    model.save(tmp_path / "new")
    model.write_arpa(tmp_path / "arpa")
    imported = LanguageModel.read_arpa(tmp_path / "arpa")
    imported.save(tmp_path / "old")
    assert [(tmp_path / name).read_bytes()[16] for name in ("new", "old")] == [2, 1]
    again = LanguageModel.open(tmp_path / "old")
    assert again.score("w0 w1 w2") == model.score("w0 w1 w2")
    seams = LmSeams(again.core)
    assert seams.rest(seams.score_rule([[3, 4, 5]])[1]) == 0
    with pytest.raises(IndexError):
        seams.rest(-1)


def test_tiny_corpora_get_the_fallback_discounts(tmp_path: Path) -> None:
    for sentences in ([["a"]], [[]], [["a", "b"], []], [["a"] * 30], [["a", "a"], ["b", "a"], ["b"]]):
        for fallback in ((0.5, 1.0, 1.5), (0.2, 0.3, 0.4)):
            discounts = assert_equals_twin(sentences, 4, (), tmp_path / "a", fallback)
            assert any(fell_back for _, fell_back in discounts)


def test_wide_vocabulary_and_long_lines(tmp_path: Path) -> None:
    generator = random.Random(3)
    # 5 words of more than 12 bits each: keys of more than 64 bits.
    sentences = [[f"x{generator.randrange(9000)}" for _ in range(1000)] for _ in range(6)]
    sentences += [["x1", "x2", "x3", "x4", "x5", "x6"]] * 5
    assert_equals_twin(sentences, 6, (), tmp_path / "a")
    assert_equals_twin(sentences, 6, (0, 0, 1), tmp_path / "a")


@pytest.mark.parametrize(("order", "prune"), [(2, ()), (5, (0, 0, 1)), (6, ())])
def test_on_disk_as_in_memory(order: Any, prune: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = random.Random(4)
    lines = [" ".join(f"x{int(9000 ** generator.random())}" for _ in range(20)) for _ in range(3000)]
    expected = LanguageModel.estimate(lines, order, prune).core.data.tobytes()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    maps = Path("/proc/self/maps")
    for memory, jobs in ((0.0, 1), (0.0, 3), (0.001, 1)):
        model = LanguageModel.estimate(lines, order, prune, memory=memory, jobs=jobs)
        assert not maps.exists() or "/.arrays." in maps.read_text()
        assert model.core.data.tobytes() == expected
        assert list(tmp_path.iterdir()) == []  # the files have no name
    model.save(tmp_path / "lm")
    assert LanguageModel.open(tmp_path / "lm").core.data.tobytes() == expected


@pytest.mark.parametrize(("order", "prune"), [(1, ()), (2, ()), (4, (0, 0, 1, 2)), (6, ())])
def test_slices_as_the_whole(order: Any, prune: Any) -> None:
    generator = random.Random(order)
    for types, slices, ranges in ((3, 2, 2), (300, 5, 7), (9000, 3, 40), (50, 90, 1)):  # keys of 64 and of 128 bits
        lines = [
            " ".join(f"x{int(types ** generator.random())}" for _ in range(generator.randrange(9))) for _ in range(80)
        ]
        expected, whole = _core.LmText(), _core.LmText()
        for text in (expected, whole):
            text.add("".join(line + "\n" for line in lines).encode(), "text")
        spec, cuts = whole.spec(order, list(prune)), whole.ranges(ranges)
        parts = [whole.slice(k, slices) for k in range(slices)]
        assert sum(map(len, parts)) == whole.tokens + 2 * len(lines)
        assert all(len(part) == 0 or (part[0], part[-1]) == (1, 2) for part in parts)
        assert cuts[0] == 0 and cuts[-1] == spec[0] and len(cuts) - 1 <= ranges
        counted = [_core.count_slice(part, spec, cuts) for part in parts]
        merged = [
            _core.merge_slices([each[k] for each in counted], spec, *cuts[k : k + 2]) for k in range(len(cuts) - 1)
        ]
        interval, _ = _core.LanguageModel.estimate(whole, order, list(prune), (0.5, 1.0, 1.5), 1, merged)
        model, _ = _core.LanguageModel.estimate(expected, order, list(prune), (0.5, 1.0, 1.5), 1)
        assert interval.data.tobytes() == model.data.tobytes()


def test_counts_that_are_cut_short() -> None:
    text = _core.LmText()
    text.add(b"a b c\na b\n", "text")
    spec, cuts = text.spec(3, []), text.ranges(1)
    (counted,) = _core.count_slice(text.slice(0, 1), spec, cuts)
    merged = _core.merge_slices([counted], spec, 0, cuts[-1])
    with pytest.raises(InputError, match="cut short"):
        _core.merge_slices([counted[:-1]], spec, 0, cuts[-1])
    with pytest.raises(InputError, match="cut short"):
        _core.LanguageModel.estimate(text, 3, [], (0.5, 1.0, 1.5), 1, [merged[:-1]])


def test_no_room_on_disk_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(InputError, match="none: a temporary file cannot be made"):
        LanguageModel.estimate(["a b c d e f g h"] * 9000, memory=0)


@pytest.mark.parametrize(("order", "prune"), [(1, ()), (2, ()), (3, (0, 0, 1)), (5, ()), (5, (0, 1, 2, 3, 4))])
def test_probabilities_sum_to_one(order: Any, prune: Any) -> None:
    sentences = zipf_sentences(1, 80, types=6)
    core = LanguageModel.estimate([" ".join(s) for s in sentences], order, prune).core
    words = [i for i in range(len(core)) if i != core.find("<s>")]
    assert len(words) == 8
    contexts = [[*left, right] for left in product([0, 3, 5, 8], repeat=2) for right in [0, *words]]
    contexts += [[1], [1, 4], [1, 4, 3], [1, 4, 3, 3], [], [4, 4, 4, 4, 4]]  # seen, unseen, unknown, at the start
    for context in contexts:
        bos = context[:1] == [1]
        sums = 0.0
        for word in words:
            sequence = np.array([*context[bos:], word], np.uint32)
            sums += 10 ** core.score_ids(sequence, np.array([0, len(sequence)]), bos, 1)[-1]
        assert sums == pytest.approx(1, abs=1e-5), context


def test_the_number_of_jobs_changes_nothing() -> None:
    lines = [" ".join(s) for s in zipf_sentences(5, 60_000, types=300)]
    serial = LanguageModel.estimate(lines, 4, (0, 0, 1), jobs=1)
    three = LanguageModel.estimate(lines, 4, (0, 0, 1), jobs=3)
    assert np.array_equal(serial.core.data, three.core.data)
    assert serial.vocab == three.vocab
    assert serial.vocab[:3] == ["<unk>", "<s>", "</s>"]


def test_marks_in_the_text(tmp_path: Path) -> None:
    marked = LanguageModel.estimate(["<s> a b </s>", "a </s> b a", "<unk> a <unk>"], 3)
    plain = LanguageModel.estimate(["a b", "a b a", "<unk> a <unk>"], 3)
    assert np.array_equal(marked.core.data, plain.core.data)
    # <unk> is counted, so it is likelier than a word that was never seen.
    without = LanguageModel.estimate(["a b", "a b a", "c a c"], 3)
    assert plain.score("zzz", bos=False, eos=False) > without.score("zzz", bos=False, eos=False) + 0.1


def test_words_are_split_at_ascii_white_space_only() -> None:
    model = LanguageModel.estimate(["a\tb  c\r", "no\u00a0break \u2028x \x85y", "tail\x0bv\x0cf\0z"], 2)
    expected = ["a", "b", "c", "no\u00a0break", "\u2028x", "\x85y", "tail", "v", "f", "z"]
    assert model.vocab[3:] == expected


def test_lines_files_and_packed_files_are_the_same(tmp_path: Path) -> None:
    import gzip
    import lzma

    import zstandard

    lines = [" ".join(s) for s in zipf_sentences(2)] + ["ünïcödé 漢字"]
    text = "".join(line + "\n" for line in lines).encode()
    expected = LanguageModel.estimate(lines, 3).core.data
    contents = {
        "plain": text,
        "no-newline": text[:-1],
        "crlf": text.replace(b"\n", b"\r\n"),
        "bom": b"\xef\xbb\xbf" + text,
        "a.gz": gzip.compress(text),
        "a.xz": lzma.compress(text),
        "a.zst": zstandard.compress(text),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        assert np.array_equal(LanguageModel.estimate(tmp_path / name, 3).core.data, expected), name
    assert np.array_equal(LanguageModel.estimate((line + "\n" for line in lines), 3).core.data, expected)


def test_errors(tmp_path: Path) -> None:
    lines = ["a b c"]
    for arguments, message in [
        (([],), "no text to estimate a language model from. Give at least one line"),
        ((lines, 0), "the order of a language model is 1 to 6, not 0"),
        ((lines, 7), "the order of a language model is 1 to 6, not 7"),
        ((lines, 2, (0, 0, 1)), "more pruning thresholds than orders. Give at most one per order"),
        ((lines, 2, (1,)), "unigrams cannot be pruned: the first threshold must be 0"),
        ((lines, 3, (0, 2, 1)), "pruning thresholds must not fall from one order to the next"),
        ((lines, 3, (0, -1)), "pruning thresholds are counts: they cannot be negative"),
        ((["a \ud800"],), "text: a line has a lone surrogate, which is no character (surrogates not allowed)"),
    ]:
        with pytest.raises(InputError) as error:
            LanguageModel.estimate(*arguments)
        assert str(error.value) == message
    with pytest.raises(InputError, match="the fall-back discount for count 1 must be above 0 and at most 1"):
        LanguageModel.estimate(lines, discount_fallback=(0.0, 1.0, 1.5))
    with pytest.raises(InputError, match=r"missing: no such file or folder"):
        LanguageModel.estimate(tmp_path / "missing")
    with pytest.raises(InputError, match=r"is a folder"):
        LanguageModel.estimate(tmp_path)
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(InputError, match="no text"):
        LanguageModel.estimate(tmp_path / "empty")
    for bad in (b"\xff", b"caf\xe9", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"):
        (tmp_path / "latin1").write_bytes(b"good\n" * 100_000 + b"a b\nx " + bad + b" y\nc\n")
        for jobs in (1, 2):
            with pytest.raises(InputError) as error:
                LanguageModel.estimate(tmp_path / "latin1", jobs=jobs)
            assert str(error.value).startswith(f"{tmp_path / 'latin1'}:100002: not UTF-8. Convert the file")


@pytest.mark.skipif(SHARED is None, reason="needs the shared data sets")
def test_real_text_sums_to_one_and_predicts() -> None:
    data = SHARED / "data" / "es-en-fisher"
    model = LanguageModel.estimate(data / "train.callhome.en.xz", 5)
    assert not any(discounts.fallback for discounts in model.discounts)
    core = model.core
    held_out = (data / "dev.en.0").read_text().split("\n")[:200]
    words = np.array([i for i in range(len(core)) if i != core.find("<s>")], np.uint32)
    for line in held_out[:10]:
        context = core.context()
        for word in line.split():
            _, _, context = core.score_word(context, core.find_in_text(word))
            total = sum(10 ** core.score_word(context, word)[0] for word in words)
            assert total == pytest.approx(1, abs=1e-4)
    unigram = LanguageModel.estimate(data / "train.callhome.en.xz", 1)
    assert model.perplexity(held_out) < unigram.perplexity(held_out) / 2
