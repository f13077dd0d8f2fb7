"""What a command says besides its results: notes, warnings and progress, all on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from hopefear.runs.events import Event, Listener

BETWEEN_LINES = 10.0  # seconds between two plain progress lines
BETWEEN_FRAMES = 0.1  # and between two pictures of the bar


class Console:
    """Standard error of one command. ``--quiet`` keeps warnings and errors only."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet

    def note(self, text: str) -> None:
        if not self.quiet:
            click.echo(self._safe(text), err=True)

    def warn(self, text: str) -> None:
        click.echo(f"warning: {self._safe(text)}", err=True)

    @staticmethod
    def _safe(text: str) -> str:
        from hopefear.util.files import printable

        return "\n".join(map(printable, text.split("\n")))

    @contextmanager
    def listener(self) -> Iterator[Listener]:
        """Shows events: notes and warnings as lines, progress as a bar. Use it in a ``with`` statement."""
        from hopefear.runs.events import Note, Progress as Progressed, Warned

        said: set[str] = set()
        with ExitStack() as bars:
            shown: list[Progress] = []

            def hear(event: Event) -> None:
                if isinstance(event, Note | Warned) and shown:
                    shown[-1].hide()
                if isinstance(event, Note):
                    self.note(event.text)
                elif isinstance(event, Warned) and event.text not in said:
                    said.add(event.text)
                    self.warn(event.text)
                elif isinstance(event, Progressed):
                    if not shown or shown[-1].label != event.label:
                        bars.close()
                        shown[:] = [bars.enter_context(self.progress(event.label, event.total))]
                    shown[-1].update(event.done, event.total, event.text)

            yield hear

    def progress(self, label: str, total: int | None = None) -> Progress:
        """A bar on a terminal, a line now and then elsewhere, nothing when quiet. Use it in a ``with`` statement."""
        if self.quiet:
            return Progress(label, total)
        return Bar(label, total) if sys.stderr.isatty() else Lines(label, total)


class Progress:
    """Says nothing; the two below do."""

    def __init__(self, label: str, total: int | None = None) -> None:
        self.label, self.total, self.done = label, total, 0

    def update(self, done: int | None = None, total: int | None = None, text: str = "") -> None:
        """``done`` of ``total`` are ready (one more if not said); ``text`` is the state of things, e.g. a score."""
        self.done = self.done + 1 if done is None else done
        self.total = total or self.total
        self.show(text)

    def show(self, text: str) -> None:
        pass

    def hide(self) -> None:
        """Make room for a line of text, until there is something to show again."""

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class Lines(Progress):
    """Plain lines for logs: none for a quick job, else one every ten seconds."""

    def __init__(self, label: str, total: int | None = None) -> None:
        super().__init__(label, total)
        self._last = time.monotonic()

    def show(self, text: str) -> None:
        now = time.monotonic()
        if now - self._last >= BETWEEN_LINES:
            self._last = now
            of = f"/{self.total}" if self.total else ""
            click.echo(f"{self.label}: {self.done}{of}{'  ' if text else ''}{text}", err=True)


class Bar(Progress):
    """A live bar, gone when the job is done."""

    def __init__(self, label: str, total: int | None = None) -> None:
        super().__init__(label, total)
        from rich.console import Console as Terminal
        from rich.progress import BarColumn, MofNCompleteColumn, Progress as Live, TextColumn, TimeRemainingColumn

        columns: list[Any] = [
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        ]
        columns.append(TextColumn("{task.fields[text]}"))
        # Drawn from here and not from a thread of its own: processes may be forked while it is shown.
        self._live = Live(*columns, console=Terminal(stderr=True), transient=True, auto_refresh=False)
        self._task = self._live.add_task(label, total=total, text="")
        self._last = 0.0

    def show(self, text: str) -> None:
        now = time.monotonic()
        if now - self._last >= BETWEEN_FRAMES or self.done == self.total:
            self._last = now
            self._live.start()
            self._live.update(self._task, completed=self.done, total=self.total, text=text, refresh=True)

    def hide(self) -> None:
        self._live.stop()
        self._last = 0.0

    def __enter__(self) -> Progress:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()
