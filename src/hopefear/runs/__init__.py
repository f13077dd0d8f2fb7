"""Run directories: one typed record per run, checkpoints, and the events that tell how a run goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopefear.util import lazy

_PUBLIC = {
    "Run": "hopefear.runs.directory",
    "RunRecord": "hopefear.runs.record",
    "SILENT": "hopefear.runs.session",
    "Session": "hopefear.runs.session",
    "read_run": "hopefear.runs.directory",
}

__all__ = list(_PUBLIC)

if TYPE_CHECKING:
    from hopefear.runs.directory import Run as Run, read_run as read_run
    from hopefear.runs.record import RunRecord as RunRecord
    from hopefear.runs.session import SILENT as SILENT, Session as Session

__getattr__ = lazy.attributes(__name__, _PUBLIC)
