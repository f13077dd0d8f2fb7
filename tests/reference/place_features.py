"""Features of the place of a rule application, each from its definition (core/grammar/templates.h)."""

from collections import Counter

from hopefear.model.features import UNK, feature_name


def distance(target, spans):
    """The widths of a rule's nonterminals, and whether it swaps them; ``target`` has them as 1 and 2."""
    swaps = [symbol for symbol in target if isinstance(symbol, int)] == [2, 1]
    return Counter(f"distance({'swap' if swaps else 'keep'},{min(10, j - i)})" for i, j in spans)


def context(words, known, source, target, links, i, spans):
    """The neighbours in ``words`` of the linked words of a rule at i; ``known`` source and target words are not UNK."""
    at, places, below = i, [], iter(spans)
    for symbol in source:
        places.append(at)
        at = next(below)[1] if symbol == "[X]" else at + 1
    h = Counter()
    for s, t in links:
        for step in ("-1", "+1"):
            place = places[s] + int(step)
            if 0 <= place < len(words):
                neighbour = words[place] if words[place] in known[0] else UNK
            else:
                neighbour = "<s>" if place < 0 else "</s>"
            f, e = (source[s] if source[s] in known[0] else UNK), (target[t] if target[t] in known[1] else UNK)
            h[feature_name(["context", f, e, step, neighbour])] += 1
    return h
