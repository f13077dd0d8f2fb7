"""Input whose words a model does not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopefear.errors import InputError
from hopefear.model import BuildOptions, Model, build
from hopefear.model.familiar import input_warning
from hopefear.model.imported import import_model
from tests.model.test_imported import ARPA
from tests.model.test_pairing import WORDS, text


def foreign(lines: list[str]) -> list[str]:
    return [" ".join(f"{word}q" for word in line.split()) for line in lines]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    folder = tmp_path_factory.mktemp("model")
    source, target = text(300, 0.0)
    links = [" ".join(f"{i}-{len(line.split()) - 1 - i}" for i in range(len(line.split()))) for line in source]
    for name, lines in (("f", source), ("e", foreign(target)), ("a", links)):
        (folder / name).write_text("".join(line + "\n" for line in lines))
    options = BuildOptions(tokenizer="none", lm_order=2)
    build(folder / "f", folder / "e", folder / "m", options, align=[folder / "a"])
    return Model.open(folder / "m")


def test_text_of_the_source_language(model: Model) -> None:
    assert input_warning(model, text(50, seed=7)[0]) is None
    assert input_warning(model, ["strange words"]) is None  # too few to tell
    assert input_warning(model, []) is None
    assert input_warning(model, ["1 2 3 . , !"] * 50) is None


def test_text_of_the_target_language(model: Model) -> None:
    message = input_warning(model, foreign(text(50)[1]))
    assert message is not None and message.endswith(
        "of the words of the input, and its target side knows 100 %. Were source and target swapped?"
    )


def test_text_of_another_language(model: Model) -> None:
    message = input_warning(model, [" ".join(word + "xx" for word in WORDS[:40])])
    assert message is not None and message.startswith(
        "the model has rules for 0 % of the words of the input. Is the input in the right"
    )


def test_an_empty_grammar_makes_no_model(tmp_path: Path) -> None:
    for name, content in (("grammar", ""), ("weights", "lm 1\n"), ("lm.arpa", ARPA)):
        (tmp_path / name).write_text(content)
    with pytest.raises(
        InputError, match=r"grammar: has no rule of X\. Was the grammar extracted, and is --format right\?"
    ):
        import_model(tmp_path / "grammar", None, tmp_path / "lm.arpa", tmp_path / "weights", "cdec", tmp_path / "m")
    assert not (tmp_path / "m").exists()
