"""What does online training cost beside decoding, and what do several learners bring?

python bench/train.py MODEL --source F --refs F [F...] [--sentences N] [--learners 1 2 ...] [--simulate 10 50] [--json]

For small and large model and each trainer: CPU seconds of decoding and of everything else in one epoch, working sets.
Then sentences per second (wall clock) of asynchronous processes, and of simulated learners: how the time for the joint
program grows with what is heard. Ratios within one run are what counts.
"""

import argparse
import json
import time

import numpy as np

from hopefear.decode import Hiero
from hopefear.model.directory import Model
from hopefear.runs import Session
from hopefear.runs.events import Epoch
from hopefear.trainers import Corpus, Task, find
from hopefear.trainers.online.mira import Mira
from hopefear.trainers.online.teams import Learners


def epoch(decoder, corpus, trainer):
    """One epoch after a first one: its record and its sentences per second of the wall clock."""
    ends = []

    def hear(event):
        if isinstance(event, Epoch):
            ends.append(time.perf_counter())

    record = trainer.fit(Task(decoder, corpus), run=Session(hear)).history[-1]
    return record, record["sentences"] / (ends[-1] - ends[-2])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--source", required=True)
    parser.add_argument("--refs", nargs="+", required=True)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--learners", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--simulate", nargs="*", type=int, default=[10, 50])
    parser.add_argument("--trainers", nargs="*", default=["sgd", "mira", "arow", "minrisk"])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    model = Model.open(given.model)
    corpus = Corpus.read(given.source, given.refs)
    full = [i for i, line in enumerate(corpus.lines) if line.strip()][: given.sentences]
    corpus = corpus.subset(full)
    rows = []
    for size, templates in (("small", ()), ("large", ("lex",))):
        decoder = Hiero(model, templates=templates)
        for name in given.trainers:
            record, rate = epoch(decoder, corpus, find(name, "model")(epochs=2, jobs=1))
            share = record["learning"] / record["decoding"]
            rows.append(
                {
                    "model": size,
                    "learners": name,
                    "decoding": record["decoding"],
                    "learning": record["learning"],
                    "share": share,
                    "constraints": record["constraints"],
                    "per_second": rate,
                }
            )
    decoder = Hiero(model, templates=("lex",))
    for count in given.learners:
        record, rate = epoch(decoder, corpus, Mira(epochs=2, learners=Learners("async", count)))
        rows.append(figures(f"{count} processes", record, rate))
    for count in given.simulate:
        record, rate = epoch(decoder, corpus, Mira(epochs=2, jobs=1, learners=Learners("async", count, simulate=True)))
        rows.append(figures(f"{count} simulated", record, rate))
    if given.json:
        print(json.dumps(rows, indent=1))
        return
    columns = (
        "model",
        "learners",
        "decoding",
        "learning",
        "share",
        "constraints",
        "per_second",
        "heard",
        "message_bytes",
    )
    print("  ".join(name.rjust(13) for name in columns))
    for row in rows:
        cells = [row.get(name, float("nan")) for name in columns]
        shown = [cell if isinstance(cell, str) else "" if np.isnan(cell) else f"{cell:.2f}" for cell in cells]
        print("  ".join(cell.rjust(13) for cell in shown))


def figures(name, record, rate):
    chosen = ("decoding", "learning", "constraints", "heard", "message_bytes")
    found = {key: record[key] for key in chosen if key in record}
    return {
        "model": "large",
        "learners": name,
        **found,
        "share": record["learning"] / record["decoding"],
        "per_second": rate,
    }


if __name__ == "__main__":
    main()
