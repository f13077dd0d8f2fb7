"""The experiments of this paper."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from hopefear.metrics import by_name
from hopefear.model import Model
from hopefear_papers import Lab
from hopefear_papers.brown import HAITIAN, PERCEPTRONS, PRINTED, features
from hopefear_papers.brown_decoder import JITTER, UNUSED, online_iteration, with_unused
from hopefear_papers.brown_text import _rising
from hopefear_papers.loop import HieroInLoop, trainer
from hopefear_papers.setups import main_setup
from papers.tests import tiny


@pytest.mark.parametrize("name", tiny.names("brown"))
def test_tiny(name: str, lab: Lab) -> None:
    tiny.check(name, lab)


def test_unused_features_that_weigh_nothing_change_nothing(lab: Lab) -> None:
    on = main_setup(lab)
    wild = with_unused(lab, on)
    Model.open(wild.model.path)  # with all checksums
    w = on.initial()
    lists, other = on.lists(on.dev, w, 20), wild.lists(wild.dev, w, 20)
    assert lists.ids == other.ids
    for i in range(len(lists)):
        assert [lists.text(i, e) for e in range(lists[i].edge_count)] == [
            other.text(i, e) for e in range(other[i].edge_count)
        ]
    assert lists.references(0) == other.references(0)


def test_the_decoder_searches_with_unused_features(lab: Lab) -> None:
    on = main_setup(lab)
    wild = with_unused(lab, on)
    columns = [wild.model.grammar.names.index(name) for name in UNUSED]
    values = np.asarray(wild.model.grammar.columns)[:, columns]
    assert set(np.unique(values)) == {np.float32(1), np.float32(JITTER)}
    assert np.mean(values < 1) == pytest.approx(0.01, abs=0.005)
    w = on.initial()
    plain, ruled = wild.translate(wild.dev, w), wild.translate(wild.dev, {**w, UNUSED[0]: -100.0})
    assert plain != ruled  # few rules, whatever they say
    lists = wild.lists(wild.dev, w, 5)
    rules, unused = (lists.feature_names.index(name) for name in ("rule", UNUSED[0]))
    for i in range(len(lists)):  # no rule goes without
        assert lists[i].dense[:, unused] == pytest.approx(lists[i].dense[:, rules], abs=1e-4)


def test_the_first_iteration_decodes_each_sentence_with_what_was_learnt_before_it(lab: Lab) -> None:
    on = main_setup(lab)
    start = dict.fromkeys(features(on), 1e-9)
    learner = trainer("pa", dataclasses.replace(lab, jobs=1), 1, **PERCEPTRONS[PRINTED], **HAITIAN)
    decoder = HieroInLoop(on, 10)
    learnt = online_iteration(learner, decoder, start)
    assert learnt != start

    # A twin: a decoder for each sentence, and the textbook step feature by feature.
    w, moved = dict(start), 0
    rouge = by_name("rouge-s", beta=HAITIAN["beta"])
    for i in range(len(on.dev)):
        pool = on.lists(on.dev.subset([i]), w, 10)
        gains = rouge.sentence_gains(rouge.stats(pool))
        oracle = max(range(len(gains)), key=lambda e: gains[e])
        difference = {
            name: float(pool[0].dense[oracle, j] - pool[0].dense[0, j]) for j, name in enumerate(pool.feature_names)
        }
        loss = gains[oracle] - gains[0]
        if loss > 0:
            moved += 1
            size = sum(value**2 for value in difference.values()) + 1 / (2 * HAITIAN["C"])
            w = {name: w.get(name, 0.0) + loss / size * value for name, value in difference.items()}
    assert moved
    assert learnt == pytest.approx({name: value for name, value in w.items() if value}, rel=1e-9)


def test_lengths_that_rise_and_fall_decide_nothing() -> None:
    """0.945 with beta = 1.2 lies below both its neighbours: the ends alone do not tell."""
    assert [_rising(values) for values in ([0.9, 0.95, 1.0], [1.0, 0.95, 0.9], [0.981, 0.945, 0.990])] == [
        True,
        False,
        None,
    ]
