"""What columns of evidence are worth: cross-validation by documents, with and without each family.

    python bench/neural.py dev.more.jsonl --refs dev.en.0 dev.en.1 --documents dev.documents --seeds 1 2 3 \
        --families 'text=text_*' 'source=source_*' 'lm=model_lm*' 'lexical=lex_*' 'forced=forced_*' \
                   'consensus=consensus_*,posterior_*,votes,centroid'

Documents (a name per sentence) are dealt into folds at random by the seed. Weights are learnt on all folds but one in
units of standard deviations, and choose the candidates of that one: so every sentence is translated by
weights that saw nothing of its document. Printed: BLEU over all sentences, the difference from the columns that no
family has, and p of the paired bootstrap. `--families` are tried alone on top of the other columns, all together, and
all but one.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import hopefear as hf
from hopefear.evaluation.significance import paired_bootstrap
from hopefear.trainers.batch.base import BatchTrainer

Stats = NDArray[np.float64]


def held_out(
    pool: hf.Pool, names: list[str], documents: list[str], folds: int, seed: int, make: Callable[..., BatchTrainer]
) -> Stats:
    """BLEU's statistics of what is chosen for each sentence by weights from other documents."""
    kinds = sorted(set(documents))
    random.Random(seed).shuffle(kinds)
    fold_of = {name: place % folds for place, name in enumerate(kinds)}
    of = np.array([fold_of[name] for name in documents])
    metric = hf.Bleu(tokenize="none")
    chosen = np.zeros((len(pool), metric.size))
    frozen = ",".join(name for name in pool.feature_names if name not in names)
    for fold in range(folds):
        weights = make(metric=metric, frozen=frozen, seed=seed).fit(pool.subset(np.flatnonzero(of != fold))).weights
        there = np.flatnonzero(of == fold)
        w = np.array([weights.get(name, 0.0) for name in pool.feature_names])
        chosen[there] = metric.chosen_stats(pool.subset(there), w)
    return chosen


def choices(names: list[str], families: Mapping[str, str], which: list[str]) -> dict[str, list[str]]:
    """Columns by the name of the choice."""
    member = {
        family: [name for name in names if any(fnmatchcase(name, glob) for glob in globs.split(","))]
        for family, globs in families.items()
    }
    base = [name for name in names if not any(name in own for own in member.values())]
    found = {"base": base}
    if "alone" in which:
        found |= {f"base + {family}": base + own for family, own in member.items()}
    if families:
        found["all"] = names
    if "without" in which:
        found |= {f"all - {family}": [name for name in names if name not in own] for family, own in member.items()}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list")
    parser.add_argument("--refs", nargs="+", required=True)
    parser.add_argument("--documents", required=True)
    parser.add_argument("--families", nargs="*", default=[], metavar="NAME=GLOB,GLOB")
    parser.add_argument("--which", nargs="*", default=["alone", "without"], choices=["alone", "without"])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--frozen", default="", metavar="GLOB,GLOB", help="columns that are left out everywhere")
    parser.add_argument("--trainer", choices=["kbmira", "minrisk"], default="kbmira")
    parser.add_argument("--l2", type=float, default=1e-4, help="of minrisk")
    parser.add_argument("--save", help="write BLEU's statistics of all sentences to SAVE.CHOICE.SEED.npy")
    options = parser.parse_args()
    pool = hf.read_nbest(options.list, options.refs)
    documents = Path(options.documents).read_text().splitlines()
    families = dict(text.split("=", 1) for text in options.families)
    metric = hf.Bleu(tokenize="none")
    trainers: dict[str, Callable[..., BatchTrainer]] = {
        "kbmira": partial(hf.Kbmira, scaling="std", passes=20),
        "minrisk": partial(hf.Minrisk, scaling="std", l2=options.l2),
    }
    names = [name for name in pool.feature_names if not any(fnmatchcase(name, g) for g in options.frozen.split(","))]
    for seed in options.seeds:
        base: Stats | None = None
        for name, columns in choices(names, families, options.which).items():
            began = time.process_time()
            stats = held_out(pool, columns, documents, options.folds, seed, trainers[options.trainer])
            base = stats if base is None else base
            p = paired_bootstrap(stats, base, metric, seed=seed).p if stats is not base else float("nan")
            bleu, least = metric.score(stats.sum(0)), metric.score(base.sum(0))
            seconds = time.process_time() - began
            what = f"seed {seed}  {name:24} {len(columns):3} columns"
            print(f"{what}  {bleu:6.2f}  {bleu - least:+5.2f}  p {p:.3f}  {seconds:.0f} s", flush=True)
            if options.save:
                np.save(f"{options.save}.{name.replace(' ', '')}.{seed}.npy", stats)


if __name__ == "__main__":
    main()
