"""The papers' tables and figures as experiments: a module for each paper, a function for each table or figure.

A function is registered by :func:`~hopefear_papers.base.experiment` under the name that ``hopefear experiment``
takes; its docstring states the paper's claim. It gets a :class:`~hopefear_papers.base.Lab` with the data, the size and
the cache, and returns an :class:`~hopefear_papers.base.Outcome`: tables with the paper's numbers next to ours, and a
verdict on each claim.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from hopefear.util import lazy

if TYPE_CHECKING:
    from hopefear_papers.base import (
        EXPERIMENTS as EXPERIMENTS,
        Claim as Claim,
        Experiment as Experiment,
        Lab as Lab,
        Outcome as Outcome,
        Table as Table,
        experiment as experiment,
    )

_PUBLIC = dict.fromkeys(
    ("EXPERIMENTS", "Claim", "Experiment", "Lab", "Outcome", "Table", "experiment"), "hopefear_papers.base"
)

__all__ = [*_PUBLIC, "MODULES", "find", "load_all"]

__getattr__ = lazy.attributes(__name__, _PUBLIC)

#: One or more for each paper, PAPER or PAPER_TOPIC. Each registers its experiments when it is imported.
MODULES = (
    "chiang",
    "chiang_curves",
    "tan",
    "tan_text",
    "gimpel",
    "gimpel_text",
    "tillmann",
    "brown",
    "brown_ascent",
    "brown_text",
)


def load_all() -> dict[str, Experiment]:
    """All experiments by name, in the order of the modules."""
    for name in MODULES:
        importlib.import_module(f"hopefear_papers.{name}")
    from hopefear_papers.base import EXPERIMENTS

    return EXPERIMENTS


def find(name: str) -> Experiment:
    """An experiment by name."""
    from hopefear.errors import InputError

    known = load_all()
    if name not in known:
        raise InputError(f"there is no experiment {name!r}. There are: {', '.join(known)}")
    return known[name]
