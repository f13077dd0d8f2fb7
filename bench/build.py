"""How long a model takes to build, and how much memory: a quarter, a half and the whole of a corpus. Is that linear?

    python bench/build.py --source F [F...] --target F [F...] [--strip-punctuation source] [--json]
    python bench/build.py ... --pairs 1000000          # one size: the corpus repeated with noise
    python bench/build.py --generate FOLDER --pairs 1000000    # distinct pairs of a made-up language, into FOLDER

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
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from hopefear.data.language import SyntheticParallel
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


class Draws:
    """What a generated language draws with: ``random.Random`` is quicker than NumPy for one number at a time."""

    def __init__(self, seed: int) -> None:
        self.random, self.integers = random.Random(seed).random, random.Random(seed + 1).randrange

    def choice(self, size: int, p: Any) -> int:
        """A rank of about Zipf's law: its logarithm is uniform."""
        return min(size - 1, int((size + 1.0) ** self.random()) - 1)


def generate(count: int, folder: Path) -> None:
    """Distinct pairs of two short clauses each, of a language with some nine thousand words, and their alignment.

    Files ``source``, ``target`` and ``links`` in a folder.
    """
    language = SyntheticParallel(nouns=3000, verbs=800, adjectives=800, noise=0)
    draws: Any = Draws(1)
    found: dict[str, tuple[Any, ...]] = {}
    while len(found) < 10_000:
        pair = language._pair(draws, None)
        if len(f := pair.source.split()) <= 6 and "ki" not in f:
            found[pair.source] = (pair.source, pair.target, pair.links, len(f), len(pair.target.split()))
    clauses = list(found.values())
    seen: set[tuple[int, int]] = set()
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        files = [stack.enter_context((folder / name).open("w")) for name in ("source", "target", "links")]
        while len(seen) < count:
            pick = draws.integers(len(clauses)), draws.integers(len(clauses))
            if pick in seen:
                continue
            seen.add(pick)
            (f, e, links, m, n), (f2, e2, more, _, _) = (clauses[i] for i in pick)
            points = [*links, (m, n), *((s + m + 1, t + n + 1) for s, t in more)]
            lines = f"{f} ki {f2}", f"{e} and {e2}", " ".join(f"{s}-{t}" for s, t in points)
            for file, line in zip(files, lines, strict=True):
                file.write(line + "\n")


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


def print_table(rows: list[dict[str, Any]]) -> None:
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", nargs="+", default=[])
    parser.add_argument("--target", nargs="+", default=[])
    parser.add_argument("--generate", type=Path, metavar="FOLDER", help="write generated text and stop")
    parser.add_argument("--strip-punctuation", default="none")
    parser.add_argument("--kind", default="hiero")
    parser.add_argument("--aligner", default="fastalign")
    parser.add_argument("--min-rule-count", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=0, help="one size only; more than there are: repeated with noise")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.generate:
        generate(given.pairs, given.generate)
        return
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
    print_table(rows)


if __name__ == "__main__":
    main()
