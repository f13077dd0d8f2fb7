"""Pools of candidate lists out of arrays, and random ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import hopefear as hf
from hopefear.data.lists import Synthetic

WORDS = ["the", "few", "countries", "that", "have", "diplomatic", "relations"]
QUALITY = hf.External("quality")


def list_pool(
    dense: Sequence[np.ndarray],
    *,
    numbers: Sequence[Sequence[float]] | None = None,
    texts: Sequence[Sequence[str]] | None = None,
    references: Sequence[Sequence[str]] | None = None,
    sparse: Sequence[Sequence[dict[str, float]]] | None = None,
    names: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
) -> hf.Pool:
    """Sentence i has the candidates with the features dense[i] (a row each) and the column ``quality`` numbers[i]."""
    pool = hf.Pool()
    width = np.asarray(dense[0]).shape[1]
    for name in names or [f"f{j:03}" for j in range(width)]:
        pool.features.add(name)
    for row in (row for rows in sparse or [] for row in rows):
        for name in row:
            pool.features.add(name)
    if numbers is not None:
        pool.number_names = ["quality"]
    for i, rows in enumerate(dense):
        k = len(rows)
        lines = texts[i] if texts is not None else [f"c{e:04}" for e in range(k)]
        words = [[pool.vocab.add(word) for word in line.split()] for line in lines]
        more: dict[str, Any] = {}
        if sparse is not None:
            fired = [sorted((pool.features.add(name), value) for name, value in row.items()) for row in sparse[i]]
            more["sparse_begin"] = np.cumsum([0, *map(len, fired)], dtype=np.int32)
            more["sparse_ids"] = np.array([j for row in fired for j, _ in row], dtype=np.int32)
            more["sparse_values"] = np.array([value for row in fired for _, value in row], dtype=np.float64)
        if numbers is not None:
            more["numbers"] = np.array(numbers[i], dtype=np.float64).reshape(k, 1)
        forest = hf.Forest.from_arrays(
            np.array([0, k], np.int32),
            np.zeros(k + 1, np.int32),
            np.zeros(0, np.int32),
            np.cumsum([0, *map(len, words)], dtype=np.int32),
            np.array([word for line in words for word in line], np.int32),
            np.ascontiguousarray(rows, dtype=np.float64).reshape(k, width),
            pool.vocab,
            pool.features,
            **more,
        )
        pool.append(ids[i] if ids else str(i), forest, references=references[i] if references else ["x"])
    return pool


def matrices(pool: hf.Pool) -> list[np.ndarray]:
    """The features of each sentence's candidates, sparse ones written out."""
    out = []
    for i in range(len(pool)):
        forest = pool[i]
        h = np.zeros((forest.edge_count, len(pool.features)))
        h[:, : forest.dense_width] = forest.dense
        begin = forest.sparse_begin
        if len(begin):
            for e in range(forest.edge_count):
                for k in range(begin[e], begin[e + 1]):
                    h[e, forest.sparse_ids[k]] += forest.sparse_values[k]
        out.append(h)
    return out


def split(pool: hf.Pool, rows: np.ndarray) -> list[np.ndarray]:
    """Rows of a pool as one array a sentence."""
    begin = pool.row_begin()
    return [rows[begin[i] : begin[i + 1]] for i in range(len(pool))]


def random_texts(rng: np.random.Generator, sizes: Sequence[int]) -> tuple[list[list[str]], list[list[str]]]:
    """Distinct candidates of few words, and two references a sentence."""
    texts, references = [], []
    for k in sizes:
        distinct: dict[str, None] = {}
        while len(distinct) < k:
            distinct.setdefault(" ".join(rng.choice(WORDS, rng.integers(4, 9))))
        texts.append(list(distinct))
        references.append([" ".join(rng.choice(WORDS, rng.integers(5, 9))) for _ in range(2)])
    return texts, references


def random_pool(seed: int, sentences: int = 6, candidates: int = 6, features: int = 3, sparse: int = 0) -> hf.Pool:
    """Gaussian features, random words, random quality: every comparison is generic. Lists of 1 to ``candidates``."""
    rng = np.random.default_rng(seed)
    sizes = [candidates, *rng.integers(1, candidates + 1, sentences - 1).tolist()]
    texts, references = random_texts(rng, sizes)
    fired = None
    if sparse:
        fired = [
            [
                {f"s{j}": float(rng.normal()) for j in rng.choice(sparse, rng.integers(0, 3), replace=False)}
                for _ in range(k)
            ]
            for k in sizes
        ]
        fired[0][0] |= {f"s{j}": 0.5 for j in range(sparse)}
    return list_pool(
        [rng.normal(size=(k, features)) for k in sizes],
        numbers=[rng.uniform(0, 1, k) for k in sizes],
        texts=texts,
        references=references,
        sparse=fired,
    )


def synthetic_pool(
    sentences: int = 40,
    candidates: int = 20,
    dense: int = 8,
    sparse: int = 0,
    seed: int = 1,
    take: Callable[[int], Sequence[int]] = range,
) -> hf.Pool:
    """Lists that a trainer can learn from, with references and quality, in the order ``take``."""
    lists = list(Synthetic(sentences=sentences, candidates=candidates, dense=dense, sparse=sparse, seed=seed))
    orders = [list(take(len(each.texts))) for each in lists]
    data = Synthetic(dense=dense)
    return list_pool(
        [each.dense[order] for each, order in zip(lists, orders, strict=True)],
        numbers=[each.quality[order] / 100 for each, order in zip(lists, orders, strict=True)],
        texts=[[each.texts[e] for e in order] for each, order in zip(lists, orders, strict=True)],
        references=[each.references for each in lists],
        sparse=[[each.sparse[e] for e in order] for each, order in zip(lists, orders, strict=True)] if sparse else None,
        names=data.dense_names,
    )


def planted_pool(
    seed: int, dimensions: int, sentences: int = 100, candidates: int = 20, noise: float = 0.0
) -> tuple[hf.Pool, np.ndarray]:
    """Hopkins and May (2011), section 3.1: random features, the quality is linear in them, with planted weights w*.

    Quality is squashed to 0..1 within each list, which keeps its order.
    """
    rng = np.random.default_rng(seed)
    planted = rng.uniform(-1, 1, dimensions)
    planted /= np.linalg.norm(planted)
    dense = [rng.normal(size=(candidates, dimensions)) for _ in range(sentences)]
    numbers = [1 / (1 + np.exp(-(h @ planted + noise * rng.normal(size=candidates)))) for h in dense]
    return list_pool(dense, numbers=numbers), planted


def bleu_planted_pool(
    seed: int, dimensions: int, sentences: int = 100, candidates: int = 12
) -> tuple[hf.Pool, np.ndarray]:
    """The same for trainers that know BLEU only: the better a candidate is by w*, the more of its words are right."""
    rng = np.random.default_rng(seed)
    planted = rng.uniform(-1, 1, dimensions)
    planted /= np.linalg.norm(planted)
    dense, texts, references = [], [], []
    for i in range(sentences):
        words = [f"w{i}x{j}" for j in range(candidates + 4)]
        h = rng.normal(size=(candidates, dimensions))
        rank = np.argsort(np.argsort(h @ planted))
        texts.append([" ".join([*words[: 4 + r], *(["no"] * (candidates - r))]) for r in rank.tolist()])
        dense.append(h)
        references.append([" ".join(words)])
    return list_pool(dense, texts=texts, references=references), planted
