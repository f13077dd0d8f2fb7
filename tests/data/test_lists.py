import itertools
from pathlib import Path

import numpy as np
import pytest
import sacrebleu

from hopefear.data.lists import Synthetic, _spell
from hopefear.errors import InputError


def test_a_sentence_does_not_depend_on_how_many_there_are() -> None:
    few, more = Synthetic(sentences=2, candidates=4), Synthetic(sentences=5, candidates=4)
    for a, b in zip(few, more, strict=False):
        assert a.texts == b.texts
        assert (a.dense == b.dense).all()


def test_words_are_spelled_apart() -> None:
    assert [_spell(word) for word in (0, 1, 99, 100, 10_099, 10_100)] == ["ba", "be", "cu", "baba", "cucu", "bababa"]
    assert len({_spell(word) for word in range(20_000)}) == 20_000


def test_lists_are_distinct_and_best_first() -> None:
    for sentence in Synthetic(sentences=5, candidates=40):
        assert len(set(sentence.texts)) == 40
        assert (np.diff(sentence.scores) <= 0).all()


def test_many_candidates_of_few_words() -> None:
    data = Synthetic(candidates=2000)
    shortest = min(range(200), key=lambda i: len(Synthetic(candidates=1).sentence(i).source))
    assert len(set(data.sentence(shortest).texts)) == 2000


@pytest.mark.parametrize("dense", [1, 2, 4, 30])
def test_any_number_of_features(dense: int, tmp_path: Path) -> None:
    data = Synthetic(sentences=2, candidates=3, dense=dense)
    files = data.write(tmp_path)
    for line in files["nbest"].read_text().splitlines():
        index, text, features, score = line.split(" ||| ")
        assert len(features.split()) == 2 * dense
        values = dict(zip(*[iter(features.split())] * 2, strict=True))
        again = sum(weight * float(values[f"{name}="]) for name, weight in data.initial.items())
        assert float(score) == pytest.approx(again, abs=1e-4)
        assert int(index) in (0, 1)
        assert text


@pytest.mark.parametrize("field", ["sentences", "candidates", "references", "dense"])
def test_none_is_too_few(field: str) -> None:
    with pytest.raises(InputError, match=f"{field} is 0"):
        Synthetic(**{field: 0})


def test_there_is_something_to_learn() -> None:
    """Least squares on the judge's numbers, of other sentences, finds weights far better than those set by hand."""
    sentences = list(Synthetic(sentences=160, candidates=50))
    dev, test = sentences[:80], sentences[80:]
    h = np.vstack([sentence.dense - sentence.dense.mean(0) for sentence in dev])
    judged = np.concatenate([sentence.quality - sentence.quality.mean() for sentence in dev])
    weights = np.linalg.lstsq(h, judged, rcond=None)[0]
    references = [list(column) for column in zip(*(sentence.references for sentence in test), strict=True)]

    def bleu(best: list[str]) -> float:
        return float(sacrebleu.corpus_bleu(best, references, tokenize="none", force=True).score)

    by_hand = bleu([sentence.texts[0] for sentence in test])
    learnt = bleu([sentence.texts[int((sentence.dense @ weights).argmax())] for sentence in test])
    assert 40 < by_hand < learnt - 4 < 90


def test_sparse_features_are_words() -> None:
    data = Synthetic(sentences=3, candidates=5, sparse=6000)
    assert len(set(data.sparse_names)) == 6000
    fired = set(itertools.chain.from_iterable(row for sentence in data for row in sentence.sparse))
    assert fired
    assert fired <= set(data.sparse_names)
