"""The part of the data that is kept aside."""

from typing import Any

import pytest

from hopefear import read_nbest
from hopefear.data.lists import Synthetic
from hopefear.errors import InputError
from hopefear.evaluation.holdout import held_out, split
from hopefear.trainers.data import Corpus


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> object:
    files = Synthetic(sentences=25, candidates=5, dense=6).write(tmp_path_factory.mktemp("pool"))
    return read_nbest(files["nbest"], [files[f"ref.{i}"] for i in range(4)])


@pytest.mark.parametrize(("share", "aside"), [(0.0, 0), (0.01, 0), (0.1, 2), (0.5, 12), (0.99, 0)])
def test_every_sentence_is_in_one_part(pool: Any, share: float, aside: int) -> None:
    learn, kept = split(pool, share, seed=1)
    assert (0 if kept is None else len(kept)) == aside
    ids = [*learn.ids, *([] if kept is None else kept.ids)]
    assert sorted(ids) == sorted(pool.ids)
    assert split(pool, share, seed=1)[0].ids == learn.ids
    if aside:
        assert split(pool, share, seed=2)[0].ids != learn.ids


@pytest.mark.parametrize("share", [-0.1, 1.0, float("nan")])
def test_a_share_is_a_share(pool: Any, share: float) -> None:
    with pytest.raises(InputError, match="the held-out share is"):
        split(pool, share, seed=1)


def test_lists_corpora_and_loops_keep_the_same_sentences_aside(pool: Any) -> None:
    lines = [str(i) for i in range(len(pool))]
    learn, kept = split(Corpus(lines, [lines]), 0.2, seed=3)
    assert kept is not None and kept.references == [kept.lines]
    mine = split(pool, 0.2, seed=3)
    assert [*learn.lines] == mine[0].ids and [*kept.lines] == mine[1].ids
    indices, aside = held_out(len(pool), 0.2, 3)
    assert [lines[i] for i in indices] == learn.lines and [lines[i] for i in aside] == kept.lines
    whole, none = split(Corpus(lines, [lines]), 0.0, seed=3)
    assert whole.lines == lines and none is None
