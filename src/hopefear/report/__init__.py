"""The report: one self-contained HTML page of one or several runs."""
