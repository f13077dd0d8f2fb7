"""Cross-fitting: the weights of a model as the mean of several fits, each with another part of the sentences held out.

The k-th fit has the trainer's seed + k - 1. Every held-out part is translated with weights that did not learn from it,
and all these translations together are what the run is scored on, and what decides whether the model's weights before
training are kept. One part of a hundred sentences is too small to decide that, and no sentence is lost to it: all but
one of the fits learn from it. The mean of the weights is the result: one decoder, whatever the number of folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hopefear.evaluation.holdout import split
from hopefear.runs.session import Session
from hopefear.trainers.base import Result
from hopefear.trainers.data import Corpus, Task, Translations
from hopefear.trainers.online.base import Online
from hopefear.trainers.online.job import KEPT


@dataclass(frozen=True)
class Crossed:
    """Sentences that were translated with weights that did not learn from them, before and after."""

    corpus: Corpus
    before: Translations
    after: Translations


def fit_folds(
    trainer: Online, task: Task, folds: int, share: float, initial: Mapping[str, float] | None, run: Session
) -> tuple[Result, Crossed | None]:
    """Fit so many times; with development data in the task, or a share of 0, only orders and seeds differ."""
    found: list[Result] = []
    crossed: list[Crossed] = []
    for k in range(folds):
        learn, aside = (task.corpus, task.dev) if task.dev else split(task.corpus, share, trainer.seed, k)
        own = run.part(f"fold-{k + 1}", fold=k + 1)
        if own.folder is not None:
            own.folder.mkdir(exist_ok=True)
        one = replace(trainer, seed=trainer.seed + k, keep="best" if trainer.keep == "best" else "learnt")
        part = Task(task.decoder, learn, aside)
        fold = one.fit(part, initial, run=own)
        found.append(fold)
        if aside is not None and task.dev is None:
            crossed.append(Crossed(aside, *(part.on_dev(w, trainer.jobs) for w in (fold.initial, fold.weights))))
    together = _together(crossed) if crossed else None
    return _joined(trainer, task, found, together), together


def _joined(trainer: Online, task: Task, found: Sequence[Result], crossed: Crossed | None) -> Result:
    """The fits as one result."""
    weights, first = mean_weights([one.weights for one in found]), found[0]
    before, score = first.initial_score, float("nan")
    if crossed is not None:
        before, score = crossed.before.score, crossed.after.score
    elif task.dev is not None:
        score = task.on_dev(weights, trainer.jobs).score
    history = _mean_history([one.history for one in found])
    warnings = list(dict.fromkeys(text for one in found for text in one.warnings))
    result = replace(
        first,
        weights=weights,
        score=score,
        initial_score=before,
        history=history,
        seconds=sum(one.seconds for one in found),
        epoch=history[-1]["epoch"],
        details={"folds": len(found)},
        warnings=warnings,
    )
    if not score <= before or trainer.keep == "learnt":
        return result
    text = f"what {len(found)} folds learnt is not better than the weights they began with ({before:.2f}); {KEPT}"
    return replace(result, weights=first.initial, score=before, epoch=0, warnings=[*warnings, text])


def mean_weights(each: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of several weight vectors; a feature that one does not name weighs 0 there."""
    names = dict.fromkeys(name for one in each for name in one)
    return {name: sum(one.get(name, 0.0) for one in each) / len(each) for name in names}


def _mean_history(each: Sequence[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """A record per epoch that all folds have: the means of all numbers that all of them have."""
    means = []
    for records in zip(*each, strict=False):
        first = records[0]
        numbers = [name for name, value in first.items() if isinstance(value, int | float) and name != "epoch"]
        shared = [name for name in numbers if all(name in one for one in records)]
        means.append(
            {"epoch": first["epoch"], **{name: float(np.mean([one[name] for one in records])) for name in shared}}
        )
    return means


def _together(each: Sequence[Crossed]) -> Crossed:
    """The parts as one corpus."""
    kinds = range(len(each[0].corpus.references))
    lines = [line for one in each for line in one.corpus.lines]
    corpus = Corpus(lines, [[line for one in each for line in one.corpus.references[k]] for k in kinds])
    return Crossed(corpus, _joined_texts([one.before for one in each]), _joined_texts([one.after for one in each]))


def _joined_texts(each: Sequence[Translations]) -> Translations:
    tokens = [[line for one in each for line in one.tokens[k]] for k in range(len(each[0].tokens))]
    return Translations(
        [text for one in each for text in one.texts], np.concatenate([one.stats for one in each]), tokens
    )
