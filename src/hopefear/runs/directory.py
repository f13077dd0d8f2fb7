"""Run directories: what a training run leaves behind.

``weights.txt``  the result, a ``name value`` a line, in full precision
``run.json``     how it was made and how it went: command, seed, versions, trainer, options, inputs, scores, warnings
``log.jsonl``    what happened, an event a line
``checkpoint/``  what ``--resume`` needs, JSON files

``run.json`` is there from the start with ``"status": "running"``; it becomes ``"done"`` after the weights are in place.
``run.json``, ``weights.txt`` and checkpoints appear whole or not at all. Nothing in a run directory is code.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
import platform
import shutil
import time
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import hopefear
from hopefear.errors import InputError
from hopefear.util.files import atomic_write

__all__ = ["Run", "checksum", "plain", "read_run", "record_inputs", "versions"]

FORMAT = "hopefear-run-1"
_OURS = ("weights.txt", "run.json", "log.jsonl", "checkpoint", "examples.json", "stats.npz")


class Run:
    """One run directory, locked while it is open. Use it in a ``with`` statement."""

    def __init__(self, path: Path, record: dict[str, Any], lock: int) -> None:
        self.path = path
        self.record = record
        self._lock = lock
        self._begun = time.monotonic()

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        command: Iterable[str] = (),
        settings: Mapping[str, Any] | None = None,
        resume: bool = False,
        overwrite: bool = False,
    ) -> Run:
        """A new run, or with ``resume`` one that was begun with the same settings.

        ``settings`` is everything that decides the result (trainer, options, seed, checksums of inputs): a run goes on
        only under the settings it was begun with.
        """
        path = Path(path)
        cls.check(path, resume=resume, overwrite=overwrite)
        path.mkdir(parents=True, exist_ok=True)
        wanted: dict[str, Any] = plain(settings or {})
        lock = _locked(path)
        try:
            old = _old_record(path)
            if old is not None and overwrite and not resume:
                _clear(path)
                old = None
            if old is None:
                return cls._new(path, list(command), wanted, lock)
            _same_settings(path, old["settings"], wanted)
            run = cls(path, old, lock)
            run._mend_log()
            if not run.finished:
                run.log("resume")
            return run
        except BaseException:
            os.close(lock)
            raise

    @staticmethod
    def check(path: str | os.PathLike[str], *, resume: bool = False, overwrite: bool = False) -> None:
        """Say early, before anything is read, that ``open`` would refuse the directory. Changes nothing."""
        path = Path(path)
        if path.exists() and not path.is_dir():
            raise InputError(f"{path}: is a file. --out takes a directory")
        old = _old_record(path) if path.is_dir() else None
        if old is not None and not resume and not overwrite:
            state = "a finished run" if old["status"] == "done" else "an unfinished run"
            cure = "" if old["status"] == "done" else "--resume continues it, "
            raise InputError(f"{path}: holds {state}. {cure}--overwrite starts again, or take another --out")

    @classmethod
    def _new(cls, path: Path, command: list[str], settings: dict[str, Any], lock: int) -> Run:
        record = {
            "format": FORMAT,
            "status": "running",
            "command": command,
            "seed": settings.get("seed"),
            "started": _now(),
            "seconds": 0.0,
            "versions": versions(),
            "settings": settings,
            "epochs": [],
            "final": {},
            "warnings": [],
        }
        run = cls(path, record, lock)
        (path / "checkpoint").mkdir(exist_ok=True)
        run.save()
        run.log("start", command=command)
        return run

    @property
    def finished(self) -> bool:
        return bool(self.record["status"] == "done")

    def save(self) -> None:
        """Write ``run.json``."""
        now = time.monotonic()
        self.record["seconds"] = round(self.record["seconds"] + now - self._begun, 3)
        self._begun = now
        with atomic_write(self.path / "run.json") as file:
            json.dump(plain(self.record), file, indent=2, ensure_ascii=False, allow_nan=False)
            file.write("\n")

    def log(self, event: str, **fields: Any) -> None:
        """Append an event to ``log.jsonl``."""
        line = json.dumps(plain({"time": _now(), "event": event, **fields}), ensure_ascii=False, allow_nan=False)
        with (self.path / "log.jsonl").open("a", encoding="utf-8", newline="\n") as file:
            file.write(line + "\n")

    def _mend_log(self) -> None:
        """Drop a last line that was cut off when the run was killed."""
        path = self.path / "log.jsonl"
        text = path.read_bytes() if path.exists() else b""
        if text and not text.endswith(b"\n"):
            with atomic_write(path, "wb") as file:
                file.write(text[: text.rfind(b"\n") + 1])

    def warn(self, text: str) -> None:
        """Keep a warning in ``run.json``, once."""
        if text not in self.record["warnings"]:
            self.record["warnings"].append(text)
            self.log("warning", text=text)

    def save_checkpoint(self, name: str, state: Mapping[str, Any]) -> None:
        """Keep the state of a part of the run, e.g. a replicate, under ``checkpoint/NAME.json``."""
        (self.path / "checkpoint").mkdir(exist_ok=True)
        with atomic_write(self.path / "checkpoint" / f"{name}.json") as file:
            json.dump(plain(dict(state)), file, ensure_ascii=False, allow_nan=False)

    def load_checkpoint(self, name: str) -> dict[str, Any] | None:
        """What ``save_checkpoint`` kept, or nothing."""
        path = self.path / "checkpoint" / f"{name}.json"
        try:
            state = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise InputError(
                f"{path}: not a checkpoint ({error}). Delete it, or start again with --overwrite"
            ) from None
        if not isinstance(state, dict):
            raise InputError(f"{path}: not a checkpoint. Delete it, or start again with --overwrite")
        return state

    def finish(self, weights: Mapping[str, float] | Path, final: Mapping[str, Any]) -> None:
        """Write the weights, or move a file of them here, then declare the run done."""
        if isinstance(weights, Path):
            weights.replace(self.path / "weights.txt")
        else:
            self._write_weights(weights)
        self.record |= {"status": "done", "final": dict(final), "finished": _now()}
        self.log("done", final=final)
        self.save()

    def _write_weights(self, weights: Mapping[str, float]) -> None:
        bad = next((name for name, weight in weights.items() if not math.isfinite(weight)), None)
        if bad is not None:
            raise InputError(f"{self.path}: the weight of {bad!r} is {weights[bad]}: not written. Lower the step size")
        with atomic_write(self.path / "weights.txt") as file:
            file.writelines(f"{name} {float(weight)!r}\n" for name, weight in weights.items())

    def close(self) -> None:
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is not None and not self.finished:
            self.log("stopped", why=getattr(error[0], "__name__", str(error[0])))
            self.save()
        self.close()


def read_run(path: str | os.PathLike[str]) -> dict[str, Any]:
    """``run.json`` of a run directory."""
    path = Path(path)
    record = _old_record(path) if path.is_dir() else None
    if record is None:
        raise InputError(f"{path}: not a run directory: it has no run.json. Give the --out of a tune or train")
    return record


def versions() -> dict[str, str]:
    """Of everything that may change a number."""
    found = {"hopefear": hopefear.__version__, "python": platform.python_version()}
    for package in ("numpy", "scipy", "sacrebleu"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def checksum(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Name, size and SHA-256 of a file, or of all files of a directory in the order of their names."""
    path = Path(path)
    digest, size = hashlib.sha256(), 0
    files = sorted(entry for entry in path.rglob("*") if entry.is_file()) if path.is_dir() else [path]
    for file in files:
        if file is not path:
            digest.update(f"{file.relative_to(path)}\0".encode())
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
                size += len(block)
    return {"path": str(path), "bytes": size, "sha256": digest.hexdigest()}


def record_inputs(files: Mapping[str, str | Iterable[str] | None]) -> list[dict[str, Any]]:
    """Role, name, size and checksum of every file; standard input is left out."""
    found = []
    for role, names in files.items():
        several = [names] if isinstance(names, str) else list(names or ())
        found += [{"role": role, **checksum(name)} for name in several if name != "-"]
    return found


def _old_record(path: Path) -> dict[str, Any] | None:
    """The record of the run in this directory; nothing if the directory is empty."""
    try:
        record = json.loads((path / "run.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        if any(not entry.name.startswith(".") for entry in path.iterdir()):
            raise InputError(f"{path}: holds files but no run. Take an empty or a new directory") from None
        return None
    except ValueError as error:
        raise InputError(f"{path / 'run.json'}: not JSON ({error}). Take another directory") from None
    good = isinstance(record, dict) and record.get("format") == FORMAT and record.get("status") in ("running", "done")
    if not good or not isinstance(record.get("settings"), dict):
        raise InputError(f"{path / 'run.json'}: not a run of this version of hopefear. Take another directory")
    return dict(record)


def _same_settings(path: Path, old: dict[str, Any], new: dict[str, Any], of: str = "") -> None:
    for name in sorted({*old, *new}):
        was, now = old.get(name), new.get(name)
        if isinstance(was, dict) and isinstance(now, dict) and was and now:
            _same_settings(path, was, now, f"{of}{name} ")
        elif was != now:
            raise InputError(
                f"{path}: the run was begun with another {of}{name} ({_short(was)}, now {_short(now)}). "
                "Give it the same, or start again with --overwrite"
            )


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
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise InputError(f"{path}: another process is at work in it. Wait for it, or take another --out") from None
    except OSError:  # a file system without locks
        pass
    return lock


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def plain(value: Any) -> Any:
    """As JSON has it: NumPy numbers become plain ones, what is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, str) or value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return str(value)
