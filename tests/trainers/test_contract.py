"""What every trainer does. A new one is in TRAINERS and so here."""

from __future__ import annotations

import functools
import json
import math
from pathlib import Path
from typing import Any

import pytest

import hopefear as hf
from hopefear.runs.events import Epoch, Event, Progress
from hopefear.runs.session import Session
from hopefear.trainers import Result, Trainer
from tests.trainers.every import every_trainer, kit_of, make

Kind = type[Trainer]
CLOCKS = ("decoding", "learning")  # seconds, which nobody can repeat


def fit(trainer: Kind, run: Session | None = None, **options: Any) -> Result:
    kit = kit_of(trainer)
    result: Result = make(trainer, **options).fit(kit.data, kit.initial, run=run)
    return result


@functools.cache
def default_fit(trainer: Kind) -> Result:
    """A fit without a listener, which tests share."""
    return fit(trainer)


def timeless(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in record.items() if name not in CLOCKS} for record in history]


@every_trainer
def test_fit_improves_and_reports_it(trainer: Kind) -> None:
    result, kit = default_fit(trainer), kit_of(trainer)
    assert result.score > kit.score(kit.initial or {}) + 1
    assert result.seconds > 0
    assert result.history
    for record in result.history:
        assert isinstance(record["epoch"], int)
        assert 0 <= record["score"] <= 100
    assert result.epoch is None or result.epoch in [record["epoch"] for record in result.history]
    json.dumps({"history": result.history, "details": result.details}, allow_nan=False)


@every_trainer
def test_weights_are_finite_and_have_the_names_of_the_features(trainer: Kind) -> None:
    result = default_fit(trainer)
    assert kit_of(trainer).names_are_right(result.weights)
    assert all(type(value) is float and math.isfinite(value) for value in result.weights.values())


@every_trainer
def test_the_score_is_that_of_the_weights(trainer: Kind) -> None:
    result, kit = default_fit(trainer), kit_of(trainer)
    assert result.score == pytest.approx(kit.score(result.weights), abs=1e-9)
    if kit.initial is None:  # they weigh nothing, and nothing was decoded with them
        assert math.isnan(result.initial_score)
    else:
        assert result.initial_score == pytest.approx(kit.score(kit.initial), abs=1e-9)
        assert {name: value for name, value in result.initial.items() if value} == pytest.approx(dict(kit.initial))


@every_trainer
def test_planted_weights_are_found(trainer: Kind) -> None:
    data, agreement = kit_of(trainer).planted()
    assert agreement(make(trainer).fit(data).weights) > 0.9


@every_trainer
def test_the_order_of_lines(trainer: Kind) -> None:
    """Within lists. The order of sentences matters to all that update after each of them."""
    kit = kit_of(trainer)
    if (shuffled := kit.shuffled()) is None:
        pytest.skip("sentences are all it has")
    assert make(trainer).fit(shuffled, kit.initial).weights == default_fit(trainer).weights


@every_trainer
def test_the_same_seed_gives_the_same_weights_on_any_number_of_threads(trainer: Kind) -> None:
    serial, again, two, three = (fit(trainer, seed=5, jobs=jobs) for jobs in (1, 1, 2, 3))
    assert serial.weights == again.weights == two.weights == three.weights
    assert timeless(serial.history) == timeless(again.history) == timeless(two.history) == timeless(three.history)


@every_trainer
def test_options_are_plain_values(trainer: Kind) -> None:
    options = make(trainer).options()
    assert {"seed", "jobs"} <= set(options)
    assert json.loads(json.dumps(options)) == options


@every_trainer
def test_epochs_are_reported(trainer: Kind) -> None:
    events: list[Event] = []
    result = fit(trainer, Session(events.append))
    epochs = [event for event in events if isinstance(event, Epoch)]
    assert [{"epoch": epoch.epoch, "score": epoch.score, **epoch.figures} for epoch in epochs] == result.history


@every_trainer
def test_a_listener_may_stop_it(trainer: Kind) -> None:
    events: list[Event] = []

    def listen(event: Event) -> bool:
        events.append(event)
        return not isinstance(event, Epoch)

    stopped = fit(trainer, Session(listen))
    assert len([event for event in events if isinstance(event, Epoch)]) == len(stopped.history) == 1
    assert all(math.isfinite(value) for value in stopped.weights.values())
    assert stopped.score == pytest.approx(kit_of(trainer).score(stopped.weights), abs=1e-9)


class Interrupter:
    """Ctrl-C at the n-th sign of life."""

    def __init__(self, kind: type[Event], n: int) -> None:
        self.kind, self.left = kind, n

    def __call__(self, event: Event) -> None:
        self.left -= isinstance(event, self.kind)
        if self.left == 0:
            raise KeyboardInterrupt


@every_trainer
@pytest.mark.parametrize(("kind", "n"), [(Epoch, 1), (Epoch, 3), (Progress, 1), (Progress, 6)])
def test_an_interrupted_fit_resumes_to_the_same_bits(
    trainer: Kind, kind: type[Event], n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hopefear.trainers.online.teams.CHUNK", 2)
    whole = default_fit(trainer)
    listen = Interrupter(kind, n)
    try:
        fit(trainer, Session(listen, tmp_path, checkpoint_every=0.0))
        assert listen.left > 0  # it had no more to say
    except KeyboardInterrupt:
        pass
    for _ in range(2):  # goes on; and once it is done, there is nothing left to do
        result = fit(trainer, Session(folder=tmp_path, checkpoint_every=0.0))
        assert result.weights == whole.weights
        assert timeless(result.history) == timeless(whole.history)
        assert (result.score, result.epoch) == (whole.score, whole.epoch)


@every_trainer
def test_nothing_to_learn_is_a_one_line_error(trainer: Kind) -> None:
    for text, data in kit_of(trainer).nothing_to_learn().items():
        with pytest.raises(hf.InputError) as error:
            make(trainer).fit(data)
        assert text in str(error.value)
        assert "\n" not in str(error.value)


@every_trainer
def test_data_of_another_kind_is_a_one_line_error(trainer: Kind) -> None:
    for data in (None, [1, 2]):
        with pytest.raises(hf.InputError, match=f"{trainer.name}|no lists of candidates in this") as error:
            make(trainer).fit(data)
        assert "\n" not in str(error.value)


@every_trainer
def test_numbers_below_their_least_legal_value(trainer: Kind) -> None:
    with pytest.raises(hf.InputError, match=f"trainer {trainer.name}: jobs must be at least 0, not -1"):
        make(trainer, jobs=-1)
    with pytest.raises(hf.InputError, match="jobs is a whole number, not nan"):
        make(trainer, jobs=math.nan)
    with pytest.raises(TypeError, match="passses"):
        trainer(passses=3)


@every_trainer
def test_the_docstring_of_the_module_is_complete(trainer: Kind) -> None:
    """Everything that `hopefear trainers NAME` prints is there."""
    import inspect
    from dataclasses import fields

    from hopefear.trainers.registry import settable

    about = inspect.getdoc(inspect.getmodule(trainer))
    assert about and trainer.what and trainer.paper and trainer.spaces
    assert trainer.learns_from in ("candidates", "model")
    assert all(each.metadata["help"] for each in fields(trainer))
    assert {"seed", "jobs"}.isdisjoint(settable(trainer))
