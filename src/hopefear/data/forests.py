"""Random forests shaped like those of a chart decoder: for benchmarks, examples and tests, from a seed.

A sentence of ``source_length`` words has a few nodes for every span. An edge is a phrase, a rule with one gap or a rule
with two, whose gaps may swap. Every source word has a few translations of its own; features are random.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Forest, Pool, Vocab
from hopefear.data import DENSE

Counts = NDArray[np.int64]

_NOTHING = -9  # an empty place in a table of words


def forest(
    edges: int = 14_000,
    *,
    source_length: int = 25,
    edges_per_node: int = 14,
    dense: int = DENSE,
    sparse: int = 0,
    words: int = 200,
    seed: int = 1,
    vocab: Vocab | None = None,
    features: Vocab | None = None,
) -> Forest:
    """About ``edges`` edges. ``sparse``: how many sparse features there are; two of them fire on an edge."""
    rng = np.random.default_rng(seed)
    vocab = vocabulary(words) if vocab is None else vocab
    features = feature_names(dense, sparse) if features is None else features
    n = max(1, min(source_length, int(np.sqrt(2 * edges / edges_per_node))))
    widths = np.repeat(np.arange(1, n + 1), np.arange(n, 0, -1))
    starts = np.concatenate([np.arange(n - k + 1) for k in range(1, n + 1)])
    span_index = np.zeros((n + 1, n + 1), dtype=np.int64)  # by width and start
    span_index[widths, starts] = np.arange(len(widths))
    per_span = max(1, round(edges / edges_per_node / len(widths)))

    # Nodes in the order of their spans, all nodes of a span together, and one goal above the last span.
    node_span = np.repeat(np.arange(len(widths)), per_span)
    nodes = len(node_span)
    head = np.repeat(np.arange(nodes), edges_per_node)
    width, start = widths[node_span[head]], starts[node_span[head]]
    count = len(head)
    kind = rng.choice(3, size=count, p=[0.15, 0.35, 0.5])
    arity = np.where(width == 1, 0, np.where((width > 3) & (kind == 0), 1, kind))

    tail_table, beside, after = _tails(rng, span_index, per_span, arity, width, start)
    from_word = start + np.where((arity == 1) & after, width - beside, 0)
    covered = np.select([arity == 0, arity == 1], [width, beside], 0)
    table = _words_of_edges(rng, len(vocab), arity, after, from_word, covered)

    # The goal: one edge for each node of the whole span.
    top = np.arange(nodes - per_span, nodes)
    arity = np.concatenate([arity, np.ones(per_span, dtype=np.int64)])
    tail_table = np.concatenate([tail_table, np.stack([top, top], axis=1)])
    table = np.concatenate([table, np.tile([-1] + 4 * [_NOTHING], (per_span, 1))])
    edge_begin = np.concatenate([np.arange(nodes + 1) * edges_per_node, [count + per_span]])
    spans = np.stack([starts[node_span], starts[node_span] + widths[node_span]], axis=1)
    total = count + per_span
    present = table != _NOTHING
    return Forest.from_arrays(
        edge_begin.astype(np.int32),
        _offsets(arity),
        tail_table[np.arange(2) < arity[:, None]].astype(np.int32),
        _offsets(present.sum(axis=1)),
        table[present].astype(np.int32),
        0.5 * rng.normal(size=(total, dense)),
        vocab,
        features,
        sparse_begin=_offsets(np.full(total, 2)) if sparse else None,
        sparse_ids=rng.integers(dense, dense + sparse, size=2 * total).astype(np.int32) if sparse else None,
        sparse_values=np.ones(2 * total) if sparse else None,
        spans=np.concatenate([spans.ravel(), [0, n]]).astype(np.int32),
    )


def _tails(
    rng: np.random.Generator, span_index: Counts, per_span: int, arity: Counts, width: Counts, start: Counts
) -> tuple[Counts, Counts, NDArray[np.bool_]]:
    """Two nodes for each edge, of which it uses as many as it has gaps; the words next to one gap; if they follow it.

    A rule with one gap translates one or two words next to it; one with two gaps joins them.
    """
    count = len(arity)

    def pick(w: Counts, s: Counts) -> Counts:
        return span_index[w, s] * per_span + rng.integers(0, per_span, size=count)

    beside = np.minimum(rng.integers(1, 3, size=count), width - 1)
    after = rng.random(count) < 0.5  # the words come after the gap
    cut = rng.integers(1, np.maximum(width, 2))
    first_width = np.select([arity == 1, arity == 2], [width - beside, cut], 1)
    first = pick(first_width, start + np.where((arity == 1) & ~after, beside, 0))
    second = pick(np.where(arity == 2, width - cut, 1), np.where(arity == 2, start + cut, start))
    return np.stack([first, second], axis=1), beside, after


def _offsets(lengths: Counts) -> NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def _words_of_edges(
    rng: np.random.Generator, words: int, arity: Counts, after: NDArray[np.bool_], from_word: Counts, covered: Counts
) -> Counts:
    """The target side of each edge: words, and -1 and -2 for its gaps.

    Every source word has a few translations of its own, the first ones more often; a rule with two gaps may add a
    common word.
    """
    count = len(arity)
    option = (rng.random((count, 3)) ** 2 * 6).astype(np.int64)
    own = (10 + (from_word[:, None] + np.arange(3)) * 6 + option) % words
    own = np.where(np.arange(3) < covered[:, None], own, _NOTHING)
    common = rng.integers(0, min(10, words), size=count)
    own[:, 0] = np.where((arity == 2) & (rng.random(count) < 0.3), common, own[:, 0])
    swap = (arity == 2) & (rng.random(count) < 0.2)
    table = np.full((count, 5), _NOTHING, dtype=np.int64)
    table[:, 0] = np.select([(arity == 1) & after, swap, arity == 2], [-1, -2, -1], _NOTHING)
    table[:, 1:4] = own
    table[:, 4] = np.select([(arity == 1) & ~after, swap, arity == 2], [-1, -1, -2], _NOTHING)
    return table


def vocabulary(words: int) -> Vocab:
    """Words ``w0``, ``w1`` and so on."""
    vocab = Vocab()
    for i in range(words):
        vocab.add(f"w{i}")
    return vocab


def feature_names(dense: int, sparse: int) -> Vocab:
    """Features ``f0``..."""
    names = Vocab()
    for j in range(dense):
        names.add(f"f{j}")
    for j in range(sparse):
        names.add(f"s{j}")
    return names


def forest_pool(
    sentences: int = 10,
    edges: int = 14_000,
    *,
    source_length: int = 25,
    dense: int = DENSE,
    sparse: int = 0,
    words: int = 200,
    references: int = 1,
    seed: int = 1,
) -> Pool:
    """Forests with references: yields of the best derivations under planted weights, one word in five changed."""
    rng = np.random.default_rng(seed)
    pool = Pool()
    for i in range(words):
        pool.vocab.add(f"w{i}")
    for name in feature_names(dense, sparse).names():
        pool.features.add(name)
    planted = rng.normal(size=len(pool.features))
    for i in range(sentences):
        f = forest(
            edges,
            source_length=source_length,
            dense=dense,
            sparse=sparse,
            words=words,
            seed=int(rng.integers(2**32)),
            vocab=pool.vocab,
            features=pool.features,
        )
        best = f.viterbi(planted).text.split()
        texts = []
        for _ in range(references):
            noise = rng.random(len(best)) < 0.2
            texts.append(" ".join(f"w{rng.integers(words)}" if x else b for b, x in zip(best, noise, strict=True)))
        pool.append(str(i), f, source=" ".join(f"s{j}" for j in range(f.source_length)), references=texts)
    return pool
