import numpy as np
import pytest
from numpy.testing import assert_allclose

from hopefear import read_nbest
from hopefear.data.lists import Synthetic
from hopefear.errors import InputError
from hopefear.metrics import Bleu
from hopefear.train.tuning import random_initial, score_of, split


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> object:
    files = Synthetic(sentences=25, candidates=5, dense=6).write(tmp_path_factory.mktemp("pool"))
    return read_nbest(files["nbest"], [files[f"ref.{i}"] for i in range(4)])


@pytest.mark.parametrize(("share", "aside"), [(0.0, 0), (0.01, 0), (0.1, 2), (0.5, 12), (0.99, 0)])
def test_every_sentence_is_in_one_part(pool, share: float, aside: int) -> None:  # type: ignore[no-untyped-def]
    learn, kept = split(pool, share, seed=1)
    assert (0 if kept is None else len(kept)) == aside
    ids = [*learn.ids, *([] if kept is None else kept.ids)]
    assert sorted(ids) == sorted(pool.ids)
    assert split(pool, share, seed=1)[0].ids == learn.ids
    if aside:
        assert split(pool, share, seed=2)[0].ids != learn.ids


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_a_share_is_a_share(pool, share: float) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match="the held-out share is"):
        split(pool, share, seed=1)


def test_the_score_of_weights_is_that_of_the_best_candidates(pool) -> None:  # type: ignore[no-untyped-def]
    weights = {"lm": 0.5, "tm0": 0.3, "stranger": 7.0}
    w = np.array([weights.get(name, 0.0) for name in pool.feature_names])
    best = [pool.text(i, int(pool[i].scores(w).argmax())) for i in range(len(pool))]
    references = [[pool.references(i)[k] for i in range(len(pool))] for k in range(4)]
    assert_allclose(score_of(pool, Bleu(), weights), Bleu().corpus_score(best, references))


def test_random_models_scatter_around_the_given_one() -> None:
    drawn = np.array([list(random_initial({"a": 2.0, "b": -1.0, "c": 0.0}, seed).values()) for seed in range(4000)])
    assert_allclose(drawn.mean(axis=0), [2.0, -1.0, 0.0], atol=0.06)
    assert_allclose(drawn.std(axis=0), [1.0, 0.5, 0.0], atol=0.04)
    assert random_initial({"a": 2.0}, 3) == random_initial({"a": 2.0}, 3)
