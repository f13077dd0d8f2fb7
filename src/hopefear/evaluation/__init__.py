"""Scores, significance tests and diagnosis."""

SAMPLES = 1000  #: resamplings of a significance test
