"""Notes, warnings and progress of a command, all on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

import click

from hopefear.util.messages import digits_for
from hopefear.util.progress import Progressing

if TYPE_CHECKING:
    from hopefear.runs.events import Epoch, Event, Listener

BETWEEN_LINES = 10.0  # seconds between two plain progress lines
BETWEEN_FRAMES = 0.1  # and between two pictures of the bar


class Console:
    """Standard error of a command. ``--quiet`` keeps warnings and errors only; ``--verbose`` also prints epochs."""

    def __init__(self, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet, self.verbose = quiet, verbose

    def note(self, text: str) -> None:
        if not self.quiet:
            click.echo(self._safe(text), err=True)

    def warn(self, text: str) -> None:
        sign = click.style("warning:", fg="yellow", bold=True) if coloured(sys.stderr) else "warning:"
        click.echo(f"{sign} {self._safe(text)}", err=True, color=coloured(sys.stderr))

    @staticmethod
    def _safe(text: str) -> str:
        from hopefear.util.files import printable

        return "\n".join(map(printable, text.split("\n")))

    @contextmanager
    def listener(self) -> Iterator[Listener]:
        """Shows events: notes and warnings as lines, progress as a bar. Use it in a ``with`` statement."""
        from hopefear.runs.events import Epoch, Note, Progress as Progressed, Warned

        messages: set[str] = set()
        with ExitStack() as bars:
            last_bars: list[SilentProgress] = []

            def show(event: Event) -> None:
                if isinstance(event, Note | Warned | Epoch if self.verbose else Note | Warned) and last_bars:
                    last_bars[-1].hide()
                if isinstance(event, Note):
                    self.note(event.text)
                elif self.verbose and isinstance(event, Epoch):
                    self.note(epoch_text(event))
                elif isinstance(event, Warned) and event.text not in messages:
                    messages.add(event.text)
                    self.warn(event.text)
                elif isinstance(event, Progressed):
                    if not last_bars or last_bars[-1].label != event.label:
                        bars.close()
                        last_bars[:] = [bars.enter_context(self.progress(event.label, event.total))]
                    last_bars[-1].update(event.done, event.total, event.text)

            yield show

    def progress(self, label: str, total: int | None = None) -> SilentProgress:
        """A bar on a terminal, a line now and then elsewhere, nothing when quiet. Use it in a ``with`` statement."""
        if self.quiet:
            return SilentProgress(label, total)
        return ProgressBar(label, total) if sys.stderr.isatty() else Lines(label, total)


def epoch_text(event: Epoch) -> str:
    """An epoch in a line, with where it was."""
    where = "".join(f"{name} {value}, " for name, value in event.context.items())
    return f"{where}epoch {event.epoch}: {event.score:.{digits_for([event.score])}f}"


class SilentProgress(Progressing):
    """Progress that is not shown; the base of the two below."""

    def update(self, done: int | None = None, total: int | None = None, text: str = "") -> None:
        super().update(done, total, text)
        self.show()

    def show(self) -> None:
        pass

    def hide(self) -> None:
        """Make room for a line of text, until there is something to show again."""

    def __enter__(self) -> SilentProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class Lines(SilentProgress):
    """Plain lines for logs: none for a quick job, else one every ten seconds."""

    def __init__(self, label: str, total: int | None = None) -> None:
        super().__init__(label, total)
        self._last = time.monotonic()

    def show(self) -> None:
        now = time.monotonic()
        if now - self._last >= BETWEEN_LINES:
            self._last = now
            left = self.time() if self.total else ""
            rest = "  ".join(part for part in (self.count(), self.text, left) if part)
            click.echo(f"{self.label}: {rest or self.done}", err=True)


class ProgressBar(SilentProgress):
    """A line on a terminal, always of its width, gone when the job is done."""

    def __init__(self, label: str, total: int | None = None) -> None:
        super().__init__(label, total)
        from rich.console import Console as Terminal
        from rich.live import Live

        # Drawn by this thread, not by rich's own: processes may be forked while the bar is shown.
        self._terminal = Terminal(stderr=True, highlight=False)
        self._live = Live(console=self._terminal, transient=True, auto_refresh=False)
        self._last = 0.0

    def show(self) -> None:
        now = time.monotonic()
        if now - self._last >= BETWEEN_FRAMES or self.done == self.total:
            self._last = now
            self._live.start()
            self._live.update(self._picture(), refresh=True)

    def _picture(self) -> Any:
        from rich.text import Text

        label, full, empty, rest = self.pieces(self._terminal.width - 1)
        parts = [(label, "bold"), (full, "cyan"), (empty, "dim"), (rest, "")]
        text = Text(no_wrap=True, overflow="ellipsis")
        for number, (part, style) in enumerate(parts):
            if part:
                text.append("" if not number or (number == 2 and full) else "  ").append(part, style=style)
        return text

    def hide(self) -> None:
        self._live.stop()
        self._last = 0.0

    def __enter__(self) -> SilentProgress:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()


def coloured(stream: IO[str]) -> bool:
    """Whether text on this stream may have colours and emphasis: on a terminal, unless NO_COLOR says otherwise."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def emphasised(text: str) -> str:
    """The heads of tables in bold: of each block of several lines in columns the first."""
    blocks = text.split("\n\n")
    for number, block in enumerate(blocks):
        head, line, rest = block.partition("\n")
        if line and "  " in head.strip() and "  " in rest.partition("\n")[0].strip():
            blocks[number] = click.style(head, bold=True) + line + rest
    return "\n\n".join(blocks)
