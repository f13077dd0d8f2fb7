"""Is `train --folds 3` ever worse than one fit? Test BLEU of both on a model of your own, seed by seed.

python bench/folds.py MODEL --source F --refs F [F...] --test-source F --test-refs F [F...] [--folds 3] [--seeds 3]

Both learn with `arow`, six epochs, eight simulated learners, from the model's own weights. The difference is tested by
the paired bootstrap, which draws sentences and seeds.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

import hopefear as hf
from hopefear.commands.train import Train
from hopefear.decode import Hiero
from hopefear.evaluation.significance import paired_bootstrap
from hopefear.formats.weights import read_weights
from hopefear.metrics import Bleu
from hopefear.model import Model
from hopefear.trainers.data import Corpus, Translations

METRIC = Bleu()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--source", required=True)
    parser.add_argument("--refs", nargs="+", required=True)
    parser.add_argument("--test-source", required=True)
    parser.add_argument("--test-refs", nargs="+", required=True)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--pop-limit", type=int, default=100)
    parser.add_argument("--features", default="lex")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    test = Corpus.read(given.test_source, given.test_refs)
    model = Model.open(given.model)
    rows, stats = [], {}
    rows.append({"folds": 0, "test": [scored(model, model.weights, test, given)[0]], "seconds": 0.0})
    for folds in (1, given.folds):
        scores, seconds = [], []
        for seed in range(1, given.seeds + 1):
            began = time.process_time()
            score, each = scored(model, weights_of(given, folds, seed), test, given)
            seconds.append(time.process_time() - began)
            scores.append(score)
            stats.setdefault(folds, []).append(each)
        rows.append({"folds": folds, "test": scores, "seconds": float(np.mean(seconds))})
        print(f"{folds} folds: test BLEU {np.round(scores, 2).tolist()}, {rows[-1]['seconds']:.0f} CPU s", flush=True)
    difference = paired_bootstrap(np.stack(stats[given.folds]), np.stack(stats[1]), METRIC, 1000, 1, given.jobs)
    low, high = difference.ci90
    print(
        f"untrained {rows[0]['test'][0]:.2f}; {given.folds} folds over one fit {difference.delta:+.2f}, "
        f"90 % {low:+.2f} to {high:+.2f}, p = {difference.p:.2g}"
    )
    if given.json:
        print(json.dumps({"rows": rows, "delta": difference.delta, "ci90": [low, high], "p": difference.p}))


def weights_of(given, folds, seed):
    """What `hopefear train` learns."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        Train(
            model=given.model,
            source=given.source,
            refs=given.refs,
            trainer="arow",
            set=[f"epochs={given.epochs}"],
            simulate_learners=8,
            features=given.features,
            folds=folds,
            pop_limit=given.pop_limit,
            seed=seed,
            jobs=given.jobs,
            out=out,
        ).run(hf.Session())
        return read_weights(out / "weights.txt")


def scored(model, weights, test, given):
    """Test BLEU and the statistics of each sentence."""
    templates = tuple(given.features.split(",")) if any("(" in name for name in weights) else ()
    decoder = Hiero(model, weights, templates=templates, pop_limit=given.pop_limit)
    stats = Translations.of(decoder, test, weights, given.jobs).stats
    return METRIC.score(stats.sum(axis=0)), stats


if __name__ == "__main__":
    main()
