"""The base class of trainers: options as fields, ``fit``, and a result.

A trainer is a frozen dataclass whose fields are its options, so that a default is written once: the constructor, the
command line (``--set``), ``hopefear trainers`` and ``run.json`` all read the fields. ``fit`` learns; nothing is
global::

    result = Kbmira(C=0.1).fit(pool)                        # from candidate lists, lattices or forests
    result = Arow(epochs=5).fit(Task(decoder, corpus, dev))  # while a decoder translates a corpus

What a trainer learns from is its ``learns_from``: candidates, which are there already, or a model, which makes them
again while it is trained. Online trainers take both. The same options, data and seed give the same weights, whatever
``jobs`` is.
"""

from __future__ import annotations

import dataclasses
import inspect
import numbers
import os
import textwrap
from abc import ABCMeta, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear._core import Pool
from hopefear.errors import ArgumentError, InputError, OptionError
from hopefear.formats.weights import read_weights, weight_vector
from hopefear.metrics import Metric
from hopefear.reranker import Reranker, Scoring
from hopefear.runs.session import Session
from hopefear.util.messages import listed, suggestion

#: Fields with options of their own on the command line.
ELSEWHERE = ("metric", "seed", "jobs", "learners")
Vector = NDArray[np.float64]
Places = NDArray[np.int32]


def option(
    default: Any, help: str, *, paper: Any = None, least: float | None = None, choices: Sequence[str] = ()
) -> Any:
    """A field with its help and the paper's value, which ``hopefear trainers`` prints, and its legal values."""
    return field(default=default, metadata={"help": help, "paper": paper, "least": least, "choices": choices})


@dataclass(frozen=True)
class Result(Scoring):
    """The result of training.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0", "data/ref.1", "data/ref.2"])
    >>> result = hf.Kbmira(passes=10).fit(pool, "data/initial.txt")
    >>> result.score > result.initial_score, len(result.history), result.weights["lm"] > 0
    (True, 10, True)
    """

    weights: Mapping[str, float]
    score: float  # of these weights: on development data if there was any, else on what was learnt from
    initial_score: float  # of the weights it began with, likewise
    history: list[dict[str, Any]]  # a record per epoch: epoch, score, ...
    seconds: float
    epoch: int | None = None  # the one these weights are from; 0: the initial ones were best
    initial: Mapping[str, float] = field(default_factory=dict)  # the weights it began with
    details: dict[str, Any] = field(default_factory=dict)  # figures of this trainer
    warnings: list[str] = field(default_factory=list)  # one line each
    file: Path | None = None  # where the weights lie, if they are too many to be kept in memory

    @property
    def reranker(self) -> Reranker:
        return Reranker(self.weights, about={"score": self.score, "initial_score": self.initial_score})

    def __repr__(self) -> str:
        return f"<Result: score {self.score:.4g}, {self.initial_score:.4g} before; {self.reranker.largest()}>"

    def _repr_html_(self) -> str:
        from hopefear.display import result_html

        return result_html(self)


#: What options of a type take, and what messages call it.
_KINDS = {"int": (numbers.Integral, "whole number"), "float": (numbers.Real, "number"), "str": (str, "text")}


class _Docs:
    """The docstring of a trainer, with its options from the fields: ``help(hf.Mert)`` prints them."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, instance: object, owner: type[Trainer]) -> str:
        if not dataclasses.is_dataclass(owner) or not hasattr(owner, "what"):
            return self.text
        first, _, example = inspect.cleandoc(self.text).partition("\n\n")
        lines = [first, "", f"{owner.what} ({owner.paper}).", "", *([example, ""] if example else []), "Options:", ""]
        for declared in fields(owner):
            default = "" if declared.default is MISSING else f" [{declared.default!r}]"
            paper = declared.metadata.get("paper")
            source = "" if paper is None else f"; the paper: {paper}"
            text = f"{declared.name}: {declared.metadata.get('help', '')}{default}{source}"
            lines += textwrap.wrap(text, 100, initial_indent="  ", subsequent_indent="      ")
        return "\n".join(lines)


def _default(declared: dataclasses.Field[Any]) -> Any:
    """The default of a field."""
    return declared.default_factory() if declared.default_factory is not MISSING else declared.default


class _ByName(ABCMeta):
    """Makes objects from options by name; an unknown name is an error that suggests the nearest one."""

    if not TYPE_CHECKING:  # the constructors have the types

        def __call__(cls, *given, **options):
            known = [declared.name for declared in fields(cls)] if dataclasses.is_dataclass(cls) else []
            if wrong := next((name for name in options if known and name not in known), None):
                raise ArgumentError(f"{cls.__name__}() has no option {wrong!r}.{suggestion(wrong, known)}")
            if given and known:
                own = next((name for name in known if name in vars(cls).get("__annotations__", {})), known[-1])
                raise ArgumentError(f"{cls.__name__}() takes options by name: {cls.__name__}({own}=...)")
            return super().__call__(*given, **options)

        @property
        def __signature__(cls):
            _, *parameters = inspect.signature(cls.__init__).parameters.values()
            return inspect.Signature(parameters)


@dataclass(frozen=True, kw_only=True)
class Trainer(metaclass=_ByName):
    """Subclasses add their options as fields, and ``fit``."""

    name: ClassVar[str]
    paper: ClassVar[str]
    what: ClassVar[str]  # the objective in a line, and how it is pursued
    learns_from: ClassVar[str]  # candidates or model: where the command line has it, tune or train
    spaces: ClassVar[tuple[str, ...]]
    family: ClassVar[str] = "model"  # how hopefear train runs it: candidates, online, blocks; or any other model

    seed: int = option(1, "random seed (--seed)", least=0)
    jobs: int = option(0, "threads, 0 for all cores; does not change the result (--jobs)", least=0)

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        cls.__repr__ = Trainer.__repr__  # type: ignore[method-assign]
        text = cls.__dict__.get("__doc__")
        if "name" in cls.__dict__ and isinstance(text, str):
            cls.__doc__ = _Docs(text)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        for declared in fields(self):
            least, value = declared.metadata.get("least"), getattr(self, declared.name)
            kind, word = _KINDS.get(str(declared.type), (object, ""))
            if not isinstance(value, kind):
                raise InputError(f"trainer {self.name}: {declared.name} is a {word}, not {value!r}")
            if least is not None and not value >= least:
                raise InputError(f"trainer {self.name}: {declared.name} must be at least {least:g}, not {value}")
            if (choices := declared.metadata.get("choices")) and value not in choices:
                raise OptionError(f"trainer {self.name}: {declared.name} must be {listed(choices, 'or')}, not {value}")

    def __repr__(self) -> str:
        changed = {declared.name: getattr(self, declared.name) for declared in fields(self) if declared.repr}
        defaults = {declared.name: _default(declared) for declared in fields(self)}
        options = [f"{name}={value!r}" for name, value in changed.items() if value != defaults[name]]
        return f"{type(self).__name__}({', '.join(options)})"

    @abstractmethod
    def fit(self, data: Any, initial: Mapping[str, float] | None = None, *, run: Session | None = None) -> Result:
        """Learn weights from data, from ``initial`` weights (features that they do not name start at 0).

        ``run`` gets the events. If it has a folder, an interrupted fit continues from there.
        """

    def options(self) -> dict[str, Any]:
        """The options as plain values, for records."""
        return {declared.name: getattr(self, declared.name) for declared in fields(self)}

    def described(self) -> dict[str, Any]:
        """The trainer as ``run.json`` has it. Threads and seeds are not part of it."""
        return {"name": self.name, "options": {k: v for k, v in self.options().items() if k not in ELSEWHERE}}


def weights_of(initial: Any) -> Mapping[str, float] | None:
    """Weights to start from as a mapping: they may be a file or a result as well."""
    initial = getattr(initial, "weights", initial)
    initial = read_weights(initial) if isinstance(initial, str | os.PathLike) else initial
    if initial is not None and not isinstance(initial, Mapping):
        raise InputError(f"initial weights are a mapping from names to numbers, not {type(initial).__name__}")
    for name, value in (initial or {}).items():
        if not isinstance(name, str) or isinstance(value, str) or not isinstance(value, SupportsFloat):
            raise InputError(f"initial weights map names to numbers, but {name!r} has {value!r}")
    return initial


def prepared(pool: Pool) -> tuple[Pool, Places | None]:
    """The candidates in canonical order, without duplicates, and the place of each in its list.

    A result therefore does not depend on the order of lines in a list, but where model scores are equal: then the
    first candidate of the list is the best one, as wherever weights are used. Refuses what nothing can be learnt from.
    """
    if len(pool) == 0:
        raise InputError("there are no sentences to learn from")
    if len(pool.features) == 0:
        raise InputError("the candidates have no features: there is nothing to learn")
    if not pool.is_lists:
        return pool, None
    merged, places = _core.canonical(pool)
    rows = merged.row_begin()
    if rows[-1] == 0 or int(np.diff(rows).max()) < 2:
        raise InputError("every sentence has one candidate only: there is nothing to learn. Make longer lists")
    return merged, places


def refuse_equal(pool: Pool, stats: Vector, metric: Metric) -> None:
    """Raise an InputError if all candidates of every sentence have the same statistics."""
    begin = pool.row_begin()
    for some in range(0, len(pool), 1000):  # not all at once: lists may be larger than memory
        part = begin[some : some + 1001]
        first = np.repeat(part[:-1], np.diff(part))
        if not bool((stats[part[0] : part[-1]] == stats[first]).all()):
            return
    raise InputError(
        f"all candidates of each sentence have the same {metric.name} score: there is nothing to "
        "learn. Are these the right references?"
    )


def start_vector(names: Sequence[str], initial: Mapping[str, float]) -> Vector:
    """Initial weights over these features; an InputError if they are not finite, or name none of the features."""
    w = weight_vector(initial, names)
    if not np.all(np.isfinite(w)):
        raise InputError("an initial weight is NaN or infinite")
    if initial and not any(name in initial for name in names):
        raise InputError(f"none of the initial weights names a feature of the candidates ({', '.join(names[:5])}, ...)")
    return w
