"""Slow twin of the rules that corrections give a sentence: all rules of all pairs are tried at all places."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from tests.reference.extraction import Pair, X, instances

Place = tuple[int, int, tuple[tuple[int, int], ...]]  # begin, end, gaps


def evidence(
    pairs: Sequence[Pair],
    live: Sequence[int],
    decay: float,
    sentence: Sequence[str],
    max_phrase: int,
    symbols: int,
    span: int,
) -> dict[Place, dict[tuple[str, ...], float]]:
    """What speaks for each target side at each place of a sentence."""
    rules: dict[tuple[str, ...], dict[tuple[str, ...], float]] = defaultdict(lambda: defaultdict(float))
    for number, pair in enumerate(pairs[: len(live)]):
        if not live[number]:
            continue
        counts = Counter(
            each.rule for each in instances(pair, max_phrase, max(symbols, max_phrase), 1, fractional=False)
        )
        for rule, count in counts.items():
            weight = decay ** (len(live) - 1 - number)
            if not any(symbol.startswith(X[:2]) for symbol in rule.gamma):
                rules[rule.gamma][rule.alpha] += count * weight
            elif 4 <= len(rule.gamma) <= symbols:  # three words and a gap at least
                rules[rule.gamma][rule.alpha] += weight
    return {place: dict(ways) for gamma, ways in rules.items() for place in places(gamma, sentence, span)}


def places(gamma: Sequence[str], sentence: Sequence[str], span: int) -> Iterator[Place]:
    """Where a source side matches."""
    gap = next((k for k, symbol in enumerate(gamma) if symbol.startswith(X[:2])), None)
    for begin in range(len(sentence)):
        for end in range(begin + 1, len(sentence) + 1):
            words = list(sentence[begin:end])
            if gap is None:
                if words == list(gamma):
                    yield begin, end, ()
                continue
            behind = len(gamma) - gap - 1
            width = len(words) - len(gamma) + 1
            if width < 1 or len(words) > span:
                continue
            if words[:gap] == list(gamma[:gap]) and words[len(words) - behind :] == list(gamma[gap + 1 :]):
                yield begin, end, ((begin + gap, begin + gap + width),)
