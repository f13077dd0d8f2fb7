"""The context of a long computation: a listener for its events, and a folder for its checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hopefear.runs.events import Epoch, Event, Listener, Note, Progress, Warned


@dataclass(frozen=True)
class Session:
    """The ``run`` of ``Trainer.fit`` and of everything else that takes long.

    ``listen`` gets every event (:mod:`hopefear.runs.events`). With a ``folder``, work leaves checkpoints there, and
    work that finds its own checkpoints there continues from them and ends with the same bits.

    >>> pool = hf.read_nbest("data/nbest.txt", references=["data/ref.0"])
    >>> result = hf.Kbmira(passes=3).fit(pool, run=hf.Session(lambda event: print(event.name)))
    epoch
    epoch
    epoch
    """

    listen: Listener = lambda event: None
    folder: Path | None = None
    checkpoint_every: float = 30.0  #: seconds between two checkpoints, where work is long enough
    command: Sequence[str] = ()  #: as it was typed, for the record of a run

    def tell(self, event: Event) -> bool:
        """Tell an event; whether to continue."""
        return self.listen(event) is not False

    def note(self, text: str) -> None:
        self.tell(Note(text))

    def warn(self, text: str | None) -> None:
        """Tell a warning, if there is one."""
        if text is not None:
            self.tell(Warned(text))

    def epoch(self, record: Mapping[str, Any]) -> bool:
        """Tell the record of an epoch, which has its number, its score and other figures; whether to continue."""
        figures = {name: value for name, value in record.items() if name not in ("epoch", "score")}
        return self.tell(Epoch(record["epoch"], record["score"], figures))

    def progress(self, label: str, total: int | None = None) -> Callable[..., None]:
        """A function to call with how much is done: ``update(done, total, text)``, all optional."""

        def update(done: int | None = None, of: int | None = None, text: str = "") -> None:
            self.tell(Progress(label, done, of or total, text))

        return update

    def part(self, folder: str = "", **context: Any) -> Session:
        """The session of a part of the work: in a folder below, its events marked with the context."""
        listen = self.listen
        return replace(
            self,
            listen=(lambda event: listen(event.within(**context))) if context else listen,
            folder=self.folder / folder if self.folder is not None and folder else self.folder,
        )


SILENT = Session()
