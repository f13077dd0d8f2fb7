"""Scores, significance, and what is suspicious about a result."""
