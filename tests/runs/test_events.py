"""Events: as the log has them, and on the wire."""

import json
from dataclasses import FrozenInstanceError

import pytest

from hopefear.runs.events import Decoded, Epoch, Event, Note, Progress, Setting, Truths, Warned
from hopefear.util.values import plain

EVENTS = [
    Note("a note"),
    Warned("look"),
    Progress("read", 3, 10, "MB"),
    Progress("read"),
    Epoch(2, 33.5, {"updates": 7}, context={"replicate": 1}),
    Decoded(1, 20.0, {"candidates": 100}),
    Setting("rolled back", 4, 30.0, {"beam": 7}),
    Truths(55.0, 120),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_events_survive_the_wire(event: Event) -> None:
    assert Event.restored(json.loads(json.dumps(plain(event.plain())))) == event


def test_every_kind_of_event_is_here() -> None:
    def below(kind: type[Event]) -> set[type[Event]]:
        return {kind}.union(*map(below, kind.__subclasses__()))

    assert below(Event) - {Event} == {type(event) for event in EVENTS}


def test_as_the_log_has_them() -> None:
    records = {event.log_name: event.record() for event in EVENTS if event.logged}
    assert records == {
        "warning": {"text": "look"},
        "epoch": {"replicate": 1, "epoch": 2, "score": 33.5, "updates": 7},
        "decoded": {"epoch": 1, "score": 20.0, "candidates": 100},
        "rolled back": {"epoch": 4, "score": 30.0, "params": {"beam": 7}},
        "truths": {"bleu": 55.0, "sequences": 120},
    }


def test_the_inner_context_wins() -> None:
    event = Epoch(1, 1.0, context={"iteration": 2}).within(iteration=9, replicate=3)
    assert event.context == {"iteration": 2, "replicate": 3}
    with pytest.raises(FrozenInstanceError):
        event.score = 2.0  # type: ignore[misc]
