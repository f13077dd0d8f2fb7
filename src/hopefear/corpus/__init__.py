"""Parallel text from files of any kind: read, cleaned, split into parts for training and for tests."""

from hopefear.corpus.cleaning import RULES, CleaningReport, CleaningRules, clean
from hopefear.corpus.entries import refuse_markup
from hopefear.corpus.pair import Pair
from hopefear.corpus.plain import PlainFiles, write_plain
from hopefear.corpus.reading import read_pairs
from hopefear.corpus.splitting import Split, split

__all__ = [
    "RULES",
    "CleaningReport",
    "CleaningRules",
    "Pair",
    "PlainFiles",
    "Split",
    "clean",
    "read_pairs",
    "refuse_markup",
    "split",
    "write_plain",
]
