"""The fits of a run: one for each random seed, kept in its ``checkpoint/``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopefear.errors import InputError
from hopefear.runs import checkpoint

Scores = dict[str, dict[str, float]]  # part -> metric -> score


@dataclass(frozen=True)
class Replicate:
    """One fit."""

    seed: int
    weights: dict[str, float]
    scores: Scores
    history: list[Any]
    warnings: list[str]


def replicate_file(folder: Path, number: int) -> Path:
    """The file of a replicate; numbers begin at 0."""
    return folder / f"replicate-{number + 1}.json"


def kept_replicates(folder: Path) -> Iterator[Replicate]:
    """The replicates that were kept, in order, but for damaged ones: the record of the run has the result."""
    for file in sorted(folder.glob("replicate-*.json"), key=lambda file: (len(file.name), file.name)):
        try:
            yield Replicate(**checkpoint.load(file) or {})
        except (InputError, OSError, TypeError):
            continue
