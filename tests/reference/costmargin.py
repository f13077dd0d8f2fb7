"""Eq. (3), (4) and (7) of Tillmann and Zhang 2006, over feature vectors by name."""

from collections import Counter
from typing import Any


def phi(w: Any, truths: Any, alternatives: Any) -> Any:
    """1/K sum over truths of the largest psi; a sequence is (features, BLEU)."""
    total = 0.0
    for h, b in truths:
        total += max([psi(w, h, b, g, c) for g, c in alternatives], default=0.0)
    return total / len(truths)


def psi(w: Any, h: Any, b: Any, g: Any, c: Any) -> Any:
    return max(0.0, b - c) * max(0.0, 1 - (dot(w, h) - dot(w, g))) ** 2


def dot(w: Any, h: Any) -> Any:
    return sum(w.get(name, 0.0) * value for name, value in h.items())


def sgd_sentence(w: Any, truths: Any, alternatives: Any, eta: Any, learnt: Any) -> None:
    """One sentence of eq. (7), in place; steps end at the margin."""
    for h, b in truths:
        worst = max(alternatives, key=lambda item: psi(w, h, b, *item), default=None)
        if worst is None or psi(w, h, b, *worst) <= 0:
            continue
        x = Counter(h)
        x.subtract(worst[0])
        x = {name: value for name, value in x.items() if value and name in learnt}
        norm = sum(value * value for value in x.values())
        if not norm:
            continue
        slack = 1 - (dot(w, h) - dot(w, worst[0]))
        step = min(eta * (b - worst[1]), 1 / norm) * slack
        for name, value in x.items():
            w[name] = w.get(name, 0.0) + step * value
