"""The state of learners as arrays: for checkpoints and for the wire. No pickle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear.errors import InputError
from hopefear.runs import checkpoint
from hopefear.trainers.base import Vector


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The state of a learner."""

    w: Vector
    u: Vector  # for the average
    sigma: Vector  # AROW's variances
    document: Vector  # the oracle document
    t: int
    inbox: Sequence[bytes] = field(default_factory=list)  # working sets of other learners, not yet used

    @classmethod
    def of(cls, learner: _core.Learner) -> Snapshot:
        return cls(*learner.state())

    def into(self, learner: _core.Learner) -> None:
        learner.restore(self.w, self.u, self.sigma, self.document, self.t, self.inbox)

    def newcomer(self) -> Snapshot:
        """The same state with an empty average: the start of a replaced learner."""
        return Snapshot(self.w, np.zeros_like(self.u), self.sigma, self.document, 0)

    def total(self) -> tuple[Vector, int]:
        """The sum of the weights after each example, and how many these were."""
        return self.t * self.w - self.u, self.t

    def pack(self) -> tuple[dict[str, Any], list[bytes]]:
        """For the wire: a header and pieces of bytes."""
        arrays = [array.tobytes() for array in (self.w, self.u, self.sigma, self.document)]
        return {"t": self.t}, [*arrays, *self.inbox]

    @classmethod
    def unpack(cls, header: Mapping[str, Any], pieces: Sequence[bytes]) -> Snapshot:
        w, u, sigma, document = (np.frombuffer(piece, np.float64) for piece in pieces[:4])
        return cls(w, u, sigma, document, header["t"], pieces[4:])


def save(path: Path, about: Mapping[str, Any], learners: Sequence[Snapshot], arrays: Mapping[str, Vector]) -> None:
    """A checkpoint of all learners in one file."""
    held: dict[str, NDArray[Any]] = {}
    for k, learner in enumerate(learners):
        held |= {f"{k}.{name}": getattr(learner, name) for name in ("w", "u", "sigma", "document")}
        held[f"{k}.t"] = np.array(learner.t)
        held[f"{k}.inbox"] = np.frombuffer(b"".join(learner.inbox), np.uint8)
        held[f"{k}.lengths"] = np.array([len(message) for message in learner.inbox], np.int64)
    held |= {f"array.{name}": array for name, array in arrays.items()}
    held["learners"] = np.array(len(learners))
    checkpoint.save_arrays(path, about, held)


def load(path: Path) -> tuple[dict[str, Any], list[Snapshot], dict[str, Vector]] | None:
    """The saved state, or None."""
    state = checkpoint.load_arrays(path)
    if state is None:
        return None
    about, held = state
    try:
        learners = []
        for k in range(int(held["learners"])):
            joined, at, inbox = held[f"{k}.inbox"].tobytes(), 0, []
            for length in held[f"{k}.lengths"].tolist():
                inbox.append(joined[at : at + length])
                at += length
            w, u, sigma, document = (held[f"{k}.{name}"] for name in ("w", "u", "sigma", "document"))
            learners.append(Snapshot(w, u, sigma, document, int(held[f"{k}.t"]), inbox))
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(f"{path}: not a checkpoint of learners ({error}). {checkpoint.CURE}") from None
    return about, learners, {name[6:]: array for name, array in held.items() if name.startswith("array.")}
