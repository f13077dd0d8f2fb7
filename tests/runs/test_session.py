"""Sessions: listeners and folders of checkpoints."""

from pathlib import Path

import pytest

import hopefear as hf
from hopefear.runs.events import Epoch, Event, Note, Progress, Warned
from hopefear.runs.session import SILENT, Session


@pytest.mark.parametrize(("answer", "goes_on"), [(None, True), (True, True), (0, True), ("", True), (False, False)])
def test_only_false_asks_to_stop(answer: object, goes_on: bool) -> None:
    assert Session(lambda event: answer).tell(Epoch(1, 1.0)) is goes_on


def test_notes_warnings_and_progress() -> None:
    events: list[Event] = []
    session = Session(events.append)
    session.note("a")
    session.warn("b")
    update = session.progress("read", 10)
    update(3)
    update(text="MB")
    update(4, 20)
    assert events == [
        Note("a"),
        Warned("b"),
        Progress("read", 3, 10),
        Progress("read", None, 10, "MB"),
        Progress("read", 4, 20),
    ]


def test_parts_have_a_folder_below_and_mark_their_events(tmp_path: Path) -> None:
    events: list[Event] = []
    session = Session(events.append, tmp_path, 5.0)
    part = session.part("replicate-1", replicate=1).part(iteration=2)
    assert (part.folder, part.checkpoint_every) == (tmp_path / "replicate-1", 5.0)
    part.tell(Epoch(1, 1.0))
    assert events[0].context == {"replicate": 1, "iteration": 2}
    assert Session(events.append).part("below").folder is None


def test_a_part_may_be_stopped() -> None:
    assert not Session(lambda event: False).part(replicate=1).tell(Epoch(1, 1.0))


def test_silence() -> None:
    assert SILENT.tell(Note("nobody hears this"))
    assert hf.Session is Session
