"""Features of the place of a rule application, each from its definition (core/grammar/templates.h)."""

from collections import Counter
from typing import Any


def distance(target: Any, spans: Any) -> Any:
    """The widths of a rule's nonterminals, and whether it swaps them; ``target`` has them as 1 and 2."""
    swaps = [symbol for symbol in target if isinstance(symbol, int)] == [2, 1]
    return Counter(f"distance({'swap' if swaps else 'keep'},{min(10, j - i)})" for i, j in spans)
