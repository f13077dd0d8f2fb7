"""Readers and writers: k-best lists, forests, weights, grammars. They return plain objects and decide nothing."""

from hopefear.files import atomic_write, open_bytes, open_text, read_lines, read_references
from hopefear.formats.nbest import iter_nbest, read_nbest
from hopefear.formats.weights import read_weights, write_weights

__all__ = [
    "atomic_write",
    "iter_nbest",
    "open_bytes",
    "open_text",
    "read_lines",
    "read_nbest",
    "read_references",
    "read_weights",
    "write_weights",
]
