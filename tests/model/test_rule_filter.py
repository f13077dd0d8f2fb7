"""Rules that are not probable enough are dropped: against a plain twin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from hopefear import _core
from hopefear.errors import InputError
from hopefear.model import BuildOptions, Model, build
from hopefear.model.grammar import iter_rules
from hopefear.model.options import BLOCK_COUNT, BLOCK_PROBABILITY
from hopefear.model.rule_filter import filter_rules
from tests.model.test_extract import aligned_pairs, assert_same, extract, rules_of
from tests.reference import extraction as twin

BLOCKS = {"max_nonterminals": 0, "tight": False, "fractional": False, "max_phrase": 5, "max_source_symbols": 5}
#: Thresholds that relative frequencies of small texts meet exactly, and others.
LIMITS = st.sampled_from([0.0, 0.03, 0.1, 0.25, 1 / 3, 0.5, 0.7, 1.0])


@settings(max_examples=100, deadline=None, derandomize=True)
@given(pairs=aligned_pairs(), probability=LIMITS, symmetric=LIMITS)
def test_same_blocks_as_the_definition(pairs: list[twin.Pair], probability: float, symmetric: float) -> None:
    table = extract(pairs, **BLOCKS)
    kept = filter_rules(table, probability, symmetric)
    wanted = twin.probable(pairs, twin.score(pairs, **BLOCKS), probability, symmetric)
    assert_same(rules_of(kept), wanted)
    if len(kept):  # a grammar can be made of it, with sides and rules in order
        grammar = _core.Grammar.build(kept, 1)
        assert (len(grammar), grammar.sides) == (len(kept), kept.sides)


def test_no_limit_is_the_table_itself() -> None:
    table = extract([(["a"], ["u"], frozenset({(0, 0)}))], **BLOCKS)
    assert filter_rules(table, 0.0, 0.0) is table


def test_marks_must_be_as_many_as_rules() -> None:
    table = extract([(["a"], ["u"], frozenset({(0, 0)}))], **BLOCKS)
    with pytest.raises(InputError, match="as many marks as rules"):
        table.selected(np.zeros(7, np.uint8))


def test_blocks_are_filtered_unless_told_otherwise(corpus: Path, tmp_path: Path) -> None:
    def blocks(name: str, **options: float) -> dict[tuple[str, str], float]:
        made = BuildOptions(tokenizer="none", kind="blocks", max_options=0, **options)
        build(corpus / "f", corpus / "e", tmp_path / name, made)
        model = Model.open(tmp_path / name)
        assert model.info["options"]["min_probability"] == made.min_probability
        return {(rule.source, rule.target): rule.values["phrase_ef"] for rule in iter_rules(model.grammar)}

    everything, usual = blocks("everything", min_probability=0), blocks("usual")
    assert usual == blocks("said", min_occurrences=BLOCK_COUNT, min_probability=BLOCK_PROBABILITY)
    assert everything.items() < blocks("once", min_occurrences=1, min_probability=0).items()
    assert usual.items() < everything.items()
    assert {source for source, _ in everything if " " not in source} <= {source for source, _ in usual}
    assert blocks("symmetric", min_symmetric=0.3).items() < usual.items()


@pytest.mark.parametrize(("name", "value"), [("min_probability", 1.5), ("min_symmetric", -0.1), ("min_symmetric", 2.0)])
def test_probabilities_lie_between_0_and_1(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{name}: {value} is not between 0 and 1"):
        BuildOptions(**{name: value})


def test_hierarchical_rules_are_all_kept_by_default() -> None:
    assert (BuildOptions().min_occurrences, BuildOptions().min_probability) == (1, 0)
