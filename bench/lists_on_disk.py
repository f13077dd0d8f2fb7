"""Lists larger than memory: what `tune --memory` needs, and whether the weights are the same.

    python bench/lists_on_disk.py [--sentences 2000] [--candidates 200] [--features 40] [--memory 0.05]

Writes a list of random candidates and tunes on it twice, in processes of their own: in memory, and with a limit. Says
for each the peak of anonymous memory (RssAnon, which only a swap file could take away), of all resident memory (mapped
files included, which the system may take away at any time), CPU seconds, and whether weights.txt has the same bytes.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np


def write(folder: Path, sentences: int, candidates: int, features: int) -> None:
    draw, numbers = random.Random(1), np.random.default_rng(1)
    truth = numbers.normal(size=features)
    words = [f"w{i}" for i in range(2000)]
    with (folder / "list").open("w") as out, (folder / "ref").open("w") as ref:
        for i in range(sentences):
            good = draw.choices(words, k=12)
            ref.write(" ".join(good) + "\n")
            for _ in range(candidates):
                wrong = draw.randrange(1, 10)
                text = list(good)
                for place in draw.sample(range(12), wrong):
                    text[place] = draw.choice(words)
                values = numbers.normal(size=features) - 0.3 * wrong * truth
                shown = " ".join(f"f{k}={value:.4f}" for k, value in enumerate(values))
                out.write(f"{i} ||| {' '.join(text)} ||| {shown} ||| 0\n")


def tree(process: int) -> list[int]:
    """A process and what descends from it."""
    found, next_ones = [], [process]
    while next_ones:
        found.append(one := next_ones.pop())
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            next_ones += [int(child) for child in task.read_text().split()]
    return found


def measured(command: list[str]) -> dict[str, float]:
    """Runs a command. Peaks of memory of all its processes together in MB, and CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = {"RssAnon": 0, "VmRSS": 0}
    while process.poll() is None:
        now = dict.fromkeys(peak, 0)
        with suppress(OSError):  # one of them has just ended
            for one in tree(process.pid):
                for line in Path(f"/proc/{one}/status").read_text().splitlines():
                    name, _, value = line.partition(":")
                    if name in peak:
                        now[name] += int(value.split()[0])
        peak = {name: max(value, now[name]) for name, value in peak.items()}
        time.sleep(0.02)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"anonymous": peak["RssAnon"] / 1000, "resident": peak["VmRSS"] / 1000, "cpu": used}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--candidates", type=int, default=200)
    parser.add_argument("--features", type=int, default=40)
    parser.add_argument("--memory", type=float, default=0.05)
    parser.add_argument("--trainers", nargs="+", default=["kbmira", "mert"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-lists-", dir=os.environ.get("TMPDIR")) as name:
        folder = Path(name)
        write(folder, options.sentences, options.candidates, options.features)
        size = (folder / "list").stat().st_size / 1e6
        print(f"list: {size:.0f} MB of text, {options.sentences * options.candidates:,} candidates")
        print(f"{'trainer':10} {'limit':>9} {'anonymous MB':>13} {'resident MB':>12} {'CPU s':>7}  weights")
        for trainer in options.trainers:
            command = [sys.executable, "-m", "hopefear.cli.main", "tune", "--nbest", f"{folder}/list"]
            command += ["--refs", f"{folder}/ref", "--trainer", trainer, "--quiet", "--jobs", "1"]
            if trainer == "mert":
                command += ["--set", "restarts=1", "kicks=0"]
            runs = {"none": [], f"{options.memory} GB": ["--memory", str(options.memory)]}
            weights: list[bytes] = []
            for number, (limit, more) in enumerate(runs.items()):
                out = folder / f"{trainer}-{number}"
                found = measured([*command, "--out", str(out), *more])
                weights.append((out / "weights.txt").read_bytes())
                same = "" if number == 0 else "the same" if weights[0] == weights[1] else "DIFFER"
                print(
                    f"{trainer:10} {limit:>9} {found['anonymous']:13.0f} {found['resident']:12.0f} {found['cpu']:7.1f}"
                    f"  {same}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
