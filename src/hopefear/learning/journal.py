"""The journal of corrections: a file to which lines are added and from which none is ever taken away.

    {"n":1,"kind":"correction","time":"...","user":"","project":"","source":"...","target":"...",
     "links":["0-0 1-1"],"weights":{"word":0.01},"check":"..."}                     (in one line)
    {"n":2,"kind":"undo","time":"...","user":"","project":"","undone":[1],"check":"..."}
    {"n":3,"kind":"rollback","time":"...","user":"","project":"","undone":[1],"check":"..."}

``weights`` is what the correction added to the weights of features, which a rollback undoes.

A line is confirmed once it is on the disk (``fsync``). What a kill leaves of a line has no line end: it does not count,
and the next line takes its place. ``check`` is a checksum of the line and of all before it, so that a damaged journal
is noticed. One process writes at a time, which the file ``lock`` next to the journal sees to; forked workers of it, and
other journals of it, may write too. Any number of processes may read.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hopefear.errors import InputError, input_error
from hopefear.util.atomic import sync
from hopefear.util.files import PathLike, os_error

FILE, LOCK = "journal.jsonl", "lock"
KINDS = ("correction", "undo", "rollback")
_FIRST = "hopefear corrections 1"  # what the first checksum is chained to
_MARK = b',"check":"'
_LENGTH = 16  # of a checksum


@dataclass(frozen=True, slots=True)
class Record:
    """A line of a journal."""

    number: int
    kind: str  #: one of KINDS
    time: str  #: ISO 8601, UTC
    user: str = ""
    project: str = ""
    source: str = ""
    target: str = ""
    links: tuple[str, ...] = ()  #: of each pair of sentences, as in ``0-0 1-2``
    aside: str = ""  #: why nothing was learnt from it, if so
    undone: tuple[int, ...] = ()  #: the corrections that an undo takes back; or a rollback, their weights only
    weights: Mapping[str, float] = field(default_factory=dict)  #: what it adds to the weights of features

    def as_dict(self) -> dict[str, Any]:
        """The record as JSON: empty fields of the other kind are left out."""
        head = {"n": self.number, "kind": self.kind, "time": self.time, "user": self.user, "project": self.project}
        if self.kind != "correction":
            return {**head, "undone": list(self.undone)}
        rest = {"source": self.source, "target": self.target, "links": list(self.links)}
        more = {"aside": self.aside, "weights": dict(self.weights)}
        return {**head, **rest, **{name: value for name, value in more.items() if value}}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Record:
        """Raises KeyError, TypeError or ValueError where this is no record."""
        number, kind = values["n"], values["kind"]
        if type(number) is not int or kind not in KINDS:
            raise ValueError("no record")
        texts = [values[name] for name in ("time", "user", "project")]
        texts += [values["source"], values["target"], values.get("aside", "")] if kind == "correction" else ["", "", ""]
        links, undone = values.get("links", []), values.get("undone", [])
        if not all(isinstance(text, str) for text in (*texts, *links)) or not all(type(n) is int for n in undone):
            raise ValueError("no record")
        weights = {name: float(value) for name, value in dict(values.get("weights", {})).items()}
        if not all(map(math.isfinite, weights.values())):
            raise ValueError("no record")
        time, user, project, source, target, aside = texts
        return cls(number, kind, time, user, project, source, target, tuple(links), aside, tuple(undone), weights)


class _Held:
    """The lock of a journal, which all journals of this process share that have the same file."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.guard = threading.RLock()  # lockf does not keep threads apart

    def __del__(self) -> None:
        os.close(self.descriptor)

    @classmethod
    def of(cls, path: Path) -> _Held:
        """Raises BlockingIOError if another process holds it."""
        with _opening:
            with suppress(FileNotFoundError):
                if (held := _held.get(_file(path.stat()))) is not None:
                    return held
            held = cls(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644))
            fcntl.flock(held.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _held[_file(os.fstat(held.descriptor))] = held
            return held


_opening = threading.Lock()
_held: weakref.WeakValueDictionary[tuple[int, int], _Held] = weakref.WeakValueDictionary()


def _file(about: os.stat_result) -> tuple[int, int]:
    return about.st_dev, about.st_ino


class Journal:
    """The journal in a folder, which need not be there yet. Threads may share it."""

    def __init__(self, folder: PathLike) -> None:
        self.folder = Path(folder)
        self.path = self.folder / FILE
        self._end = 0  # bytes read
        self._lines = 0
        self._check = _FIRST
        self._held: _Held | None = None
        self._guard = threading.RLock()

    def read(self) -> list[Record]:
        """The lines that were added since the last reading, by whomever."""
        with self._guard:
            try:
                size = self.path.stat().st_size
                if size == self._end:
                    return []
                with self.path.open("rb") as file:
                    file.seek(self._end)
                    data = file.read()
            except FileNotFoundError:
                data, size = b"", 0
            except OSError as error:
                raise os_error(self.path, error) from None
            if size < self._end:
                raise input_error(self.path, None, "became shorter while it was in use. Open the translator again")
            return list(self._records(data))

    def _records(self, data: bytes) -> Iterator[Record]:
        for line in data.split(b"\n")[:-1]:  # behind the last end of a line is nothing, or what a kill left
            record, check = self._parsed(line)
            self._end += len(line) + 1
            self._lines += 1
            self._check = check
            yield record

    def _parsed(self, line: bytes) -> tuple[Record, str]:
        body, mark, rest = line.rpartition(_MARK)
        check = _checksum(self._check, body)
        damaged = input_error(
            self.path,
            self._lines + 1,
            "is damaged: the checksum is wrong. Put a copy of the journal in its place, or cut it before this line",
        )
        if not mark or rest != check.encode() + b'"}':
            raise damaged
        try:
            record = Record.from_dict(json.loads(body + b"}"))
        except (KeyError, TypeError, ValueError, RecursionError):
            raise damaged from None
        if record.number != self._lines + 1:
            raise damaged
        return record, check

    @contextmanager
    def writing(self) -> Iterator[None]:
        """While this lasts, nobody else adds a line. Read before you add one."""
        with self._guard:
            self.hold()
            assert self._held is not None
            held = self._held
            with held.guard:
                fcntl.lockf(held.descriptor, fcntl.LOCK_EX)  # against the other workers, which hold the lock as well
                try:
                    yield
                finally:
                    fcntl.lockf(held.descriptor, fcntl.LOCK_UN)

    def hold(self) -> None:
        """Makes this process the one that writes, with those that it forks later, until ``close``."""
        with self._guard:
            if self._held is not None:
                return
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._held = _Held.of(self.folder / LOCK)
            except BlockingIOError:
                finding = "another process is writing to this journal. Send corrections to it, or stop it"
                raise input_error(self.path, None, finding) from None
            except OSError as error:
                raise os_error(self.folder / LOCK, error) from None

    def close(self) -> None:
        """Lets another process write."""
        with self._guard:
            self._held = None

    def append(self, record: Record) -> None:
        """Adds a line, inside ``writing`` and after ``read``. When this returns, the line is on the disk."""
        if record.number != self._lines + 1:
            raise AssertionError("the journal was not read to its end")
        text = json.dumps(record.as_dict(), ensure_ascii=False, separators=(",", ":"))
        body = text[:-1].encode()
        check = _checksum(self._check, body)
        line = body + _MARK + check.encode() + b'"}\n'
        try:
            self._write(line)
        except OSError as error:
            raise os_error(self.path, error) from None
        self._end += len(line)
        self._lines += 1
        self._check = check

    @property
    def next_number(self) -> int:
        """The number of the next line."""
        return self._lines + 1

    def _write(self, line: bytes) -> None:
        is_new = not self.path.exists()
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            os.ftruncate(descriptor, self._end)  # what a kill left of a line
            os.lseek(descriptor, self._end, os.SEEK_SET)
            try:
                written = 0
                while written < len(line):
                    written += os.write(descriptor, line[written:])
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, self._end)
                raise
        finally:
            os.close(descriptor)
        if is_new:
            for folder in (self.folder, self.folder.parent):
                sync(folder)


def _checksum(before: str, body: bytes) -> str:
    return hashlib.sha256(before.encode() + b"\n" + body).hexdigest()[:_LENGTH]


def check_layer(name: str) -> str:
    """The name of a layer, if it can be one: letters, digits, ``.``, ``_`` and ``-``."""
    if not name or len(name) > 100 or name[0] in ".-" or not all(c.isalnum() or c in "._-" for c in name):
        raise InputError(f"{name!r} is not a layer name. Use letters, digits, . _ and -")
    return name
