"""Consensus inside a list, candidate by candidate and pair by pair, on sacreBLEU's scores of sentences."""

import math
from collections import Counter
from typing import Any

import sacrebleu

_METRICS = {
    "bleu": sacrebleu.BLEU(effective_order=True, tokenize="none", force=True),
    "chrf": sacrebleu.CHRF(),
    "ter": sacrebleu.TER(),
}


def gain(metric: Any, candidate: Any, reference: Any) -> Any:
    """0 to 1, larger is better."""
    if metric == "ter" and candidate == reference:
        return 1.0  # sacreBLEU has 0 of 0 words too
    score = _METRICS[metric].sentence_score(candidate, [reference]).score / 100
    return 1 - score if metric == "ter" else score


def expected_gains(metric: Any, texts: Any, p: Any) -> Any:
    return [sum(q * gain(metric, text, other) for other, q in zip(texts, p, strict=True)) for text in texts]


def ngrams(symbols: Any, n: Any) -> Any:
    return Counter(tuple(symbols[i : i + n]) for i in range(len(symbols) - n + 1))


def _expected(symbols: Any, p: Any, n: Any) -> Any:
    total: Any = Counter()
    for own, q in zip(symbols, p, strict=True):
        for gram, count in ngrams(own, n).items():
            total[gram] += q * count
    return total


def linear_bleu(texts: Any, p: Any) -> Any:
    """BLEU against expected counts (DeNero et al. 2009)."""
    symbols = [text.split() for text in texts]
    length = sum(q * len(own) for own, q in zip(symbols, p, strict=True))
    expected = [_expected(symbols, p, n) for n in range(1, 5)]
    gains = []
    for own in symbols:
        logs, halving, any_match = [], 1.0, False
        for n in range(1, 5):
            if len(own) < n:
                break
            match = sum(min(count, expected[n - 1][gram]) for gram, count in ngrams(own, n).items())
            any_match = any_match or match > 0
            if match == 0:
                halving *= 2
                match = 1 / halving
            logs.append(math.log(match / (len(own) - n + 1)))
        brevity = min(0.0, 1 - length / len(own)) if own else 0.0
        gains.append(math.exp(brevity + sum(logs) / len(logs)) if any_match else 0.0)
    return gains


def linear_chrf(texts: Any, p: Any) -> Any:
    symbols = [text.replace(" ", "") for text in texts]
    gains = []
    for own in symbols:
        precisions, recalls = [], []
        for n in range(1, 7):
            expected = _expected(symbols, p, n)
            total, size = sum(expected.values()), max(0, len(own) - n + 1)
            if total > 0 and size > 0:
                match = sum(min(count, expected[gram]) for gram, count in ngrams(own, n).items())
                precisions.append(match / size)
                recalls.append(match / total)
        if not precisions:
            gains.append(0.0)
            continue
        a, b = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
        gains.append(5 * a * b / (4 * a + b) if a + b > 0 else 0.0)
    return gains


def edits(a: Any, b: Any) -> Any:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row, above = [i], row
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y)))
    return row[-1]


def agreement(texts: Any, p: Any) -> Any:
    """posterior_1 to posterior_4, votes, centroid of each text."""
    symbols = [text.split() for text in texts]
    risk = [sum(q * edits(a, b) for b, q in zip(symbols, p, strict=True)) for a in symbols]
    centroid = symbols[min(range(len(texts)), key=lambda i: (round(risk[i], 9), i))]
    rows = []
    for own in symbols:
        row = []
        for n in range(1, 5):
            grams = list(ngrams(own, n).elements())
            mass = [sum(q for b, q in zip(symbols, p, strict=True) if gram in ngrams(b, n)) for gram in grams]
            row.append(sum(mass) / max(1, len(grams)))
        row.append(sum(q for b, q in zip(symbols, p, strict=True) if b == own))
        row.append(float(edits(own, centroid)))
        rows.append(row)
    return rows
