"""What columns of evidence are worth: cross-validation by documents, with and without each family.

    python bench/neural.py dev.more.jsonl --refs dev.en.0 dev.en.1 --documents dev.documents --seeds 1 2 3 \
        --families 'text=text_*' 'source=source_*' 'lm=model_lm*' 'lexical=lex_*' 'forced=forced_*' \
                   'consensus=consensus_*,posterior_*,votes,centroid'

Documents (a name per sentence) are dealt into folds at random by the seed. Weights are learnt on all folds but one in
units of standard deviations, and choose the candidates of that one: so every sentence is translated by
weights that saw nothing of its document. Printed: BLEU over all sentences, the difference from the columns that no
family has, and p of the paired bootstrap. `--families` are tried alone on top of the other columns, all together, and
all but one. With `--plain LIST`, differences are from weights for all columns of that list, over the same folds.
`--mbr 0.3 1 3` adds minimum Bayes risk (BLEU) with the weights of all columns, at the scale that is best where the
weights were learnt. `--first N` takes the first N documents only, to choose options on; `--last N` prints BLEU of the
last N documents beside that of all.
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
from hopefear.decode.consensus import best_places
from hopefear.evaluation.significance import paired_bootstrap
from hopefear.trainers.batch.base import BatchTrainer

Stats = NDArray[np.float64]


METRIC = hf.Bleu(tokenize="none")


def held_out(
    pool: hf.Pool, names: list[str], documents: list[str], folds: int, seed: int, make: Callable[..., BatchTrainer]
) -> tuple[Stats, list[tuple[NDArray[np.bool_], Stats]]]:
    """BLEU's statistics of what is chosen for each sentence by weights from other documents; the folds' weights."""
    kinds = sorted(set(documents))
    random.Random(seed).shuffle(kinds)
    fold_of = {name: place % folds for place, name in enumerate(kinds)}
    of = np.array([fold_of[name] for name in documents])
    chosen = np.zeros((len(pool), METRIC.size))
    fits = []
    frozen = ",".join(name for name in pool.feature_names if name not in names)
    for fold in range(folds):
        weights = make(metric=METRIC, frozen=frozen, seed=seed).fit(pool.subset(np.flatnonzero(of != fold))).weights
        w = np.array([weights.get(name, 0.0) for name in pool.feature_names])
        fits.append((of == fold, w))
        chosen[of == fold] = METRIC.chosen_stats(pool.subset(np.flatnonzero(of == fold)), w)
    return chosen, fits


def by_consensus(pool: hf.Pool, fits: list[tuple[NDArray[np.bool_], Stats]], scales: list[float]) -> Stats:
    """The same by minimum Bayes risk, at the scale that is best where the weights were learnt."""
    rows, begin = METRIC.stats(pool), pool.edge_offsets()[:-1]
    found = np.zeros((len(pool), METRIC.size))
    for there, w in fits:
        made = []
        for scale in scales:
            places = np.array(best_places(list(pool), w, "bleu", scale))
            made.append(rows[begin + places])
        best = max(made, key=lambda own: METRIC.score(own[~there].sum(0)))
        found[there] = best[there]
    return found


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
    parser.add_argument("--plain", metavar="LIST")
    parser.add_argument("--mbr", type=float, nargs="+", default=[], metavar="SCALE")
    parser.add_argument("--first", type=int, metavar="N", help="the first N documents only")
    parser.add_argument("--last", type=int, metavar="N", help="print BLEU of the last N documents too")
    options = parser.parse_args()
    pool = hf.read_nbest(options.list, options.refs)
    plain = hf.read_nbest(options.plain, options.refs) if options.plain else None
    documents = Path(options.documents).read_text().splitlines()
    order = {name: place for place, name in enumerate(dict.fromkeys(documents))}
    place = np.array([order[name] for name in documents])
    if options.first:
        pool = pool.subset(np.flatnonzero(place < options.first))
        plain = plain and plain.subset(np.flatnonzero(place < options.first))
        documents, place = [name for name in documents if order[name] < options.first], place[place < options.first]
    last = place >= len(order) - options.last if options.last else np.zeros(len(place), bool)
    families = dict(text.split("=", 1) for text in options.families)
    trainers: dict[str, Callable[..., BatchTrainer]] = {
        "kbmira": partial(hf.Kbmira, scaling="std", passes=20),
        "minrisk": partial(hf.Minrisk, scaling="std", l2=options.l2),
    }
    names = [name for name in pool.feature_names if not any(fnmatchcase(name, g) for g in options.frozen.split(","))]
    for seed in options.seeds:
        base: Stats | None = None
        make = trainers[options.trainer]
        if plain is not None:
            began = time.process_time()
            base, _ = held_out(plain, plain.feature_names, documents, options.folds, seed, make)
            show(f"seed {seed}  {'plain':24} {len(plain.feature_names):3} columns", base, base, last, seed, began)
        tried = choices(names, families, options.which)
        for name, columns in tried.items():
            began = time.process_time()
            stats, fits = held_out(pool, columns, documents, options.folds, seed, make)
            base = stats if base is None else base
            show(f"seed {seed}  {name:24} {len(columns):3} columns", stats, base, last, seed, began)
            if options.save:
                np.save(f"{options.save}.{name.replace(' ', '')}.{seed}.npy", stats)
            if options.mbr and name == ("all" if families else "base"):
                stats = by_consensus(pool, fits, options.mbr)
                show(f"seed {seed}  {name + ', mbr':24} {len(columns):3} columns", stats, base, last, seed, began)


def show(what: str, stats: Stats, base: Stats, last: NDArray[np.bool_], seed: int, began: float) -> None:
    """BLEU, the difference from the base, p, and the same over the last documents."""
    text = what
    for which in [slice(None), last] if last.any() else [slice(None)]:
        own, other = stats[which], base[which]
        bleu, least = METRIC.score(own.sum(0)), METRIC.score(other.sum(0))
        p = paired_bootstrap(own, other, METRIC, seed=seed).p if stats is not base else float("nan")
        text += f"  {bleu:6.2f}  {bleu - least:+5.2f}  p {p:.3f}"
    print(f"{text}  {time.process_time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
