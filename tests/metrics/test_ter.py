import random
from typing import Any

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings, strategies as st

import hopefear as hf
from tests.metrics.strategies import WORDS, as_sacrebleu_wants, corpora, lines, list_pool, real_documents
from tests.reference.edit_distance import edit_distance


@settings(max_examples=120, derandomize=True, deadline=None)
@given(corpora(max_references=8), *[st.booleans()] * 4)
def test_corpus_score_equals_sacrebleu(
    corpus: Any, normalized: Any, no_punct: Any, asian_support: Any, case_sensitive: Any
) -> None:
    hyps, refs = corpus
    options = {
        "normalized": normalized,
        "no_punct": no_punct,
        "asian_support": asian_support,
        "case_sensitive": case_sensitive,
    }
    theirs = sacrebleu.TER(**options).corpus_score(hyps, as_sacrebleu_wants(refs))
    assert hf.Ter(**options).corpus_score(hyps, refs) == pytest.approx(theirs.score, abs=1e-6)


def moved_blocks(rng: Any, words: Any, vocabulary: Any, edits: Any) -> Any:
    """A copy with words changed, lost, added, and blocks moved."""
    words = list(words)
    for _ in range(edits):
        i = rng.randrange(len(words) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            words[i : i + 1] = [rng.choice(vocabulary)]
        elif kind == 1:
            words[i : i + 1] = []
        elif kind == 2:
            words.insert(i, rng.choice(vocabulary))
        else:
            block = words[i : i + rng.randrange(1, 13)]
            del words[i : i + len(block)]
            at = rng.randrange(len(words) + 1)
            words[at:at] = block
    return words


@pytest.mark.parametrize("length,size,pairs", [(8, 4, 60), (25, 12, 25), (60, 40, 3), (90, 2000, 2), (30, 2, 2)])
def test_shifts_in_long_sentences_equal_sacrebleu(length: Any, size: Any, pairs: Any) -> None:
    """Beyond the beam, beyond 64 words, beyond the limit of shifts tried."""
    rng = random.Random(length)
    vocabulary = [f"w{i}" for i in range(size)]
    hyps, refs = [], []
    for _ in range(pairs):
        base = rng.choices(vocabulary, k=length)
        hyps.append(" ".join(moved_blocks(rng, base, vocabulary, length // 6)))
        refs.append(" ".join(moved_blocks(rng, base, vocabulary, length // 6)))
    hyps += [" ".join(vocabulary[:3]), " ".join(rng.choices(vocabulary, k=2 * length))]  # far too short, far too long
    refs += [" ".join(rng.choices(vocabulary, k=length))] * 2
    theirs = sacrebleu.TER()
    for hyp, ref, stats in zip(hyps, refs, hf.Ter().corpus_stats(hyps, [refs]), strict=True):
        expected = theirs.corpus_score([hyp], [[ref]])
        assert stats.tolist() == [expected.num_edits, expected.ref_length]


@pytest.mark.parametrize("hyps,refs", real_documents(limit=60))
def test_real_documents_equal_sacrebleu(hyps: Any, refs: Any) -> None:
    theirs = sacrebleu.TER().corpus_score(hyps, as_sacrebleu_wants(refs))
    assert hf.Ter().corpus_score(hyps, refs) == pytest.approx(theirs.score, abs=1e-6)


def test_ter_by_hand() -> None:
    metric = hf.Ter()
    stats = metric.corpus_stats(["c d a b", "A b", "", "x"], [["a b c d", "a b", "a b", "a"], ["", "a", "", "a b c"]])
    assert stats.tolist() == [[1, 4], [0, 1.5], [2, 2], [1, 2]]  # one shift; case does not count; nearest, mean length
    assert metric.score(stats.sum(axis=0)) == pytest.approx(100 * 4 / 9.5)
    assert metric.gain(stats.sum(axis=0)) == pytest.approx(1 - 4 / 9.5)
    assert not metric.higher_is_better
    assert metric.score([3, 0]) == 100 and metric.score([0, 0]) == 0


@settings(max_examples=150, derandomize=True, deadline=None)
@given(corpora(lines(spaces=False), max_references=4))
def test_wer_equals_the_definition(corpus: Any) -> None:
    hyps, refs = corpus
    for i, (edits, length) in enumerate(hf.Wer().corpus_stats(hyps, refs)):
        here = [r[i].split() for r in refs if r[i].strip()] or [[]]
        rates = [
            (edit_distance(hyps[i].split(), r) / max(len(r), 1), edit_distance(hyps[i].split(), r), len(r))
            for r in here
        ]
        assert (edits, length) == min(rates)[1:]


def test_wer_of_long_sentences() -> None:
    rng = random.Random(1)
    for length in (1, 63, 64, 65, 127, 128, 129, 300):
        ref = rng.choices(WORDS[:6], k=length)
        hyp = moved_blocks(rng, ref, WORDS[:6], 1 + length // 4)
        (stats,) = hf.Wer().corpus_stats([" ".join(hyp)], [[" ".join(ref)]])
        assert stats.tolist() == [edit_distance(hyp, ref), length]


def test_candidates_do_not_disturb_each_other() -> None:
    texts = ["c d a b", "", "a b c d", "d c b a d c", "x", "c d a b"]
    for metric in (hf.Ter(), hf.Wer()):
        one_by_one = np.vstack([metric.corpus_stats([text], [["a b c d"], ["b"]]) for text in texts])
        np.testing.assert_array_equal(metric.stats(list_pool([texts], [["a b c d", "b"]])), one_by_one)


def test_signature() -> None:
    assert "case:lc|tok:tercom|norm:no|punct:yes|asian:no|" in hf.Ter().signature()
    assert "case:mixed|tok:none|" in hf.Wer().signature()
