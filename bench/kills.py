"""Kills commands at random moments and runs them again: the same bytes, nothing left over, nothing confirmed is lost.

python bench/kills.py --kills 1000 [--seed 1] [--command create serve learn pack compare] [--json]

Half of the kills come at an event that changes the file system, half after a time on the processor. A kill counts if it
met the command at work. tests/test_faults.py does the same a few times, and with other faults.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import hopefear.data.verses
from tests import faults
from tests.confirmed import learning_killed, serving_killed
from tests.fault_cases import CASES, Case, Whole, struck, verses

JOURNALS: dict[str, Callable[[Path, int, int], int]] = {"learn": learning_killed, "serve": serving_killed}


def mended(case: Case, folder: Path, kills: int, seed: int) -> int:
    """Kills of a command that has results; how many met it at work."""
    rng = random.Random(seed)
    whole = Whole.of(case, folder)
    met = 0
    for number in range(kills):
        event, seconds = rng.randint(1, whole.events), rng.uniform(0, whole.seconds)
        fault = faults.Fault(event) if rng.random() < 0.5 else faults.Fault(seconds=seconds)
        met += struck(case, whole, folder / str(number), fault).killed
    return met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100, help="of all commands together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--command", nargs="+", default=["create", "serve", "learn", "pack", "compare"])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    hopefear.data.verses.read_verses = verses  # a short Bible
    counts: dict[str, int] = dict.fromkeys(options.command, 0)
    for number, name in enumerate(options.command):
        rest = options.kills - sum(counts.values())
        wanted = rest // (len(options.command) - number)
        batch = 0
        while counts[name] < wanted:
            batch += 1
            with tempfile.TemporaryDirectory(prefix="hopefear-kills-") as folder:
                kill = JOURNALS.get(name) or (lambda *given, name=name: mended(CASES[name], *given))
                counts[name] += kill(Path(folder), min(20, wanted - counts[name]), 1000 * options.seed + batch)
            print(f"{name}: {counts[name]} of {wanted}", file=sys.stderr)
    print(json.dumps(counts) if options.json else "\n".join(f"{name:12} {n:6}" for name, n in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
