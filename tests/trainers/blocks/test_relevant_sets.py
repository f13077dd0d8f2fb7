"""Files of block sequences that join the relevant sets."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hopefear.decode import Blocks
from hopefear.errors import InputError
from hopefear.trainers.blocks.relevant_sets import RelevantSets, alternatives
from tests.decode.block_models import block_model, random_pairs

LINES, REFERENCES = ["a b c", "c b", "a a b"], ["u v", "w", "x y z"]


def decoder(folder: Path) -> Blocks:
    return Blocks(block_model(folder, random_pairs(random.Random(1), 20)), {}, features="both")


def test_a_file_is_made_once(tmp_path: Path) -> None:
    ours = decoder(tmp_path)
    sets = RelevantSets.over(ours, LINES, REFERENCES, tmp_path / "sets")
    truths = sets.start(3, True, 2, 1, 1)
    assert 0 < len(truths) <= 9
    assert sorted(path.name for path in (tmp_path / "sets").iterdir()) == ["bags.bin", "random.bin", "truths.bin"]
    before = {path: path.read_bytes() for path in (tmp_path / "sets").iterdir()}

    def again() -> None:
        raise AssertionError("not to be called")

    other = RelevantSets.over(ours, LINES, REFERENCES, tmp_path / "sets")
    other.add("truths", again, truths=True)
    other.add("bags", again, bag=True)
    assert {path: path.read_bytes() for path in (tmp_path / "sets").iterdir()} == before


def test_no_random_alternatives(tmp_path: Path) -> None:
    sets = RelevantSets.over(decoder(tmp_path), LINES, REFERENCES, tmp_path / "sets")
    sets.start(1, False, 0, 1, 1)
    assert sorted(path.name for path in (tmp_path / "sets").iterdir()) == ["bags.bin", "truths.bin"]


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    sets = RelevantSets.over(decoder(tmp_path), LINES, REFERENCES, tmp_path / "sets")
    assert alternatives(7) == "alternatives-007"
    with pytest.raises(InputError, match=r"alternatives-007\.bin: is missing. Start again with --overwrite"):
        sets.again(alternatives(7))


def test_sentences_that_changed_are_counted(tmp_path: Path) -> None:
    ours = decoder(tmp_path)
    sets = RelevantSets.over(ours, LINES, REFERENCES, tmp_path / "sets")
    sets.start(1, True, 0, 1, 1)
    core, corpus = ours.core, sets.corpus
    drawn = [core.random(corpus, 1, seed, 1) for seed in range(8)]
    files = [sets.add(alternatives(seed), lambda one=one: one) for seed, one in enumerate(drawn)]  # type: ignore[misc]
    counts = set()
    for one, file in zip(drawn, files, strict=True):
        for other, theirs in zip(drawn, files, strict=True):
            expected = sum(one.blocks(z) != other.blocks(z) for z in range(len(LINES)))
            assert file.changed(theirs) == expected
            counts.add(expected)
    assert len(counts) > 1  # not all equal, not all different
