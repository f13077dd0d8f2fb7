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
from hopefear.runs.events import Event, Progress
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
    results: list[Result] = []
    crossed: list[Crossed] = []
    for k in range(folds):
        learn, aside = (task.corpus, task.dev) if task.dev else split(task.corpus, share, trainer.seed, k)
        own = _part_of(run, k, folds).part(f"fold-{k + 1}", fold=k + 1)
        if own.folder is not None:
            own.folder.mkdir(exist_ok=True)
        fold_trainer = replace(trainer, seed=trainer.seed + k, keep="best" if trainer.keep == "best" else "learnt")
        part = Task(task.decoder, learn, aside)
        fold = fold_trainer.fit(part, initial, run=own)
        results.append(fold)
        if aside is not None and task.dev is None:
            crossed.append(Crossed(aside, *(part.on_dev(w, trainer.jobs) for w in (fold.initial, fold.weights))))
    together = _together(crossed) if crossed else None
    return _joined(trainer, task, results, together), together


def _part_of(run: Session, fold: int, folds: int) -> Session:
    """The session of one fit: its progress is reported as a share of all fits."""

    def listen(event: Event) -> object:
        if isinstance(event, Progress) and event.done is not None and event.total:
            text = f"fold {fold + 1} of {folds}  {event.text}"
            event = replace(event, done=fold * event.total + event.done, total=folds * event.total, text=text)
        return run.listen(event)

    return replace(run, listen=listen)


def _joined(trainer: Online, task: Task, results: Sequence[Result], crossed: Crossed | None) -> Result:
    """The fits as one result."""
    weights, first = mean_weights([fitted.weights for fitted in results]), results[0]
    before, score = first.initial_score, float("nan")
    if crossed is not None:
        before, score = crossed.before.score, crossed.after.score
    elif task.dev is not None:
        score = task.on_dev(weights, trainer.jobs).score
    history = _mean_history([fitted.history for fitted in results])
    warnings = list(dict.fromkeys(text for fitted in results for text in fitted.warnings))
    result = replace(
        first,
        weights=weights,
        score=score,
        initial_score=before,
        history=history,
        seconds=sum(fitted.seconds for fitted in results),
        epoch=history[-1]["epoch"],
        details={"folds": len(results)},
        warnings=warnings,
    )
    if not score <= before or trainer.keep == "learnt":
        return result
    text = f"what {len(results)} folds learnt is not better than the initial weights ({before:.2f}); {KEPT}"
    return replace(result, weights=first.initial, score=before, epoch=0, warnings=[*warnings, text])


def mean_weights(vectors: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of several weight vectors; a feature that one does not name weighs 0 there."""
    names = dict.fromkeys(name for weights in vectors for name in weights)
    return {name: sum(weights.get(name, 0.0) for weights in vectors) / len(vectors) for name in names}


def _mean_history(histories: Sequence[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """A record per epoch that all folds have: the means of all numbers that all of them have."""
    means = []
    for records in zip(*histories, strict=False):
        first = records[0]
        numbers = [name for name, value in first.items() if isinstance(value, int | float) and name != "epoch"]
        shared = [name for name in numbers if all(name in record for record in records)]
        means.append(
            {"epoch": first["epoch"], **{name: float(np.mean([record[name] for record in records])) for name in shared}}
        )
    return means


def _together(folds: Sequence[Crossed]) -> Crossed:
    """The parts as one corpus."""
    kinds = range(len(folds[0].corpus.references))
    lines = [line for fold in folds for line in fold.corpus.lines]
    corpus = Corpus(lines, [[line for fold in folds for line in fold.corpus.references[k]] for k in kinds])
    before, after = [fold.before for fold in folds], [fold.after for fold in folds]
    return Crossed(corpus, _joined_texts(before), _joined_texts(after))


def _joined_texts(parts: Sequence[Translations]) -> Translations:
    tokens = [[line for part in parts for line in part.tokens[k]] for k in range(len(parts[0].tokens))]
    return Translations(
        [text for part in parts for text in part.texts], np.concatenate([part.stats for part in parts]), tokens
    )
