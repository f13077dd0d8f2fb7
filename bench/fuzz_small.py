"""Damages small corpora and documents in memory, by the million: readers must answer with a result or with one line.

python bench/fuzz_small.py --seconds 600 --out fuzz [--first-seed 1] [--format "document *"]

One seed after another, a thousand files of each kind. `fuzz/counts.json` has the sums of all seeds that are done; the
same command goes on from there. A reader that raises anything but an InputError, takes 2 seconds of a core or 200 MB is
a defect: the file goes to `fuzz/defects/`, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import mmap
import resource
import signal
import sys
import tempfile
import traceback
from multiprocessing import get_context
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.fuzzing_small import KEPT, LONGEST, read_damaged, small_targets

CASES = 1000  # of each kind for a seed
HANG = 2.0  # seconds of a core for one file
MEMORY = 200 << 20  # bytes beyond what the process has at the start


def keep(out: Path, data: bytes, what: str) -> None:
    folder = out / "defects"
    folder.mkdir(exist_ok=True)
    name = hashlib.sha256(data).hexdigest()[:12]
    (folder / name).write_bytes(data)
    (folder / f"{name}.txt").write_text(what, encoding="utf-8")
    print(f"fuzz: {folder / name}: {what.splitlines()[-1]}", file=sys.stderr, flush=True)


class Current:
    """The file that is being read, where the parent finds it if this process is ended."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.write_bytes(bytes(LONGEST + 64 * 1024))
        with path.open("r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)

    def set(self, kind: str, data: bytes) -> None:
        head = kind.encode()
        self.map[: 8 + len(head) + len(data)] = b"%3d%5d" % (len(head), len(data)) + head + data

    def get(self) -> tuple[str, bytes]:
        kind, size = int(self.map[:3]), int(self.map[3:8])
        return self.map[8 : 8 + kind].decode(), self.map[8 + kind : 8 + kind + size]


def block(targets: dict[str, Any], seed: int, current: Current, out: Path) -> dict[str, list[int]]:
    """Files and refusals of each kind."""
    counts = {}
    for kind, (seeds, reader, damage) in targets.items():
        random, kept, refused = Random(f"{seed} {kind}"), list(seeds), 0
        for _ in range(CASES):
            data = damage(random.choice(kept), random)
            current.set(kind, data)
            signal.setitimer(signal.ITIMER_PROF, HANG)
            try:
                refusal = read_damaged(data, reader)
            except Exception:
                keep(out, data, f"{kind}, seed {seed}\n{traceback.format_exc()}")
                refusal = False
            refused += refusal
            if not refusal and random.random() < 0.2:  # go on from what was accepted
                kept = [*seeds, *kept[len(seeds) :][-KEPT:], data]
        signal.setitimer(signal.ITIMER_PROF, 0)
        counts[kind] = [CASES, refused]
    return counts


def work(out: Path, folder: str, patterns: list[str], seconds: float) -> None:
    targets = {
        kind: target
        for kind, target in small_targets(Path(folder)).items()
        if any(fnmatch.fnmatch(kind, pattern) for pattern in patterns)
    }
    current = Current(out / "current")
    for seeds, reader, _ in targets.values():
        for data in seeds:
            read_damaged(data, reader)  # what is loaded when it is first used
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    while process_time() < seconds:
        state = json.loads((out / "counts.json").read_text())
        used = process_time()
        for kind, counts in block(targets, state["next"], current, out).items():
            old = state["kinds"].get(kind, [0, 0])
            state["kinds"][kind] = [old[0] + counts[0], old[1] + counts[1]]
        state |= {"next": state["next"] + 1, "seconds": round(state["seconds"] + process_time() - used, 2)}
        (out / "counts.new").write_text(json.dumps(state, indent=1))
        (out / "counts.new").replace(out / "counts.json")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60, help="of a core")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--format", nargs="+", default=["*"], help="names or patterns")
    options = parser.parse_args()
    counts = options.out / "counts.json"
    options.out.mkdir(exist_ok=True)
    if not counts.exists():
        counts.write_text(json.dumps({"next": options.first_seed, "seconds": 0, "kinds": {}}))
    before = json.loads(counts.read_text())["seconds"]
    while (left := before + options.seconds - json.loads(counts.read_text())["seconds"]) > 0:
        with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
            arguments = options.out, folder, options.format, left
            child = get_context("spawn").Process(target=work, args=arguments)
            child.start()
            child.join()
        if child.exitcode:
            current = Current.__new__(Current)
            current.map = (options.out / "current").read_bytes()  # type: ignore[assignment]
            kind, data = current.get()
            keep(options.out, data, f"{kind}: ended with {child.exitcode}, {HANG} s of a core or {MEMORY >> 20} MB")
            state = json.loads(counts.read_text())
            counts.write_text(json.dumps(state | {"next": state["next"] + 1}))
            if child.exitcode > 0:
                return 1
        if not child.exitcode:
            break
    state = json.loads(counts.read_text())
    print(f"{'kind':24} {'files':>10} {'refused':>10}")
    for kind, (files, refused) in state["kinds"].items():
        print(f"{kind:24} {files:10} {refused:10}")
    total = sum(files for files, _ in state["kinds"].values())
    print(f"{'all':24} {total:10}   {state['seconds']:.0f} s of a core, seeds up to {state['next'] - 1}")
    return int((options.out / "defects").exists())


if __name__ == "__main__":
    sys.exit(main())
