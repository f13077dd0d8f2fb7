"""The papers' tables and figures as experiments: a module for each paper, a function for each table or figure.

A function is registered by :func:`~hopefear.experiments.base.experiment` under the name that ``hopefear experiment``
takes; its docstring states the paper's claim. It gets a :class:`~hopefear.experiments.base.Lab`, which knows the data,
the size and the cache, and returns an :class:`~hopefear.experiments.base.Outcome`: tables with the paper's numbers
beside ours, and the claims with what became of them.
"""

from __future__ import annotations

import importlib

from hopefear.errors import InputError
from hopefear.experiments.base import EXPERIMENTS, Claim, Experiment, Lab, Outcome, Table, experiment

__all__ = ["EXPERIMENTS", "MODULES", "Claim", "Experiment", "Lab", "Outcome", "Table", "experiment", "find", "load_all"]

#: One for each paper. Each registers its experiments when it is imported.
MODULES = ("chiang", "tan", "gimpel", "tillmann", "brown")


def load_all() -> dict[str, Experiment]:
    """All experiments by name, in the order of the modules."""
    for name in MODULES:
        importlib.import_module(f"hopefear.experiments.{name}")
    return EXPERIMENTS


def find(name: str) -> Experiment:
    """An experiment by name."""
    known = load_all()
    if name not in known:
        raise InputError(f"there is no experiment {name!r}. There are: {', '.join(known)}")
    return known[name]
