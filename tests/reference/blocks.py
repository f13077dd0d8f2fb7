"""All block sequences of a sentence, one by one, with their features: what the decoder without limits searches."""

import functools
from collections import Counter
from collections.abc import Iterator
from typing import Any


def blocks_of(words: Any, kinds: Any, pairs: Any) -> Any:
    """(begin, end, source, target, copy or None) of every block; pairs are (source, target) tuples of words."""
    known = {word for source, _ in pairs for word in source}
    blocks = []
    for begin in range(len(words)):
        for end in range(begin + 1, len(words) + 1):
            here = tuple(words[begin:end])
            blocks += [(begin, end, source, target, None) for source, target in pairs if source == here]
        word = words[begin]
        kind = {"n": "number", "c": "name"}.get(kinds[begin])
        if kind is None and all(source != (word,) for source, _ in pairs):
            kind = "identity" if word in known else "unknown"
        if kind is not None:
            blocks.append((begin, begin + 1, (word,), (word,), kind))
    return blocks


def sequences(words: Any, kinds: Any, pairs: Any, swap: Any) -> Any:
    """Every sequence of blocks that covers the sentence from left to right, or with neighbours exchanged."""
    blocks = blocks_of(words, kinds, pairs)

    def rest(covered: Any) -> Iterator[Any]:
        if covered == len(words):
            yield []
        for block in blocks:
            if block[0] == covered:
                for more in rest(block[1]):
                    yield [block, *more]
            elif swap and block[0] > covered:
                for gap in blocks:
                    if gap[0] == covered and gap[1] == block[0]:
                        for more in rest(block[1]):
                            yield [block, gap, *more]

    return list(rest(0))


def escaped(word: Any) -> Any:
    return "".join(f"%{ord(c):02X}" if c in "(),%=| " else c for c in word)


def name(template: Any, *phrases: Any) -> Any:
    return f"{template}({'|'.join(','.join(map(escaped, phrase)) for phrase in phrases)})"


def features(sequence: Any, phrase: Any, word: Any, swap: Any, bag: bool = False) -> Any:
    """F(z) by name, as in core/block_features.h."""
    h: Any = Counter()
    before = None
    history = ["<s>"]
    for block in sequence:
        begin, end, source, target, copy = block
        if copy:
            h[copy] += 1
        if phrase:
            h[name("block", source, target)] += 1
        if word:
            h.update({name("pair", [f], [e]) for f in source for e in target})
        if bag:
            continue
        if not copy:
            h["rule"] += 1
        h["word"] += len(target)
        last_end = before[1] if before else 0
        if begin == last_end:
            o = "R"
        elif before and end == before[0]:
            o = "L"
        else:
            o = "N"
        h["swap"] += o == "L"
        if phrase:
            h[name("target", before[3] if before else ["<s>"], target)] += 1
            h[name("source", before[2] if before else ["<s>"], source)] += 1
            if swap:
                h[name("orient", [o])] += 1
                h[name("orient", [o], source, target)] += 1
        if word and swap and begin != last_end:
            jump = [str(begin - last_end)]
            h[name("jump", jump)] += 1
            h[name("jump", jump, source[:1])] += 1
            if before:
                h[name("jump", jump, before[2][-1:], [])] += 1
        history += target
        before = block
    if bag or before is None:
        return +h
    if phrase:
        h[name("target", before[3], ["</s>"])] += 1
        h[name("source", before[2], ["</s>"])] += 1
    if word:
        history.append("</s>")
        for n in (1, 2, 3):
            for i in range(len(history) - n + 1):
                gram = history[i : i + n]
                if gram not in (["<s>"], ["</s>"]):
                    h[name("ngram", gram)] += 1
    return +h


def yield_of(sequence: Any) -> Any:
    return [e for block in sequence for e in block[3]]


def forced(words: Any, kinds: Any, pairs: Any, candidate: Any, weights: Any) -> Any:
    """The best sequence that makes the candidate: words left out (the fewest) and score, all ways tried.

    A way takes blocks from left to right or two that are exchanged, and leaves words of both sides out before, between
    and behind them. All blocks have a phrase_ef of -0.5, as those of tests/decode/block_models.py.
    """
    blocks = blocks_of(words, kinds, pairs)

    def score(sequence: Any) -> Any:
        h = features(sequence, False, False, True)
        h["phrase_ef"] = -0.5 * h["rule"]
        h["swap"] = 0
        return sum(weights.get(name, 0.0) * value for name, value in h.items())

    def fits(block: Any, k: Any) -> Any:
        return tuple(candidate[k : k + len(block[3])]) == block[3]

    @functools.cache
    def best(i: Any, k: Any) -> Any:
        if i == len(words) and k == len(candidate):
            return (0, 0.0)
        steps = [(skipped + 1, minus) for skipped, minus in ([best(i + 1, k)] if i < len(words) else [])]
        steps += [(skipped + 1, minus) for skipped, minus in ([best(i, k + 1)] if k < len(candidate) else [])]
        for block in blocks:
            if not fits(block, k):
                continue
            end = k + len(block[3])
            if block[0] == i:
                skipped, minus = best(block[1], end)
                steps.append((skipped, minus - score([block])))
            for other in blocks:
                if other[0] != i or other[1] > block[0]:
                    continue
                for start in range(end, len(candidate)):
                    if fits(other, start):
                        skipped, minus = best(block[1], start + len(other[3]))
                        between = block[0] - other[1] + start - end
                        own = score([block]) + score([other]) + weights.get("swap", 0.0)
                        steps.append((skipped + between, minus - own))
        return min(steps)

    skipped, minus = best(0, 0)
    return skipped, -minus
