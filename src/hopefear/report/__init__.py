"""The report: one self-contained HTML page of one or several runs."""

from hopefear.report.make import make_report

__all__ = ["make_report"]
