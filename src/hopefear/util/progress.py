"""Progress as one line of text that fits: the label, the share done, the current state, the time left.

    tune kbmira  ━━━━━━━━━━━━━━━━━━────────────  36/60  best bleu 38.12  0:12 left
    tune mert  691 ascents  best bleu 38.12  1:07

Where the total is not known, the time is the one that has passed. What does not fit is left out: the bar first.
"""

from __future__ import annotations

import time
from collections.abc import Callable

LONGEST, SHORTEST = 40, 6  # signs of a bar
SURE = 2.0  # seconds until the time left is worth saying


class Progressing:
    """A piece of work under way."""

    def __init__(self, label: str, total: int | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.label, self.total, self.text, self.done = label, total, "", 0
        self._clock, self._begun = clock, clock()
        self._before = 0  # what was done at that time
        self.counted = False  # whether the number done is meaningful without a total

    def update(self, done: int | None = None, total: int | None = None, text: str = "") -> None:
        """``done`` of ``total`` are ready (one more by default); ``text`` is the current state, e.g. a score."""
        self.counted = done is not None
        known, self.done = self.done, self.done + 1 if done is None else done
        if self.done < known:  # the same work once more
            self._before, self._begun = self.done, self._clock()
        self.total, self.text = total or self.total, text

    @property
    def share(self) -> float | None:
        """How much is done, 0 to 1; nothing where the total is not known."""
        return min(1.0, self.done / self.total) if self.total else None

    def time(self) -> str:
        """The time left; the time that has passed, where the total is not known."""
        passed = self._clock() - self._begun
        if self.share is None:
            return clock_text(passed)
        new = self.done - self._before
        if self.total is None or new <= 0 or passed < SURE or self.done >= self.total:
            return ""
        return f"{clock_text(passed * (self.total - self.done) / new)} left"

    def count(self) -> str:
        """How many are done, of how many."""
        return f"{self.done}/{self.total}" if self.total else str(self.done) if self.counted else ""

    def pieces(self, width: int) -> tuple[str, str, str, str]:
        """Label, full and empty part of the bar, and the rest; joined by blanks they fit into that many signs."""
        count = self.count()
        rest = [part for part in (count, self.text, self.time()) if part]
        length = len("  ".join([self.label, *rest]))
        room = min(LONGEST, width - length - 2)
        if self.share is not None and room >= SHORTEST:
            full = int(room * self.share)
            return self.label, "━" * full, "─" * (room - full), "  ".join(rest)
        if length > width and self.text:  # shorten the state, and leave out the time if there is no room for it
            room = len(self.text) - (length - width)
            rest = [part for part in (count, shortened(self.text, room), self.time() if room > 0 else "") if part]
        return self.label, "", "", shortened("  ".join(rest), max(0, width - len(self.label) - 2))

    def line(self, width: int) -> str:
        """All of it as text."""
        label, full, empty, rest = self.pieces(width)
        return "  ".join(part for part in (label, full + empty, rest) if part)[:width]


def shortened(text: str, length: int) -> str:
    """A text of that many signs at most; what was cut ends in dots."""
    if len(text) <= length:
        return text
    return text[: length - 1].rstrip() + "…" if length > 1 else ""


def clock_text(seconds: float) -> str:
    """``1:07``, ``2:05:59``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
