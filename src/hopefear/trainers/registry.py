"""All trainers by name. A trainer is a class in this folder or one below, in a file with the name of the trainer.

Two names stand for two trainers each: ``minrisk`` and ``perceptron`` learn from candidates in one form, and online,
while a model translates, in another. ``tune`` takes the first, ``train`` the second. Packages add trainers through the
entry-point group ``hopefear.trainers``; ``module:Class`` names one that is not installed.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hopefear.errors import OptionError
from hopefear.trainers.base import ELSEWHERE, Trainer
from hopefear.trainers.batch.base import CandidateTrainer
from hopefear.util import plugins
from hopefear.util.messages import suggestion
from hopefear.util.values import value_of

GROUP = "hopefear.trainers"
HERE = Path(__file__).parent
FOLDERS = ("batch", "online", "blocks", ".")  # in the order of the list

TRAINERS: tuple[type[Trainer], ...]  # all of them, by __getattr__


def _built_in(name: str = "*") -> Iterator[type[Trainer]]:
    """Our trainers of this name, or all; only the modules that may have one are imported."""
    for folder in FOLDERS:
        for path in sorted((HERE / folder).glob(f"{name}.py")):
            if path.stem == "__init__":
                continue
            module = importlib.import_module(".".join((__package__, *path.relative_to(HERE).with_suffix("").parts)))
            for kind in vars(module).values():
                if _is_trainer(kind) and kind.__module__ == module.__name__ and kind.name == path.stem:
                    yield kind


def _is_trainer(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Trainer) and "name" in vars(kind)


def _named(name: str) -> list[type[Trainer]]:
    """The trainers of a name, ours or those of other packages."""
    if plugins.is_path(name):
        return [plugins.load_path(name, Trainer, "--trainer")]
    own = list(_built_in(name.lower())) if name.isidentifier() else []
    return own or ([plugins.load(GROUP, name, Trainer)] if name in plugins.entry_points(GROUP) else [])


def _all() -> tuple[type[Trainer], ...]:
    return (*_built_in(), *(plugins.load(GROUP, name, Trainer) for name in plugins.entry_points(GROUP)))


def __getattr__(name: str) -> Any:
    if name == "TRAINERS":
        return tuple(_built_in())
    raise AttributeError(f"module 'hopefear.trainers.registry' has no attribute {name!r}")


def by_name() -> dict[str, list[type[Trainer]]]:
    """The trainers of each name: for candidates first, then for models."""
    trainers: dict[str, list[type[Trainer]]] = {}
    for each in _all():
        trainers.setdefault(each.name, []).append(each)
    return trainers


def find(name: str, learns_from: str | None = None) -> type[Trainer]:
    """The trainer of this name for candidates or for a model; if it is for one only, and either will do, that one."""
    known = _named(name)
    if not known:
        mine = [kind.name for kind in _all() if learns_from in (None, kind.learns_from)]
        names = ", ".join(dict.fromkeys(mine))
        raise OptionError(f"there is no trainer {name!r}.{suggestion(name, mine)} There are: {names}.")
    fitting = [kind for kind in known if learns_from in (None, kind.learns_from)]
    if not fitting:
        raise OptionError(f"{name} learns while a model translates. Use: hopefear train MODEL --trainer {name}")
    return fitting[-1]


def find_batch(trainer: str | type[Trainer] | Trainer) -> type[CandidateTrainer]:
    """The trainer of this name that learns from candidates; a class, or the class of an object, stands for itself."""
    if isinstance(trainer, Trainer):
        trainer = type(trainer)
    kind = find(trainer, "candidates") if isinstance(trainer, str) else trainer
    if not (isinstance(kind, type) and issubclass(kind, CandidateTrainer)):
        raise OptionError(f"{trainer!r} is not a trainer that learns from candidates. Derive it from BatchTrainer.")
    return kind


def own_options(trainer: object) -> dict[str, Any]:
    """The options that a trainer was made with, by the names that ``--set`` takes; of a name or a class none."""
    return {name: getattr(trainer, name) for name in settable(type(trainer))} if isinstance(trainer, Trainer) else {}


def settable(trainer: type[Trainer]) -> dict[str, dataclasses.Field[Any]]:
    """The options that ``--set`` takes, the trainer's own first."""
    fields = [declared for declared in dataclasses.fields(trainer) if declared.name not in ELSEWHERE]
    own = set(vars(trainer).get("__annotations__", {}))
    return {declared.name: declared for declared in sorted(fields, key=lambda declared: declared.name not in own)}


def options_from(trainer: type[Trainer], given: Mapping[str, Any] | Sequence[str]) -> dict[str, Any]:
    """Options of a trainer: a mapping, or ``name=value`` texts, in the types of the fields."""
    known = settable(trainer)
    pairs = list(given.items() if isinstance(given, Mapping) else map(_pair, given))
    values: dict[str, Any] = {}
    for at, (key, value) in enumerate(pairs):
        name = key.strip().replace("-", "_")
        setting = f"--set {key}" if value is None else f"--set {key}={value}"
        if name in ELSEWHERE:
            raise OptionError(f"{setting}: use --{name}.")
        if value is None:
            after = [text for text, value in pairs[at + 1 : at + 2] if value is None]
            meant = f" Did you mean --set {key}={after[0]}?" if after and name in known else suggestion(name, known)
            raise OptionError(f"{setting}: write --set name=value.{meant}")
        if name not in known:
            cure = suggestion(name, known) or f" See: hopefear trainers {trainer.name}."
            raise OptionError(f"{setting}: {trainer.name} has no option {name!r}.{cure}")
        values[name] = (
            value_of(value.strip(), known[name].default, f"--set {name}") if isinstance(value, str) else value
        )
    return values


def _pair(text: str) -> tuple[str, str | None]:
    name, equals, value = text.partition("=")
    return name, value if equals else None
