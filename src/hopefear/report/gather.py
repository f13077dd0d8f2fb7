"""What a report knows of a run: its record, its weights, and the candidates it learnt from, read again.

The inputs of a run are named in ``run.json`` with their checksums. If one is gone or was changed, the sections that
need it are left out and the report says so.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.formats import read_forests, read_weights
from hopefear.metrics import Bleu, Metric
from hopefear.runs.directory import read_run
from hopefear.runs.record import checksum
from hopefear.train.tuning import metric_from, read_lists, split

__all__ = ["Kept", "Reader", "RunData"]

Weights = dict[str, float]


@dataclass(frozen=True)
class Kept:
    """BLEU's statistics of every sentence of a part, as a run of ``hopefear train`` left them."""

    before: NDArray[np.float64]
    after: NDArray[np.float64]
    references: str  # a checksum: runs with another one are not compared


@dataclass
class RunData:
    """One run."""

    path: Path
    name: str
    record: dict[str, Any]
    weights: Weights
    initial: Weights
    replicates: list[dict[str, Any]]  # seed, weights, history; the best one first in the record's own order
    metric: Metric
    key: str  # the metric's name in the records
    parts: dict[str, Pool] = field(default_factory=dict)  # dev, holdout: what there is
    missing: str | None = None  # why there is none
    chosen: list[str] = field(default_factory=list)  # ids of sentences to show, if the run named some
    said_before: dict[str, str] = field(default_factory=dict)  # id -> translation under the initial weights
    kept: dict[str, Kept] = field(default_factory=dict)  # dev, test

    @property
    def trainer(self) -> str:
        about = self.record.get("trainer") or self.record.get("settings", {}).get("trainer") or {}
        return str(about.get("name", "?") if isinstance(about, Mapping) else about)

    @property
    def options(self) -> dict[str, Any]:
        about = self.record.get("trainer")
        return dict(about.get("options", {})) if isinstance(about, Mapping) else {}

    @property
    def part(self) -> str:
        """The part that pictures are made of."""
        return "dev" if "dev" in self.parts else next(iter(self.parts))

    @property
    def has_initial(self) -> bool:
        return any(self.initial.values())


class Reader:
    """Reads runs; what several runs share (the same lists) is read once."""

    def __init__(self, jobs: int = 0, examples: int = 24) -> None:
        self.jobs = jobs
        self.examples = examples
        self._pools: dict[tuple[str, ...], Pool] = {}

    def read(self, path: str | Path) -> RunData:
        path = Path(path)
        record = read_run(path)
        if record["status"] != "done":
            raise InputError(f"{path}: the run is not finished. Go on with --resume, then report")
        weights = read_weights(path / "weights.txt")
        metric, key = _metric(record)
        run = RunData(path, _name(path), record, weights, {}, list(_replicates(path, record)), metric, key)
        run.kept = _kept(path / "stats.npz")
        try:
            self._inputs(run)
        except (InputError, OSError, KeyError, ValueError) as error:
            run.parts = {}
            run.missing = " ".join(str(error).split())
        return run

    def _inputs(self, run: RunData) -> None:
        record = run.record
        inputs = record.get("inputs") or []
        if record.get("model"):
            from hopefear.report.decoded import decode_examples

            decode_examples(run, self)
            return
        if any("role" not in one for one in inputs):
            raise InputError("made by an earlier version, which did not record what its inputs were")
        files = self.files(record, inputs)
        if "initial" in files:
            run.initial = read_weights(files["initial"][0])
        iterations = sorted((run.path / "checkpoint").glob("replicate-*/iteration-*/candidates.forests"))
        if iterations:
            self._loop(run)
            return
        key = tuple(one["sha256"] for one in inputs if one["role"] in ("nbest", "forests", "refs"))
        if key not in self._pools:
            references = files.get("refs", [])
            if "forests" in files:
                self._pools[key] = read_forests(files["forests"][0], references or None)
            elif "nbest" in files:
                self._pools[key] = read_lists(files["nbest"], references)[0]
            else:
                raise InputError("its candidates came from standard input and were not kept")
        pool = self._pools[key]
        learn, aside = split(pool, float(record["settings"]["holdout"]), int(record["settings"]["seed"]))
        run.parts = {"dev": learn}
        if "dev_nbest" in files:
            run.parts = {"train": learn, "dev": read_lists(files["dev_nbest"], files.get("dev_refs", []))[0]}
        if aside is not None:
            run.parts["holdout"] = aside

    def files(self, record: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
        """The input files by role; complains about the first that is gone or was changed."""
        files: dict[str, list[str]] = {}
        for one in inputs:
            where = Path(one["path"])
            if not where.is_absolute() and not where.exists() and record.get("directory"):
                where = Path(record["directory"]) / where
            if not where.exists():
                raise InputError(f"{one['path']} is gone")
            if checksum(where)["sha256"] != one["sha256"]:
                raise InputError(f"{one['path']} was changed since")
            files.setdefault(str(one["role"]), []).append(str(where))
        return files

    def _loop(self, run: RunData) -> None:
        """A decoder was in the loop: the candidates of all decodings of the best replicate."""
        seeds = [one.get("seed") for one in run.record["final"].get("replicates", [])]
        best = run.record["final"].get("best_seed")
        folder = run.path / "checkpoint" / f"replicate-{seeds.index(best) + 1 if best in seeds else 1}"
        steps = sorted(folder.glob("iteration-*"), key=lambda step: int(step.name.partition("-")[2]))
        lists = [read_forests(step / "candidates.forests") for step in steps]
        run.initial = read_weights(steps[0] / "weights.txt")
        pool = _core.merged(lists)
        learn, aside = split(pool, float(run.record["settings"]["holdout"]), int(run.record["settings"]["seed"]))
        run.parts = {"dev": learn, **({"holdout": aside} if aside is not None else {})}


def _name(path: Path) -> str:
    resolved = path.resolve()
    return resolved.name or str(path)


def _kept(path: Path) -> dict[str, Kept]:
    """Statistics of all sentences; none of an older run or from a damaged file: the scores are in the record."""
    found = {}
    try:
        with np.load(path, allow_pickle=False) as held:
            for part in ("dev", "test"):
                if f"{part}_after" in held:
                    before, after = (held[f"{part}_{when}"].astype(np.float64) for when in ("before", "after"))
                    if before.shape != after.shape or after.shape[1:] != (2 * Bleu().max_order + 1,):
                        return {}
                    found[part] = Kept(before, after, str(held[f"{part}_references"]))
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return {}
    return found


def _metric(record: Mapping[str, Any]) -> tuple[Metric, str]:
    key = str(record.get("metric") or record.get("settings", {}).get("metric") or "bleu").partition("|")[0]
    try:
        return metric_from(record["measure"]), key
    except (KeyError, InputError, TypeError):
        return Bleu(), key


def _replicates(path: Path, record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every replicate's history: from its checkpoint, or of the best one from the record."""
    found = False
    for file in sorted((path / "checkpoint").glob("replicate-*.json"), key=lambda f: (len(f.name), f.name)):
        try:
            one = json.loads(file.read_text(encoding="utf-8"))
            yield {"seed": one["seed"], "history": list(one["history"]), "weights": dict(one["weights"])}
            found = True
        except (ValueError, KeyError, TypeError, OSError):
            continue  # a replicate more or less: the record has the result
    if not found:
        weights = read_weights(path / "weights.txt")
        yield {"seed": record.get("seed"), "history": list(record.get("epochs") or []), "weights": weights}


def curve(history: Sequence[Mapping[str, Any]], key: str) -> tuple[list[float], list[float]]:
    """Epochs and development scores of one replicate."""
    xs, ys = [], []
    for number, epoch in enumerate(history):
        score = epoch.get("score")
        if score is None and isinstance(epoch.get("dev"), Mapping):
            score = epoch["dev"].get(key)
        if isinstance(score, int | float) and np.isfinite(score):
            at = epoch.get("epoch", number)
            xs.append(float(at) if isinstance(at, int | float) else float(number))
            ys.append(float(score))
    return xs, ys
