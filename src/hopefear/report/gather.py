"""What a report knows of a run: its record, its weights, and the candidates it learnt from, read again.

The inputs of a run are named in ``run.json`` with their checksums. If one is gone or was changed, the sections that
need it are left out and the report says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.formats import read_forests, read_lists, read_weights
from hopefear.formats.table import TableSpec, read_table
from hopefear.metrics import Bleu, Metric, from_record
from hopefear.runs import RunRecord, checkpoint, read_run
from hopefear.train.holdout import split
from hopefear.train.tuning import Replicate

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
    record: RunRecord
    metric: Metric
    weights: Weights
    replicates: list[Replicate]  # in the order of their seeds
    initial: Weights = field(default_factory=dict)
    parts: dict[str, Pool] = field(default_factory=dict)  # dev, holdout: what there is
    missing: str | None = None  # why there is none
    said_before: dict[str, str] = field(default_factory=dict)  # id -> translation under the initial weights
    kept: dict[str, Kept] = field(default_factory=dict)  # dev, test

    @property
    def trainer(self) -> str:
        return str(self.record.trainer["name"])

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.record.trainer["options"])

    @property
    def key(self) -> str:
        """The metric's name in the record."""
        return self.record.metric_key

    @property
    def part(self) -> str:
        """The part that pictures are made of."""
        return "dev" if "dev" in self.parts else next(iter(self.parts))

    @property
    def has_initial(self) -> bool:
        return any(self.initial.values())


class Reader:
    """Reads runs; what several runs share (the same lists) is read once."""

    def __init__(self, jobs: int = 0) -> None:
        self.jobs = jobs
        self._pools: dict[tuple[str, ...], Pool] = {}

    def read(self, path: str | Path) -> RunData:
        path = Path(path)
        record = read_run(path)
        if not record.finished_well:
            raise InputError(f"{path}: the run is not finished. Go on with --resume, then report")
        weights = read_weights(path / "weights.txt")
        name = path.resolve().name or str(path)
        replicates = list(_replicates(path)) or [Replicate(record.seed or 0, weights, {}, record.epochs, [])]
        run = RunData(path, name, record, from_record(record.measure), weights, replicates)
        run.kept = _kept(path / "stats.npz")
        try:
            self._inputs(run)
        except (InputError, OSError, KeyError, ValueError) as error:
            run.parts = {}
            run.missing = " ".join(str(error).split())
        return run

    def _inputs(self, run: RunData) -> None:
        if run.record.model is not None:
            from hopefear.report.decoded import decode_examples

            decode_examples(run, self.jobs)
            return
        files = run.record.files()
        if "initial" in files:
            run.initial = read_weights(files["initial"][0])
        if any((run.path / "checkpoint").glob("replicate-*/iteration-*/candidates.forests")):
            _loop(run)
            return
        run.parts = _parts(run.record, self._pool(run.record, files))
        if "dev_nbest" in files:
            format = run.record.settings.get("format") if "nbest" in files else None
            dev = read_lists(files["dev_nbest"], files.get("dev_refs", []), format=format)[0]
            run.parts = {"train": run.parts.pop("dev"), "dev": dev, **run.parts}

    def _pool(self, record: RunRecord, files: dict[str, list[str]]) -> Pool:
        """The candidates that were learnt from."""
        key = tuple(
            one["sha256"] for one in record.inputs if one["role"] in ("nbest", "forests", "table", "refs", "sources")
        )
        if key not in self._pools:
            references, sources = files.get("refs", []), next(iter(files.get("sources", [])), None)
            format = record.settings.get("format")
            if "forests" in files:
                self._pools[key] = read_forests(files["forests"][0], references or None, format, sources)
            elif "nbest" in files:
                self._pools[key] = read_lists(files["nbest"], references, sources=sources, format=format)[0]
            elif "table" in files:
                spec = TableSpec(**record.settings["table"])
                self._pools[key] = read_table(files["table"][0], spec).pool(spec)
            else:
                raise InputError("its candidates came from standard input and were not kept")
        return self._pools[key]


def _parts(record: RunRecord, pool: Pool) -> dict[str, Pool]:
    learn, aside = split(pool, float(record.holdout["share"]), int(record.settings["seed"]))
    return {"dev": learn} if aside is None else {"dev": learn, "holdout": aside}


def _loop(run: RunData) -> None:
    """A decoder was in the loop: the candidates of all decodings of the best replicate."""
    final = run.record.final
    seeds = [one["seed"] for one in final.get("replicates", [])]
    folder = run.path / "checkpoint" / f"replicate-{seeds.index(final['best_seed']) + 1 if seeds else 1}"
    steps = sorted(folder.glob("iteration-*"), key=lambda step: int(step.name.partition("-")[2]))
    run.initial = read_weights(steps[0] / "weights.txt")
    run.parts = _parts(run.record, _core.merged([read_forests(step / "candidates.forests") for step in steps]))


def _kept(path: Path) -> dict[str, Kept]:
    """Statistics of all sentences; none from a damaged file: the scores are in the record."""
    found = {}
    try:
        held = checkpoint.read_npz(path)
        for part in ("dev", "test"):
            if f"{part}_after" in held:
                before, after = (held[f"{part}_{when}"].astype(np.float64) for when in ("before", "after"))
                if before.shape != after.shape or after.shape[1:] != (2 * Bleu().max_order + 1,):
                    return {}
                found[part] = Kept(before, after, str(held[f"{part}_references"]))
    except (OSError, InputError, ValueError, KeyError):
        return {}
    return found


def _replicates(path: Path) -> Iterator[Replicate]:
    """The replicates that left a checkpoint."""
    for file in sorted((path / "checkpoint").glob("replicate-*.json"), key=lambda f: (len(f.name), f.name)):
        try:
            yield Replicate(**checkpoint.load(file) or {})
        except (InputError, OSError, TypeError):
            continue  # a replicate more or less: the record has the result
