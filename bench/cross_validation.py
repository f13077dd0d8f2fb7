"""Which trainer does best on sentences it has not seen? k-fold cross-validation on one set of candidate lists.

python bench/cross_validation.py --nbest LIST --refs REF0 REF1 ... [--folds 5] [--seeds 3] [--sentences N] [--json]

Each trainer learns on all folds but one and is scored on the one that is left, for every fold, and for several seeds
where it is random. Given are the mean and the standard deviation over folds (dev: the lists learnt from, test: the fold
left out), the standard deviation over seeds of the mean over folds, and CPU seconds per fit. ``pooled`` is the score of
all left-out folds joined to one document, the number to compare, and ``ratio`` the length of that document, divided by
that of its references. ``--sentences`` takes so many sentences, drawn at random. Weights start at 0.01 each, whatever
the units of the features are, unless ``--initial`` has others; ``--initial none`` leaves the start to the trainer.
"""

import argparse
import json
import time

import numpy as np
from tuning import RUNS, parsed

import hopefear as hf
from hopefear import _core
from hopefear.formats.weights import weight_vector
from hopefear.trainers import find

RANDOM = {"mert", "pro", "kbmira"}


def folds_of(pool, count, seed):
    order = np.random.default_rng(seed).permutation(len(pool))
    parts = np.array_split(order, count)
    for k, part in enumerate(parts):
        rest = np.concatenate([other for j, other in enumerate(parts) if j != k])
        yield pool.subset(np.sort(rest)), pool.subset(np.sort(part))


def document(pool, metric, weights):
    w = weight_vector(weights, pool.feature_names)
    return _core.one_best(pool, metric.stats(pool), metric.core, w, jobs=1, places=None)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--nbest", required=True)
    parser.add_argument("--refs", nargs="+", default=[])
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--initial", help="weights to start from, or none (default: 0.01 each)")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument(
        "--run",
        action="append",
        metavar="'TRAINER OPTION=VALUE ...'",
        help="compare this; may be repeated (default: all)",
    )
    options = parser.parse_args()
    pool = hf.read_nbest(options.nbest, options.refs)
    names = pool.feature_names
    if options.sentences and options.sentences < len(pool):
        chosen = np.random.default_rng(1).permutation(len(pool))[: options.sentences]
        pool = pool.subset(np.sort(chosen))
    initial = dict.fromkeys(names, 0.01)
    if options.initial:
        initial = None if options.initial == "none" else hf.read_weights(options.initial)
    metric = hf.Bleu()
    folds = list(folds_of(pool, options.folds, seed=1))
    table = [row_of("untuned", [[evaluated(part, metric, initial or {}, 0.0) for part in folds]], metric)]
    show(table, options)
    for label, run in ({run: run for run in options.run} if options.run else RUNS).items():
        name, settings = parsed(run)
        seeds = range(1, 1 + (options.seeds if name in RANDOM else 1))
        runs = []
        for seed in seeds:
            runs.append([])
            for part in folds:
                begun = time.process_time()
                learner = find(name, "candidates")(metric=metric, seed=seed, jobs=options.jobs, **settings)
                found = learner.fit(part[0], initial)
                runs[-1].append(evaluated(part, metric, found.weights, time.process_time() - begun))
        table.append(row_of(label, runs, metric))
        show(table, options)
    if options.json:
        print(json.dumps(table, indent=1))


def evaluated(part, metric, weights, seconds):
    """Statistics of both documents, and the seconds it took to get there."""
    dev, test = part
    return document(dev, metric, weights), document(test, metric, weights), seconds


def row_of(label, runs, metric):
    dev = np.array([[metric.score(dev) for dev, _, _ in run] for run in runs])
    test = np.array([[metric.score(test) for _, test, _ in run] for run in runs])
    documents = [sum(test for _, test, _ in run) for run in runs]
    return {
        "trainer": label,
        "seeds": len(runs),
        "dev": dev.mean(),
        "dev_std": dev.mean(axis=0).std(),
        "test": test.mean(),
        "test_std": test.mean(axis=0).std(),
        "test_std_seeds": test.mean(axis=1).std(),
        "pooled": float(np.mean([metric.score(document) for document in documents])),
        "ratio": float(np.mean([document[metric.max_order] / document[-1] for document in documents])),
        "seconds": float(np.mean([seconds for run in runs for _, _, seconds in run])),
    }


def show(table, options):
    if options.json:
        return
    if len(table) == 1:
        print(f"{'trainer':48} {'dev':>14} {'test':>14} {'seeds':>6} {'pooled':>7} {'ratio':>6} {'s':>7}")
    row = table[-1]
    print(
        f"{row['trainer']:48} {row['dev']:6.2f} +- {row['dev_std']:4.2f} {row['test']:6.2f} +- {row['test_std']:4.2f}"
        f" {row['test_std_seeds']:6.2f} {row['pooled']:7.2f} {row['ratio']:6.3f} {row['seconds']:7.2f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
