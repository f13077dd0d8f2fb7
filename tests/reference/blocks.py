"""All block sequences of a sentence, one by one, with their features: what the decoder without limits searches."""

from collections import Counter


def blocks_of(words, kinds, pairs):
    """(begin, end, source, target, copy or None) of every block; pairs are (source, target) tuples of words."""
    known = {word for source, _ in pairs for word in source}
    found = []
    for begin in range(len(words)):
        for end in range(begin + 1, len(words) + 1):
            here = tuple(words[begin:end])
            found += [(begin, end, source, target, None) for source, target in pairs if source == here]
        word = words[begin]
        kind = {"n": "number", "c": "name"}.get(kinds[begin])
        if kind is None and all(source != (word,) for source, _ in pairs):
            kind = "identity" if word in known else "unknown"
        if kind is not None:
            found.append((begin, begin + 1, (word,), (word,), kind))
    return found


def sequences(words, kinds, pairs, swap):
    """Every sequence of blocks that covers the sentence from left to right, or with neighbours exchanged."""
    blocks = blocks_of(words, kinds, pairs)

    def rest(covered):
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


def escaped(word):
    return "".join(f"%{ord(c):02X}" if c in "(),%=| " else c for c in word)


def name(template, *phrases):
    return f"{template}({'|'.join(','.join(map(escaped, phrase)) for phrase in phrases)})"


def features(sequence, phrase, word, swap, bag=False):
    """F(z) by name, as in core/block_features.h."""
    h = Counter()
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


def yield_of(sequence):
    return [e for block in sequence for e in block[3]]
