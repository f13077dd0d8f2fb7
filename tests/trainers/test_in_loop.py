"""Batch trainers around a decoder of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

import hopefear as hf
from hopefear.decode import Hiero
from hopefear.model.directory import Model
from hopefear.runs.events import Decoded, Epoch, Event
from hopefear.runs.session import Session
from hopefear.trainers.data import Task, Translations
from hopefear.trainers.in_loop import InLoop, ModelDecoder
from hopefear.trainers.outer_loop import Request
from tests.models import corpus


@pytest.fixture(scope="module")
def data(task: Path) -> Task:
    decoder = Hiero(Model.open(task / "model"), pop_limit=20, templates=())
    return Task(decoder, corpus(task, "tune"), corpus(task, "dev"))


def test_lists_are_the_k_best_with_references_in_tokens(data: Task, tmp_path: Path) -> None:
    weights = {"lm": 1.0, "phrase_ef": 1.0}
    pool = ModelDecoder(data.decoder, data.corpus, 5, 1).decode(weights, tmp_path, Request())
    best = data.decoder.kbest(data.corpus.lines, 5, distinct=True, weights=weights)
    target = data.decoder.model.target_text
    for i in range(len(data.corpus)):
        assert pool.references(i) == [target.text(reference[i]) for reference in data.corpus.references]
        texts = [pool.text(i, e) for e in range(pool[i].edge_count)]
        assert texts == [best.text(i, e) for e in range(best[i].edge_count)]
        assert len(set(texts)) == len(texts) <= 5


def test_the_iteration_that_translates_best_is_chosen(data: Task, tmp_path: Path) -> None:
    events: list[Event] = []
    trainer = hf.Kbmira(passes=5, jobs=1)
    result = InLoop.around(trainer, 2, 20).fit(data, run=Session(events.append, tmp_path))
    scores = [record["score"] for record in result.history]
    assert result.score == max(scores) and result.epoch == scores.index(max(scores))
    assert result.initial_score == scores[0]
    assert data.dev is not None
    assert result.score == Translations.of(data.decoder, data.dev, result.weights, 1).score
    assert set(result.initial) == set(data.decoder.dense_names)
    mine = [event for event in events if isinstance(event, Epoch) and not event.context and type(event) is Epoch]
    assert [{"epoch": event.epoch, "score": event.score, **event.figures} for event in mine] == result.history
    assert len([event for event in events if isinstance(event, Decoded)]) == len(result.history)
    # nothing is decoded or learnt again
    again = InLoop.around(trainer, 2, 20).fit(data, run=Session(folder=tmp_path))
    assert (again.weights, again.history) == (result.weights, result.history)


def test_without_development_data_the_best_decoding_is_chosen(data: Task, tmp_path: Path) -> None:
    alone = Task(data.decoder, data.corpus)
    result = InLoop.around(hf.Kbmira(passes=5, jobs=1), 2, 20).fit(alone)
    assert result.score == max(record["train"] for record in result.history)
