"""The folder of documents: time, room, names."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from hopefear.serve.documents import Documents
from hopefear.serve.multipart import Upload
from hopefear.serve.settings import Limits, RequestError
from hopefear.util.files import os_error
from tests.serve.fake import Fake


def test_what_has_had_its_time_is_removed(tmp_path: Path) -> None:
    documents = Documents(tmp_path, Limits(stored_seconds=100))
    old = documents.translate(Fake(), Upload("a.txt", b"haus"))[0]
    for path in tmp_path.iterdir():
        os.utime(path, (time.time() - 200, time.time() - 200))
    new = documents.translate(Fake(), Upload("a.txt", b"hund"))[0]
    assert documents.read(new) == (b"dog", "a.en.txt")
    with pytest.raises(RequestError) as refused:
        documents.read(old)
    assert refused.value.status == 404


def test_the_oldest_makes_room(tmp_path: Path) -> None:
    documents = Documents(tmp_path, Limits(stored_bytes=25))
    names = []
    for number in range(4):
        names.append(documents.translate(Fake(), Upload("a.txt", b"haus mann."))[0])
        for path in tmp_path.iterdir():
            if path.name.startswith(names[-1][:32]):
                os.utime(path, (1e9 + number + time.time() - 1e9 - 10, time.time() - 10 + number))
    assert len([*tmp_path.iterdir()]) == 2
    assert documents.read(names[-1])[0] == b"house man."


def test_nothing_is_left_of_a_document_that_failed(tmp_path: Path) -> None:
    documents = Documents(tmp_path, Limits())
    for data, error in ((b"kaputt", ValueError), (b"verboten", RequestError)):
        with pytest.raises(error):
            documents.translate(Fake(), Upload("a.txt", data))
    assert not [*tmp_path.iterdir()]


def test_a_full_disk_is_no_mistake_of_the_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **options: object) -> None:
        try:
            raise OSError(28, "No space left on device")
        except OSError as error:
            raise os_error(tmp_path / "x", error) from None

    monkeypatch.setattr(Fake, "document", full)
    with pytest.raises(OSError, match="No space"):
        Documents(tmp_path, Limits()).translate(Fake(), Upload("a.txt", b"haus"))
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    "identity", ["", "a", "../x.txt", "a" * 32, "a" * 32 + ".", "a" * 32 + ".py", "a" * 31 + "/.txt"]
)
def test_an_id_is_no_path(tmp_path: Path, identity: str) -> None:
    with pytest.raises(RequestError):
        Documents(tmp_path, Limits()).read(identity)
