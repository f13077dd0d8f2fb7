"""Runs of ``hopefear train`` for the experiments: weights learnt online, the epoch chosen on a part of its own."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from hopefear.experiments.base import Curve, Lab, spread
from hopefear.experiments.loop import Run
from hopefear.experiments.material import Part, System, system, tasks

__all__ = ["curve", "online", "online_system"]


@lru_cache(maxsize=2)
def online_system(lab: Lab) -> tuple[System, Part, Part]:
    """The main task; the sentences to learn from, and those to choose the epoch on: the last of the dev part.

    No conversation of telephone speech is on both sides: lines are in order, and a gap is left between the two.
    """
    learn, choose = lab.pick(tiny=8, small=200, full=3000), lab.pick(tiny=6, small=150, full=900)
    test = lab.pick(tiny=6, small=500, full=4000)
    on = system(lab, tasks(lab)[0], lab.pick(tiny=24, small=100_000, full=100_000), test)
    have = len(on.dev)
    aside = min(choose, max(1, have // 4))
    last = list(range(have - aside, have))
    first = list(range(min(learn, have - aside)))
    return on, on.dev.subset(first), on.dev.subset(last)


def online(
    lab: Lab,
    label: str,
    trainer: str,
    seed: int,
    *,
    features: str = "small",
    options: Mapping[str, Any] | None = None,
    parallel: str = "none",
    learners: int = 1,
    epochs: int = 0,
) -> Run:
    """One run: history of dev scores, the best epoch's weights, its test score. Kept by content.

    Asynchronous learners take turns in logical time (``--simulate-learners``), so that results can be repeated.
    """
    from hopefear.decode import Hiero
    from hopefear.train.model_loop import train_batch
    from hopefear.trainers.online.base import ONLINE
    from hopefear.trainers.online.job import Corpus, train

    on, learn, choose = online_system(lab)
    own = dict(options or {})
    batch = trainer not in ONLINE
    rounds = epochs or lab.pick(tiny=1, small=4, full=10)
    k = lab.pick(tiny=10, small=100, full=200)
    key = {**on.key, "learn": learn.digest, "choose": choose.digest, "trainer": trainer, "seed": seed, "options": own,
           "features": features, "parallel": parallel, "learners": learners, "epochs": rounds,
           "batch": k if batch else 0}  # fmt: skip

    def compute() -> dict[str, Any]:
        templates = ("lex",) if features == "large" else ()
        decoder = Hiero(on.model, on.model.weights, templates=templates)
        corpora = [Corpus(part.sources, part.raw) for part in (learn, choose)]
        began = time.process_time()
        folder = lab.scratch(label, key)
        with lab.listener.progress(f"{label}, seed {seed}", rounds) as progress:

            def hear(said: Mapping[str, Any]) -> None:
                if said.get("event") in ("epoch", "decoded"):
                    progress.update(int(said["epoch"]), text=f"bleu {said['score']:.2f}")

            if batch:
                from hopefear.trainers import TRAINERS

                learner = TRAINERS[trainer](seed=seed, jobs=lab.jobs, **own)
                trained = train_batch(
                    decoder, corpora[0], learner, dev=corpora[1], iterations=rounds, k=k, seed=seed, jobs=lab.jobs,
                    folder=folder, hear=hear,
                )  # fmt: skip
            else:
                trained = train(
                    decoder, corpora[0], ONLINE[trainer](epochs=rounds, **own), dev=corpora[1], parallel=parallel,
                    learners=learners, simulate=parallel == "async", seed=seed, jobs=lab.jobs, hear=hear,
                )  # fmt: skip
        shutil.rmtree(folder, ignore_errors=True)
        cpu = time.process_time() - began
        used = templates if any(value for name, value in trained.weights.items() if "(" in name) else ()
        hypotheses = on.translate(on.test, trained.weights, used)
        return {
            "history": [[int(one["epoch"]), float(one["score"])] for one in trained.history],
            "epoch": trained.epoch,
            "dev": trained.score,
            "test": on.score(on.test, hypotheses),
            "hypotheses": hypotheses,
            "weights": len([value for value in trained.weights.values() if value]),
            "cpu": cpu,
        }

    return lab.cached(label, key, compute)


def curve(name: str, runs: list[Run]) -> Curve:
    """The dev scores of replicates after each epoch."""
    values: dict[int, list[float]] = {}
    for run in runs:
        for epoch, score in run["history"]:
            values.setdefault(int(epoch), []).append(float(score))
    xs = sorted(x for x in values if x > 0)
    spreads = [spread(values[x]) for x in xs]
    errors = [deviation for _, deviation in spreads]
    return Curve(name, xs, [middle for middle, _ in spreads], errors if any(errors) else None)
