"""``run.json``: the one record of a run, whatever made it. docs/runs.md explains every key.

A record is written when a run begins (``"status": "running"``) and again when it ends (``"done"``). ``settings`` is
everything that decides the result; ``--resume`` continues only under the same ones, so all options are in it, defaults
included.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import hopefear
from hopefear.errors import InputError, input_error
from hopefear.util.files import UNLIMITED, PathLike, atomic_write, is_remote, iter_bytes, read_whole
from hopefear.util.values import plain

FORMAT = "hopefear-run-2"


@dataclass
class RunRecord:
    """The record of a run."""

    format: str = FORMAT
    kind: str = ""  # tune or train
    status: str = "running"  # or done
    command: list[str] = field(default_factory=list)
    directory: str = ""  # where the command was given: relative paths start here
    seed: int | None = None
    started: str = ""
    finished: str = ""
    seconds: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)
    trainer: dict[str, Any] = field(default_factory=dict)  # name, options: all of them
    metric: str = ""  # name|signature
    measure: dict[str, Any] = field(default_factory=dict)  # the metric's name and options
    model: str | None = None  # the model directory, of train
    inputs: list[dict[str, Any]] = field(default_factory=list)  # role, path, bytes, sha256
    sentences: dict[str, int] = field(default_factory=dict)  # part -> how many
    holdout: dict[str, Any] = field(default_factory=dict)  # share, ids
    settings: dict[str, Any] = field(default_factory=dict)  # everything that decides the result
    initial: dict[str, float] | None = None  # the weights that training began with, those that are not 0
    epochs: list[dict[str, Any]] = field(default_factory=list)  # a record per epoch: epoch, score, ...
    final: dict[str, Any] = field(default_factory=dict)  # part -> metric -> score; before; more
    means: dict[str, float] = field(default_factory=dict)  # of the features of lists, in what was learnt from
    findings: list[dict[str, str]] = field(default_factory=list)  # code, text
    warnings: list[str] = field(default_factory=list)

    @property
    def finished_well(self) -> bool:
        return self.status == "done"

    @property
    def metric_key(self) -> str:
        """The metric's name in ``final`` and ``epochs``."""
        return self.metric.partition("|")[0]

    def files(self) -> dict[str, list[str]]:
        """The input files by role; an InputError for the first that is missing or was changed."""
        files: dict[str, list[str]] = {}
        for entry in self.inputs:
            where = self.place(entry["path"])
            if checksum(where)["sha256"] != entry["sha256"]:
                raise InputError(f"{entry['path']} was changed since")
            files.setdefault(str(entry["role"]), []).append(str(where))
        return files

    def place(self, path: str) -> Path:
        """The current place of a path in the record."""
        where = Path(path)
        if not where.is_absolute() and not where.exists() and self.directory:
            where = Path(self.directory) / where
        if not where.exists():
            raise InputError(f"{path} is gone")
        return where

    def save(self, path: Path) -> None:
        with atomic_write(path) as file:
            json.dump(plain(asdict(self)), file, indent=2, ensure_ascii=False, allow_nan=False)
            file.write("\n")

    @classmethod
    def load(cls, path: Path) -> RunRecord:
        """The record in a file. Raises FileNotFoundError if there is none."""
        try:
            record = json.loads(read_whole(path).decode("utf-8"))
        except ValueError as error:
            raise input_error(path, None, f"not JSON ({error}). Use another directory") from None
        if isinstance(record, dict) and record.get("format") == "hopefear-run-1":
            raise input_error(path, None, "a run of hopefear 0.1, which this version cannot read. Repeat the run")
        if not isinstance(record, dict) or record.get("format") != FORMAT or record.get("status") not in STATES:
            raise input_error(path, None, "not a run of this version of hopefear. Use another directory")
        known = {declared.name: declared for declared in fields(cls)}
        defaults = asdict(cls())
        for name, value in record.items():
            wanted = type(defaults[name]) if defaults.get(name) is not None else None
            fits = wanted is None or isinstance(value, wanted) or (wanted is float and isinstance(value, int))
            if name in known and not fits:
                finding = f"{name} is not {KINDS.get(wanted, 'of the right kind')}"
                raise input_error(path, None, f"{finding}: not a run of hopefear. Use another directory")
        return cls(**{name: value for name, value in record.items() if name in known})


STATES = ("running", "done")
KINDS: dict[Any, str] = {str: "text", dict: "an object", list: "a list", float: "a number"}


def versions() -> dict[str, str]:
    """The versions of all packages that may change a number."""
    from importlib.metadata import PackageNotFoundError, version  # which imports much, and only new runs need it

    versions_in_use = {"hopefear": hopefear.__version__, "python": platform.python_version()}
    for package in ("numpy", "scipy", "sacrebleu"):
        try:
            versions_in_use[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions_in_use


def checksum(path: PathLike) -> dict[str, Any]:
    """Name, size and SHA-256 of a file, or of all files of a directory in the order of their names."""
    digest, size = hashlib.sha256(), 0
    if is_remote(path):  # as it is read: unpacked
        for block in iter_bytes(path, UNLIMITED):
            digest.update(block)
            size += len(block)
        return {"path": str(path), "bytes": size, "sha256": digest.hexdigest()}
    path = Path(path)
    files = sorted(entry for entry in path.rglob("*") if entry.is_file()) if path.is_dir() else [path]
    for file in files:
        if file is not path:
            digest.update(f"{file.relative_to(path)}\0".encode())
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
                size += len(block)
    return {"path": str(path), "bytes": size, "sha256": digest.hexdigest()}


def record_inputs(files: Mapping[str, PathLike | Iterable[PathLike] | None]) -> list[dict[str, Any]]:
    """Role, name, size and checksum of every file; standard input is left out."""
    records = []
    for role, names in files.items():
        several = [names] if isinstance(names, str | os.PathLike) else list(names or ())
        records += [{"role": role, **checksum(name)} for name in several if name != "-"]
    return records
