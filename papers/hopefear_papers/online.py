"""Trials of ``hopefear train``: weights learnt online; the epoch is chosen on a separate part of dev."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from hopefear.decode import Hiero
from hopefear.reports.numbers import averaged
from hopefear.trainers.batch.base import BatchTrainer
from hopefear.trainers.data import Corpus, Task
from hopefear.trainers.in_loop import InLoop
from hopefear.trainers.online.base import Online, paper_weights
from hopefear.trainers.online.teams import Learners
from hopefear.trainers.registry import find
from hopefear.util.svg import Curve
from hopefear_papers.base import Lab
from hopefear_papers.loop import Trial, spelt
from hopefear_papers.setups import Setup, setup
from hopefear_papers.tasks import Part, tasks

K = 100  # candidates of each decoding for MERT
POP_LIMIT = 20  # at full size: a sixth of the time of 200


@lru_cache(maxsize=2)
def online_setup(lab: Lab) -> tuple[Setup, Part, Part]:
    """The main task, the sentences to learn from, and those to choose the epoch on: the last of the dev part.

    Lines are in order, with a gap between the two parts, so that no conversation of telephone speech is in both.
    """
    learn, choose = lab.pick(tiny=8, small=200, full=3000), lab.pick(tiny=6, small=150, full=900)
    test = lab.pick(tiny=6, small=500, full=4000)
    on = setup(lab, tasks(lab)[0], lab.pick(tiny=24, small=100_000, full=100_000), test)
    have = len(on.dev)
    aside = min(choose, max(1, have // 4))
    last = list(range(have - aside, have))
    first = list(range(min(learn, have - aside)))
    return on, on.dev.subset(first), on.dev.subset(last)


def trained(
    lab: Lab,
    trainer: str,
    seed: int,
    *,
    features: str = "small",
    options: Mapping[str, Any] | None = None,
    parallel: str = "none",
    learners: int = 1,
    epochs: int = 0,
) -> Trial:
    """One trial: the history of dev scores, and the test score of the best epoch. From the cache if it is there.

    Asynchronous learners take turns in logical time (``--simulate-learners``), so that results are reproducible. The
    cache key has all options, so that figures and tables share trials.
    """
    on, learn, choose = online_setup(lab)
    kind = find(trainer)
    batch = not issubclass(kind, Online)
    rounds = epochs or lab.pick(tiny=1, small=4, full=10)
    team = Learners(parallel, learners, simulate=parallel == "async")
    more: dict[str, Any] = {} if batch else {"epochs": rounds, "learners": team, "keep": "best"}
    learner = kind(seed=seed, jobs=lab.jobs, **(options or {}), **more)
    limits: dict[str, Any] = {"pop_limit": lab.pick(tiny=200, small=200, full=POP_LIMIT)}
    key = {**on.key, "learn": learn.digest, "choose": choose.digest, "trainer": trainer, "seed": seed,
           "options": spelt(learner), "features": features, "epochs": rounds, "batch": K if batch else 0,
           "limits": limits}  # fmt: skip
    label = f"{trainer} {features} {parallel} {learners}"

    def compute() -> dict[str, Any]:
        templates = ("lex",) if features == "large" else ()
        decoder = Hiero(on.model, on.model.weights, templates=templates, **limits)
        task = Task(decoder, Corpus(learn.sources, learn.raw), Corpus(choose.sources, choose.raw))
        start = paper_weights(decoder.feature_names)
        began = time.process_time()
        session = lab.training(f"{label}, seed {seed}", rounds)
        if isinstance(learner, BatchTrainer):
            folder = lab.scratch(label, key)
            result = InLoop.around(learner, rounds, K).fit(task, start, run=replace(session, folder=folder))
            shutil.rmtree(folder, ignore_errors=True)
        else:
            result = learner.fit(task, start, run=session)
        cpu = time.process_time() - began
        used = templates if any(value for name, value in result.weights.items() if "(" in name) else ()
        return {
            "history": [[int(record["epoch"]), float(record["score"])] for record in result.history],
            "epoch": result.epoch,
            "dev": result.score,
            **on.tested(on.translate(on.test, result.weights, used, limits)),
            "weights": len([value for value in result.weights.values() if value]),
            "cpu": cpu,
        }

    return lab.cached("online", key, compute)


def curve(name: str, trials: Sequence[Trial]) -> Curve:
    """The dev scores of replicates after each epoch."""
    return averaged(name, ([(epoch, score) for epoch, score in trial["history"] if epoch > 0] for trial in trials))
