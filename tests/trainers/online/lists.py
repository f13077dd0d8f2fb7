"""Lists for online learners, and the learners over them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import hopefear as hf
from hopefear import _core

WORDS = ["u", "v", "w", "x", "y", "z"]


def random_pool(
    seed: int, sentences: int = 6, candidates: int = 7, features: int = 4, sparse: int = 0, around: float = 0.0
) -> hf.Pool:
    """Candidates of random words with features that are normal ``around`` a number."""
    rng = np.random.default_rng(seed)
    lines, references = [], []
    for i in range(sentences):
        references.append(" ".join(rng.choice(WORDS, rng.integers(4, 9))))
        seen: set[Any] = set()
        while len(seen) < candidates:
            words = " ".join(rng.choice(WORDS, rng.integers(3, 9)))
            if words in seen:
                continue
            seen.add(words)
            values = " ".join(f"f{j}={around + rng.normal():.6f}" for j in range(features))
            values += "".join(f" s{j}=1" for j in rng.choice(50, sparse, replace=False)) if sparse else ""
            lines.append(f"{i} ||| {words} ||| {values} ||| 0")
    return pool_of(lines, references)


def pool_of(lines: list[str], references: list[str]) -> hf.Pool:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "list").write_text("".join(line + "\n" for line in lines))
        (Path(folder) / "ref").write_text("".join(line + "\n" for line in references))
        return hf.read_nbest(Path(folder) / "list", [Path(folder) / "ref"])


def rows(pool: hf.Pool) -> list[tuple[np.ndarray, np.ndarray]]:
    """h and b of the candidates of each sentence."""
    begin, stats = pool.row_begin(), hf.Bleu().stats(pool)
    width = len(pool.feature_names)
    table = []
    for i in range(len(pool)):
        h = np.zeros((begin[i + 1] - begin[i], width))
        forest = pool[i]
        h[:, : forest.dense.shape[1]] = forest.dense
        if len(forest.sparse_begin):
            for e in range(len(h)):
                among = slice(forest.sparse_begin[e], forest.sparse_begin[e + 1])
                h[e, forest.sparse_ids[among]] = forest.sparse_values[among]
        table.append((h, stats[begin[i] : begin[i + 1]]))
    return table


def run(learner: _core.Learner, pool: hf.Pool, mu: float = -1.0, passes: int = 2) -> list[_core.Learnt]:
    order = list(range(len(pool))) * passes
    return _core.learn([learner], _core.pool_examples(pool), [order], mu, 1)[0]


def learner(w: np.ndarray, sigma: np.ndarray | None = None, **options: Any) -> _core.Learner:
    """A learner with the settings of the paper, unless options differ."""
    usual = {"objective": "hinge", "algorithm": "mira", "reference": "hope", "approximation": "forest", "k": 100}
    usual |= {"eta": 0.01, "lambda_": 0.01, "epsilon": 0.01, "temperature": 1.0, "decay": 0.9, "constraints": 1}
    usual |= {"max_planes": 30, "edges_per_word": 0, "broadcast": False}
    return _core.Learner(w, sigma, **(usual | options))
