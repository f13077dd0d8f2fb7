"""A translation task with a model."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hopefear.runs.events import Event, Note
from hopefear.runs.session import Session
from hopefear.util.atomic import PART
from hopefear_papers import Lab
from hopefear_papers.setups import BASIC, main_setup, setup
from hopefear_papers.tasks import tasks


def test_a_model_is_built_once_and_said_to_be(tmp_path: Path) -> None:
    heard: list[Event] = []
    lab = Lab(tmp_path, size="tiny", jobs=2, run=Session(heard.append))
    first, second = (setup(lab, tasks(lab)[0], 4, 4) for _ in range(2))
    assert [event for event in heard if isinstance(event, Note)] == [Note(f"{first.task.name}: building a model")]
    assert first.key == second.key and len(first.dev) == 4
    given = setup(replace(lab, model=first.model.path), tasks(lab)[0], 4, 4)
    assert given.model.path == first.model.path


def test_other_references_are_another_task_to_the_cache(lab: Lab) -> None:
    on = main_setup(lab)
    turned = replace(on.test, raw=[column[::-1] for column in on.test.raw])
    assert replace(on, test=turned).key != on.key == replace(on, test=replace(on.test)).key


def test_what_a_killed_build_left_is_removed_when_the_model_is_opened(
    tmp_path: Path, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    on = main_setup(lab)
    lab = replace(lab, out=tmp_path, data=tmp_path / "data")
    shutil.copytree(on.task.files[0].parent, tmp_path / "data")
    made = setup(lab, tasks(lab)[0], 4, 4).model.path
    left = made.with_name(f".{made.name}.abcdefgh{PART}")
    left.mkdir()
    monkeypatch.setattr("hopefear.util.leftovers._SWEPT", set())  # as in another process
    assert setup(lab, tasks(lab)[0], 4, 4).model.path == made and not left.exists()


def test_the_first_of_a_list_is_the_translation(lab: Lab) -> None:
    on = main_setup(lab)
    start = on.initial()
    assert set(start) <= {*BASIC, "unknown", "identity"}
    lists = on.lists(on.dev, start, 5)
    message = on.translate(on.dev, start)
    assert [lists.text(i, 0) for i in range(len(lists))] == message
    assert lists.references(0) == [column[0] for column in on.dev.references]
    forests = on.forests(on.dev, start)
    assert forests.ids == lists.ids and not forests.is_lists


def test_rescored_lists_have_the_features_of_their_templates(lab: Lab) -> None:
    on = main_setup(lab)
    lists = on.lists(on.dev, on.initial(), 3, ("bigram",))
    assert any(name.startswith("bigram(") for name in lists.feature_names)
    # features without a weight do not change what is said, in one block or several
    assert on.translate(on.dev, on.initial(), ("bigram",)) == [lists.text(i, 0) for i in range(len(lists))]


def test_what_a_trial_keeps_of_the_test_part(lab: Lab) -> None:
    on = main_setup(lab)
    perfect = on.tested(on.test.references[0])
    assert perfect["test"] == pytest.approx(100.0) == on.score(on.test, perfect["hypotheses"])
    assert perfect["ratio"] == pytest.approx(1.0)
    half = on.tested([" ".join(line.split()[: len(line.split()) // 2]) for line in on.test.references[0]])
    assert half["ratio"] < 0.6 and half["test"] < 60
    assert np.array_equal(on.stats(on.test, perfect["hypotheses"]).sum(axis=0)[:4] > 0, [True] * 4)
