"""Parts of the development data, and how a way to decode is written down."""

import pytest

from hopefear.creation.learning import decoding_recipe, parts
from hopefear.creation.recipe import choose_recipe
from hopefear.trainers.data import Corpus
from tests.creation.test_recipe import data


@pytest.mark.parametrize("dev", [60, 150, 450, 899, 900, 1450, 2000, 5000])
def test_sentences_to_choose_on_are_not_learnt_from(dev: int) -> None:
    corpus = Corpus([str(i) for i in range(dev)], [[f"r{i}" for i in range(dev)]])
    recipe = choose_recipe(data(50_000, dev))
    learn, choose = parts(corpus, recipe)
    assert len(learn) == (recipe.learn or dev)
    assert len(choose) == (recipe.choose or dev)
    assert len(set(learn.lines)) == len(learn)
    if recipe.choose:
        assert not set(learn.lines) & set(choose.lines)
        assert max(map(int, choose.lines)) > 0.9 * dev
    assert all(reference == f"r{line}" for line, reference in zip(learn.lines, learn.references[0], strict=True))


def test_decoding() -> None:
    assert decoding_recipe({"scale": None}) == {"mbr": None}
    assert decoding_recipe({"scale": 0.5}) == {"mbr": "bleu", "scale": 0.5}
