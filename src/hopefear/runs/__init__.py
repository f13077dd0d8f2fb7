"""Run directories: one typed record per run, checkpoints, and the events that tell how a run goes."""

from hopefear.runs.directory import Run, read_run
from hopefear.runs.record import RunRecord
from hopefear.runs.session import SILENT, Session

__all__ = ["SILENT", "Run", "RunRecord", "Session", "read_run"]
