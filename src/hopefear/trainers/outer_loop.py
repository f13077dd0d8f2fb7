"""The outer loop: decode, learn from all candidates so far, decode again. Och (2003); Brown (2011), sections 5 and 6.

An iteration decodes the tuning set with the current weights, adds the candidates to those of all iterations before
(``recent``: of the last ones), without duplicates, and lets the trainer continue from the current weights. The loop
ends after ``iterations`` of these, or when a decoding finds nothing new, or when the weights hardly change; a last
decoding then scores the last weights.

What is returned are weights that have been decoded with: those whose decoding, that is the decoder's own first
translation of each sentence, scored best (Brown: "the exact determination of the overall objective score for the
weight vector which is eventually returned").

Every step leaves its result below ``folder`` and is reused if it exists, so a loop that was killed
continues where it was and ends with the same weights as an uninterrupted one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear._core import Pool
from hopefear.errors import InputError, OptionError
from hopefear.evaluation.holdout import held_out
from hopefear.evaluation.scores import first_best
from hopefear.formats import read_forests, read_weights, write_forests, write_weights
from hopefear.formats.references import need_references
from hopefear.metrics import Metric
from hopefear.runs import checkpoint
from hopefear.runs.events import Decoded, Event
from hopefear.runs.session import Session
from hopefear.trainers.base import Trainer
from hopefear.trainers.batch.base import BatchTrainer
from hopefear.util.processes import Say, run_tasks
from hopefear.util.values import plain

Number = int | float

#: Options that differ between a loop and fixed lists: PRO mixes 0.1 new with 0.9 old weights between decodings (Hopkins
#: and May 2011), a perceptron makes one pass between decodings (Brown 2011, section 4), and the decoder gets what
#: it ends with: those before the pass may look better on the old lists, but going back to them would end the loop.
LOOP_DEFAULTS: dict[str, dict[str, Any]] = {
    "pro": {"interpolation": 0.1},
    "perceptron": {"iterations": 1, "returned": "last"},
    "pa": {"iterations": 1, "returned": "last"},
}


def looping(kind: type[Trainer], options: Mapping[str, Any], **more: Any) -> BatchTrainer:
    """A trainer for a loop, with the defaults that options have there."""
    if not (issubclass(kind, BatchTrainer) and kind.loops):
        raise OptionError(f"trainer {kind.name} works with lists, forests and tables, not with a decoder.")
    return kind(**{**LOOP_DEFAULTS.get(kind.name, {}), **options, **more})


@dataclass(frozen=True)
class Request:
    """The options of a decoding."""

    iteration: int = 1
    parameters: Mapping[str, Number] = field(default_factory=dict)  # of the decoder
    like: Pool | None = None  # an earlier decoding, whose sentences must come again
    label: str = ""  # of the decoding in messages; by default its iteration

    @property
    def title(self) -> str:
        return self.label or f"iteration {self.iteration}"


class ListDecoder(Protocol):
    """The decoder of a loop: a ``DecoderCommand``, or a decoder in this process."""

    def decode(self, weights: Mapping[str, float], folder: Path, request: Request) -> Pool:
        """The candidates of the tuning set under some weights."""
        ...


@dataclass(frozen=True)
class Decoding:
    """One decoding."""

    number: int
    weights: dict[str, float]
    scores: dict[str, float]  # part -> the metric of the decoder's own first translations
    candidates: int  # that are learnt from after it
    new: int  # of this one


@dataclass(frozen=True)
class Looped:
    """The result of the loop."""

    best: Decoding
    decoded: list[Decoding]
    history: list[dict[str, Any]]  # a record per decoding, for run.json
    stopped: str  # why
    warnings: list[str] = field(default_factory=list)

    @property
    def weights(self) -> dict[str, float]:
        return self.best.weights


@dataclass(frozen=True)
class OuterLoop:
    """A trainer around a decoder. ``run`` does the work."""

    trainer: BatchTrainer
    decoder: ListDecoder
    iterations: int
    tolerance: float = 1e-4  # of the largest weight: smaller moves end the loop
    holdout: float = 0.0  # share of the sentences that are not learnt from
    seed: int = 1
    recent: int = 0  # decodings whose candidates are learnt from; 0: all

    @property
    def metric(self) -> Metric:
        metric: Metric = self.trainer.metric
        return metric

    def run(
        self,
        initial: Mapping[str, float] | None,
        run: Session,
        *,
        parameters: Mapping[str, Number] | None = None,
        learnt_only: bool = False,
    ) -> Looped:
        """Loop, with the folder of the run as memory.

        ``learnt_only`` leaves the initial weights out when the best are chosen.
        """
        assert run.folder is not None
        folder = run.folder
        weights = dict(initial or {})
        lists: list[Pool] = []  # of the decodings that are learnt from, joined where all are
        decoded: list[Decoding] = []
        history: list[dict[str, Any]] = []
        warnings: list[str] = []
        stopped = f"{self.iterations} iterations"
        number = 1
        while True:
            step = folder / f"iteration-{number}"
            decoding, lists = self._decode(step, number, weights, parameters, lists)
            decoded.append(decoding)
            history.append({"epoch": number, "score": decoding.scores["dev"], **_figures(decoding)})
            run.tell(Decoded(number, decoding.scores["dev"], _figures(decoding)))
            if decoding.new == 0:
                stopped = "the last decoding found nothing new"
                break
            if number > self.iterations:
                break
            try:
                fit = self._fit(step, number, weights if number > 1 or initial else None, _joined(lists), run, initial)
            except InputError as error:
                if number == 1:
                    raise
                stopped = str(error)
                warnings.append(f"learning stopped in iteration {number}, the best weights so far are kept: {error}")
                break
            warnings += [text for text in fit["warnings"] if text not in warnings]
            history[-1] |= {"list_score": fit["score"], "moved": fit["moved"]}
            weights = fit["weights"]
            if fit["moved"] <= self.tolerance:
                stopped = "the weights hardly change any more"
                break
            number += 1
        eligible = decoded[1:] if learnt_only and len(decoded) > 1 else decoded
        best = max(eligible, key=lambda decoding: self.metric.sign * decoding.scores["dev"])  # the earliest of equals
        return Looped(best, decoded, history, stopped, warnings)

    def _decode(
        self,
        step: Path,
        number: int,
        weights: Mapping[str, float],
        parameters: Mapping[str, Number] | None,
        before: list[Pool],
    ) -> tuple[Decoding, list[Pool]]:
        """Decode, or take the decoding that is there; and join it with the candidates before."""
        lists = step / "candidates.forests"
        known = checkpoint.load(step / "decoded.json")
        if known is None:
            step.mkdir(parents=True, exist_ok=True)
            write_weights(weights, step / "weights.txt")
            request = Request(number, parameters or {}, before[-1] if before else None)
            own = self.decoder.decode(weights, step, request)
            need_references(own, self.metric)
            write_forests(own, lists)
        else:
            own = read_forests(lists)
        lists_so_far = [*before, _core.merged([own])]
        candidates = _joined(lists_so_far)
        new = _size(candidates) - (_size(_joined(before)) if before else 0)
        recent_lists = lists_so_far[-self.recent :] if self.recent else [candidates]
        if known is None:
            known = {"scores": self.scores(first_best(own, self.trainer.jobs))}
            checkpoint.save(step / "decoded.json", known)
        return Decoding(number, dict(weights), known["scores"], _size(_joined(recent_lists)), new), recent_lists

    def scores(self, best: Pool) -> dict[str, float]:
        """The metric of one translation per sentence, for each part."""
        stats = self.metric.stats(best, self.trainer.jobs)
        return {part: self.metric.score(stats[which].sum(axis=0)) for part, which in self.parts(len(best)).items()}

    def parts(self, sentences: int) -> dict[str, NDArray[np.int64]]:
        """The sentences that are learnt from (dev) and those held out (holdout)."""
        learn, aside = held_out(sentences, self.holdout, self.seed)
        return {"dev": learn} if aside is None else {"dev": learn, "holdout": aside}

    def _fit(
        self,
        step: Path,
        number: int,
        weights: Mapping[str, float] | None,
        pool: Pool,
        run: Session,
        first: Mapping[str, float] | None = None,
    ) -> dict[str, Any]:
        """Learn, or take what was learnt. ``first``: the weights that the loop began with."""
        known = checkpoint.load(step / "learnt.json")
        if known is None:
            own = dataclasses.replace(self.trainer, seed=self.trainer.seed + 7919 * (number - 1))
            learn_from = pool.subset(self.parts(len(pool))["dev"])
            start = None
            if weights is not None and (not weights or any(name in weights for name in pool.feature_names)):
                start = weights
            elif weights is not None:
                names = ", ".join(pool.feature_names[:5])
                raise InputError(f"none of the initial weights names a feature of the decoder ({names}, ...)")

            def task(say: Say) -> dict[str, Any]:
                def tell(event: Event) -> None:
                    if event.logged:  # progress here is that of the loop
                        say(plain(event.plain()))

                if own.pulled and first and any(name in first for name in learn_from.feature_names):
                    result = own.fit_towards(first, learn_from, start, run=Session(tell))
                else:
                    result = own.fit(learn_from, start, run=Session(tell))
                return {"weights": result.weights, "score": result.score, "warnings": result.warnings}

            def forward(_: int, message: Mapping[str, Any]) -> None:
                run.tell(Event.restored(message).within(iteration=number))

            # In its own process, so that Ctrl-C works while the compiled core is running.
            result = run_tasks([task], 1, forward)[0]
            # Weights of features that no candidate has are the decoder's business: they stay as they are.
            learnt = {**(weights or {}), **result["weights"]}
            known = {"score": result["score"], "moved": _moved(weights or {}, learnt), "warnings": result["warnings"]}
            write_weights(learnt, step / "learnt.txt")
            checkpoint.save(step / "learnt.json", known)
        return {**known, "weights": read_weights(step / "learnt.txt")}

    def candidates(self, folder: Path, decodings: int) -> Pool:
        """The candidates that are learnt from after ``decodings`` decodings."""
        first = max(0, decodings - self.recent) if self.recent else 0
        return _core.merged([self.decoding(folder, k + 1) for k in range(first, decodings)])

    def decoding(self, folder: Path, number: int) -> Pool:
        """The lists of one decoding as the decoder wrote them."""
        return read_forests(folder / f"iteration-{number}" / "candidates.forests")


def _joined(lists: list[Pool]) -> Pool:
    """One pool of several without duplicates; each of them has none."""
    return lists[0] if len(lists) == 1 else _core.merged(lists)


def _size(pool: Pool) -> int:
    """Its candidates."""
    return int(pool.row_begin()[-1])


def _figures(decoding: Decoding) -> dict[str, Any]:
    parts = {part: score for part, score in decoding.scores.items() if part != "dev"}
    return {**parts, "candidates": decoding.candidates, "new": decoding.new}


def _moved(old: Mapping[str, float], new: Mapping[str, float]) -> float:
    """The largest move of a weight, relative to the largest weight."""
    largest = max((abs(weight) for weight in new.values()), default=0.0)
    move = max((abs(weight - old.get(name, 0.0)) for name, weight in new.items()), default=0.0)
    return move / largest if largest > 0 else 0.0
