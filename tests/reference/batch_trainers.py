"""The batch trainers as their papers print them: slow, a candidate at a time, nothing cached.

``lists`` and ``stats`` have one array a sentence, a row a candidate. Each trainer yields, epoch by epoch, what the
core reports: the score of the lists, and the weights it belongs to.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.reference import quadratic
from tests.reference.losses import softmax
from tests.reference.splitmix import SplitMix64


def document(lists: Any, stats: Any, w: Any) -> Any:
    """Statistics of the best candidates under w."""
    return sum(stats[i][np.argmax(h @ w)] for i, h in enumerate(lists))


def bleu_in_context(context: Any, row: Any) -> Any:
    """Chiang et al. (2008): BLEU of the context with the candidate added, scaled by the size of both."""
    b = context + row
    K = len(b) // 2
    m, n, rho = b[:K], b[K : 2 * K], b[-1]
    return rho * np.prod(m / n) ** (1 / K) * np.exp(min(0, 1 - rho / n[0]))


def plus1(lists: Any, stats: Any, metric: Any) -> Any:
    """The metric of each candidate as a document of its own, smoothed."""
    fixed = [metric.sentence_gains(rows) for rows in stats]
    return lambda w: fixed


def linear(lists: Any, stats: Any, metric: Any) -> Any:
    """B(D) + the derivative of B at D, document of the best candidates, in the direction of M such candidates."""

    def at(w: Any) -> Any:
        D = document(lists, stats, w)
        B, t = metric.gain(D), 1e-6
        if metric.name == "bleu":  # no order without matches
            K = len(D) // 2
            D = np.maximum(D, 1)
            D[:K] = [max(m, 0.3 / 2**k * n) for k, (m, n) in enumerate(zip(D[:K], D[K : 2 * K], strict=True))]

        def slope(b: Any) -> Any:
            return (metric.gain(D + t * b) - metric.gain(D - t * b)) / (2 * t)

        return [np.array([B + slope(len(lists) * row) for row in rows]) for rows in stats]

    return at


def background(lists: Any, stats: Any, metric: Any, decay: float = 0.999) -> Any:
    """The rise of BLEU by the candidate within a fading corpus of hopes, which goes on from call to call."""
    if metric.name != "bleu":
        return plus1(lists, stats, metric)
    words = np.mean([rows[0][-1] for rows in stats])  # of a reference
    b = np.ones(stats[0].shape[1])

    def at(w: Any) -> Any:
        nonlocal b
        gains = []
        for h, rows in zip(lists, stats, strict=True):
            B = np.array([bleu_in_context(b, row) - bleu_in_context(b, 0 * row) for row in rows]) / words
            gains.append(B)
            b = decay * b + rows[np.argmax(h @ w + B)]
        return gains

    return at


GAINS = {"plus1": plus1, "linear": linear, "background": background}


def averaged(kind: Any, seen: Any, before: Any) -> Any:
    """What a pass ends with, and what the next begins with; ``seen`` are the weights after each of its sentences."""
    now = np.array(seen)
    if kind == "none":
        return now[-1], now[-1]
    if kind == "all":
        return np.concatenate([before, now]).mean(axis=0) if len(before) else now.mean(axis=0), now[-1]
    return now.mean(axis=0), now.mean(axis=0) if kind == "running" else now[-1]


def kbmira(
    lists: Any,
    stats: Any,
    score: Any,
    context_gain: Any,
    w: Any,
    *,
    C: Any,
    decay: Any,
    passes: Any,
    seed: Any,
    constraints: Any = 1,
    average: str = "pass",
    around: Any = None,
) -> Iterator[Any]:
    """Cherry and Foster (2012), algorithm 1; with more constraints Chiang et al. (2008).

    ``around(w)``: gains of all candidates in place of the background's, anew at the beginning of each pass.
    """
    random, order = SplitMix64(seed), list(range(len(lists)))
    b = np.ones(stats[0].shape[1])
    w = w.copy()
    before: list[Any] = []
    for _ in range(passes):
        random.shuffle(order)
        seen = []
        gains = around(w) if around else None
        for i in order:
            h, B = lists[i], gains[i] if gains else np.array([context_gain(b, row) for row in stats[i]])
            hope, fear = np.argmax(h @ w + B), np.argmax(h @ w - B)
            if constraints == 1:
                x, loss = h[hope] - h[fear], B[hope] - B[fear]
                if loss - w @ x > 0 and x @ x > 0:
                    w = w + min(C, (loss - w @ x) / (x @ x)) * x
            else:
                union = {
                    e for values in (h @ w, h @ w + B, h @ w - B) for e in np.argsort(-values)[:constraints].tolist()
                } - {hope}
                if union:
                    rest = sorted(union)
                    w, _ = quadratic.solve(w, np.full(w.size, C), h[hope] - h[rest], B[hope] - B[rest])
            b = decay * b + stats[i][hope]
            seen.append(w)
        end, w = averaged(average, seen, before)
        before += seen
        yield score(document(lists, stats, end)), end


def corpus(lists: Any, stats: Any, choice: Any) -> Any:
    """H (the mean of the features) and the statistics of a corpus hypothesis."""
    H = np.mean([lists[i][e] for i, e in enumerate(choice)], axis=0)
    return H, sum(stats[i][e] for i, e in enumerate(choice))


def joined(lists: Any, w: Any, sentence_gains: Any) -> Any:
    """Tan et al. (2013), lines 3 to 8."""
    hope = [np.argmax(h @ w + b) for h, b in zip(lists, sentence_gains, strict=True)]
    fear = [np.argmax(h @ w - b) for h, b in zip(lists, sentence_gains, strict=True)]
    return hope, fear


def beam(lists: Any, stats: Any, gain: Any, w: Any, sign: Any, size: Any) -> Any:
    """Section 4.3: the best prefixes of a corpus under w.H + sign B, B weighed by the share of the corpus it covers."""
    M = len(lists)
    stack = [()]
    for i in range(M):
        longer = [(*prefix, e) for prefix in stack for e in range(len(lists[i]))]

        def value(prefix: Any, i: Any = i) -> Any:
            score = sum(lists[k][e] @ w for k, e in enumerate(prefix)) / M
            return score + sign * (i + 1) / M * gain(sum(stats[k][e] for k, e in enumerate(prefix)))

        stack = sorted(longer, key=value, reverse=True)[:size]
    return stack


def cmira(
    lists: Any,
    stats: Any,
    score: Any,
    gain: Any,
    sentence_gains: Any,
    w: Any,
    *,
    C: Any,
    epochs: Any,
    beam_size: Any = 0,
    constraints: Any = 1,
) -> Iterator[Any]:
    """Tan et al. (2013), algorithm 1, with Delta_H of lines 11 and 12 from fear to hope; sentence_gains(w) is b'."""
    weights = [w]
    for _ in range(epochs):
        if beam_size:
            size = max(beam_size, constraints)
            hopes = beam(lists, stats, gain, w, +1, size)
            fears = beam(lists, stats, gain, w, -1, size)
            hope, fear = hopes[0], fears[0]
        else:
            hope, fear = joined(lists, w, sentence_gains(w))
        H_hope, b_hope = corpus(lists, stats, hope)
        if constraints > 1:
            others = [each for each in [*fears, *hopes] if each != hope][: constraints - 1]
            pairs = [corpus(lists, stats, each) for each in others]
            x = np.array([H_hope - H for H, _ in pairs])
            w, _ = quadratic.solve(w, np.full(w.size, C), x, np.array([gain(b_hope) - gain(b) for _, b in pairs]))
        else:
            H_fear, b_fear = corpus(lists, stats, fear)
            delta_B, delta_H = gain(b_hope) - gain(b_fear), H_hope - H_fear  # lines 9 and 10
            if delta_H @ delta_H > 0:
                alpha = min(C, (delta_B - w @ delta_H) / (delta_H @ delta_H))  # line 11
                w = w + max(0, alpha) * delta_H  # line 12
        weights.append(w)
        average = np.mean(weights, axis=0)  # line 13
        yield score(document(lists, stats, average)), average


def soft(values: Any) -> Any:
    return np.exp(values - softmax(values))


def one(values: Any) -> Any:
    return np.eye(len(values))[np.argmax(values)]


def oracle(s: Any, c: Any) -> Any:
    return np.eye(len(c))[np.argmin(c)]


def among(distribution: Any, s: Any, c: Any) -> Any:
    """A distribution over the candidates of lowest cost only."""
    p = np.zeros(len(c))
    p[c == min(c)] = distribution(s[c == min(c)])
    return p


# Of each loss: where the concave part (y up) and the convex part (y down) put their weight.
UP_AND_DOWN = {
    "ramp1": (lambda s, c: one(s), lambda s, c: one(s + c)),
    "ramp2": (lambda s, c: one(s - c), lambda s, c: one(s)),
    "ramp3": (lambda s, c: one(s - c), lambda s, c: one(s + c)),
    "softramp1": (lambda s, c: soft(s), lambda s, c: soft(s + c)),
    "softramp2": (lambda s, c: soft(s - c), lambda s, c: soft(s)),
    "softramp3": (lambda s, c: soft(s - c), lambda s, c: soft(s + c)),
    "perceptron": (oracle, lambda s, c: one(s)),
    "latentperceptron": (lambda s, c: among(one, s, c), lambda s, c: one(s)),
    "hinge": (oracle, lambda s, c: one(s + c)),
    "log": (oracle, lambda s, c: soft(s)),
    "latentlog": (lambda s, c: among(soft, s, c), lambda s, c: soft(s)),
    "jensen": (lambda s, c: soft(s), lambda s, c: soft(s + c)),
}


def rampion(
    lists: Any,
    stats: Any,
    score: Any,
    costs_at: Any,
    theta_0: Any,
    *,
    loss: Any,
    eta: Any,
    C: Any,
    cccp: Any,
    passes: Any,
    order: Any = None,
    start: Any = None,
) -> Iterator[Any]:
    """Gimpel and Smith (2012), algorithm 1, lines 4 to 15. ``order(pass)`` gives the sentences of each pass.

    ``start``: theta of the decoding before; in the first one it is theta_0.
    """
    theta, N = (theta_0 if start is None else start).copy(), len(lists)
    for _ in range(cccp):
        costs = costs_at(theta)
        if loss != "risk":
            up, down = UP_AND_DOWN[loss]
            imputed = [up(h @ theta, c) @ h for h, c in zip(lists, costs, strict=True)]  # lines 5 to 7
        for _ in range(passes):
            for i in range(N) if order is None else order():
                h, c = lists[i], costs[i]
                s = h @ theta  # line 10
                if loss == "risk":
                    p = soft(s)
                    gradient = (p * (c - p @ c)) @ h
                else:
                    gradient = down(s, c) @ h - imputed[i]
                theta = theta - eta * C * (theta - theta_0) / N  # line 11
                theta = theta - eta * gradient  # line 12
        yield score(document(lists, stats, theta)), theta


def perceptron(
    lists: Any,
    S_at: Any,
    w: Any,
    *,
    iterations: Any,
    scaled: bool = True,
    normalize: bool = False,
    C: Any = None,
    average: str = "none",
    mean: Any = None,
) -> Iterator[Any]:
    """Brown (2011), sections 3 to 5; passive-aggressive where C is given. ``S_at(w)`` is anew for each pass."""
    w = w.copy()
    before: list[Any] = []
    for _ in range(iterations):
        S, seen = S_at(w), []
        for h, s in zip(lists, S, strict=True):
            oracle, top1 = np.argmax(s), np.argmax(h @ w)
            seen.append(w)
            if s[oracle] <= s[top1]:
                continue
            diff = h[oracle] - h[top1]
            if normalize:
                diff = diff / np.maximum(0.01, abs(h).max(axis=0)) ** 2  # (4), (5)
            delta = s[oracle] if scaled else 1.0  # (3), (2)
            if C is not None:
                delta = (s[oracle] - s[top1]) / (diff @ diff + 1 / (2 * C))  # (7), (8)
            w = w + delta * diff
            seen[-1] = w
        end, w = averaged(average, seen, before)
        before += seen
        yield mean(end) if mean else np.mean([s[np.argmax(h @ end)] for h, s in zip(lists, S, strict=True)]), end


def pro_pairs(lists: Any, gains: Any, *, samples: Any, threshold: Any, keep: Any, seed: Any) -> Any:
    """Hopkins and May (2011), figure 4: rows h(better) - h(worse), and their differences in gain."""
    x, differences = [], []
    for i, (h, g) in enumerate(zip(lists, gains, strict=True)):
        if len(h) < 2:
            continue
        random, pairs = SplitMix64(seed, i), []
        for _ in range(samples):
            a, b = random.below(len(h)), random.below(len(h))
            if abs(g[a] - g[b]) >= threshold and g[a] != g[b]:
                pairs.append((a, b) if g[a] > g[b] else (b, a))
        pairs.sort(key=lambda pair: g[pair[1]] - g[pair[0]])
        for a, b in pairs[:keep]:
            x.append(h[a] - h[b])
            differences.append(g[a] - g[b])
    return np.array(x), np.array(differences)


def expected_gain(lists: Any, stats: Any, gain: Any, gains: Any, w: Any, T: Any, corpus: Any) -> Any:
    """The metric of the expected statistics, or the mean of the expected sentence gains; and the mean entropy."""
    p = [soft(h @ w / T) for h in lists]
    entropy = np.mean([-(q[q > 0] @ np.log(q[q > 0])) for q in p])
    if corpus:
        return gain(sum(q @ rows for q, rows in zip(p, stats, strict=True))), entropy
    return np.mean([q @ g for q, g in zip(p, gains, strict=True)]), entropy
