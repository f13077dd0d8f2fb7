"""What a report knows of a run: its record, its weights, and the candidates it learnt from, read again.

The inputs of a run are named in ``run.json`` with their checksums. If one is gone or was changed, the sections that
need it are left out and the report says so. Of a run that is not finished there are the epochs in its log.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear._core import Pool
from hopefear.data.candidates import CandidateFiles
from hopefear.errors import InputError
from hopefear.evaluation.holdout import split
from hopefear.evaluation.scores import first_best
from hopefear.formats import read_forests, read_weights
from hopefear.metrics import Bleu, Metric, from_record
from hopefear.runs import RunRecord, checkpoint, read_run
from hopefear.runs.directory import at_work
from hopefear.runs.replicates import Replicate, kept_replicates
from hopefear.util.files import read_whole

Weights = dict[str, float]


@dataclass(frozen=True)
class Kept:
    """BLEU's statistics of every sentence of a part, as a run of ``hopefear train`` left them."""

    before: NDArray[np.float64]
    after: NDArray[np.float64]
    references: str  # a checksum: runs with another one are not compared


@dataclass(frozen=True)
class LoopOutputs:
    """The translations of a part: pools with one candidate per sentence."""

    before: Pool
    after: list[Pool]  # per replicate


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
    outputs: dict[str, LoopOutputs] = field(default_factory=dict)  # by a decoder in the loop: dev, holdout
    stopped: bool = False  # not finished, and nobody is at work

    @property
    def finished(self) -> bool:
        return self.record.finished_well

    @property
    def trainer(self) -> str:
        return str(self.record.trainer.get("name", "?"))

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.record.trainer.get("options", {}))

    @property
    def has_decoder(self) -> bool:
        """Whether a decoder was in the loop: scores of the record are then those of its own translations."""
        return "decoder_command" in self.record.settings

    @property
    def counts(self) -> str:
        """What the entries of its history are numbered by."""
        if self.has_decoder:
            return "decoding" if self.record.settings.get("retune_every") is None else "setting"
        if self.record.kind == "train":
            return "decoding" if "iterations" in self.record.settings else "epoch"
        return "start" if self.trainer == "mert" else "epoch"

    @property
    def key(self) -> str:
        """The metric's name in the record."""
        return self.record.metric_key

    @property
    def part(self) -> str:
        """The part that pictures are made of."""
        return "dev" if "dev" in self.parts else next(iter(self.parts))

    @property
    def chosen(self) -> int:
        """Which of the replicates gave the weights of the run: the best on dev."""
        seed = self.record.final.get("best_seed")
        return next((k for k, replicate in enumerate(self.replicates) if replicate.seed == seed), 0)

    @property
    def has_initial(self) -> bool:
        return any(self.initial.values())


class RunReader:
    """Reads runs; what several runs share (the same lists) is read once."""

    def __init__(self, jobs: int = 0, unfinished: bool = False) -> None:
        self.jobs = jobs
        self.unfinished = unfinished  # read such runs too
        self._pools: dict[tuple[str, ...], Pool] = {}

    def read(self, path: str | Path) -> RunData:
        path = Path(path)
        record = read_run(path)
        name = path.resolve().name or str(path)
        metric = from_record(record.measure) if record.measure else Bleu()
        if not record.finished_well:
            if not self.unfinished:
                cure = "Continue with --resume, then report; or look at it now with report --watch"
                raise InputError(f"{path}: the run is not finished. {cure}")
            run = RunData(path, name, record, metric, {}, [], stopped=not at_work(path))
            run.replicates = logged(run)
            return run
        weights = read_weights(path / "weights.txt")
        replicates = list(kept_replicates(path / "checkpoint")) or [
            Replicate(record.seed or 0, weights, {}, record.epochs, [])
        ]
        run = RunData(path, name, record, metric, weights, replicates)
        run.kept = _kept(path / "stats.npz")
        try:
            self._inputs(run)
        except (InputError, OSError, KeyError, ValueError) as error:
            run.parts = {}
            run.missing = " ".join(str(error).split())
        return run

    def _inputs(self, run: RunData) -> None:
        if run.record.model is not None:
            from hopefear.reports.decoded import decode_examples

            decode_examples(run, self.jobs)
            return
        files = run.record.files()
        if "initial" in files:
            run.initial = read_weights(files["initial"][0])
        if run.has_decoder:
            _loop(run, self.jobs)
            return
        run.parts = _parts(run.record, self._pool(run.record))
        if "dev_nbest" in files:
            format = run.record.settings.get("format") if "nbest" in files else None
            dev = CandidateFiles(files["dev_nbest"], refs=files.get("dev_refs", []), format=format).read()
            run.parts = {"train": run.parts.pop("dev"), "dev": dev, **run.parts}

    def _pool(self, record: RunRecord) -> Pool:
        """The candidates that were learnt from."""
        key = tuple(
            file["sha256"] for file in record.inputs if file["role"] in ("nbest", "forests", "table", "refs", "sources")
        )
        if key not in self._pools:
            self._pools[key] = CandidateFiles.recorded(record).read()
        return self._pools[key]


def _parts(record: RunRecord, pool: Pool) -> dict[str, Pool]:
    learn, aside = split(pool, float(record.holdout["share"]), int(record.settings["seed"]))
    return {"dev": learn} if aside is None else {"dev": learn, "holdout": aside}


def _loop(run: RunData, jobs: int) -> None:
    """A decoder was in the loop: its translations in every replicate, and all candidates of the best one."""
    folders = sorted((run.path / "checkpoint").glob("replicate-*/"), key=lambda folder: (len(folder.name), folder.name))
    if not folders:
        raise InputError("it tuned parameters of a decoder, and there are no lists of one setting only")
    final = run.record.final
    seeds = [replicate["seed"] for replicate in final.get("replicates", [])] or [run.record.seed or 0]
    outputs: list[list[Pool]] = []  # per replicate: before, after
    run.replicates = []
    for seed, folder in zip(seeds, folders, strict=True):
        steps = sorted(folder.glob("iteration-*"), key=lambda step: int(step.name.partition("-")[2]))
        scores = [(checkpoint.load(step / "decoded.json") or {})["scores"] for step in steps]
        sign = 1 if run.metric.higher_is_better else -1
        best = max(range(len(steps)), key=lambda k: sign * scores[k]["dev"])
        outputs.append([first_best(read_forests(steps[k] / "candidates.forests"), jobs) for k in (0, best)])
        history = [{"epoch": k + 1, "score": decoded["dev"]} for k, decoded in enumerate(scores)]
        run.replicates.append(Replicate(seed, read_weights(steps[best] / "weights.txt"), {}, history, []))
        if seed == final.get("best_seed", seed):
            run.initial = read_weights(steps[0] / "weights.txt")
            lists = _core.merged([read_forests(step / "candidates.forests") for step in steps])
    run.parts = _parts(run.record, lists)
    place = {name: i for i, name in enumerate(outputs[0][0].ids)}
    for part, pool in run.parts.items():
        rows = np.array([place[name] for name in pool.ids], dtype=np.int64)
        run.outputs[part] = LoopOutputs(outputs[0][0].subset(rows), [last.subset(rows) for _, last in outputs])


def sentences_of(pool: Pool) -> object:
    """What tells the sentences of a pool from others: their names and references."""
    return [(name, *pool.references(i)) for i, name in enumerate(pool.ids)]


def logged(run: RunData) -> list[Replicate]:
    """The epochs that the log of a run has so far, as replicates; an epoch that was repeated counts once."""
    wanted = {"decoding": "decoded", "setting": "evaluated"}.get(run.counts, "epoch")
    scores: dict[int, dict[int, dict[str, Any]]] = {}
    try:
        lines = read_whole(run.path / "log.jsonl").decode("utf-8", "replace").split("\n")
    except OSError:
        lines = []
    number = 0
    for line in lines:
        try:
            event = json.loads(line)
            if event["event"] == "resume" and wanted == "decoded":  # a resumed run logs its decodings again
                scores, number = {}, 0
            if event["event"] != wanted:
                continue
            number = int(event.get("replicate", number + (event["epoch"] == 1 and wanted == "decoded")))
            scores.setdefault(number, {})[int(event["epoch"])] = {"epoch": event["epoch"], "score": event["score"]}
        except (ValueError, KeyError, TypeError):
            continue  # a line that is being written
    first = (run.record.seed or 0) - 1
    return [
        Replicate(first + max(number, 1), {}, {}, [epochs[k] for k in sorted(epochs)], [])
        for number, epochs in sorted(scores.items())
    ]


def _kept(path: Path) -> dict[str, Kept]:
    """Statistics of all sentences; none from a damaged file: the scores are in the record."""
    kept = {}
    try:
        held = checkpoint.read_npz(path)
        for part in ("dev", "test"):
            if f"{part}_after" in held:
                before, after = (held[f"{part}_{when}"].astype(np.float64) for when in ("before", "after"))
                if before.shape != after.shape or after.shape[1:] != (2 * Bleu().max_order + 1,):
                    return {}
                kept[part] = Kept(before, after, str(held[f"{part}_references"]))
    except (OSError, InputError, ValueError, KeyError):
        return {}
    return kept
