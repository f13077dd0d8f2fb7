"""Of candidates with equal model scores the first in the list is the best: in training as in use."""

import numpy as np
import pytest

import hopefear as hf
from hopefear import _core
from hopefear.trainers.batch.base import BatchTrainer
from tests.trainers.every import every_batch_trainer, make
from tests.trainers.pools import list_pool

SPELLINGS = [("z b c d e", "a b c y e"), ("a b c d e", "z b c y e")]


def marked(good: str, bad: str, order: list[int]) -> hf.Pool:
    """Two candidates, of which a feature marks the good one; order has a 0 where it comes first."""
    texts, rows = [good, bad], np.array([[1.0], [0.0]])
    return list_pool(
        [rows[[first, 1 - first]] for first in order],
        texts=[[texts[first], texts[1 - first]] for first in order],
        references=[[good]] * len(order),
    )


def score(pool: hf.Pool, weights: dict[str, float]) -> float:
    bleu = hf.Bleu()
    w = np.array([weights[name] for name in pool.feature_names])
    return bleu.score(_core.one_best(pool, bleu.stats(pool), bleu.core, w, jobs=1, places=None)[1])


@every_batch_trainer
@pytest.mark.parametrize("initial", [None, {"f000": 0.0}])
def test_spelling_does_not_matter(trainer: type[BatchTrainer], initial: dict[str, float] | None) -> None:
    for order in ([1] * 20, [0, 1] * 10):
        result = [make(trainer).fit(marked(good, bad, order), initial) for good, bad in SPELLINGS]
        for each, (good, bad) in zip(result, SPELLINGS, strict=True):
            pool = marked(good, bad, order)
            assert each.weights["f000"] > 0
            assert each.score == pytest.approx(score(pool, dict(each.weights)))
            assert each.score == pytest.approx(100)
        assert result[0].weights == pytest.approx(result[1].weights)
        assert [r["score"] for r in result[0].history] == pytest.approx([r["score"] for r in result[1].history])


@pytest.mark.parametrize("trainer", [hf.Kbmira, hf.Cmira], ids=lambda each: each.__name__)
def test_weights_that_are_all_zero_are_never_the_best(trainer: type[BatchTrainer]) -> None:
    """Lists with the good candidate first: zeros choose it too, but only here."""
    for good, bad in SPELLINGS:
        assert make(trainer).fit(marked(good, bad, [0] * 20)).weights["f000"] > 0


def test_the_document_of_equal_scores_is_that_of_the_first_places() -> None:
    good, bad = SPELLINGS[1]
    pool = marked(good, bad, [1, 0])
    merged, places = _core.canonical(pool)
    assert [merged.text(0, 0), merged.text(1, 0)] == [good, good]
    assert places.tolist() == [1, 0, 0, 1]
    bleu = hf.Bleu()
    chosen, _ = _core.one_best(merged, bleu.stats(merged), bleu.core, np.zeros(1), 1, places)
    assert [merged.text(i, int(e)) for i, e in enumerate(chosen)] == [bad, good]


def test_duplicates_stand_at_their_first_place() -> None:
    rows = np.array([[2.0], [1.0], [2.0], [0.0]])
    pool = list_pool([rows], texts=[["b", "c", "b", "a"]])
    merged, places = _core.canonical(pool)
    assert [merged.text(0, e) for e in range(3)] == ["a", "b", "c"]
    assert places.tolist() == [3, 0, 1]
