"""The report: one self-contained HTML page of one or several runs."""

from __future__ import annotations

from hopefear.reports.make import make_report, watch, watched

__all__ = ["make_report", "watch", "watched"]
