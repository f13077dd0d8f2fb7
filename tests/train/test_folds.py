"""Cross-fitting: the mean of fits that hold out other sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopefear._core import Pool
from hopefear.commands.train import Train
from hopefear.decode import Hiero
from hopefear.errors import OptionError
from hopefear.evaluation.holdout import held_out
from hopefear.metrics import Bleu
from hopefear.model.directory import Model
from hopefear.runs import read_run
from hopefear.runs.events import Epoch, Event, Progress
from hopefear.runs.session import Session
from hopefear.train.folds import fit_folds, mean_weights
from hopefear.train.model_trainers import model_trainer
from hopefear.trainers.data import Corpus, Task
from hopefear.trainers.online.mira import Mira
from hopefear.trainers.online.sgd import Sgd
from tests.models import corpus

FOLDS, SHARE = 3, 0.25


@pytest.fixture(scope="session")
def decoder(task: Path) -> Hiero:
    return Hiero(Model.open(task / "model"), pop_limit=20, templates=("lex",))


def config(task: Path, out: Path, **more: object) -> Train:
    refs = [str(task / f"tune.ref.{k}") for k in range(2)]
    common = {"model": str(task / "model"), "source": str(task / "tune.source"), "refs": refs, "trainer": "mira"}
    common |= {"set": {"epochs": 2}, "pop_limit": 20, "folds": FOLDS, "holdout": SHARE, "out": str(out)}
    return Train(**(common | more))


def test_the_parts_of_folds_share_no_sentence() -> None:
    parts = [held_out(24, SHARE, 5, fold) for fold in range(4)]
    assert sorted(i for _, aside in parts for i in aside) == list(range(24))
    assert all(sorted([*learn, *aside]) == list(range(24)) for learn, aside in parts)
    assert [each.tolist() for each in held_out(24, SHARE, 5)] == [each.tolist() for each in parts[0]]


def test_mean_of_weights() -> None:
    assert mean_weights([{"a": 1.0, "b": 2.0}, {"a": 2.0, "c": -4.0}]) == {"a": 1.5, "b": 1.0, "c": -2.0}


def test_folds_by_hand(decoder: Hiero, task: Path) -> None:
    """The twin: fits one after the other, their weights added up, their held-out translations in one document."""
    whole = corpus(task, "tune")
    weights, texts, references = [], [], []
    for k in range(FOLDS):
        learn, aside = held_out(len(whole), SHARE, 1, k)
        own = Mira(epochs=2, seed=1 + k, keep="learnt").fit(Task(decoder, whole.subset(learn.tolist())))
        weights.append(own.weights)
        pool = decoder.kbest([whole.lines[i] for i in aside], 1, weights=own.weights)
        texts += [pool.text(i, 0) for i in range(len(pool))]
        references += [[decoder.model.target_text.text(reference[i]) for reference in whole.references] for i in aside]
    result, crossed = fit_folds(Mira(epochs=2), Task(decoder, whole), FOLDS, SHARE, None, Session())
    assert crossed is not None and crossed.after.texts == texts
    columns = [list(reference) for reference in zip(*references, strict=True)]
    assert result.score == pytest.approx(Bleu().score(Bleu().corpus_stats(texts, columns).sum(axis=0)))
    assert result.score > result.initial_score and result.epoch == 2
    for name in result.weights:
        assert result.weights[name] == pytest.approx(
            sum(reference.get(name, 0.0) for reference in weights) / FOLDS, abs=1e-12
        )


def test_held_out_parts_are_translated_once_for_each_weights(
    decoder: Hiero, task: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[int] = []
    plain = Hiero.kbest

    def counted(self: Hiero, texts: list[str], *args: object, **more: object) -> Pool:
        lines.append(len(texts))
        return plain(self, texts, *args, **more)

    monkeypatch.setattr(Hiero, "kbest", counted)
    whole = corpus(task, "tune")
    _, crossed = fit_folds(Mira(epochs=2), Task(decoder, whole), FOLDS, SHARE, None, Session())
    assert crossed is not None
    assert sum(lines) == 3 * len(crossed.corpus)  # before, and after each epoch


def test_progress_is_that_of_all_folds(decoder: Hiero, task: Path) -> None:
    events: list[Progress] = []
    session = Session(lambda event: events.append(event) if isinstance(event, Progress) else None)
    fit_folds(Mira(epochs=2), Task(decoder, corpus(task, "tune")), 2, SHARE, None, session)
    progress = [(event.done or 0, event.total, event.text[:11]) for event in events if event.label == "train mira"]
    assert progress == sorted(progress) and len({total for _, total, _ in progress}) == 1
    assert progress[-1][0] == progress[-1][1] and progress[-1][2] == "fold 2 of 2"


def test_folds_that_do_harm_are_not_kept(decoder: Hiero, task: Path) -> None:
    folds = Task(decoder, corpus(task, "tune"))
    harmful, _ = fit_folds(Sgd(epochs=1, eta=1e6), folds, 2, SHARE, None, Session())
    assert (harmful.epoch, harmful.score, harmful.weights) == (0, harmful.initial_score, harmful.initial)
    assert len(harmful.warnings) == 1 and "what 2 folds learnt is not better" in harmful.warnings[0]


def test_with_development_data_only_seeds_differ(decoder: Hiero, task: Path) -> None:
    given = Task(decoder, corpus(task, "tune"), corpus(task, "dev"))
    result, crossed = fit_folds(Mira(epochs=1), given, 2, SHARE, None, Session())
    assert crossed is None
    each = [Mira(epochs=1, seed=seed, keep="learnt").fit(given).weights for seed in (1, 2)]
    assert result.weights == pytest.approx(mean_weights(each))
    assert result.history[1]["sentences"] == len(given.corpus)


def test_a_run_with_folds(task: Path, tmp_path: Path) -> None:
    seen: list[Event] = []
    made = config(task, tmp_path / "run").run(Session(seen.append))
    record = read_run(tmp_path / "run")
    assert record.settings["folds"] == made.final["folds"] == FOLDS
    assert record.sentences == {"train": 24, "dev": 18}
    assert [epoch["epoch"] for epoch in record.epochs] == [0, 1, 2]
    scores = [event for event in seen if isinstance(event, Epoch) and event.epoch == 2]
    assert [event.context["fold"] for event in scores] == [1, 2, 3]
    assert record.epochs[2]["score"] == pytest.approx(sum(event.score for event in scores) / FOLDS)
    assert made.result is not None and made.final["dev"]["bleu"] == made.result.score
    assert made.final["dev"]["bleu"] > made.final["before"]["dev"]["bleu"]


def test_a_run_with_folds_resumes(task: Path, tmp_path: Path) -> None:
    def interrupt(event: Event) -> None:
        if isinstance(event, Epoch) and event.context.get("fold") == 2 and event.epoch == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        config(task, tmp_path / "run").run(Session(interrupt))
    events: list[Event] = []
    resumed = config(task, tmp_path / "run", resume=True).run(Session(events.append))
    whole = config(task, tmp_path / "whole").run(Session())
    assert next(event.context["fold"] for event in events if isinstance(event, Epoch)) == 2
    assert resumed.final == whole.final and resumed.weights == whole.weights


def test_folds_that_cannot_be(task: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"5 folds cannot hold out 0.25 each. Lower --holdout or --folds."):
        config(task, tmp_path, folds=5)
    with pytest.raises(OptionError, match="--folds is for online trainers, not for mert"):
        model_trainer(config(task, tmp_path, trainer="mert", set={}))


def test_an_empty_part_is_no_part(decoder: Hiero, task: Path) -> None:
    whole = corpus(task, "tune")
    few = Task(decoder, Corpus(whole.lines[:2], [reference[:2] for reference in whole.references]))
    result, crossed = fit_folds(Mira(epochs=1), few, 2, 0.1, None, Session())
    assert crossed is None and result.epoch == 1
