"""Smaller models: the right rules go, and the rest is as it was."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from hopefear.decode import Hiero
from hopefear.errors import InputError
from hopefear.model.directory import Model
from hopefear.model.grammar import iter_rules, read_grammar
from hopefear.model.packed import pack
from hopefear.model.shrinking import needed, shrink, significant


def kept(folder: Path, lines: list[str], least: float) -> list[str]:
    (folder / "grammar").write_text("".join(f"[X] ||| {line}\n" for line in lines))
    table = read_grammar(folder / "grammar").table()
    grammar = read_grammar(folder / "grammar")
    rules = [f"{rule.source} -> {rule.target}" for rule in iter_rules(grammar)]
    return [rule for rule, stays in zip(rules, needed(table, least).tolist(), strict=True) if stays]


def test_rules_that_were_seen_once_and_alone_go(tmp_path: Path) -> None:
    lines = [
        "a b ||| u ||| phrase_ef=0 phrase_fe=0 count=1",  # once, alone
        "a c ||| u ||| phrase_ef=0 phrase_fe=0 count=2",  # alone, twice
        "a d ||| u ||| phrase_ef=0 phrase_fe=-0.5 count=1",  # once, not alone
        "e ||| u ||| phrase_ef=0 phrase_fe=0 count=1",  # a single word
        "e ||| v ||| phrase_ef=-1 phrase_fe=-1 count=0.5",
        "f [X,1] ||| u [X,1] ||| phrase_ef=-1 phrase_fe=-1 count=0.1",
        "g [X,1] ||| u [X,1] ||| phrase_ef=-1 phrase_fe=-1 count=0.2",
        "h [X,1] ||| u [X,1] ||| phrase_ef=0 phrase_fe=0 count=0.5",
    ]
    assert set(kept(tmp_path, lines, 0.15)) == {"a c -> u", "a d -> u", "e -> u", "e -> v", "g [X,1] -> u [X,1]"}
    assert len(kept(tmp_path, lines, 0.0)) == 6
    with pytest.raises(InputError, match="has no count"):
        kept(tmp_path, ["a ||| u ||| phrase_ef=0 phrase_fe=0"], 0.1)


def test_a_smaller_model_is_a_model(task: Path, tmp_path: Path) -> None:
    source = Path(shutil.copytree(task / "model", tmp_path / "model"))
    (source / "glossary.tsv").write_text("a\tb\n")
    told = shrink(source, tmp_path / "small", 0.1)
    before, after = Model.open(source), Model.open(tmp_path / "small")
    assert told["rules"] == {"before": len(before.grammar), "after": len(after.grammar)}
    assert len(after.grammar) < 0.7 * len(before.grammar) and told["bytes"]["after"] < told["bytes"]["before"]
    assert after.info["counts"]["rules"] == len(after.grammar) and after.weights == before.weights
    assert (tmp_path / "small" / "glossary.tsv").read_text() == "a\tb\n"
    rules = {(r.source, r.target): r.values for r in iter_rules(before.grammar)}
    for rule in iter_rules(after.grammar):
        assert rules[rule.source, rule.target] == rule.values
    words = [before.grammar.source_vocab[number] for number in range(len(before.grammar.source_vocab))]
    assert [word for word in words if len(range(*before.grammar.find(word)))] == [
        word for word in words if len(range(*after.grammar.find(word)))
    ]
    lines = (task / "dev.source").read_text().splitlines()
    same = sum(a == b for a, b in zip(Hiero(before).translate(lines), Hiero(after).translate(lines), strict=True))
    assert same >= math.floor(0.5 * len(lines))
    with pytest.raises(InputError, match="already exists"):
        shrink(source, tmp_path / "small")


def test_rounded_values_are_multiples_of_the_step(task: Path, tmp_path: Path) -> None:
    told = shrink(task / "model", tmp_path / "small", None, 0.125)
    before, after = Model.open(task / "model"), Model.open(tmp_path / "small")
    assert told["rules"]["after"] == told["rules"]["before"]
    exact, rounded = before.grammar.table().columns, after.grammar.table().columns
    assert np.all(rounded * 8 == np.rint(rounded * 8)) and not np.array_equal(exact, rounded)
    assert np.sort(np.abs(exact[:, 0])) == pytest.approx(np.sort(np.abs(rounded[:, 0])), abs=0.07)
    pack(task / "model", tmp_path / "exact.hft")
    pack(tmp_path / "small", tmp_path / "small.hft")
    assert (tmp_path / "small.hft").stat().st_size < (tmp_path / "exact.hft").stat().st_size
    with pytest.raises(InputError, match="above 0"):
        before.grammar.table().rounded(0.0)


def test_a_rounded_joint_model_has_eight_significant_bits() -> None:
    values = np.array([0.1, -3.14159, 1e-6, 0.0, 1.0], np.float32)
    rounded = significant(values)
    assert rounded == pytest.approx(values, rel=2**-8) and rounded[-1] == 1.0
    assert not np.any(rounded.view(np.uint32) & 0xFFFF)
