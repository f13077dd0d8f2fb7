"""A side that is a line off, the same file twice, no order: noticed. Parallel text: never."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hopefear.model import BuildOptions, build
from hopefear.model.pairing import findings, pairing
from hopefear.runs.events import Event, Warned
from hopefear.runs.session import Session
from hopefear.util.files import read_lines
from tests.shared_data import SHARED

WORDS = [f"{a}{b}{c}" for a in "bdfgklm" for b in "aeiou" for c in "nrst"]


def text(count: int, noise: float = 0.2, seed: int = 1) -> tuple[list[str], list[str]]:
    """Sentences and translations word by word, in another order, of which some words are wrong."""
    rng = random.Random(seed)
    chances = [1 / k for k in range(1, len(WORDS) + 1)]
    source = [rng.choices(WORDS, chances, k=rng.randint(4, 12)) for _ in range(count)]
    target = [[rng.choice(WORDS) if rng.random() < noise else word for word in reversed(line)] for line in source]
    return [" ".join(line) for line in source], [" ".join(word.upper() for word in line) for line in target]


@pytest.mark.parametrize("noise", [0.0, 0.4, 0.7])
@pytest.mark.parametrize("count", [200, 600, 3000])
def test_parallel_text_raises_no_alarm(count: int, noise: float) -> None:
    for seed in range(3):
        assert pairing(*text(count, noise, seed)).warning() is None


@pytest.mark.parametrize("count", [300, 3000])
def test_a_target_that_is_a_line_off(count: int) -> None:
    source, target = text(count)
    ahead = pairing(source, target[1:] + target[:1]).warning()
    assert ahead is not None and ahead.startswith("the target seems to be 1 line ahead of the source (+")
    behind = pairing(source, [*target[-2:], *target[:-2]]).warning()
    assert behind is not None and behind.startswith("the target seems to be 2 lines behind the source (+")
    assert "nats per word so, " in behind and behind.endswith("as given). Are lines missing in one file?")


def test_each_file_and_its_parts() -> None:
    """A line that was lost in the middle misplaces those that follow; the file and the pairs are named."""
    source, target = text(6000)
    (message,) = findings(source, [*target[:2500], *target[2501:], target[0]], [("e", 6000)])
    assert message.startswith("pairs 2,001 to 4,000: the target seems to be 1 line ahead of the source (+")
    (message,) = findings(source, [*target[:5000], *target[5001:], target[0]], [("d", 4500), ("e", 6000)])
    assert message.startswith("e: the target seems to be 1 line ahead")
    assert findings(source, target, [("d", 1000), ("e", 1100), ("f", 6000)]) == []


def test_no_order_at_all() -> None:
    source, target = text(600)
    message = pairing(source, random.Random(2).sample(target, len(target))).warning()
    assert message is not None and message.startswith(
        "source and target do not seem to be translations of each other ("
    )


def test_the_same_text_twice_and_short_texts() -> None:
    source, _ = text(300)
    assert (
        pairing(source, source).warning()
        == "source and target are equal in 100 % of the pairs. Is one file given for both?"
    )
    assert pairing(source[:199], source[:199]).warning() is None
    assert pairing([], []).warning() is None
    assert pairing(["a"] * 300, ["b"] * 300).warning() is not None  # nothing tells one pair from another


def test_build_says_so(tmp_path: Path) -> None:
    source, target = text(250)
    for name, lines in (("f", source), ("e", target[1:] + target[:1]), ("a", ["0-0"] * 250)):
        (tmp_path / name).write_text("".join(line + "\n" for line in lines))
    told: list[Event] = []
    options = BuildOptions(tokenizer="none", lm_order=2)
    build(tmp_path / "f", tmp_path / "e", tmp_path / "m", options, align=[tmp_path / "a"], run=Session(told.append))
    warnings = [event.text for event in told if isinstance(event, Warned)]
    assert len(warnings) == 1 and warnings[0].startswith("the target seems to be 1 line ahead of the source")


@pytest.mark.skipif(SHARED is None, reason="needs the shared data")
@pytest.mark.parametrize(
    "name", ["es-en-fisher/train.callhome.asr.es", "es-en-fisher/train.tatoeba.es", "de-en-multi30k/train.de"]
)
def test_real_text(name: str) -> None:
    assert SHARED is not None
    source = SHARED / "data" / f"{name}.xz"
    target = source.with_name(source.name.replace(".asr.es", ".en").replace(".es", ".en").replace(".de", ".en"))
    f, e = ([line.lower() for line in read_lines(path)[:3000]] for path in (source, target))
    assert pairing(f, e).warning() is None
    assert pairing(f[:300], e[:300]).warning() is None
    for message, shifted in (("ahead", e[1:] + e[:1]), ("behind", e[-1:] + e[:-1])):
        warning = pairing(f, shifted).warning()
        assert warning is not None and f"1 line {message}" in warning
