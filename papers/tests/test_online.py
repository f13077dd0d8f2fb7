"""Trials of online training."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hopefear_papers import Lab
from hopefear_papers.online import curve, online_setup, trained


def test_what_is_learnt_from_and_what_chooses_the_epoch_do_not_meet(lab: Lab) -> None:
    on, learn, choose = online_setup(lab)
    assert len(learn) and len(choose) and len(learn) + len(choose) <= len(on.dev)
    assert on.dev.sources[: len(learn)] == learn.sources
    assert on.dev.sources[-len(choose) :] == choose.sources


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("kbmira", {"options": {"passes": 1}}),
        ("mira", {"parallel": "mix", "learners": 2}),
        ("arow", {"parallel": "async", "learners": 2}),
        ("minrisk", {"features": "large"}),
    ],
)
def test_a_trial(lab: Lab, name: str, settings: dict[str, object]) -> None:
    trial = trained(lab, name, 1, **settings)  # type: ignore[arg-type]
    assert [epoch for epoch, _ in trial["history"]] == [0, 1]
    assert dict(map(tuple, trial["history"]))[trial["epoch"]] == trial["dev"]  # type: ignore[arg-type]


def test_figures_share_trials_that_spell_their_options_differently(lab: Lab) -> None:
    seed = 77  # that no other test has
    before = _kept(lab)
    trained(lab, "mira", seed)
    (kept,) = _kept(lab) - before
    assert json.loads(kept.read_text())["key"]["options"]["eta"] == 0.01  # defaults are spelt out
    trained(lab, "mira", seed, options={"eta": 0.01, "mu": -1.0})
    assert _kept(lab) - before == {kept}
    trained(lab, "mira", seed, options={"eta": 0.02})
    assert len(_kept(lab) - before) == 2


def _kept(lab: Lab) -> set[Path]:
    return set((lab.out / "cache").glob("online-*.json"))


def test_a_curve_begins_after_the_first_epoch() -> None:
    line = curve("c", [{"history": [[0, 1.0], [1, 2.0]]}, {"history": [[0, 1.0], [1, 4.0]]}])
    assert (line.x, line.y) == ([1], [3.0]) and line.error == [pytest.approx(2**0.5)]
