"""Is the verdict of ``hopefear weigh`` right at its nominal rate? Tables with a planted truth, many draws of each.

    python bench/weigh_nulls.py --draws 1000 --only nothing-binary equal     # some of the cases; all without --only
    python bench/weigh_nulls.py --draws 1000 --keep draws.jsonl              # goes on where it was interrupted

For each case: how often weigh says better than equal weights, worse, or cannot tell, and how often that learnt weights
beat a candidate drawn by chance. Where equal weights are the truth or no score tells anything, "better" should come up
in at most 2.5 percent of draws (the test is two-sided at 5 percent).
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hopefear.commands.weigh import Weigh
from hopefear.runs.session import SILENT
from hopefear.train.weighing import Weighing, scaled

Array = NDArray[np.float64]
CANDIDATES = 5


def table(
    seed: int, groups: int, truth: list[float], noise: float, binary: bool, copies: bool = False
) -> dict[str, Array]:
    """Scores are independent normal numbers, the outcome their sum with noise; binary: above the 60th percentile."""
    random = np.random.default_rng([seed, 7])
    rows = groups * CANDIDATES
    scores = random.normal(size=(rows, len(truth)))
    if copies:
        scores[:] = scores[:, :1]
    outcome = scores @ np.array(truth) + noise * random.normal(size=rows)
    if binary:
        outcome = (outcome > np.quantile(outcome, 0.6)).astype(float)
    columns = {"group": np.repeat(np.arange(groups), CANDIDATES).astype(float), "outcome": outcome}
    return columns | {f"s{j}": scores[:, j] for j in range(len(truth))}


NOTHING, EQUAL, ONE = [0.0] * 4, [1.0] * 4, [2.0, 0.0, 0.0, 0.0]
CASES: dict[str, tuple[str, Callable[[int], dict[str, Array]]]] = {
    "nothing": ("no score tells anything, 60 groups", lambda s: table(s, 60, NOTHING, 1, False)),
    "nothing-binary": ("the same, outcome 0 or 1", lambda s: table(s, 60, NOTHING, 1, True)),
    "nothing-few": ("the same, outcome 0 or 1, 20 groups", lambda s: table(s, 20, NOTHING, 1, True)),
    "equal": ("all scores tell equally much, 60 groups", lambda s: table(s, 60, EQUAL, 2, False)),
    "equal-binary": ("the same, outcome 0 or 1", lambda s: table(s, 60, EQUAL, 2, True)),
    "copies": (
        "all scores are copies of one that tells nothing",
        lambda s: table(s, 60, NOTHING, 1, True, copies=True),
    ),
    "one": ("one score tells, three are noise (not a null)", lambda s: table(s, 60, ONE, 2, False)),
    "one-binary": ("the same, outcome 0 or 1", lambda s: table(s, 60, ONE, 2, True)),
}


WORDS = {True: "better", False: "worse", None: "cannot tell"}


def judge(task: tuple[str, int]) -> dict[str, str | int]:
    case, seed = task
    command = Weigh(table=CASES[case][1](seed), group="group", outcome="outcome", seed=seed + 1, jobs=1)
    pool = command.read()
    equal, chance = Weighing(
        pool, scaled(command.measure(), pool), SILENT, folds=command.folds, seed=command.seed, jobs=1
    ).judged()
    return {"case": case, "seed": seed, "equal": WORDS[equal], "chance": WORDS[chance]}


def judged(case: str, draws: int, processes: int, keep: Path | None) -> list[dict[str, str | int]]:
    """All draws of a case; those that a file has are not made again, new ones are added to it."""
    lines = keep.read_text().splitlines() if keep is not None and keep.exists() else []
    found = [one for one in map(json.loads, lines) if one["case"] == case and one["seed"] < draws]
    done = {one["seed"] for one in found}
    with ProcessPoolExecutor(processes) as workers:
        for one in workers.map(judge, [(case, seed) for seed in range(draws) if seed not in done], chunksize=5):
            found.append(one)
            if keep is not None:
                with keep.open("a") as file:
                    file.write(json.dumps(one) + "\n")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--only", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    for case in options.only:
        found = judged(case, options.draws, options.processes, options.keep)
        equal, chance = Counter(one["equal"] for one in found), Counter(one["chance"] for one in found)
        share = equal["better"] / options.draws
        error = math.sqrt(max(share, 1 / options.draws) * (1 - share) / options.draws)
        line = {"case": case, "what": CASES[case][0], "draws": options.draws, "better": share, "error": round(error, 4)}
        line |= {"worse": equal["worse"] / options.draws, "better than chance": chance["better"] / options.draws}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
