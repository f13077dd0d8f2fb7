"""Texts of references: words stand between ASCII blanks, wherever a text comes in."""

import numpy as np
import pytest

from hopefear import Forest, Pool
from hopefear._core import set_references
from hopefear.metrics import OracleDocument

TEXTS = ["a b\u00a0c d", "\ta\nb\u00a0c\r\n d ", "a\x0bb\u00a0c\x0cd"]  # no blank: U+00A0 is part of a word


def one_list(pool: Pool) -> Forest:
    words = np.array([pool.vocab.add(word) for word in ("a", "b\u00a0c", "d")], np.int32)
    begin = np.array([0, 3], np.int32)
    none = np.zeros(0, np.int32)
    dense = np.zeros((1, 0))
    return Forest.from_arrays(
        np.array([0, 1], np.int32), np.array([0, 0], np.int32), none, begin, words, dense, pool.vocab, pool.features
    )


@pytest.mark.parametrize("text", TEXTS)
def test_pools_and_forests_split_alike(text: str) -> None:
    pool = Pool()
    forest = one_list(pool)
    pool.append("0", forest, references=[text])
    assert pool.references(0) == [TEXTS[0]]
    set_references(pool, [[text]])
    assert pool.references(0) == [TEXTS[0]]
    document = OracleDocument()
    assert forest.max_bleu(np.zeros(0), [text], document).stats.tolist() == [3, 2, 1, 0, 3, 2, 1, 0, 3]
    gains, _ = forest.linear_gains(np.zeros(0), [text], document)
    np.testing.assert_array_equal(gains, forest.linear_gains(np.zeros(0), TEXTS[:1], document)[0])
