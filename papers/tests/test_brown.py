"""The experiments of this paper."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hopefear as hf
from hopefear.data.lists import Synthetic
from hopefear_papers import Lab
from hopefear_papers.brown import UNUSED, _mass, unused_features
from papers.tests import tiny


@pytest.mark.parametrize("name", tiny.names("brown"))
def test_tiny(name: str, lab: Lab) -> None:
    tiny.check(name, lab)


def test_unused_features_change_nothing_else(tmp_path: Path) -> None:
    files = Synthetic(sentences=4, candidates=300, dense=3).write(tmp_path)
    pool = hf.read_nbest(files["nbest"], [files["ref.0"], files["ref.1"]])
    wide = unused_features(pool)
    assert wide.feature_names == [*pool.feature_names, *UNUSED] and wide.ids == pool.ids
    w = np.array([1.0, -0.5, 2.0])
    best, again = pool.kbest(w, 1), wide.kbest(np.append(w, np.zeros(len(UNUSED))), 1)
    assert [again.text(i, 0) for i in range(4)] == [best.text(i, 0) for i in range(4)]
    assert [wide.references(i) for i in range(4)] == [pool.references(i) for i in range(4)]
    values = np.vstack([wide[i].dense[:, 3:] for i in range(4)])
    assert set(values.ravel()) == {1.0, 0.999999}
    assert np.mean(values < 1) == pytest.approx(0.01, abs=0.005)


def test_mass_is_the_share_of_the_largest() -> None:
    assert _mass({"a": -3.0, "b": 1.0}) == (0.75, "a")
