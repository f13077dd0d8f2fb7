"""Readers and writers: k-best lists, forests, weights, grammars. They return plain objects and decide nothing."""

from hopefear.formats.forests import FOREST_FORMATS, forest_writer, read_forests, write_forests
from hopefear.formats.grammar import GrammarRule, Nonterminal, iter_grammar, write_grammar
from hopefear.formats.nbest import NBEST_FORMATS, iter_nbest, read_lists, read_nbest, write_nbest
from hopefear.formats.weights import read_weights, write_weights
from hopefear.util.files import atomic_write, open_bytes, open_text, read_lines, read_references

__all__ = [
    "FOREST_FORMATS",
    "NBEST_FORMATS",
    "GrammarRule",
    "Nonterminal",
    "atomic_write",
    "forest_writer",
    "iter_grammar",
    "iter_nbest",
    "open_bytes",
    "open_text",
    "read_forests",
    "read_lines",
    "read_lists",
    "read_nbest",
    "read_references",
    "read_weights",
    "write_forests",
    "write_grammar",
    "write_nbest",
    "write_weights",
]
