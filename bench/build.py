"""How long a model takes to build, and how much memory: a quarter, a half and the whole of a corpus. Is that linear?

    python bench/build.py --source F [F...] --target F [F...] [--strip-punctuation source] [--json]
    python bench/build.py ... --pairs 1000000          # one size: the corpus repeated with noise

Every size is built in a process of its own; peak memory is the largest of that process and its children. Steps overlap
nothing, so that their times add up to the whole. Pairs of each size are drawn at random.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import platform
import random
import resource
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from hopefear.model import BuildOptions, Model, build
from hopefear.util.files import read_lines


def noisy(line: str, rng: random.Random) -> str:
    """A line with some words dropped, doubled or swapped: no two repetitions are the same."""
    words: list[str] = []
    for word in line.split():
        chance = rng.random()
        if chance < 0.03:
            continue
        words += [word] * (2 if chance < 0.05 else 1)
        if chance > 0.96 and len(words) > 1:
            words[-2:] = words[:-3:-1]
    return " ".join(words)


def write_sample(pairs: list[tuple[str, str]], count: int, folder: Path) -> tuple[Path, Path]:
    rng = random.Random(1)
    order = rng.sample(range(len(pairs)), len(pairs))
    paths = folder / "source", folder / "target"
    with paths[0].open("w", encoding="utf-8") as source, paths[1].open("w", encoding="utf-8") as target:
        for i in range(count):
            f, e = pairs[order[i % len(order)]]
            if i >= len(order):
                f, e = noisy(f, rng), noisy(e, rng)
            source.write(f + "\n")
            target.write(e + "\n")
    return paths


def one(source: Path, target: Path, out: Path, options: BuildOptions, jobs: int, queue: Any) -> None:
    began = time.perf_counter()
    report = build(source, target, out, options, jobs=jobs)
    wall = time.perf_counter() - began
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    began = time.perf_counter()
    Model.open(out)
    queue.put(
        {
            "pairs": report.counts["pairs"],
            "source_words": report.counts["source_words"],
            "rules": report.counts["rules"],
            "wall": wall,
            "cpu": sum(u.ru_utime + u.ru_stime for u in usage),
            "peak_mb": max(u.ru_maxrss for u in usage) / 1024,
            "model_mb": sum(path.stat().st_size for path in out.iterdir()) / 1e6,
            "open": time.perf_counter() - began,
            "seconds": report.seconds,
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", nargs="+", required=True)
    parser.add_argument("--target", nargs="+", required=True)
    parser.add_argument("--strip-punctuation", default="none")
    parser.add_argument("--kind", default="hiero")
    parser.add_argument("--aligner", default="fastalign")
    parser.add_argument("--min-rule-count", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=0, help="one size only; more than there are: repeated with noise")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    options = BuildOptions(
        kind=given.kind,
        strip_punctuation=given.strip_punctuation,
        aligner=given.aligner,
        min_hierarchical=given.min_rule_count,
    )
    sources = [line for path in given.source for line in read_lines(path)]
    targets = [line for path in given.target for line in read_lines(path)]
    pairs = list(zip(sources, targets, strict=True))
    sizes = [given.pairs] if given.pairs else [len(pairs) // 4, len(pairs) // 2, len(pairs)]

    rows = []
    for size in sizes:
        folder = Path(tempfile.mkdtemp(prefix="bench-build-"))
        try:
            paths = write_sample(pairs, size, folder)
            queue: Any = multiprocessing.get_context("spawn").Queue()
            arguments = (*paths, folder / "model", options, given.jobs, queue)
            process = multiprocessing.get_context("spawn").Process(target=one, args=arguments)
            process.start()
            while process.is_alive() and queue.empty():
                time.sleep(0.2)
            process.join()
            if process.exitcode:
                raise SystemExit(f"building from {size} pairs failed (exit code {process.exitcode})")
            rows.append(queue.get())
        finally:
            shutil.rmtree(folder)
    if given.json:
        print(json.dumps({"machine": platform.processor() or platform.machine(), "rows": rows}))
        return
    steps = list(rows[0]["seconds"])
    head = {"pairs": 9, "words": 10, "rules": 11, "wall s": 7, "CPU s": 7, "peak MB": 8, "model MB": 9, "open s": 7}
    print(" ".join(f"{name:>{width}}" for name, width in head.items()), end="")
    print("".join(f" {step:>14}" for step in steps) + "   us/word")
    for row in rows:
        print(
            f"{row['pairs']:>9,} {row['source_words']:>10,} {row['rules']:>11,} {row['wall']:>7.1f} {row['cpu']:>7.1f}"
            f" {row['peak_mb']:>8,.0f} {row['model_mb']:>9,.1f} {row['open']:>7.3f}",
            end="",
        )
        print(
            "".join(f" {row['seconds'][step]:>14.1f}" for step in steps)
            + f" {row['cpu'] / row['source_words'] * 1e6:>9.1f}"
        )


if __name__ == "__main__":
    main()
