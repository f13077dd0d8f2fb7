"""Trackers of runs: ``--track mlflow``, ``--track wandb``, or a class of another package.

A tracker gets the same events as the progress bar and ``log.jsonl``. Packages add trackers through the entry-point
group ``hopefear.trackers``; ``module:Class`` names one that is not installed. A tracker that fails is dropped with a
warning: a run does not end because a server cannot be reached.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from hopefear.errors import InputError, OptionError
from hopefear.runs.events import Epoch, Event
from hopefear.runs.record import RunRecord
from hopefear.util import plugins
from hopefear.util.messages import suggestion
from hopefear.util.values import package

GROUP = "hopefear.trackers"
TRACKERS = {"mlflow": "hopefear.runs.mlflow:Mlflow", "wandb": "hopefear.runs.wandb:Wandb"}
KEPT = ("weights.txt", "run.json")  # files of a run that trackers store


class Tracker(ABC):
    """Told when a run begins, of each epoch, and when it ends. Subclasses write it down."""

    name: ClassVar[str]

    @abstractmethod
    def begin(self, title: str, settings: Mapping[str, Any]) -> None:
        """A run of this title begins; settings are everything that decides its result, flat."""

    @abstractmethod
    def scores(self, epoch: int, scores: Mapping[str, float]) -> None:
        """The scores of an epoch."""

    @abstractmethod
    def end(self, scores: Mapping[str, float], files: Sequence[Path], done: bool) -> None:
        """The run ends, with these final scores and files; ``done``: it came to its end."""


class Tracking:
    """The trackers of one run."""

    def __init__(self, trackers: Sequence[Tracker], record: RunRecord, path: Path) -> None:
        self.trackers, self.record, self.path = list(trackers), record, path
        self.warnings: list[str] = []
        settings = {name: str(value) for name, value in flat(record.settings)} | {"kind": record.kind}
        self._each("begin", path.name, settings)

    def hear(self, event: Event) -> None:
        """Epochs are written down; where several run side by side, under their context."""
        if isinstance(event, Epoch):
            where = "/".join(f"{name}-{value}" for name, value in event.context.items())
            values = {"score": event.score, **{k: v for k, v in event.figures.items() if _is_number(v)}}
            self._each("scores", event.epoch, {f"{where}/{k}" if where else k: float(v) for k, v in values.items()})

    def end(self) -> None:
        scores = {name: float(value) for name, value in flat(self.record.final) if _is_number(value)}
        files = [self.path / name for name in KEPT if (self.path / name).exists()]
        self._each("end", scores, files, self.record.finished_well)
        self.trackers = []

    def _each(self, what: str, *arguments: Any) -> None:
        for tracker in list(self.trackers):
            try:
                getattr(tracker, what)(*arguments)
            except InputError:
                raise
            except Exception as error:  # whatever a foreign service does
                self.trackers.remove(tracker)
                self.warnings.append(f"--track {tracker.name}: {_error_text(error)}. The run continues without it")


def tracker(given: Any) -> Tracker:
    """The tracker of a name; an object stands for itself."""
    if isinstance(given, Tracker):
        return given
    name = str(given)
    if name in TRACKERS or plugins.is_path(name):
        kind = plugins.load_path(TRACKERS.get(name, name), Tracker, "--track")
    elif name in plugins.entry_points(GROUP):
        kind = plugins.load(GROUP, name, Tracker)
    else:
        known = [*TRACKERS, *plugins.entry_points(GROUP)]
        raise OptionError(
            f"--track {name}: there is no such tracker.{suggestion(name, known)} There are: {', '.join(known)}."
        )
    try:
        made: Tracker = kind()
    except InputError:
        raise
    except Exception as error:  # whatever a foreign service does
        raise InputError(f"--track {name}: {_error_text(error)}. Fix its settings, or leave it out") from None
    return made


def needed(module: str) -> Any:
    """A module that a tracker needs, or an error that says how to get it."""
    return package(module, f"--track {module} needs its package", f"'hopefear[{module}]'")


def _error_text(error: Exception) -> str:
    """An error of a tracker, on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200].rstrip(".")


def flat(value: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Nested mappings, and lists of what has a name, as names with slashes: ``dev/bleu``."""
    if isinstance(value, list) and value and all(isinstance(item, Mapping) and "name" in item for item in value):
        value = {item["name"]: item for item in value}
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from flat(inner, f"{before}/{name}" if before else str(name))
    else:
        yield before, value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
