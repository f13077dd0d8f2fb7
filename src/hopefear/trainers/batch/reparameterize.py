"""What is learnt: features scaled, tied, frozen or bounded. One place for all trainers.

Scaling and ties change the features (``h'`` instead of ``h``), so that no trainer knows of them; bounds are lower and
upper limits of each weight, and a frozen weight is one whose limits are equal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.trainers.base import Vector, start_vector


class Options(Protocol):
    """The options of a trainer that matter here."""

    @property
    def scaling(self) -> str: ...
    @property
    def frozen(self) -> str: ...
    @property
    def bounds(self) -> str: ...
    @property
    def groups(self) -> str: ...


@dataclass(frozen=True)
class Parameters:
    """A pool over the features that are learnt, and the way back to the weights of the original features."""

    pool: Pool
    initial: Vector
    lower: Vector
    upper: Vector
    names: list[str]  # of the original features
    ids: NDArray[np.int32]  # original feature -> learnt feature
    factors: Vector  # and by what it is multiplied

    @classmethod
    def of(
        cls, options: Options, pool: Pool, sample: Pool, initial: Mapping[str, float] | None, start_at: float
    ) -> Parameters:
        """``sample``: lists over the same features that tell how much each varies (the pool itself, if it is lists)."""
        names = pool.feature_names
        original = np.full(len(names), start_at)
        if initial is not None:
            original = start_vector(names, initial)
        ids, learnt = _tied(options.groups, names)
        factors = _scales(options.scaling, sample, ids)
        if options.scaling == "none" and len(learnt) == len(names):
            changed = pool
        else:
            vocab = _core.Vocab()
            for name in learnt:
                vocab.add(name)
            dense_width = int(ids[: pool.dense_width].max() + 1) if pool.dense_width else 0
            changed = _core.reparameterized(pool, ids, factors, vocab, dense_width)
        start = _joined(original, ids, factors)
        lower, upper = _limits(options, names, original)
        lower, upper = _to_learnt(lower / factors, upper / factors, ids, len(learnt))
        return cls(changed, np.clip(start, lower, upper), lower, upper, names, ids, factors)

    def learnt(self, weights: Mapping[str, float]) -> Vector:
        """Weights of the original features, as those of the learnt ones."""
        return _joined(start_vector(self.names, weights), self.ids, self.factors)

    def weights(self, w: Vector) -> dict[str, float]:
        """Weights of the original features."""
        return dict(zip(self.names, (w[self.ids] * self.factors).tolist(), strict=True))


def _joined(original: Vector, ids: NDArray[np.int32], factors: Vector) -> Vector:
    """In learnt units; tied features have the mean of their weights."""
    return np.bincount(ids, weights=original / factors) / np.bincount(ids)


def _scales(scaling: str, pool: Pool, ids: NDArray[np.int32]) -> Vector:
    """By what each feature is multiplied; features that are tied to one weight have one factor."""
    if scaling == "none":
        return np.ones(len(pool.features))
    if scaling not in ("std", "dense"):
        raise InputError(f"scaling must be none, std or dense, not {scaling}")
    variance = _core.within_variance(pool)
    if scaling == "dense":
        variance[pool.dense_width :] = 0.0
    deviation = np.sqrt(np.bincount(ids, weights=variance) / np.bincount(ids))[ids]
    return np.where(deviation > 0, 1 / np.where(deviation > 0, deviation, 1), 1.0)


def _tied(groups: str, names: list[str]) -> tuple[NDArray[np.int32], list[str]]:
    """For each feature the id of the learnt one, and the learnt names: dense ones first."""
    label: dict[str, str] = {}
    for part in filter(None, groups.split(",")):
        group, _, members = part.partition("=")
        if not group or not members:
            raise InputError(f"groups takes name=feature+feature,..., not '{part}'")
        members_found = _matching(members.split("+"), names, "groups")
        if group in names and group not in members_found:
            raise InputError(f"groups: {group} is itself a feature. Rename the group, or list the feature in it")
        for name in members_found:
            if label.setdefault(name, group) != group:
                raise InputError(f"groups: {name} is in two groups, {label[name]} and {group}. Keep it in one of them")
    learnt: dict[str, int] = {}
    ids = np.empty(len(names), dtype=np.int32)
    for j, name in enumerate(names):
        key = label.get(name, name)
        ids[j] = learnt.setdefault(key, len(learnt))
    return ids, list(learnt)


def _matching(patterns: list[str], names: list[str], option: str) -> list[str]:
    indices = []
    for pattern in patterns:
        hits = [name for name in names if fnmatchcase(name, pattern.strip())]
        if not hits:
            raise InputError(f"{option}: there is no feature {pattern}. There are: {', '.join(names[:8])}")
        indices += hits
    return indices


def _limits(options: Options, names: list[str], original: Vector) -> tuple[Vector, Vector]:
    lower, upper = np.full(len(names), -math.inf), np.full(len(names), math.inf)
    index = {name: j for j, name in enumerate(names)}
    for part in filter(None, options.bounds.split(",")):
        fields = part.rsplit(":", 2)
        try:
            pattern, low, high = fields[0], float(fields[1]), float(fields[2])
        except (IndexError, ValueError):
            raise InputError(f"bounds takes feature:lower:upper,..., not '{part}'") from None
        if not low < high:
            raise InputError(f"bounds: the lower limit of {pattern} must be below the upper one")
        for name in _matching([pattern], names, "bounds"):
            lower[index[name]], upper[index[name]] = low, high
    for name in _matching([p for p in options.frozen.split(",") if p], names, "frozen"):
        lower[index[name]] = upper[index[name]] = original[index[name]]
    return lower, upper


def _to_learnt(lower: Vector, upper: Vector, ids: NDArray[np.int32], count: int) -> tuple[Vector, Vector]:
    """The narrowest limits of the members of each tie."""
    low, high = np.full(count, -math.inf), np.full(count, math.inf)
    np.maximum.at(low, ids, lower)
    np.minimum.at(high, ids, upper)
    if np.any(low > high):
        raise InputError("bounds: the limits of features that share a weight exclude each other")
    return low, high
