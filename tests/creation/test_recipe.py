"""The recipe by the size of the data."""

from typing import Any

import pytest

from hopefear.creation.recipe import choose_recipe


def data(pairs: int, dev: int, **more: Any) -> dict[str, Any]:
    return {
        "sentences": {"train": pairs, "dev": dev, "test": dev},
        "train": {"domains": ["x"], "pairs": [pairs]},
        "dev_text": {"x": dev},
        "own": {"dev": False, "test": False},
        "punctuation": {"train": 1.0, "test": 1.0},
        **more,
    }


@pytest.mark.parametrize(
    "train, dev, joint, learn, choose, features",
    [
        (500, 60, False, 0, 0, ()),
        (1500, 150, False, 150, 0, ()),
        (9000, 450, True, 450, 0, ("lex", "shape")),
        (26_000, 1450, True, 1150, 300, ("lex", "shape")),
        (120_000, 2000, True, 1200, 800, ("lex", "shape")),
    ],
)
def test_sizes(train: int, dev: int, joint: bool, learn: int, choose: int, features: tuple[str, ...]) -> None:
    recipe = choose_recipe(data(train, dev))
    assert (recipe.joint_model, recipe.learn, recipe.choose, recipe.features) == (joint, learn, choose, features)
    assert recipe.learn + recipe.choose <= dev
    assert recipe.tune_joint == (joint and bool(features) and recipe.dev_text)


def test_domains() -> None:
    assert choose_recipe(data(9000, 400)).domains == ()
    assert choose_recipe(
        data(9000, 400, train={"domains": ["a", "b"], "pairs": [5000, 4000]}, dev_text={})
    ).domains == ("a", "b")


@pytest.mark.parametrize(
    "own, train, test, strip", [(1, 0.9, 0.01, "source"), (0, 0.9, 0.01, "none"), (1, 0.9, 0.9, "none")]
)
def test_tests_without_punctuation(own: int, train: float, test: float, strip: str) -> None:
    given = data(9000, 400, own={"dev": False, "test": bool(own)}, punctuation={"train": train, "test": test})
    assert choose_recipe(given).strip_punctuation == strip


@pytest.mark.parametrize(
    "pairs, more, built",
    [
        ([9000], {"a": 90}, True),
        ([9000], {"a": 89}, False),
        ([9000], {}, False),
        ([9000, 1000], {"b": 4000}, True),
        ([5000, 4900], {"b": 400}, False),  # a would have the small language model, which b had
        ([5000, 4000], {"gone": 4000}, False),
    ],
)
def test_development_text(pairs: list[int], more: dict[str, int], built: bool) -> None:
    train = {"domains": ["a", "b"][: len(pairs)], "pairs": pairs}
    assert choose_recipe(data(sum(pairs), 400, train=train, dev_text=more)).dev_text == built
