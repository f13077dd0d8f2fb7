"""Random small forests for property tests: ties, shared and repeated tails, empty yields, dead and useless nodes."""

from __future__ import annotations

import random
from typing import Any

import hypothesis.strategies as st
import numpy as np

from hopefear import Forest, Vocab
from tests.reference import enumeration

WORDS = ["the", "few", "countries", "that", "have"]


def build(
    nodes: list[list[dict[str, Any]]],
    *,
    dense_names: list[str],
    sparse_names: list[str] | None = None,
    spans: list[tuple[int, int]] | None = None,
    vocab: Vocab | None = None,
    features: Vocab | None = None,
) -> Forest:
    """A forest from nested Python: for each node its edges, ``{"tails", "words", "dense", "sparse"}``."""
    if vocab is None:
        vocab = Vocab()
        for word in WORDS:
            vocab.add(word)
    if features is None:
        features = Vocab()
        for name in dense_names + (sparse_names or []):
            features.add(name)
    edges = [edge for node in nodes for edge in node]

    def offsets(key: str) -> np.ndarray:
        return np.cumsum([0] + [len(edge.get(key, ())) for edge in edges], dtype=np.int32)

    def flat(key: str) -> np.ndarray:
        return np.array([x for edge in edges for x in edge.get(key, ())], dtype=np.int32)

    sparse = [item for edge in edges for item in edge.get("sparse", ())]
    dense = np.zeros((len(edges), len(dense_names)))
    for i, edge in enumerate(edges):
        dense[i] = edge.get("dense", 0.0)
    return Forest.from_arrays(
        np.cumsum([0] + [len(node) for node in nodes], dtype=np.int32),
        offsets("tails"),
        flat("tails"),
        offsets("words"),
        flat("words"),
        dense,
        vocab,
        features,
        sparse_begin=offsets("sparse"),
        sparse_ids=np.array([i for i, _ in sparse], dtype=np.int32),
        sparse_values=np.array([x for _, x in sparse], dtype=np.float64),
        spans=None if spans is None else np.array(spans, dtype=np.int32).ravel(),
    )


# Few values, all exact in binary: many ties, and sums that do not depend on their order.
values = st.integers(-4, 4).map(lambda i: i / 2)


@st.composite
def forests(
    draw: st.DrawFn,
    max_nodes: int = 6,
    max_derivations: int = 400,
    with_spans: bool | None = None,
    shape: str = "forest",
) -> Forest:
    """``shape``: forest, lattice (at most one tail an edge) or list (one node)."""
    # One seed, not a draw for every choice: hypothesis would repeat small forests most of the time.
    seed = draw(st.integers(0, 2**32))
    while True:
        forest = random_forest(random.Random(seed), max_nodes, with_spans, shape)
        counts = enumeration.counts(forest)
        if counts[-1] and max(counts) <= max_derivations:
            return forest
        seed += 1


def random_forest(rng: random.Random, max_nodes: int, with_spans: bool | None, shape: str) -> Forest:
    integer = rng.randint
    dense_width = integer(0, 3)
    sparse_width = integer(0 if dense_width else 1, 3)
    node_count = 1 if shape == "list" else max(integer(1, max_nodes), integer(1, max_nodes))
    most_tails = {"forest": 3, "lattice": 1, "list": 0}[shape]
    nodes = []
    for v in range(node_count):
        edges = []
        dead = 0 < v < node_count - 1 and integer(0, 7) == 7
        for _ in range(0 if dead else integer(1, 8 if shape == "list" else 4)):
            tails = [v - 1 - integer(0, integer(0, v - 1)) for _ in range(integer(0, most_tails))] if v else []
            words = [integer(0, len(WORDS) - 1) for _ in range(integer(0, 2))]
            for t in range(len(tails)):
                words.insert(integer(0, len(words)), -1 - t)
            sparse = [dense_width + integer(0, sparse_width - 1) for _ in range(integer(0, 2))] if sparse_width else []
            edges.append(
                {
                    "tails": tails,
                    "words": words,
                    "dense": [integer(-4, 4) / 2 for _ in range(dense_width)],
                    "sparse": [(i, integer(-4, 4) / 2) for i in sparse],
                }
            )
        nodes.append(edges)
    return build(
        nodes,
        dense_names=[f"dense{j}" for j in range(dense_width)],
        sparse_names=[f"sparse{j}" for j in range(sparse_width)],
        spans=make_spans(nodes) if (integer(0, 1) if with_spans is None else with_spans) else None,
    )


def make_spans(nodes: list[list[dict[str, Any]]]) -> list[tuple[int, int]]:
    """Some source span for each node, at least as long as the spans of any edge's tails together."""
    length: list[int] = []
    for edges in nodes:
        length.append(max([1] + [sum(length[u] for u in edge["tails"]) + len(edge["words"]) % 2 for edge in edges]))
    return [(0, n) for n in length]


def weights(forest: Forest) -> st.SearchStrategy[np.ndarray]:
    n = len(forest.features)
    return st.lists(values, min_size=n, max_size=n).map(lambda w: np.array(w, dtype=np.float64))


@st.composite
def weighted_forests(draw: st.DrawFn, **options: Any) -> tuple[Forest, np.ndarray]:
    forest = draw(forests(**options))
    return forest, draw(weights(forest))
