"""Trials of experiments as tasks of a Ray cluster.

``Lab.cached`` submits a function and gets an :class:`Awaited` result, which is waited for when it is read: so an
experiment submits its trials before it reads the first result. The worker writes its result to the cache, which all
machines share, so that results survive if the command is killed.
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
    """A result was read before it was computed, while trials are only submitted."""


class Awaited(Mapping[str, Any]):
    """A result that is being computed; reading it waits for it."""

    def __init__(self, wait: Callable[[], Result]) -> None:
        self._wait = wait

    def __getitem__(self, name: str) -> Any:
        return self._wait()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._wait())

    def __len__(self) -> int:
        return len(self._wait())


class Trials:
    """The submitted trials, by the names of their results."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths = [path.absolute() for path in paths]  # every machine must reach them
        self._waits = True  # or raises NotYetError
        self._places: dict[str, tuple[Any, Callable[[Result], object]]] = {}
        self._done: dict[str, Result] = {}

    def begin(
        self, name: str, compute: Callable[[], Result], keep: Callable[[Result], object], run: Session
    ) -> Awaited:
        """Submit a trial unless it was submitted before; ``keep`` is called with its result when it arrives."""
        if name not in self._places and name not in self._done:
            self._places[name] = cluster.begun(partial(_compute, self.paths), compute), keep
        return Awaited(partial(self._wait, name, run))

    @contextmanager
    def only_submitting(self) -> Iterator[None]:
        """Inside, reading a result that has not arrived raises :class:`NotYetError` instead of waiting."""
        self._waits = False
        try:
            yield
        finally:
            self._waits = True

    def _wait(self, name: str, run: Session) -> Result:
        """Keep all results that arrive until this one does."""
        update = run.progress("results of the cluster")
        while name not in self._done:
            if not self._waits:
                raise NotYetError
            names = {place: entry for entry, (place, _) in self._places.items()}
            update(len(self._done), len(self._done) + len(names), text=name)
            place, result = cluster.first_ended(list(names), run.warn)
            _, keep = self._places.pop(names[place])
            keep(result)
            self._done[names[place]] = result
        return self._done[name]


def _compute(paths: list[Path], unpacked: Callable[[], Callable[[], Result]]) -> Result:
    """Run a trial on a worker."""
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
