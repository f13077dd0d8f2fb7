"""The state of learners: on disk and on the wire."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hopefear.errors import InputError
from hopefear.runs import checkpoint
from hopefear.runs.session import Session
from hopefear.trainers.online import states
from hopefear.trainers.online.mira import Mira
from hopefear.trainers.online.states import Snapshot
from tests.trainers.pools import synthetic_pool


def snapshot(seed: int) -> Snapshot:
    rng = np.random.default_rng(seed)
    w, u, sigma, document = (rng.normal(size=n) for n in (3, 3, 3, 9))
    return Snapshot(w, u, sigma, document, seed, [b"", b"ab\0c"][:seed])


def same(first: Snapshot, other: Snapshot) -> bool:
    arrays = all(getattr(first, name).tobytes() == getattr(other, name).tobytes() for name in ("w", "u", "sigma"))
    return (
        arrays
        and first.document.tobytes() == other.document.tobytes()
        and (first.t, first.inbox) == (other.t, other.inbox)
    )


def test_states_are_read_as_they_were_saved(tmp_path: Path) -> None:
    learners, about = [snapshot(0), snapshot(2)], {"epoch": 3, "history": [{"score": 0.1 + 0.2}]}
    states.save(tmp_path / "learners.npz", about, learners, {"best": np.arange(3.0)})
    states_read = states.load(tmp_path / "learners.npz")
    assert states_read is not None
    assert states_read[0] == about
    assert all(same(first, other) for first, other in zip(states_read[1], learners, strict=True))
    assert {name: array.tolist() for name, array in states_read[2].items()} == {"best": [0.0, 1.0, 2.0]}
    assert states.load(tmp_path / "none") is None


def test_states_survive_the_wire() -> None:
    assert same(Snapshot.unpack(*snapshot(2).pack()), snapshot(2))


def test_a_newcomer_knows_the_weights_and_counts_from_zero() -> None:
    one = snapshot(2).newcomer()
    assert (one.w.tolist(), one.t, one.inbox, one.u.tolist()) == (snapshot(2).w.tolist(), 0, [], [0.0] * 3)


@pytest.mark.parametrize("damage", [b"", b"no checkpoint", None])
def test_a_damaged_checkpoint_is_an_error(tmp_path: Path, damage: bytes | None) -> None:
    path, pool = tmp_path / "learners.npz", synthetic_pool(sentences=4)
    Mira(epochs=1).fit(pool, run=Session(folder=tmp_path))
    path.write_bytes(path.read_bytes()[:-200] if damage is None else damage)
    with pytest.raises(InputError, match=r"not a checkpoint .* start again with --overwrite"):
        Mira(epochs=1).fit(pool, run=Session(folder=tmp_path))


def test_a_checkpoint_of_another_kind_is_an_error(tmp_path: Path) -> None:
    checkpoint.save_arrays(tmp_path / "learners.npz", {"epoch": 1}, {"learners": np.array(1)})
    with pytest.raises(InputError, match=r"not a checkpoint of learners .* start again with --overwrite"):
        Mira(epochs=1).fit(synthetic_pool(sentences=4), run=Session(folder=tmp_path))
