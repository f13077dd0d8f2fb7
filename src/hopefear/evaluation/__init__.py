"""Scores, significance, and what is suspicious about a result."""

SAMPLES = 1000  #: resamplings of a significance test
