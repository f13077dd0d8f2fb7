"""The features of Gimpel and Smith (2012, section 4.3), counted on strings."""

from collections import Counter
from typing import Any

TRIGGER_DISTANCE = 3


def of_string(words: Any, names: Any) -> Any:
    """unigram, bigram, trigram and trigger features of a translation."""
    known, counts = set(names), Counter()
    for template, order in (("unigram", 1), ("bigram", 2), ("trigram", 3)):
        for i in range(len(words) - order + 1):
            counts[f"{template}({','.join(words[i : i + order])})"] += 1
    for place, e in enumerate(words):
        for d in set(words[: max(0, place - TRIGGER_DISTANCE + 1)]):
            counts[f"trigger({d},{e})"] += 1
    return {name: count for name, count in counts.items() if name in known}
