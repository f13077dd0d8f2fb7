"""Damages good files of every format for a while: readers must answer with a result or with one line.

python bench/fuzz.py --seconds 600 [--seed 1] [--format "document *" "docx*"] [--json]
python bench/fuzz.py --native --seconds 600 [--seed 1]

Runs in a child process. If that dies or hangs, the file that did it is kept and named. With --native, a program without
Python, which is compiled first, tries the readers of the core under the address and undefined-behaviour sanitizers.
"""

from __future__ import annotations

import argparse
import faulthandler
import fnmatch
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests import fuzzing

HANG = 20  # seconds for one file


def work(folder: Path, seed: int, seconds: float, only: list[str], found: multiprocessing.Queue) -> None:
    generator = random.Random(seed)
    every = fuzzing.targets(folder)
    targets = {name: every[name] for name in every if any(fnmatch.fnmatch(name, pattern) for pattern in only)}
    corpus = {name: [data] for name, (data, _) in targets.items()}
    counts = {name: [0, 0] for name in targets}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for name, (_, reader) in targets.items():
            data = fuzzing.mutated(generator.choice(corpus[name]), generator)
            if len(data) > 20_000:
                continue
            faulthandler.dump_traceback_later(HANG, exit=True)
            refused = fuzzing.attempt(folder / "input", data, reader)
            faulthandler.cancel_dump_traceback_later()
            counts[name][0] += 1
            counts[name][1] += bool(refused)
            if not refused and generator.random() < 0.2:  # go on from what was accepted
                corpus[name] = [*corpus[name][-200:], data]
    found.put(counts)


def native(folder: Path, seconds: float, seed: int) -> int:
    """Compiles tests/native/fuzz_readers.cc with what it needs of the core, and runs it."""
    root = Path(__file__).resolve().parents[1]
    for name, (data, _) in fuzzing.targets(folder).items():
        (folder / name).write_bytes(data)
    flags = ["-std=c++20", "-O1", "-g1", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-pthread"]
    compiler = [os.environ.get("CXX", "c++"), *flags, "-I", str(root / "core")]
    sources = [root / "tests" / "native" / "fuzz_readers.cc"]
    sources += [path for part in ("util", "forest", "formats") for path in sorted((root / "core" / part).glob("*.cc"))]
    sources += [
        root / "core" / "grammar" / f"{name}.cc" for name in ("grammar", "grammar_text", "parallel_text", "rule_table")
    ]
    sources += [root / "core" / "lm" / f"{name}.cc" for name in ("arpa", "language_model")]
    for number, path in enumerate(sources):
        subprocess.run([*compiler, "-c", str(path), "-o", str(folder / f"{number}.o")], check=True)
    objects = [str(folder / f"{number}.o") for number in range(len(sources))]
    subprocess.run([*compiler, *objects, "-o", str(folder / "fuzz")], check=True)
    run = subprocess.run([str(folder / "fuzz"), str(folder), str(seconds), str(seed)], check=False)
    if run.returncode:
        print(f"fuzz: a reader failed on {folder / 'found'}, seed {seed}", file=sys.stderr)
    return run.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", nargs="+", default=["*"], help="names or patterns")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--native", action="store_true")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="hopefear-fuzz-"))
    if options.native:
        return native(folder, options.seconds, options.seed)
    context = multiprocessing.get_context("spawn")
    found = context.Queue()
    child = context.Process(target=work, args=(folder, options.seed, options.seconds, options.format, found))
    child.start()
    counts = None
    while counts is None and child.is_alive():
        child.join(0.2)
        if not found.empty():
            counts = found.get()
    child.join()
    if counts is None and not found.empty():
        counts = found.get()
    if child.exitcode or counts is None:
        print(
            f"fuzz: a reader failed (exit code {child.exitcode}) on {folder / 'input'}, seed {options.seed}",
            file=sys.stderr,
        )
        return 1
    if options.json:
        print(json.dumps({name: {"files": n, "refused": r} for name, (n, r) in counts.items()}))
    else:
        print(f"{'format':18} {'files':>9} {'refused':>9}")
        for name, (n, r) in counts.items():
            print(f"{name:18} {n:9} {r:9}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
