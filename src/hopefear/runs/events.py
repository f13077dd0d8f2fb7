"""Typed events of long computations.

Trainers, loops and builds tell events; progress bars, ``log.jsonl``, notebooks and tests listen to the same ones::

    hf.Kbmira().fit(pool, run=hf.Session(print))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self


@dataclass(frozen=True)
class Event:
    """Something that happened. ``context`` says where: the replicate, the iteration of an outer loop."""

    name: ClassVar[str]
    logged: ClassVar[bool] = True  # in log.jsonl

    context: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    @property
    def log_name(self) -> str:
        """The name in ``log.jsonl``."""
        return self.name

    def within(self, **context: Any) -> Self:
        """The same event with more context, such as the replicate that it comes from."""
        return replace(self, context={**context, **self.context})

    def record(self) -> dict[str, Any]:
        """The event as ``log.jsonl`` has it, without time and name; mappings are flattened."""
        record = dict(self.context)
        for attribute in fields(self):
            value = getattr(self, attribute.name)
            if attribute.name == "figures":
                record |= value
            elif attribute.name != "context" and value is not None:
                record[attribute.name] = value
        return record

    def plain(self) -> dict[str, Any]:
        """For the wire; ``Event.restored`` is the way back."""
        values = {attribute.name: getattr(self, attribute.name) for attribute in fields(self)}
        return {"type": type(self).__name__, **values}

    @staticmethod
    def restored(plain: Mapping[str, Any]) -> Event:
        kinds = {kind.__name__: kind for kind in (Note, Warned, Progress, Epoch, Decoded, Setting, Truths)}
        event: Event = kinds[plain["type"]](**{name: value for name, value in plain.items() if name != "type"})
        return event


#: Hears every event. Returning ``False`` asks the trainer to stop; trainers do so after an epoch.
Listener = Callable[[Event], object]


@dataclass(frozen=True)
class Note(Event):
    """A message that is printed on one line."""

    name: ClassVar[str] = "note"
    logged: ClassVar[bool] = False
    text: str


@dataclass(frozen=True)
class Warned(Event):
    """A warning for the user, which the record of the run keeps."""

    name: ClassVar[str] = "warning"
    text: str


@dataclass(frozen=True)
class Progress(Event):
    """How far a piece of work has come: a bar on a terminal."""

    name: ClassVar[str] = "progress"
    logged: ClassVar[bool] = False
    label: str
    done: int | None = None  # None: one more
    total: int | None = None
    text: str = ""


@dataclass(frozen=True)
class Epoch(Event):
    """An epoch of a trainer ended: its number, the score of its weights, and other figures."""

    name: ClassVar[str] = "epoch"
    epoch: int
    score: float
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Decoded(Epoch):
    """A decoding of the outer loop: an epoch whose score is that of the decoder's own first translations."""

    name: ClassVar[str] = "decoded"


@dataclass(frozen=True)
class Setting(Event):
    """Coordinate ascent scored a setting of the decoder (evaluated), tuned the weights for it, or rolled them back."""

    name: ClassVar[str] = "setting"
    what: str
    epoch: int
    score: float
    params: Mapping[str, Any]

    @property
    def log_name(self) -> str:
        return self.what

    def record(self) -> dict[str, Any]:
        return {name: value for name, value in super().record().items() if name != "what"}


@dataclass(frozen=True)
class Truths(Event):
    """The block sequences of the highest BLEU were found."""

    name: ClassVar[str] = "truths"
    bleu: float
    sequences: int
