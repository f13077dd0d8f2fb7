"""How fast is the language model: estimation, opening, queries, chart scores?

    python bench/lm.py [--text FILE ...] [--order 3 5] [--json]

Without --text it takes the English side of es-en-fisher where the shared data is (HOPEFEAR_SHARED, or ../shared beside
the repository), and otherwise text drawn from a small generator. Times are CPU seconds, the best of several runs.
"""

from __future__ import annotations

import argparse
import json
import lzma
import multiprocessing
import os
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hopefear._core import LanguageModel as CoreModel, LmText, count_slice, merge_slices
from hopefear.model.language_model import FALLBACK_DISCOUNTS, LanguageModel


def best(runs: int, call: Callable[[], Any]) -> float:
    times = []
    for _ in range(runs):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def tokenised(line: str) -> str:
    return " ".join(re.findall(r"\w+(?:'\w+)?|[^\w\s]", line.lower()))


def find_text(files: list[Path]) -> tuple[list[str], list[str]]:
    """Training lines and held-out lines."""
    if files:
        lines = [line for file in files for line in file.read_text().split("\n")]
        return lines[: len(lines) * 9 // 10], lines[len(lines) * 9 // 10 :]
    shared = Path(os.environ.get("HOPEFEAR_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    data = shared / "data" / "es-en-fisher"
    if data.is_dir():
        train = []
        for name in ("train.callhome.en.xz", "train.tatoeba.en.xz"):
            with lzma.open(data / name, "rt", encoding="utf-8", newline="\n") as file:
                train += [tokenised(line) for line in file]
        dev = [(data / f"dev.en.{k}").read_text(encoding="utf-8") for k in range(4)]
        return train, [tokenised(line) for text in dev for line in text.rstrip("\n").split("\n")]
    generator = np.random.default_rng(1)
    words = np.minimum(generator.zipf(1.3, 2_000_000), 30_000)
    lengths = generator.integers(1, 16, 150_000)
    lines = [" ".join(map(str, part)) for part in np.split(words, np.cumsum(lengths)) if len(part)]
    return lines[:-20_000], lines[-20_000:]


def high_water() -> float:
    status = Path("/proc/self/status").read_text()
    return float(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


def peak_memory(path: str, order: int, queue: Any) -> None:
    before = high_water()
    LanguageModel.estimate(path, order, jobs=1)
    queue.put(high_water() - before)


def sliced(path: Path, order: int, slices: int = 8) -> dict[str, float]:
    """The steps of an estimation on a cluster."""
    text, took = LmText(), {}

    def timed(name: str, call: Callable[[], Any]) -> Any:
        start = time.process_time()
        found = call()
        took[f"in {slices} slices, {name}: s"] = time.process_time() - start
        return found

    text.add_file(str(path), 1)
    spec, cuts = text.spec(order, []), text.ranges(slices)
    words = [text.slice(k, slices) for k in range(slices)]
    counted = timed("count", lambda: [count_slice(part, spec, cuts) for part in words])
    took["counted: MB"] = sum(len(part) for each in counted for part in each) / 1e6
    items = [([each[k] for each in counted], spec, *cuts[k : k + 2]) for k in range(len(cuts) - 1)]
    merged = timed("merge", lambda: [merge_slices(*item) for item in items])
    took["merged: MB"] = sum(map(len, merged)) / 1e6
    timed("estimate", lambda: CoreModel.estimate(text, order, [], FALLBACK_DISCOUNTS, 1, merged))
    return took


def measure(path: Path, lines: list[str], held_out: list[str], order: int, runs: int) -> dict[str, Any]:
    tokens = sum(len(line.split()) + 1 for line in lines)
    result: dict[str, Any] = {"order": order, "tokens": tokens}
    for share in (4, 2, 1):
        part = path.with_name(f"part{share}")
        part.write_text("\n".join(lines[: len(lines) // share]) + "\n")
        part_tokens = sum(len(line.split()) + 1 for line in lines[: len(lines) // share])
        seconds = best(runs, lambda part=part: LanguageModel.estimate(part, order, jobs=1))
        result[f"estimate 1/{share}: M tokens/s and core"] = part_tokens / seconds / 1e6
    result |= sliced(path, order)
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=peak_memory, args=(str(path), order, queue))
    process.start()
    result["estimate: peak MB"] = queue.get()
    process.join()

    model = LanguageModel.estimate(path, order)
    saved, arpa = path.with_name("lm"), path.with_name("arpa")
    model.save(saved)
    result["file: MB"] = saved.stat().st_size / 1e6
    result["file: bytes per n-gram"] = saved.stat().st_size / sum(model.counts)
    result["open: ms"] = 1e3 * best(runs, lambda: LanguageModel.open(saved))
    result["open, not verified: ms"] = 1e3 * best(runs, lambda: LanguageModel.open(saved, verify=False))
    result["write ARPA: s"] = best(1, lambda: model.write_arpa(arpa))
    result["read ARPA: s"] = best(1, lambda: LanguageModel.read_arpa(arpa))
    result["held-out perplexity"] = model.perplexity(held_out)

    core = LanguageModel.open(saved).core
    generator = np.random.default_rng(1)
    sample = [lines[i] for i in generator.permutation(len(lines))[:30_000]]
    for name, text in (("held-out text", held_out), ("training text", sample)):
        sentences = [[*map(core.find_in_text, line.split()), 2] for line in text]
        words = np.array([word for sentence in sentences for word in sentence], np.uint32)
        begin = np.cumsum([0, *map(len, sentences)])
        random_words = generator.permutation(words)
        seconds = best(3 * runs, lambda w=words, b=begin: core.score_ids(w, b, jobs=1))
        result[f"{name}: M queries/s"] = len(words) / seconds / 1e6
        if name == "held-out text":
            seconds = best(3 * runs, lambda w=random_words, b=begin: core.score_ids(w, b, jobs=1))
            result["shuffled words: M queries/s"] = len(words) / seconds / 1e6
        _, rules = core.bracketed_scores(words, begin, seed=1, jobs=1)
        seconds = best(3 * runs, lambda w=words, b=begin: core.bracketed_scores(w, b, seed=1, jobs=1))
        result[f"{name}: M chart rules/s"] = rules / seconds / 1e6
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, nargs="+", default=[], help="tokenised text, one sentence per line")
    parser.add_argument("--order", type=int, nargs="+", default=[3, 5])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    lines, held_out = find_text(arguments.text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text"
        path.write_text("\n".join(lines) + "\n")
        results = [measure(path, lines, held_out, order, arguments.runs) for order in arguments.order]
    if arguments.json:
        print(json.dumps(results, indent=1))
        return
    for name in results[0]:
        print(f"{name:34}", *(f"{result[name]:12.4g}" for result in results))


if __name__ == "__main__":
    main()
