"""How many edges per second each forest algorithm handles, from a thousand to ten million edges: is that linear?

    python bench/forest.py [--largest 7] [--json]

One thread, CPU seconds, the best of several runs; scoring the edges with 14 dense features is part of every algorithm.
The forests are those of hopefear.data.forests: random, shaped like those of a chart decoder.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable

import numpy as np

from hopefear import Forest, OracleDocument
from hopefear.data import forests as synthetic_forests


def seconds(run: Callable[[], object]) -> float:
    """CPU time of the best run, out of at least 2 and for about half a second."""
    best, spent, runs = float("inf"), 0.0, 0
    while runs < 2 or (spent < 0.5 and runs < 20):
        start = time.process_time()
        run()
        elapsed = time.process_time() - start
        best, spent, runs = min(best, elapsed), spent + elapsed, runs + 1
    return max(best, 1e-9)


def algorithms(forest: Forest) -> dict[str, Callable[[], object]]:
    rng = np.random.default_rng(1)
    w, direction = rng.normal(size=(2, 14)) * 0.5
    gains = rng.normal(size=forest.edge_count)
    document = OracleDocument()
    document.counts = np.array([600.0, 300, 200, 100, 1000, 960, 920, 880, 1000])
    best = forest.viterbi(rng.normal(size=14)).text.split()
    references = [" ".join(x if rng.random() < 0.7 else "other" for x in best) for _ in range(4)]
    return {
        "Viterbi": lambda: forest.viterbi(w),
        "log Z (inside)": lambda: forest.log_z(w),
        "posteriors": lambda: forest.posteriors(w),
        "E[B], E[h], E[Bh]": lambda: forest.expectations(w, gains),
        "hope, forest reranking": lambda: forest.hope(w, references, document),
        "fear, forest reranking": lambda: forest.fear(w, references, document),
        "hope, linear BLEU": lambda: forest.hope(w, references, document, approximation="linear"),
        "100 best": lambda: forest.kbest(w, 100),
        "100 best distinct": lambda: forest.kbest(w, 100, distinct=True),
        "100 samples": lambda: forest.sample(w, 100, seed=1),
        "pruned to a beam": lambda: forest.pruned(w, beam=3.0),
        "envelope": lambda: forest.envelope(w, direction),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=7, help="the largest forest has 10^LARGEST edges (7 needs 6 GB)")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rates: dict[str, dict[int, float]] = {}
    segments: dict[int, int] = {}
    for exponent in range(3, arguments.largest + 1):
        forest = synthetic_forests.forest(10**exponent)
        edges = forest.edge_count
        for name, run in algorithms(forest).items():
            rates.setdefault(name, {})[edges] = edges / seconds(run)
        w, direction = np.random.default_rng(1).normal(size=(2, 14)) * 0.5
        segments[edges] = len(forest.envelope(w, direction))
    decoder = synthetic_forests.forest(14_000)
    directions = np.random.default_rng(2).normal(size=(10, 14))
    w = np.random.default_rng(3).normal(size=14)
    envelope_ms = float(np.mean([seconds(lambda d=d: decoder.envelope(w, d)) for d in directions])) * 1e3
    ratio = {edges: rates["Viterbi"][edges] / rates["E[B], E[h], E[Bh]"][edges] for edges in rates["Viterbi"]}
    if arguments.json:
        result = {
            "edges_per_second": rates,
            "envelope_segments": segments,
            "envelope_ms_at_14000_edges": envelope_ms,
            "expectations_to_viterbi": ratio,
            "machine": platform.processor() or platform.machine(),
        }
        print(json.dumps(result, indent=1))
        return
    sizes = list(next(iter(rates.values())))
    print(f"{'million edges per second':24}" + "".join(f"{n:>11,}" for n in sizes))
    for name, by_size in rates.items():
        print(f"{name:24}" + "".join(f"{rate / 1e6:11.1f}" for rate in by_size.values()))
    print(f"{'  segments of envelope':24}" + "".join(f"{n:11}" for n in segments.values()))
    print(f"{'E[..] / Viterbi, time':24}" + "".join(f"{r:11.1f}" for r in ratio.values()))
    print(f"envelope of a forest of {decoder.edge_count:,} edges: {envelope_ms:.2f} ms per direction")


if __name__ == "__main__":
    main()
