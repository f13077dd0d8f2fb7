"""The report: one self-contained HTML page of one or several runs.

The package can be called: ``hopefear.report(["run"], out="report.html")`` is what ``hopefear report run`` does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from hopefear.report.make import make_report, watch

__all__ = ["make_report", "report", "watch"]

PathLike = str | os.PathLike[str]


class _Report(ModuleType):
    def __call__(
        self, runs: PathLike | Sequence[PathLike], out: PathLike = "report.html", *, sentences: int = 24, jobs: int = 0
    ) -> Path:
        """Write the page of these runs, and say where it is. Others are compared with the first."""
        return make_report([runs] if isinstance(runs, str | os.PathLike) else runs, out, sentences=sentences, jobs=jobs)


sys.modules[__name__].__class__ = _Report

if TYPE_CHECKING:
    report = _Report("report")
else:
    report = sys.modules[__name__]
