"""The loop of the papers on batch training: decode, learn from all candidates so far, decode again, test.

It is the outer loop of ``hopefear tune --decoder-command`` around a decoder in this process.
"""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hopefear._core import Pool
from hopefear.evaluation.significance import Comparison, paired_bootstrap
from hopefear.experiments.base import Lab
from hopefear.experiments.material import System
from hopefear.train.decoder_command import Number
from hopefear.train.loop import LOOP_DEFAULTS, OuterLoop
from hopefear.trainers import TRAINERS, Trainer

__all__ = ["HieroInLoop", "Run", "compare", "looped", "trainer"]

Weights = Mapping[str, float]
#: What a run leaves: dev, test, weights, hypotheses, history, iteration, ratio, cpu.
Run = dict[str, Any]
Extra = Callable[[Pool], Pool]


@dataclasses.dataclass(frozen=True)
class HieroInLoop:
    """Our decoder in the place of somebody else's command."""

    system: System
    k: int
    templates: tuple[str, ...] = ()
    limits: Mapping[str, int] = dataclasses.field(default_factory=dict)
    change: Extra | None = None  # what happens to the lists before they are learnt from

    @cached_property
    def names(self) -> frozenset[str]:
        """Features that the decoder has; ``change`` may add others to the lists."""
        return frozenset(self.system.model.feature_names)

    def decode(
        self,
        weights: Weights,
        folder: Path,
        *,
        iteration: int = 1,
        parameters: Mapping[str, Number] | None = None,
        like: Pool | None = None,
        label: str = "",
    ) -> Pool:
        limits = {**self.limits, **{name: int(value) for name, value in (parameters or {}).items()}}
        known = {name: value for name, value in weights.items() if name in self.names}
        pool = self.system.lists(self.system.dev, known, self.k, self.templates, limits=limits)
        return pool if self.change is None else self.change(pool)


def trainer(name: str, lab: Lab, seed: int, in_loop: bool = True, **options: Any) -> Trainer:
    """A trainer by name, with the defaults of the outer loop."""
    more = {**(LOOP_DEFAULTS.get(name, {}) if in_loop else {}), **options}
    return TRAINERS[name](seed=seed, jobs=lab.jobs, **more)


def looped(
    lab: Lab,
    system: System,
    label: str,
    name: str,
    seed: int,
    *,
    initial: Weights,
    iterations: int,
    k: int,
    templates: Sequence[str] = (),
    choose: Mapping[str, Sequence[Any]] | None = None,
    change: Extra | None = None,
    options: Mapping[str, Any] | None = None,
) -> Run:
    """One run: the loop on dev, then the test part with the weights of the best decoding. Kept by content.

    ``choose`` has values to choose an option from, by the score on the lists of the first decoding.
    """
    key: dict[str, Any] = {
        **system.key,
        "trainer": name,
        "options": dict(options or {}),
        "choose": choose,
        "seed": seed,
        "initial": dict(initial),
        "iterations": iterations,
        "k": k,
        "templates": list(templates),
        "change": change.__name__ if change else None,
    }

    if name in LOOP_DEFAULTS:
        key["defaults"] = LOOP_DEFAULTS[name]

    def compute() -> dict[str, Any]:
        decoder = HieroInLoop(system, k, tuple(templates), change=change)
        chosen = dict(options or {})
        if choose:
            lists = decoder.decode(initial, Path())
            for option, values in choose.items():
                trials = [trainer(name, lab, seed, **{**chosen, option: value}) for value in values]
                scores = [trial.fit(lists, initial).score for trial in trials]
                chosen[option] = values[int(np.argmax(scores))]
        learner = trainer(name, lab, seed, **chosen)
        loop = OuterLoop(learner, decoder, iterations, seed=seed)
        folder = lab.scratch(label, key)
        with lab.listener.progress(f"{label}, seed {seed}", iterations + 1) as progress:

            def hear(said: Mapping[str, Any]) -> None:
                if said.get("event") == "decoded":
                    progress.update(int(said["epoch"]), text=f"bleu {said['score']:.2f}")

            found = loop.run(folder, initial, hear=hear)
            pool = loop.candidates(folder, len(found.decoded))
            # CPU seconds of learning once from all candidates, on one thread.
            began = time.process_time()
            last = dataclasses.replace(learner, jobs=1).fit(pool, initial)
            cpu = time.process_time() - began
        shutil.rmtree(folder, ignore_errors=True)
        known = {name: value for name, value in found.weights.items() if name in decoder.names}
        hypotheses = system.translate(system.test, known, templates)
        stats = system.stats(system.test, hypotheses).sum(axis=0)
        return {
            "dev": found.best.scores["dev"],
            "test": system.metric.score(stats),
            "ratio": float(stats[system.metric.max_order] / max(stats[-1], 1.0)),
            "weights": found.weights,
            "options": chosen,
            "iteration": found.best.number,
            "decodings": len(found.decoded),
            "history": found.history,
            "warnings": found.warnings,
            "cpu": cpu,
            "updates": int(last.history[-1].get("updates", 0)) if last.history else 0,
            "epochs": len(last.history),
            "candidates": int(pool.row_begin()[-1]),
            "hypotheses": hypotheses,
        }

    return lab.cached(label, key, compute)


def compare(system: System, runs: Sequence[Run], others: Sequence[Run], lab: Lab) -> Comparison:
    """Are the replicates of one recipe better than those of another, on the test part?"""
    ours, theirs = (
        np.stack([system.stats(system.test, run["hypotheses"]) for run in group]) for group in (runs, others)
    )
    return paired_bootstrap(ours, theirs, system.metric, 1000, lab.seed, lab.jobs)


def mark(found: Comparison) -> str:
    """``+`` for better, ``-`` for worse, at the 0.05 level."""
    return "" if found.p >= 0.05 else "+" if found.delta > 0 else "-"
