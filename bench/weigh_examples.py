"""Generated tables for docs/weigh.md, and how ways to learn weights do with few labelled groups.

python bench/weigh_examples.py write DIR       # judges.csv, bm25.run, dense.run, cross.run, qrels.txt, votes.csv
python bench/weigh_examples.py small           # accuracy on unseen groups, learnt from 50, 100, 300 groups
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hopefear.evaluation.scores import score_of
from hopefear.formats.table import Table, TableSpec
from hopefear.metrics import External
from hopefear.trainers.auto import choose
from hopefear.trainers.estimators import ESTIMATORS, Fitting

Array = NDArray[np.float64]


def judges(groups: int, seed: int) -> dict[str, Array]:
    """Prompts with 4 answers, one of them right; 8 judges of about the same worth, who share some of their errors."""
    random = np.random.default_rng([seed, 1])
    right = np.zeros((groups, 4))
    right[np.arange(groups), random.integers(0, 4, groups)] = 1
    shared = random.normal(size=(groups, 4))
    columns = {"prompt": np.repeat(np.arange(groups), 4).astype(float), "right": right.ravel()}
    for j in range(8):
        own = random.normal(size=(groups, 4))
        columns[f"judge{j}"] = ((2.2 + 0.1 * j) * right + 0.7 * shared + own).ravel().round(4)
    return columns


def write_csv(columns: dict[str, Array], path: Path) -> None:
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(f"{x:g}" for x in row) for row in rows)]) + "\n")


def write_runs(folder: Path, queries: int = 150, seed: int = 1) -> None:
    """Three search engines of unequal worth, on scales of their own; each returns 40 of 60 documents."""
    random = np.random.default_rng([seed, 2])
    lines: dict[str, list[str]] = {"bm25": [], "dense": [], "cross": []}
    qrels = []
    for q in range(queries):
        grade = random.choice([0, 0, 0, 0, 0, 0, 1, 1, 2], size=60)
        qrels += [f"q{q} 0 d{d} {grade[d]}" for d in range(60)]
        for name, worth, scale, level in (("bm25", 0.6, 4, 12), ("dense", 0.8, 0.1, 0.6), ("cross", 1.3, 3, 0)):
            score = level + scale * (worth * grade + random.normal(size=60))
            for rank, d in enumerate(np.argsort(-score)[:40], 1):
                lines[name].append(f"q{q} Q0 d{d} {rank} {score[d]:.5f} {name}")
    for name, found in lines.items():
        (folder / f"{name}.run").write_text("\n".join(found) + "\n")
    (folder / "qrels.txt").write_text("\n".join(qrels) + "\n")


def votes(sentences: int, seed: int) -> dict[str, Array]:
    """Grammar correction: six candidates per sentence with their true and false edits, and what five systems think."""
    random = np.random.default_rng([seed, 3])
    rows = sentences * 6
    needed = np.repeat(random.poisson(2.0, sentences), 6)
    tp = random.binomial(needed, 0.5)
    fp = random.poisson(0.8, rows)
    columns = {"sentence": np.repeat(np.arange(sentences), 6).astype(float)}
    columns |= {"tp": tp.astype(float), "fp": fp.astype(float), "fn": (needed - tp).astype(float)}
    for j, (hit, slip) in enumerate([(1.0, 1.0), (1.0, 0.3), (0.3, 1.0), (0.5, 0.5), (0.0, 0.0)]):
        columns[f"system{j}"] = (hit * tp - slip * fp + 1.5 * random.normal(size=rows)).round(3)
    return columns


def small(draws: int) -> None:
    """Accuracy on 2,000 unseen groups, the mean over draws of what is learnt from."""
    spec = TableSpec("prompt", outcome=("right",))
    test = Table(judges(2000, 999)).pool(spec)
    metric = External("right")
    print("| groups | equal | mert | bagged | auto |\n|---|---|---|---|---|")
    for groups in (50, 100, 300):
        found: dict[str, list[float]] = {name: [] for name in ("equal", "mert", "bagged", "auto")}
        for draw in range(draws):
            pool, how = Table(judges(groups, draw)).pool(spec), Fitting(metric, draw + 1, 1)
            for name, scores in found.items():
                way = choose(pool, how).name if name == "auto" else name
                scores.append(100 * score_of(test, metric, ESTIMATORS[way].fit(pool, how), 1))
        error = np.std(np.array(found["mert"]) - np.array(found["equal"]), ddof=1) / np.sqrt(draws)
        cells = " | ".join(f"{np.mean(scores):.2f}" for scores in found.values())
        print(f"| {groups} | {cells} |   standard error of mert - equal: {error:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["write", "small"])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("weigh-examples"))
    parser.add_argument("--draws", type=int, default=20)
    options = parser.parse_args()
    if options.what == "small":
        small(options.draws)
        return
    options.folder.mkdir(parents=True, exist_ok=True)
    write_csv(judges(300, 1), options.folder / "judges.csv")
    write_csv(votes(300, 1), options.folder / "votes.csv")
    write_runs(options.folder)


if __name__ == "__main__":
    main()
