"""costmargin as a whole: on text that can be learnt, stopped and resumed, killed anywhere, and what it refuses."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hopefear.decode import Blocks
from hopefear.decode.blocks import read_block_weights
from hopefear.errors import InputError
from hopefear.model import Model
from hopefear.runs import checkpoint
from hopefear.runs.events import Epoch, Event, Progress, Truths
from hopefear.runs.session import Session
from hopefear.trainers import Corpus, Task
from hopefear.trainers.blocks.costmargin import Costmargin
from tests.models import sentence, write_block_task


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    folder = tmp_path_factory.mktemp("costmargin")
    write_block_task(folder, {"train": 200}, max_phrase=2)
    model = Model.open(folder / "model")
    return Task(Blocks(model, {}, features="none", lms=False), Corpus.read(folder / "train.de", [folder / "train.en"]))


def first(task: Task, sentences: int) -> Task:
    return replace(task, corpus=task.corpus.subset(range(sentences)))


def test_learns_to_translate(task: Task) -> None:
    events: list[Event] = []
    trained = Costmargin(iterations=6, passes=4, eta=0.01, random=0).fit(task, run=Session(events.append))
    bleu = [record["train_bleu"] for record in trained.history]
    assert bleu[0] < 95 < bleu[-1]
    truths = next(event.bleu for event in events if isinstance(event, Truths))
    assert truths >= max(bleu) - 1e-6
    assert len(trained.weights) == trained.details["features"] > 100
    assert trained.file is None  # there was no folder
    decoder = Blocks(task.decoder.model, trained.weights)
    assert (decoder.features, decoder.reordering) == ("both", "swap")
    new = [sentence(random.Random(seed)) for seed in range(50, 150)]
    right = sum(got == want for got, (_, want) in zip(decoder.translate([f for f, _ in new]), new, strict=True))
    assert right > 80
    quick = Costmargin(iterations=1, eta=0.01).fit(task)
    assert quick.history[0]["train_bleu"] > bleu[0]  # random alternatives help the first model


def test_decodes_with_the_mean_of_the_weights(task: Task, tmp_path: Path) -> None:
    task = first(task, 100)
    last: dict[int, dict[int, float]] = {}
    means: dict[int, dict[int, float]] = {}

    def hear(event: Event) -> None:
        if isinstance(event, Epoch):
            with np.load(tmp_path / "relevant" / "last.npz") as held:
                last[event.epoch] = dict(zip(held["keys"].tolist(), held["weights"].tolist(), strict=True))
                means[event.epoch] = dict(zip(held["keys"].tolist(), held["means"].tolist(), strict=True))

    options = Costmargin(iterations=4, passes=2)
    trained = options.fit(task, run=Session(hear, tmp_path))
    for n in range(1, 5):
        for key, mean in means[n].items():
            assert mean == pytest.approx(sum(last[i].get(key, 0.0) for i in range(1, n + 1)) / n, abs=1e-15)
    # what is written is the mean, and the last alternatives were decoded with it
    assert trained.file == tmp_path / "relevant" / "weights.txt"
    weights = read_block_weights(trained.file)
    assert weights == trained.weights
    assert sorted(w for w in means[4].values() if w) == sorted(weights.values())
    decoder = options.adapted(task.decoder)
    corpus = decoder.corpus(task.corpus.lines, task.corpus.references[0])
    again = decoder.core.best(corpus, decoder.ready(weights, len(corpus), 1), *decoder.limits, 1)
    assert 100 * float(again.bleu.mean()) == pytest.approx(trained.history[-1]["train_bleu"])


class StopHereError(Exception):
    pass


@pytest.mark.parametrize("seed", [1, 2])
def test_a_stopped_run_ends_with_the_same_bytes(seed: int, task: Task, tmp_path: Path) -> None:
    task = replace(task, dev=first(task, 20).corpus)
    options = Costmargin(iterations=4, passes=2, real="lm,word", seed=seed)
    whole = replace(options, jobs=1).fit(task, run=Session(folder=tmp_path / "whole"))

    def hear(event: Event) -> None:
        if isinstance(event, Progress) and event.text.startswith(f"iteration 3 pass {seed} "):
            raise StopHereError

    with pytest.raises(StopHereError):
        options.fit(task, run=Session(hear, tmp_path / "part"))
    assert not (tmp_path / "part" / "relevant" / "weights.txt").exists()
    part = options.fit(task, run=Session(folder=tmp_path / "part"))
    assert whole.file is not None and part.file is not None
    assert part.file.read_bytes() == whole.file.read_bytes()
    assert part.history == whole.history
    assert (part.epoch, part.score) == (whole.epoch, whole.score)
    assert part.score == max(record["dev"] for record in whole.history)


def test_without_select_the_last_iteration_is_returned(task: Task) -> None:
    task = replace(first(task, 60), dev=first(task, 20).corpus)
    best, last = (Costmargin(iterations=5, eta=0.05, select=select, seed=3).fit(task) for select in (True, False))
    assert best.history == last.history
    assert last.epoch == 5 and last.score == last.history[-1]["dev"]
    assert best.score == max(record["dev"] for record in best.history)


class KilledError(BaseException):
    """The process was killed; nothing is cleaned up after that."""


def killed_at(monkeypatch: pytest.MonkeyPatch, k: int, after: bool) -> Callable[[], int]:
    """Ends the work at the k-th change of the disk, before or after it; returns how many there were so far."""
    seen = 0

    def watched(change: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            nonlocal seen
            seen += 1
            number = seen
            if number > k or (number == k and not after):  # nobody is left who could clean up
                raise KilledError
            result = change(*args, **options)
            if number == k:
                raise KilledError
            return result

        return call

    for name in ("replace", "unlink", "mkdir"):
        monkeypatch.setattr(Path, name, watched(getattr(Path, name)))
    return lambda: seen


@pytest.mark.parametrize("after", [False, True])
def test_killed_between_any_two_changes_of_the_disk(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    """State and history are one file: whatever was written when the process died, the weights end up the same."""
    task = replace(first(task, 30), dev=first(task, 10).corpus)
    options = Costmargin(iterations=3, passes=1, eta=0.02, jobs=1)
    whole = options.fit(task, run=Session(folder=tmp_path / "whole"))
    assert whole.file is not None
    expected = whole.file.read_bytes()
    for k in range(1, 1000):
        folder = tmp_path / f"{k}"
        with monkeypatch.context() as patch:
            changes = killed_at(patch, k, after)
            try:
                options.fit(task, run=Session(folder=folder))
                break
            except KilledError:
                assert changes() >= k
        part = options.fit(task, run=Session(folder=folder))
        assert part.file is not None
        assert part.file.read_bytes() == expected, k
        assert part.history == whole.history, k
        assert (part.epoch, part.score) == (whole.epoch, whole.score), k
    # truths, bags, random; in each iteration alternatives, best and last; weights.txt: more than a dozen moments
    assert 15 < k < 999


def test_refuses(task: Task, tmp_path: Path) -> None:
    for options, finding in (
        ({"features": "all"}, "features: 'all' is not known"),
        ({"reordering": "free"}, "reordering: 'free' is not known"),
        ({"real": "lm,glue"}, "real: there is no feature 'glue'"),
        ({"eta": 0.0}, "eta is 0"),
        ({"truths": 0}, "truths must be at least 1, not 0"),
        ({"real": "lm2"}, "no language model for the feature lm2"),
    ):
        with pytest.raises(InputError, match=finding):
            Costmargin(**options).fit(task)
    with pytest.raises(InputError, match="200 source lines and 5 references"):
        Corpus(task.corpus.lines, [task.corpus.references[0][:5]])
    with pytest.raises(InputError, match="starts at 0: it takes no initial weights"):
        Costmargin().fit(task, {"word": 1.0})
    options, run = Costmargin(iterations=1, passes=1), Session(folder=tmp_path)
    options.fit(first(task, 10), run=run)
    with pytest.raises(InputError, match=r"truths\.bin: belongs to another model or other sentences"):
        options.fit(first(task, 11), run=run)
    last = tmp_path / "relevant" / "last.npz"
    whole = last.read_bytes()
    last.write_bytes(whole[:200])
    with pytest.raises(InputError, match=r"last\.npz: not a checkpoint"):
        options.fit(first(task, 10), run=run)
    last.write_bytes(whole)
    about, arrays = checkpoint.load_arrays(last) or ({}, {})
    checkpoint.save_arrays(last, {"history": [{"iteration": 2}]}, arrays)
    with pytest.raises(InputError, match="not the state of a training"):
        options.fit(first(task, 10), run=run)
    checkpoint.save_arrays(last, about, {"keys": arrays["keys"]})
    with pytest.raises(InputError, match=r"last\.npz: not a checkpoint"):
        options.fit(first(task, 10), run=run)
    checkpoint.save_arrays(last, about, arrays)
    (tmp_path / "relevant" / "alternatives-001.bin").unlink()
    with pytest.raises(InputError, match=r"alternatives-001\.bin: is missing"):
        options.fit(first(task, 10), run=run)
