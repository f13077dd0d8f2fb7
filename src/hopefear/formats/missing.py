"""Missing scores: one policy for lists, tables, and weights of features that no candidate has.

A score that a candidate lacks must not count as 0 unasked: 0 is better than any log probability. So it is an error
(``error``), unless ``zero`` makes it 0 or what the other candidates of its sentence or group have on average
(``mean``). Tables can also leave the candidate out (``drop``) or add a feature that says so (``indicator``).

In lists, features may be sparse: a candidate that does not name one has 0, and nothing is missing. Which features are
scores is decided in the core (``core/formats/missing.h``) for formats in which any feature may be left out; in those of
other programs, which write each score of each candidate, it is known. A score that no candidate of a sentence has
tells none of them from another, and is 0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Pool
from hopefear.errors import InputError, input_error
from hopefear.formats.lattices import with_features
from hopefear.formats.weights import ManyWeights
from hopefear.util.files import PathLike, path_name
from hopefear.util.messages import plural, some

LIST_POLICIES = ("error", "zero", "mean")
TABLE_POLICIES = (*LIST_POLICIES, "drop", "indicator")
_SCORES = ("score", "logprob", "rank", "sequence", "cumulative", "pred", "avg", "confidence")  # names begin so

Numbers = NDArray[np.float64]


def check_policy(missing: str, known: Sequence[str] = LIST_POLICIES) -> str:
    """The policy, if it is one."""
    if missing not in known:
        raise InputError(f"missing is {missing!r}. Choose one of {', '.join(known)}")
    return missing


def complete(sentence: Any, missing: str, name: str) -> None:
    """Give the candidates of a sentence (``foreign.Listed``) the scores that they lack and others have."""
    candidates = sentence.candidates
    names = dict.fromkeys(
        feature
        for candidate in candidates
        for feature in candidate.features
        if feature.startswith(_SCORES) or feature in sentence.scores
    )
    for feature in names:
        values = [candidate.features[feature] for candidate in candidates if feature in candidate.features]
        if len(values) == len(candidates):
            continue
        if missing == "error":
            position = next(k for k, candidate in enumerate(candidates, 1) if feature not in candidate.features)
            finding = f"candidate {position} of sentence {str(sentence.id)!r} has no {feature!r}"
            finding += f", which {len(values)} of its {len(candidates)} candidates have"
            cure = "Was the file cut off? Complete it, or set --missing mean, or zero if that is what it means"
            raise input_error(name, None, f"{finding}. {cure}")
        value = sum(values) / len(values) if missing == "mean" else 0.0
        for candidate in candidates:
            candidate.features.setdefault(feature, value)


def filled(values: Numbers, group: NDArray[np.int64], missing: str, otherwise: float = 0.0) -> Numbers:
    """A column of a table without gaps (NaN): 0, or for ``mean`` that of the row's group, ``otherwise`` without one.

    ``group`` has the number of the group of each row.
    """
    gone = np.isnan(values)
    if missing != "mean" or not gone.any():
        return np.where(gone, 0.0, values)
    count = int(group.max()) + 1
    counts = np.bincount(group, ~gone, count)
    sums = np.bincount(group, np.where(gone, 0.0, values), count)
    means = np.divide(sums, counts, out=np.full(count, otherwise), where=counts > 0)
    return np.where(gone, means[group], values)


def alike(pools: Sequence[Pool], files: Sequence[PathLike], missing: str) -> list[Pool]:
    """Lists of the same sentences, before they are merged: a score that one lacks wholly is missing in it."""
    scores = [_scores(pool) for pool in pools]
    all_scores = dict.fromkeys(name for own in scores for name in own)
    completed = []
    for pool, file in zip(pools, files, strict=True):
        absent = [name for name in all_scores if name not in set(pool.feature_names)]
        if absent and missing == "error":
            owner = next(k for k, own in enumerate(scores) if absent[0] in own)
            finding = f"has no feature {absent[0]!r}, and {path_name(files[owner])} has"
            cure = "Give lists with the same scores, or set --missing mean, or zero if that is what it means"
            raise input_error(path_name(file), None, f"{finding}. {cure}")
        if absent and missing == "mean":
            pool = _with_means(pool, absent, pools)
        completed.append(pool)
    return completed


def _scores(pool: Pool) -> list[str]:
    """The features that nearly all candidates have, and whose values are mostly not whole numbers, or 0 at times."""
    names = pool.feature_names[: pool.dense_width]
    if not names or not len(pool):
        return []
    dense = np.concatenate([forest.dense for forest in pool[:64]])
    return [
        name
        for name, column in zip(names, dense.T, strict=True)
        if 2 * np.count_nonzero(column != np.floor(column)) >= len(column)
    ]


def _with_means(pool: Pool, names: Sequence[str], others: Sequence[Pool]) -> Pool:
    """The pool with columns that it lacks: for each sentence, the mean over the lists that have them."""
    columns = []
    for name in names:
        owners = [owner for owner in others if name in owner.feature_names[: owner.dense_width]]
        places = [owner.feature_names.index(name) for owner in owners]
        means = [
            np.mean(np.concatenate([owner[i].dense[:, k] for owner, k in zip(owners, places, strict=True)]))
            for i in range(len(pool))
        ]
        columns.append(np.repeat(means, np.diff(pool.edge_offsets())))
    return with_features(pool, names, np.column_stack(columns))


def check_weights(
    path: PathLike,
    weights: Mapping[str, float],
    names: Collection[str],
    missing: str = "error",
    *,
    sparse: Iterable[str] = (),
    whose: str = "the list",
    or_else: str = ", or set --missing zero",
) -> str | None:
    """Weights for features that no candidate has: an error that names them, or with another policy a warning.

    Sparse features come and go: a weight is not missed if one of the ``sparse`` features that are there has the same
    name up to a bracket, an underscore or the like, as ``bigram(the,house)`` has ``bigram``. Nor is a weight of 0.
    """
    if isinstance(weights, ManyWeights):
        return None
    known, kinds = set(names), {_kind(name) for name in sparse}
    strangers = [name for name, value in weights.items() if name not in known]
    missed = [name for name in strangers if weights[name] and _kind(name) not in kinds]
    does = "does not have" if whose in ("the list", "the table") else "do not have"
    finding = f"{plural(len(missed), 'weight')} for features that {whose} {does}: {some(missed)}"
    if missed and missing == "error":
        cure = f"Use the weights of {whose}{or_else}"
        raise input_error(path_name(path), None, f"{finding}. {cure}")
    if not strangers:
        return None
    return f"{path_name(path)}: {plural(len(strangers), 'weight')} for features that {whose} {does}: {some(strangers)}"


def _kind(name: str) -> str:
    """The common part of the names of sparse features of one template."""
    for k, character in enumerate(name):
        if k and not (character.isalnum() or character in "-."):
            return name[:k]
    return name
