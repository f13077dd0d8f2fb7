"""Run directories: the files of a training run.

``weights.txt``  the result, one ``name value`` per line, in full precision
``run.json``     how it was made and how it went (:mod:`hopefear.runs.record`)
``log.jsonl``    what happened, one event per line
``checkpoint/``  what ``--resume`` needs

``run.json`` is there from the start with ``"status": "running"``; it becomes ``"done"`` after the weights are in place.
``run.json``, ``weights.txt`` and checkpoints appear complete or not at all. Nothing in a run directory is code.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from hopefear.errors import InputError
from hopefear.formats.weights import write_weights
from hopefear.runs.events import Event, Listener, Warned
from hopefear.runs.record import RunRecord, versions
from hopefear.runs.session import Session
from hopefear.runs.tracking import Tracker, Tracking
from hopefear.util.files import atomic_write, read_whole, refuse_links, sweep
from hopefear.util.processes import close_in_children, close_private
from hopefear.util.values import plain

_COMPARED = ("weights", "table.md", "table.tex", "table.csv", "compare.json", "report.html")
_OURS = ("weights.txt", "run.json", "log.jsonl", "checkpoint", "examples.json", "stats.npz", "params.txt", *_COMPARED)


_DYING = 1.0  # seconds that the processes of a killed run may need to be gone


class Run:
    """One run directory, locked while it is open. Use it in a ``with`` statement.

    >>> with hf.Run.open("my-run", kind="tune", settings={"C": 0.1}) as run:
    ...     run.record.status
    'running'
    """

    def __init__(self, path: Path, record: RunRecord, lock: int) -> None:
        self.path = path
        self.record = record
        self._lock = lock
        self._begun = time.monotonic()
        self.tracking: Tracking | None = None

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        kind: str = "",
        command: Iterable[str] = (),
        settings: Mapping[str, Any] | None = None,
        resume: bool = False,
        overwrite: bool = False,
    ) -> Run:
        """A new run, or with ``resume`` one that was begun with the same settings.

        ``settings`` is everything that decides the result (trainer, options, seed, checksums of inputs): a run
        continues only under the same settings.
        """
        path = Path(path)
        cls.check(path, resume=resume, overwrite=overwrite)
        path.mkdir(parents=True, exist_ok=True)
        wanted: dict[str, Any] = plain(settings or {})
        lock = _locked(path)
        try:
            sweep(path, deep=True)
            old = _old_record(path)
            if old is None or (overwrite and not resume):
                _clear(path)
                return cls._new(path, kind, list(command), wanted, lock)
            _same_settings(path, old.settings, wanted)
            run = cls(path, old, lock)
            run._mend_log()
            if not run.finished:
                run.log("resume")
            return run
        except BaseException:
            close_private(lock)
            raise

    @staticmethod
    def check(path: str | os.PathLike[str], *, resume: bool = False, overwrite: bool = False) -> None:
        """Raise the error that ``open`` would raise for this directory, before anything is read. Changes nothing."""
        path = Path(path)
        if path.exists() and not path.is_dir():
            raise InputError(f"{path}: is a file. --out takes a directory")
        for name in _OURS:
            refuse_links(path / name, "Remove it, or copy the run with cp -rL")
        old = _old_record(path) if path.is_dir() else None
        if old is not None and not resume and not overwrite:
            state = "a finished run" if old.status == "done" else "an unfinished run"
            cure = "" if old.status == "done" else "--resume continues it, "
            raise InputError(f"{path}: holds {state}. {cure}--overwrite starts again, or choose another --out")

    @classmethod
    def _new(cls, path: Path, kind: str, command: list[str], settings: dict[str, Any], lock: int) -> Run:
        record = RunRecord(
            kind=kind,
            command=command,
            directory=str(Path.cwd()),
            seed=settings.get("seed"),
            started=_now(),
            versions=versions(),
            settings=settings,
        )
        run = cls(path, record, lock)
        (path / "checkpoint").mkdir(exist_ok=True)
        run.save()
        run.log("start", command=command)
        return run

    @property
    def finished(self) -> bool:
        return self.record.status == "done"

    def session(
        self, listen: Listener = lambda event: None, checkpoint_every: float = Session.checkpoint_every
    ) -> Session:
        """For the work of this run: events are logged and passed to ``listen``, checkpoints go to ``checkpoint/``."""

        def tell(event: Event) -> object:
            if isinstance(event, Warned):
                self.warn(event.text)
            elif event.logged and not self.finished:
                self.log(event.log_name, **event.record())
            if self.tracking is not None:
                self.tracking.hear(event)
                for text in self._tracking_warnings():
                    listen(Warned(text))
            return listen(event)

        if self.finished:  # repeat its warnings
            for text in self.record.warnings:
                listen(Warned(text))
        return Session(tell, self.path / "checkpoint", checkpoint_every)

    def track(self, trackers: Sequence[Tracker], listen: Listener) -> None:
        """Have the run written down elsewhere too (``hopefear.runs.tracking``)."""
        if trackers and not self.finished:
            self.tracking = Tracking(trackers, self.record, self.path)
            for text in self._tracking_warnings():
                listen(Warned(text))

    def _tracking_warnings(self) -> list[str]:
        """New warnings of the trackers, which the record keeps."""
        texts = self.tracking.warnings if self.tracking is not None else []
        for text in texts:
            self.warn(text)
        if self.tracking is not None:
            self.tracking.warnings = []
        return texts

    def save(self) -> None:
        """Write ``run.json``."""
        now = time.monotonic()
        self.record.seconds = round(self.record.seconds + now - self._begun, 3)
        self._begun = now
        self.record.save(self.path / "run.json")

    def log(self, event: str, **fields: Any) -> None:
        """Append an event to ``log.jsonl``."""
        line = json.dumps(plain({"time": _now(), "event": event, **fields}), ensure_ascii=False, allow_nan=False)
        path = self.path / "log.jsonl"
        try:
            with path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(line + "\n")
        except OSError as error:
            error.filename = str(path)
            raise

    def _mend_log(self) -> None:
        """Drop a last line that was cut off when the run was killed."""
        path = self.path / "log.jsonl"
        text = read_whole(path) if path.exists() else b""
        if text and not text.endswith(b"\n"):
            with atomic_write(path, "wb") as file:
                file.write(text[: text.rfind(b"\n") + 1])

    def warn(self, text: str) -> None:
        """Keep a warning in ``run.json``, once."""
        if text not in self.record.warnings:
            self.record.warnings.append(text)
            self.log("warning", text=text)

    def finish(self, weights: Mapping[str, float] | Path, final: Mapping[str, Any]) -> None:
        """Write the weights, or move a file of them here, then declare the run done."""
        if isinstance(weights, Path):
            weights.replace(self.path / "weights.txt")
        else:
            write_weights(weights, self.path / "weights.txt")
        self.record.status, self.record.final, self.record.finished = "done", dict(final), _now()
        self.log("done", final=final)
        self.save()

    def close(self) -> None:
        if self._lock >= 0:
            close_private(self._lock)
            self._lock = -1

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is not None and not self.finished:
            sweep(self.path, deep=True)  # what processes that were ended had begun
            with suppress(OSError):  # on a full disk; the error itself is reported
                self.log("stopped", why=getattr(error[0], "__name__", str(error[0])))
                self.save()
        if self.tracking is not None:
            self.tracking.end()
            self._tracking_warnings()
        self.close()


def read_run(path: str | os.PathLike[str]) -> RunRecord:
    """``run.json`` of a run directory.

    >>> tuned = hf.tune("data/nbest.txt", refs=["data/ref.0", "data/ref.1"], trainer="kbmira", out="run")
    >>> record = hf.read_run("run")
    >>> record.status, record.trainer["name"], record.final["dev"]["bleu"] == tuned.score
    ('done', 'kbmira', True)
    """
    path = Path(path)
    record = _old_record(path) if path.is_dir() else None
    if record is None:
        raise InputError(f"{path}: not a run directory: it has no run.json. Give the --out of a tune or train")
    return record


def at_work(path: str | os.PathLike[str]) -> bool:
    """Whether a process is at work in this run directory."""
    try:
        os.close(_locked(Path(path)))
    except InputError:
        return True
    return False


def _old_record(path: Path) -> RunRecord | None:
    """The record of the run in this directory; nothing if the directory is empty."""
    try:
        return RunRecord.load(path / "run.json")
    except FileNotFoundError:
        # A run that was killed before its record was there leaves some of these behind, and nothing worth keeping.
        early = ("checkpoint", "log.jsonl")
        if any(not entry.name.startswith(".") and entry.name not in early for entry in path.iterdir()):
            raise InputError(f"{path}: has files but no run. Use an empty or a new directory") from None
        return None


def _same_settings(path: Path, old: dict[str, Any], new: dict[str, Any], of: str = "") -> None:
    for name in sorted({*old, *new}):
        was, now = old.get(name), new.get(name)
        if isinstance(was, dict) and isinstance(now, dict) and was and now:
            _same_settings(path, was, now, f"{of}{name} ")
        elif was != now:
            finding = f"the run was started with another {of}{name} ({_short(was)}, now {_short(now)})"
            if name == "inputs":
                finding = "the run was started with other input files, or they have changed"
            raise InputError(f"{path}: {finding}. Use the same, or start again with --overwrite")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def _clear(path: Path) -> None:
    """Remove what belongs to a run, run.json last, and nothing else."""
    for name in (*(name for name in _OURS if name != "run.json"), "run.json"):
        entry = path / name
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink(missing_ok=True)


def _locked(path: Path) -> int:
    lock = os.open(path, os.O_RDONLY)
    until = time.monotonic() + _DYING
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() < until:
                time.sleep(0.02)
                continue
            os.close(lock)
            raise InputError(f"{path}: another process is using it. Wait for it, or choose another --out") from None
        except OSError:  # a file system without locks
            pass
        close_in_children(lock)  # or one that outlives us would keep the directory locked
        return lock


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
