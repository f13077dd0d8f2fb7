"""What every trainer and every metric does, as checks that packages run on their own ones.

    from hopefear.testing import TRAINER_CHECKS

    @pytest.mark.parametrize("check", TRAINER_CHECKS)
    def test_contract(check):
        check(Mine(epochs=5))

A check takes a trainer that learns from candidates, or a metric, and raises AssertionError with what is wrong. Give
trainers few rounds: each is fitted about ten times.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hopefear._core import Pool
from hopefear.data.lists import Synthetic
from hopefear.errors import InputError
from hopefear.evaluation.scores import score_of
from hopefear.formats.nbest import read_nbest
from hopefear.formats.records import Records
from hopefear.formats.weights import read_weights
from hopefear.metrics import Metric
from hopefear.runs.events import Epoch, Event
from hopefear.runs.session import Session
from hopefear.trainers.batch.base import CandidateTrainer

Check = Callable[[Any], None]
REFERENCES = 2


def lists(sentences: int = 40, candidates: int = 12, dense: int = 5, seed: int = 1) -> Pool:
    """Generated candidate lists with references, which a trainer can learn from."""
    return _lists(sentences, candidates, dense, seed)[0]


def _lists(sentences: int = 40, candidates: int = 12, dense: int = 5, seed: int = 1) -> tuple[Pool, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        Synthetic(sentences, candidates, REFERENCES, dense, seed=seed).write(folder)
        pool = read_nbest(Path(folder) / "nbest.txt", [Path(folder) / f"ref.{k}" for k in range(REFERENCES)])
        return pool, read_weights(Path(folder) / "initial.txt")


def it_improves(trainer: CandidateTrainer) -> None:
    """On lists with something to learn, the score is above that of the initial weights."""
    pool, initial = _lists()
    sign = 1 if trainer.metric.higher_is_better else -1
    result = trainer.fit(pool, initial)
    assert sign * (result.score - result.initial_score) > 0, f"{result.initial_score} before, {result.score} after"
    assert result.history, "no epoch was reported: call problem.report(epoch, score, w, {}) after each"


def weights_have_names(trainer: CandidateTrainer) -> None:
    """A finite number for each feature that moved, by its name."""
    weights = trainer.fit(lists()).weights
    assert weights and set(weights) <= set(lists().feature_names), f"the names are {sorted(weights)}"
    assert all(math.isfinite(value) for value in weights.values()), f"the weights are {weights}"


def the_score_is_that_of_the_weights(trainer: CandidateTrainer) -> None:
    """``score`` is what the weights choose, scored."""
    result = trainer.fit(lists())
    score = score_of(lists(), trainer.metric, result.weights)
    assert abs(result.score - score) < 1e-9, f"it says {result.score}, its weights have {score}"


def the_seed_decides(trainer: CandidateTrainer) -> None:
    """The same seed gives the same weights, on any number of threads."""
    first, *others = [replace(trainer, seed=5, jobs=jobs).fit(lists()).weights for jobs in (1, 1, 2)]
    assert all(other == first for other in others), "two fits with the same seed gave different weights"


def the_order_of_lines_does_not_matter(trainer: CandidateTrainer) -> None:
    """Candidates in another order give the same weights."""
    pool, initial = _lists()
    records = [json.loads(line) for piece in Records(pool).pieces() for line in piece.splitlines()]
    for number, record in enumerate(records):
        np.random.default_rng(number).shuffle(record["candidates"])
    shuffled = read_nbest(records)
    assert trainer.fit(shuffled, initial).weights == trainer.fit(pool, initial).weights, "the order mattered"


def options_are_plain(trainer: CandidateTrainer) -> None:
    """Options can be kept in the record of a run, and name and objective are there."""
    options = {name: value for name, value in trainer.options().items() if name != "metric"}
    assert json.loads(json.dumps(options)) == options, f"not plain values: {options}"
    assert trainer.name and trainer.what, "name and what are needed"


def epochs_are_told(trainer: CandidateTrainer) -> None:
    """A listener gets each epoch of the history."""
    events: list[Event] = []
    history = trainer.fit(lists(), run=Session(events.append)).history
    reported = [
        {"epoch": each.epoch, "score": each.score, **each.figures} for each in events if isinstance(each, Epoch)
    ]
    assert reported == history, f"{len(reported)} epochs were reported, the history has {len(history)}"


def it_stops_when_asked(trainer: CandidateTrainer) -> None:
    """``report`` returning False ends the fit, and the weights are those of that epoch or before."""
    events: list[Event] = []

    def listen(event: Event) -> bool:
        events.append(event)
        return not isinstance(event, Epoch)

    trainer.fit(lists(), run=Session(listen))
    count = sum(isinstance(event, Epoch) for event in events)
    assert count == 1, f"it was asked to stop after the first epoch, and continued for {count}"


def nothing_to_learn_is_an_error(trainer: CandidateTrainer) -> None:
    """Lists with one candidate each, and no lists at all, each give an error of one line."""
    for pool in (lists(candidates=1), Pool()):
        try:
            trainer.fit(pool)
        except InputError as error:
            assert "\n" not in str(error)
        else:
            raise AssertionError("it learnt from lists with nothing to choose from")


TEXTS = ["the cat sat on the mat", "a dog ran off", "it is what it is", "nothing in common"]
TRUTHS = ["the cat sat on a mat", "the dog ran off", "it is what it was", "other words at all"]


def statistics_add_up(metric: Metric) -> None:
    """The score of a document is a function of the sum of its sentences' statistics."""
    whole = metric.corpus_stats(TEXTS, [TRUTHS])
    parts = [metric.corpus_stats(TEXTS[a:b], [TRUTHS[a:b]]) for a, b in ((0, 2), (2, 4))]
    assert np.allclose(whole, np.concatenate(parts)), "the statistics of a sentence depend on the others"
    assert math.isfinite(metric.score(whole.sum(axis=0)))


def references_score_best(metric: Metric) -> None:
    """A text that is its own reference scores at least as well as any other."""
    sign = 1 if metric.higher_is_better else -1
    best, other = metric.corpus_score(TRUTHS, [TRUTHS]), metric.corpus_score(TEXTS, [TRUTHS])
    assert sign * (best - other) >= 0, f"the references themselves have {best}, other texts {other}"


def gains_grow_with_scores(metric: Metric) -> None:
    """What trainers maximise orders documents as the score does."""
    stats = [metric.corpus_stats([text], [[truth]]).sum(axis=0) for text, truth in zip(TEXTS, TRUTHS, strict=True)]
    sign = 1 if metric.higher_is_better else -1
    scores, gains = ([of(each) for each in stats] for of in (metric.score, metric.gain))
    pairs = [(a, b) for a in range(4) for b in range(4) if sign * (scores[a] - scores[b]) > 1e-9]
    assert all(gains[a] > gains[b] for a, b in pairs), f"scores {scores}, gains {gains}"


def trainers_learn_towards_it(metric: Metric) -> None:
    """A trainer of ours finds better weights by it."""
    from hopefear.trainers.batch.kbmira import Kbmira

    pool, initial = _lists()
    result = Kbmira(metric=metric, passes=5).fit(pool, initial)
    sign = 1 if metric.higher_is_better else -1
    assert sign * (result.score - result.initial_score) >= 0, f"{result.initial_score} before, {result.score} after"


TRAINER_CHECKS: tuple[Check, ...] = (
    it_improves,
    weights_have_names,
    the_score_is_that_of_the_weights,
    the_seed_decides,
    the_order_of_lines_does_not_matter,
    options_are_plain,
    epochs_are_told,
    it_stops_when_asked,
    nothing_to_learn_is_an_error,
)
METRIC_CHECKS: tuple[Check, ...] = (
    statistics_add_up,
    references_score_best,
    gains_grow_with_scores,
    trainers_learn_towards_it,
)
