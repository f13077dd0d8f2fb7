"""The report: one self-contained HTML page of one or several runs."""

SENTENCES = 24  #: shown with their clouds and trees
