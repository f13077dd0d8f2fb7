"""The results of experiments, each computed by a task of a Ray cluster.

``Lab.cached`` hands over what computes a result and gets an :class:`Awaited`, so an experiment begins all its trials
before it looks at the first. The worker keeps its result in the cache, which all machines share, before it says that
it has one: so what was computed is there even if the command is killed before it looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from hopefear.errors import input_error
from hopefear.runs.session import Session
from hopefear.util import cluster
from hopefear.util.values import plain

Result = Mapping[str, Any]


class NotYetError(Exception):
    """Of a result that is looked at while work is only begun."""


class Awaited(Mapping[str, Any]):
    """A result that is under way."""

    def __init__(self, wait: Callable[[], Result]) -> None:
        self._wait = wait

    def __getitem__(self, name: str) -> Any:
        return self._wait()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._wait())

    def __len__(self) -> int:
        return len(self._wait())


class Trials:
    """What is under way on the cluster that was joined, by the names of the results."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths = [path.absolute() for path in paths]  # that every machine must reach
        self.waits = True  # or raises NotYetError
        self._places: dict[str, tuple[Any, Callable[[Result], object]]] = {}
        self._done: dict[str, Result] = {}

    def begin(
        self, name: str, compute: Callable[[], Result], keep: Callable[[Result], object], run: Session
    ) -> Awaited:
        """Begin a result if it is not under way; ``keep`` is called with it when it is looked for and comes."""
        if name not in self._places and name not in self._done:
            self._places[name] = cluster.begun(partial(_compute, self.paths), compute), keep
        return Awaited(partial(self._wait, name, run))

    def _wait(self, name: str, run: Session) -> Result:
        """Keep all results that come until this one is there."""
        update = run.progress("results of the cluster")
        while name not in self._done:
            if not self.waits:
                raise NotYetError
            names = {place: entry for entry, (place, _) in self._places.items()}
            update(len(self._done), len(self._done) + len(names), text=name)
            place, result = cluster.first_ended(list(names), run.warn)
            _, keep = self._places.pop(names[place])
            keep(result)
            self._done[names[place]] = result
        return self._done[name]


def _compute(paths: list[Path], unpacked: Callable[[], Callable[[], Result]]) -> Result:
    """On a worker."""
    for path in paths:
        if not path.exists():
            finding = "is not there, but every machine of a cluster must reach --out, --data and --model by one path"
            raise input_error(path, None, f"{finding}. Put it on a disk that all share")
    result: Result = plain(unpacked()())
    return result


@contextmanager
def trials(address: str, paths: list[Path]) -> Iterator[Trials]:
    """Join a cluster for the trials of experiments."""
    with cluster.joined(address):
        yield Trials(paths)
