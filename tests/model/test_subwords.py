"""Sub-words: merges against the slow twin, words in parts and back, models and translators made of parts."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from hopefear.cli.main import main
from hopefear.model import subwords
from hopefear.model.directory import Model
from hopefear.model.options import BuildOptions
from hopefear.model.subwords import Merges, learn_merges
from hopefear.model.text import TextPipeline
from hopefear.translator.glossary import Term
from hopefear.translator.translator import Translator
from tests.translator.conftest import make_translator

WORDS = Counter({"low": 5, "lower": 2, "newest": 6, "widest": 3})  # the example of Sennrich et al.


def slow(words: Counter[str], most: int) -> list[tuple[str, str]]:
    """Everything counted again after each merge."""
    texts = [(list(word), count) for word, count in words.items()]
    chosen: list[tuple[str, str]] = []
    while len(chosen) < most:
        counts: Counter[tuple[str, str]] = Counter()
        for parts, count in texts:
            for pair in pairwise(parts):
                counts[pair] += count
        if not counts or max(counts.values()) < 2:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        chosen.append(best)
        for parts, _ in texts:
            place = 0
            while place + 1 < len(parts):
                if (parts[place], parts[place + 1]) == best:
                    parts[place : place + 2] = ["".join(best)]
                place += 1
    return chosen


def test_the_example_of_the_paper() -> None:
    assert learn_merges(WORDS, 3).pairs == (("e", "s"), ("es", "t"), ("l", "o"))
    merges = learn_merges(WORDS, 9)
    assert merges.split("lowest") == ["low@@", "est"]
    assert merges.split("LOWest") == ["LOW@@", "est"]


@pytest.mark.parametrize("seed", range(20))
def test_merges_are_those_of_the_slow_twin(seed: int) -> None:
    rng = random.Random(seed)
    words = Counter({"".join(rng.choices("abc", k=rng.randint(1, 8))): rng.randint(1, 5) for _ in range(40)})
    assert list(learn_merges(words, 60).pairs) == slow(words, 60)


@given(st.text(alphabet="abcÄéşİßн\u0301क्षि", min_size=1, max_size=12))
@settings(max_examples=300, deadline=None)
def test_parts_joined_are_the_word(word: str) -> None:
    parts = learn_merges(Counter({"abc": 9, "क्षि": 5, "éa": 3})).split(word)
    assert "".join(part.removesuffix("@@") for part in parts) == word
    assert all(part.endswith("@@") for part in parts[:-1]) and not parts[-1].endswith("@@")


def test_numbers_and_addresses_stay_whole() -> None:
    text = TextPipeline("sub-words", merges=Merges(()))
    assert text.tokens("ab 12 a.b@c.de") == ["a@@", "b", "12", "a.b@c.de"]


def test_lines_come_back() -> None:
    text = TextPipeline("sub-words", lowercase=False, merges=learn_merges(WORDS, 4))
    line = "The lowest, newer (wider) price: 3.50!"
    assert text.detokenize(text.text(line)) == line
    assert text.detokenize("low@@ est new@@ .") == "lowest new."
    assert TextPipeline.from_dict(text.as_dict()) == text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subwords.learn_merges, "__defaults__", (30,))  # so that even frequent words have parts
        return make_translator(tmp_path_factory.mktemp("parts"), BuildOptions(tokenizer="sub-words", lm_order=5))


def test_a_translator_of_parts(folder: Path) -> None:
    translator = Translator(folder, glossary=[Term("Pfer*", "pony")])
    assert "@@" in translator.model.source_text.text("Pferd") and "@@" in translator.model.target_text.text("important")
    (made,) = translator.translations(["Ein <b>rotes</b> Haus steht {{hier}}, das Boot ist WICHTIG."])
    assert made.text.startswith("A <b>red</b> house stands {{hier}}, the boat is ")
    assert translator("Das Boot ist wichtig") == "The boat is important"
    assert translator("das Boot ist wichtig") == "the boat is important"  # the rest of a sentence, or a cell
    assert translator("Hallo, das Pferde ist wichtig!") == "Hello, the pony is important!"
    assert all("@@" not in other.text for other in translator.alternatives("Ein neues Boot kommt von Ikea.", 9))
    words = {(made.source[a:b], made.text[c:d]) for a, b, c, d in made.alignment}
    assert ("{{hier}}", "{{hier}}") in words and all("@" not in f + e for f, e in words)


def test_build_and_inspect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, line in (("de", "das rote haus"), ("en", "the red house")):
        (tmp_path / name).write_text(f"{line}\n" * 20)
    given = ["--source", str(tmp_path / "de"), "--target", str(tmp_path / "en"), "--out", str(tmp_path / "model")]
    assert main(["build", *given, "--tokenizer", "sub-words,unicode", "-q"]) == 0
    model = Model.open(tmp_path / "model")
    assert model.source_text.merges is not None and model.target_text.merges is None
    assert main(["inspect", str(tmp_path / "model")]) == 0
    assert "source: sub-words" in capsys.readouterr().out
