"""How text becomes the words that a metric compares."""

from typing import Any

import numpy as np
import pytest
import sacrebleu

import hopefear as hf
from hopefear.metrics.tokenizers import line_tokenizer, preparation


def lattice() -> Any:
    """Two ways, "The U.S. army" and "The U.S. ARMY!", as a forest of two nodes."""
    pool = hf.Pool()
    the, us, army, loud = (pool.vocab.add(word) for word in ("The", "U.S.", "army", "ARMY!"))
    forest = hf.Forest.from_arrays(
        np.array([0, 1, 3], np.int32),
        np.array([0, 0, 1, 2], np.int32),
        np.array([0, 0], np.int32),
        np.array([0, 2, 4, 6], np.int32),
        np.array([the, us, -1, army, -1, loud], np.int32),
        np.zeros((3, 0)),
        pool.vocab,
        pool.features,
    )
    pool.append("1", forest, references=["the U.S. army !"])
    return pool


def test_forests_are_tokenised_edge_by_edge() -> None:
    pool = hf.Bleu(tokenize="13a", lowercase=True).prepared(lattice())
    forest = pool[0]
    text = [
        [pool.vocab[w] if w >= 0 else w for w in forest.words[b:e]]
        for b, e in zip(forest.word_begin, forest.word_begin[1:], strict=False)
    ]
    assert text == [["the", "u", ".", "s", "."], [-1, "army"], [-1, "army", "!"]]
    assert pool.references(0) == ["the u . s . army !"]
    with pytest.raises(hf.InputError, match="whole sentences"):
        hf.Bleu(tokenize="intl").prepared(lattice())
    with pytest.raises(hf.InputError, match="candidate lists only"):
        hf.Bleu().stats(lattice())


LINE = "The U.S. army, 1,000.5 men: \u4e2d\u6587 (really)!"


@pytest.mark.parametrize("name", ["13a", "intl", "zh", "char"])
def test_tokenizers_are_those_of_sacrebleu(name: Any) -> None:
    assert line_tokenizer(name)(LINE) == sacrebleu.BLEU(tokenize=name).tokenizer(LINE)


def test_13a_may_be_applied_word_by_word() -> None:
    words = preparation("13a", True)
    assert words.wordwise
    assert " ".join(words.apply(word) for word in LINE.split()) == line_tokenizer("13a")(LINE.lower())


def test_an_unknown_tokenizer_is_an_error() -> None:
    with pytest.raises(hf.InputError, match="tokenize: there is no moses"):
        line_tokenizer("moses")
