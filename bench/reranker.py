"""How fast a Reranker scores: candidates a second from NumPy, microseconds for one group.

    python bench/reranker.py [--features 10] [--group 10] [--rows 1000000] [--json]

CPU time, the least of several rounds.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import numpy as np

import hopefear as hf

ROUNDS = 5


def seconds(work: Callable[[], object], times: int) -> float:
    """CPU seconds of one call."""
    rounds = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        for _ in range(times):
            work()
        rounds.append((time.process_time() - begin) / times)
    return min(rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--group", type=int, default=10, help="candidates of one group")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    random = np.random.default_rng(1)
    names = [f"score{k}" for k in range(options.features)]
    reranker = hf.Reranker(dict(zip(names, random.normal(size=options.features).tolist(), strict=True)))
    many = random.normal(size=(options.rows, options.features))
    one = many[: options.group].copy()
    dicts = [dict(zip(names, row, strict=True)) for row in one.tolist()]
    figures = {
        "candidates_per_second": options.rows / seconds(lambda: reranker.predict(many), 3),
        "group_microseconds": 1e6 * seconds(lambda: reranker.best(one), 2000),
        "group_of_dicts_microseconds": 1e6 * seconds(lambda: reranker.best(dicts), 1000),
    }
    if options.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):30} {value:14,.1f}")


if __name__ == "__main__":
    main()
