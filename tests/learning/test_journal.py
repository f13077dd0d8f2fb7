import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hopefear.errors import InputError
from hopefear.learning.journal import Journal, Record, check_layer

ROOT = Path(__file__).resolve().parents[2]


def record(number: int, text: str = "ein Haus") -> Record:
    return Record(number, "correction", "2026-01-01T00:00:00Z", source=text, target="a house", links=("0-0 1-1",))


def add(journal: Journal, text: str = "ein Haus") -> int:
    with journal.writing():
        journal.read()
        number = journal.next_number
        journal.append(record(number, text))
    return number


def filled(folder: Path, count: int = 3) -> Path:
    journal = Journal(folder)
    for number in range(count):
        add(journal, f"Satz {number} ü\u2028x")
    journal.close()
    return journal.path


def test_what_was_added_is_read(tmp_path: Path) -> None:
    filled(tmp_path / "c")
    again = Journal(tmp_path / "c")
    assert [each.source for each in again.read()] == [f"Satz {n} ü\u2028x" for n in range(3)]
    assert again.read() == []


def test_the_same_records_give_the_same_bytes(tmp_path: Path) -> None:
    first = filled(tmp_path / "a")
    copy = Journal(tmp_path / "b")
    for each in Journal(tmp_path / "a").read():
        with copy.writing():
            copy.append(each)
    assert copy.path.read_bytes() == first.read_bytes()


def test_undo_is_a_line_too(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with journal.writing():
        journal.append(Record(1, "undo", "2026-01-01T00:00:00Z", "eve", "p", undone=(1, 2)))
    assert Journal(tmp_path).read() == [Record(1, "undo", "2026-01-01T00:00:00Z", "eve", "p", undone=(1, 2))]


def test_a_torn_last_line_does_not_count(tmp_path: Path) -> None:
    path = filled(tmp_path)
    data = path.read_bytes()
    ends = [k + 1 for k, byte in enumerate(data) if byte == 10]
    for size in range(len(data)):
        path.write_bytes(data[:size])
        journal = Journal(tmp_path)
        whole = sum(end <= size for end in ends)
        assert len(journal.read()) == whole
        assert add(journal) == whole + 1
        journal.close()
        assert len(Journal(tmp_path).read()) == whole + 1


def test_damage_is_noticed(tmp_path: Path) -> None:
    path = filled(tmp_path)
    data = path.read_bytes()
    rng = random.Random(1)
    for _ in range(100):
        place = rng.randrange(len(data) - 1)
        path.write_bytes(data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :])
        with pytest.raises(InputError, match=r"journal.jsonl:[123]: is damaged"):
            Journal(tmp_path).read()


def test_a_line_that_is_missing_or_twice_is_damage(tmp_path: Path) -> None:
    path = filled(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    for wrong in ([lines[0], lines[2]], [lines[0], lines[0]], [lines[1]]):
        path.write_bytes(b"".join(wrong))
        with pytest.raises(InputError, match="is damaged"):
            Journal(tmp_path).read()


def elsewhere(folder: Path) -> str:
    """The output of another process that adds a line."""
    code = f"from tests.learning.test_journal import Journal, add; print(add(Journal({str(folder)!r})))"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    return ended.stdout or ended.stderr.splitlines()[-1]


def test_another_process_is_refused_as_long_as_one_journal_writes(tmp_path: Path) -> None:
    first, second, forgotten = Journal(tmp_path), Journal(tmp_path), Journal(tmp_path)
    assert [add(each) for each in (first, second, forgotten, first)] == [1, 2, 3, 4]
    first.close()
    del forgotten
    assert "another process is writing to this journal" in elsewhere(tmp_path)
    second.close()
    assert elsewhere(tmp_path) == "5\n"
    assert [each.number for each in second.read()] == [3, 4, 5]


def test_forked_workers_of_a_writer_may_write(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.hold()
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            for _ in range(20):
                add(journal)
            os._exit(0)
        children.append(child)
    for child in children:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert [each.number for each in journal.read()] == list(range(1, 61))


def test_what_was_confirmed_survives_a_hundred_kills(tmp_path: Path) -> None:
    rng = random.Random(2)
    confirmed = 0
    for _ in range(100):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            journal = Journal(tmp_path / "c")
            while True:
                os.write(writing, add(journal, "wort " * rng.randrange(2000)).to_bytes(4, "little"))
        os.close(writing)
        time.sleep(rng.random() / 50)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(reading, "rb") as pipe:
            output = pipe.read()
        confirmed = int.from_bytes(output[len(output) // 4 * 4 - 4 : len(output) // 4 * 4], "little") or confirmed
        numbers = [each.number for each in Journal(tmp_path / "c").read()]
        assert numbers == list(range(1, len(numbers) + 1))
        assert confirmed <= len(numbers) <= confirmed + 1
        confirmed = len(numbers)
    assert confirmed > 0


def test_a_full_disk_confirms_nothing(tmp_path: Path) -> None:
    path = filled(tmp_path)
    before = path.read_bytes()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, resource.RLIM_INFINITY))
            try:
                add(Journal(tmp_path))
            except InputError as error:
                code = 0 if "journal.jsonl" in str(error) and path.read_bytes() == before else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(Journal(tmp_path).read()) == 3


def test_a_line_that_could_not_be_synced_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = filled(tmp_path)
    before = path.read_bytes()
    journal = Journal(tmp_path)

    def fails(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(InputError, match="Input/output error"):
        add(journal)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert add(journal) == 4


def test_a_journal_that_becomes_shorter_is_an_error(tmp_path: Path) -> None:
    path = filled(tmp_path)
    journal = Journal(tmp_path)
    journal.read()
    path.write_bytes(b"")
    with pytest.raises(InputError, match="became shorter"):
        journal.read()


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "-x", "a b", "x" * 101])
def test_names_of_layers(name: str) -> None:
    assert check_layer("alice-2.x_y") == "alice-2.x_y"
    with pytest.raises(InputError, match="is not a layer name"):
        check_layer(name)
