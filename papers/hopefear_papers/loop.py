"""The loop of the papers on batch training: decode, learn from the candidates so far, decode again; then test.

It is the outer loop of ``hopefear tune --decoder-command`` around a decoder in this process.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hopefear._core import Pool
from hopefear.evaluation.scores import first_best
from hopefear.evaluation.significance import Comparison, paired_bootstrap
from hopefear.trainers.base import Trainer
from hopefear.trainers.batch.base import BatchTrainer
from hopefear.trainers.outer_loop import LOOP_DEFAULTS, OuterLoop, Request
from hopefear.trainers.registry import find
from hopefear_papers.base import Lab
from hopefear_papers.setups import Setup

Weights = Mapping[str, float]
#: MERT as in the papers: Och's line searches along the features from random points.
OCH: dict[str, Any] = {"axes": "coordinates", "kicks": 0, "thorough": False}
#: The result of one training: dev, test, weights, hypotheses, history, iteration, ratio, largest (weight, by decoding),
#: swings (changes of the weights between decodings), and CPU seconds: cpu (one fit), decoding (one), tuning (all).
Trial = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class HieroInLoop:
    """Our decoder as the decoder of an outer loop."""

    on: Setup
    k: int
    templates: tuple[str, ...] = ()
    limits: Mapping[str, int] = dataclasses.field(default_factory=dict)
    digits: int = 0  # of each weight after the decimal point; 0: all
    seconds: list[float] = dataclasses.field(default_factory=list, compare=False)  # of CPU, for each decoding

    @cached_property
    def names(self) -> frozenset[str]:
        """Features that the decoder has."""
        return frozenset(self.on.model.feature_names)

    def known(self, weights: Mapping[str, float]) -> dict[str, float]:
        """The decoder's weights: with ``digits``, scaled to magnitudes of sum 1 and rounded, as CMERT writes them."""
        known = {name: value for name, value in weights.items() if name in self.names}
        if not self.digits:
            return known
        mass = sum(map(abs, known.values())) or 1.0
        return {name: round(value / mass, self.digits) for name, value in known.items()}

    def decode(self, weights: Mapping[str, float], folder: Path, request: Request) -> Pool:
        limits = {**self.limits, **{name: int(value) for name, value in request.parameters.items()}}
        began = time.process_time()
        pool = self.on.lists(self.on.dev, self.known(weights), self.k, self.templates, limits=limits)
        self.seconds.append(time.process_time() - began)
        return pool


def trainer(name: str, lab: Lab, seed: int, in_loop: bool = True, **options: Any) -> BatchTrainer:
    """A trainer by name, with the defaults of the outer loop."""
    more = {**(LOOP_DEFAULTS.get(name, {}) if in_loop else {}), **options}
    made = find(name, "candidates")(seed=seed, jobs=lab.jobs, **more)
    assert isinstance(made, BatchTrainer)
    return made


def spelt(learner: Trainer) -> dict[str, Any]:
    """All options that determine a result, defaults included, for its cache key; ``keep`` is always best."""
    return {name: value for name, value in learner.options().items() if name not in ("seed", "jobs", "keep")}


def mass(weights: Weights) -> tuple[float, str]:
    """The share of the largest weight in the sum of magnitudes, and its name."""
    sizes = {name: abs(value) for name, value in weights.items()}
    largest = max(sizes, key=lambda name: sizes[name])
    return sizes[largest] / max(sum(sizes.values()), 1e-300), largest


def swings(decoded: Sequence[Weights]) -> list[float]:
    """The change of the weights between decodings: the L1 distance of vectors scaled to magnitudes of sum 1."""
    scaled = []
    for weights in decoded:
        sum_of_magnitudes = sum(map(abs, weights.values())) or 1.0
        scaled.append({name: value / sum_of_magnitudes for name, value in weights.items()})
    return [
        sum(abs(after.get(name, 0.0) - before.get(name, 0.0)) for name in before | after)
        for before, after in itertools.pairwise(scaled)
    ]


#: Computes the weights that a loop begins with.
Begin = Callable[[BatchTrainer, HieroInLoop, Weights], Weights]
#: A figure of the first translations of a decoding.
Measure = Callable[[Pool], float]


def _cpu() -> float:
    """CPU seconds of this process and of its ended children: fits run in child processes."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


@dataclasses.dataclass(frozen=True)
class Recipe:
    """The settings of a trial: a loop on dev, then the test part with the weights of the best decoding.

    The best is the one with the highest ``measure`` if there is one, else with the highest score; or the ``last``.

    ``choose`` maps options to values, of which the score on the lists of the first decoding chooses one. ``begin`` is
    an iteration of its own before the loop. With a ``tolerance`` below 0 the loop continues if the weights do not
    change. ``recent`` is the number of decodings to learn from, 0: all.
    """

    name: str  # of the trainer
    seed: int
    _: dataclasses.KW_ONLY
    initial: Weights
    iterations: int
    k: int
    templates: Sequence[str] = ()
    choose: Mapping[str, Sequence[Any]] = dataclasses.field(default_factory=dict)
    begin: Begin | None = None
    measure: Measure | None = None
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    tolerance: float = 1e-4
    digits: int = 0
    recent: int = 0
    last: bool = False

    def trial(self, lab: Lab, on: Setup, label: str) -> Trial:
        """One trial, from the cache if it is there."""
        key = {**on.key, **self._key(lab)}
        return lab.cached(label, key, lambda: self._computed(lab, on, label, lab.scratch(label, key)))

    def _key(self, lab: Lab) -> dict[str, Any]:
        return {
            "trainer": self.name,
            "options": spelt(trainer(self.name, lab, self.seed, **self.options)),
            "choose": self.choose or None,
            "seed": self.seed,
            "initial": dict(self.initial),
            "iterations": self.iterations,
            "k": self.k,
            "templates": list(self.templates),
            "begin": self.begin.__name__ if self.begin else None,
            "measure": self.measure.__name__ if self.measure else None,
            "tolerance": self.tolerance,
            "digits": self.digits,
            "recent": self.recent,
            "last": self.last,
        }

    def _computed(self, lab: Lab, on: Setup, label: str, folder: Path) -> dict[str, Any]:
        decoder = HieroInLoop(on, self.k, tuple(self.templates), digits=self.digits)
        before = _cpu()
        chosen = self._chosen(lab, decoder)
        learner = trainer(self.name, lab, self.seed, **chosen)
        iterations = self.iterations - bool(self.begin)
        loop = OuterLoop(learner, decoder, iterations, self.tolerance, seed=self.seed, recent=self.recent)
        session = lab.training(f"{label}, seed {self.seed}", self.iterations + 1, folder)
        outcome = loop.run(self.begin(learner, decoder, self.initial) if self.begin else self.initial, session)
        tuning = _cpu() - before
        pool = loop.candidates(folder, len(outcome.decoded))
        best, measured = outcome.decoded[-1] if self.last else outcome.best, []
        if self.measure is not None:
            first = [first_best(loop.decoding(folder, decoding.number), lab.jobs) for decoding in outcome.decoded]
            measured = [self.measure(translations) for translations in first]
            best = outcome.decoded[int(np.argmax(measured))]
        # CPU seconds of one fit to all candidates, on one thread.
        began = time.process_time()
        once = dataclasses.replace(learner, jobs=1).fit(pool, self.initial)
        cpu = time.process_time() - began
        shutil.rmtree(folder, ignore_errors=True)
        return {
            "dev": best.scores["dev"],
            **on.tested(on.translate(on.test, decoder.known(best.weights), self.templates)),
            "weights": best.weights,
            "options": chosen,
            "iteration": best.number,
            "decodings": len(outcome.decoded),
            "history": outcome.history,
            "warnings": outcome.warnings,
            "measured": measured,
            "largest": [mass(decoding.weights) for decoding in outcome.decoded],
            "swings": swings([decoding.weights for decoding in outcome.decoded]),
            "cpu": cpu,
            "decoding": float(np.mean(decoder.seconds)) if decoder.seconds else 0.0,
            "tuning": tuning,
            "updates": int(once.history[-1].get("updates", 0)) if once.history else 0,
            "epochs": len(once.history),
            "candidates": int(pool.row_begin()[-1]),
        }

    def _chosen(self, lab: Lab, decoder: HieroInLoop) -> dict[str, Any]:
        """The options, with those of ``choose`` that score highest on the lists of the first decoding."""
        chosen = dict(self.options)
        if not self.choose:
            return chosen
        lists = decoder.decode(self.initial, Path(), Request())
        for option, values in self.choose.items():
            learners = [trainer(self.name, lab, self.seed, **{**chosen, option: value}) for value in values]
            scores = [learner.fit(lists, self.initial).score for learner in learners]
            chosen[option] = values[int(np.argmax(scores))]
        return chosen


def compare(on: Setup, trials: Sequence[Trial], others: Sequence[Trial], lab: Lab) -> Comparison:
    """The replicates of one recipe against those of another on the test part, by the paired bootstrap."""
    ours, theirs = (np.stack([on.stats(on.test, trial["hypotheses"]) for trial in group]) for group in (trials, others))
    return paired_bootstrap(ours, theirs, on.metric, 1000, lab.seed, lab.jobs)


def mark(comparison: Comparison) -> str:
    """``+`` for better, ``-`` for worse, at the 0.05 level."""
    return "" if comparison.p >= 0.05 else "+" if comparison.delta > 0 else "-"
