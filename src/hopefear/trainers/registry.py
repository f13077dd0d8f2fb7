"""All trainers by name. A new trainer is one line here: the command line, records and contract tests follow from it.

Two names stand for two trainers each: ``minrisk`` and ``perceptron`` learn from candidates in one form, and online,
while a model translates, in another. ``tune`` takes the first, ``train`` the second.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from hopefear.errors import OptionError
from hopefear.trainers.base import Trainer
from hopefear.trainers.batch.base import BatchTrainer
from hopefear.util.values import value_of
from hopefear.util.words import one_of

#: Name, module and class of every trainer. They are imported when they are asked for: a command uses one of them.
PLACES = (
    ("mert", "batch.mert", "Mert"),
    ("pro", "batch.pro", "Pro"),
    ("kbmira", "batch.kbmira", "Kbmira"),
    ("cmira", "batch.cmira", "Cmira"),
    ("rampion", "batch.rampion", "Rampion"),
    ("minrisk", "batch.minrisk", "Minrisk"),
    ("logloss", "batch.logloss", "Logloss"),
    ("perceptron", "batch.perceptron", "Perceptron"),
    ("pa", "batch.pa", "Pa"),
    ("sgd", "online.sgd", "Sgd"),
    ("mira", "online.mira", "Mira"),
    ("arow", "online.arow", "Arow"),
    ("minrisk", "online.minrisk", "OnlineMinrisk"),
    ("perceptron", "online.perceptron", "OnlinePerceptron"),
    ("costmargin", "blocks.costmargin", "Costmargin"),
)

TRAINERS: tuple[type[Trainer], ...]  # all of them, by __getattr__

#: Fields with options of their own on the command line.
ELSEWHERE = ("metric", "seed", "jobs", "learners")


def _named(*names: str) -> tuple[type[Trainer], ...]:
    """The trainers of these names, in the order above; without names, all."""
    modules = ((f"hopefear.trainers.{place}", kind) for name, place, kind in PLACES if not names or name in names)
    return tuple(getattr(importlib.import_module(module), kind) for module, kind in modules)


def __getattr__(name: str) -> Any:
    if name == "TRAINERS":
        return _named()
    raise AttributeError(f"module 'hopefear.trainers.registry' has no attribute {name!r}")


def by_name() -> dict[str, list[type[Trainer]]]:
    """The trainers of each name: for candidates first, then for models."""
    found: dict[str, list[type[Trainer]]] = {}
    for each in _named():
        found.setdefault(each.name, []).append(each)
    return found


def find(name: str, learns_from: str | None = None) -> type[Trainer]:
    """The trainer of this name for candidates or for a model; if it is for one only, and either will do, that one."""
    known = _named(name)
    if not known:
        mine = [each.name for each in _named() if learns_from in (None, each.learns_from)]
        names = ", ".join(dict.fromkeys(mine))
        raise OptionError(f"there is no trainer {name!r}.{one_of(name, mine)} There are: {names}.")
    fitting = [each for each in known if learns_from in (None, each.learns_from)]
    if not fitting:
        raise OptionError(f"{name} learns while a model translates. Use: hopefear train MODEL --trainer {name}")
    return fitting[-1]


def find_batch(name: str) -> type[BatchTrainer]:
    """The trainer of this name that learns from candidates."""
    found = find(name, "candidates")
    assert issubclass(found, BatchTrainer)
    return found


def settable(trainer: type[Trainer]) -> dict[str, dataclasses.Field[Any]]:
    """The options that ``--set`` takes, the trainer's own first."""
    fields = [each for each in dataclasses.fields(trainer) if each.name not in ELSEWHERE]
    own = set(vars(trainer).get("__annotations__", {}))
    return {each.name: each for each in sorted(fields, key=lambda each: each.name not in own)}


def options_from(trainer: type[Trainer], given: Mapping[str, Any] | Sequence[str]) -> dict[str, Any]:
    """Options of a trainer: a mapping, or ``name=value`` texts, in the types of the fields."""
    known = settable(trainer)
    pairs = list(given.items() if isinstance(given, Mapping) else map(_pair, given))
    found: dict[str, Any] = {}
    for at, (key, value) in enumerate(pairs):
        name = key.strip().replace("-", "_")
        shown = f"--set {key}" if value is None else f"--set {key}={value}"
        if name in ELSEWHERE:
            raise OptionError(f"{shown}: use --{name}.")
        if value is None:
            after = [text for text, value in pairs[at + 1 : at + 2] if value is None]
            meant = f" Did you mean --set {key}={after[0]}?" if after and name in known else one_of(name, known)
            raise OptionError(f"{shown}: write --set name=value.{meant}")
        if name not in known:
            cure = one_of(name, known) or f" See: hopefear trainers {trainer.name}."
            raise OptionError(f"{shown}: {trainer.name} has no option {name!r}.{cure}")
        found[name] = value_of(value.strip(), known[name].default, f"--set {name}") if isinstance(value, str) else value
    return found


def _pair(text: str) -> tuple[str, str | None]:
    name, equals, value = text.partition("=")
    return name, value if equals else None
