"""Brown (2011): the decoder with unused features, and the first iteration, which is online."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Forest, Grammar, GrammarTextReader, file_checksum, grammar_text
from hopefear.metrics import by_name
from hopefear.model import Model
from hopefear.model.directory import INFO, text_of
from hopefear.trainers.batch.base import BatchTrainer
from hopefear.trainers.batch.pa import Pa
from hopefear.util.files import atomic_folder
from hopefear_papers.base import Lab
from hopefear_papers.loop import HieroInLoop
from hopefear_papers.setups import Setup

Weights = Mapping[str, float]
UNUSED = tuple(f"unused{k}" for k in range(1, 6))
#: The share of rules in which an unused feature is not 1, and its value there (section 8).
RARE, JITTER = 0.01, 0.999999
SIDES = 20_000  # source sides that are converted to text at a time


def with_unused(lab: Lab, on: Setup) -> Setup:
    """The task with a model whose rules have five meaningless features. It is written once."""
    folder = lab.out / "models" / f"unused-{on.model.info['checksum']}"
    if not folder.is_dir():
        write_unused(on.model, folder, lab.jobs)
    return dataclasses.replace(on, model=Model.open(folder, verify=False))


def write_unused(model: Model, folder: Path, jobs: int = 0) -> None:
    """A copy of a model. Each rule has the unused features: 1, and in one rule of a hundred 0.999999."""
    grammar = widened(model.grammar, jobs)
    info = {name: value for name, value in json.loads(json.dumps(model.info)).items() if name != "checksum"}
    info["features"] = [*model.dense_names, *UNUSED]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with atomic_folder(folder) as out:
        for name in info["files"]:
            shutil.copyfile(model.path / name, out / name)
        path = out / "grammar.bin"
        path.write_bytes(grammar.bytes.data)
        info["files"]["grammar.bin"] = {"bytes": path.stat().st_size, "checksum": f"{file_checksum(str(path)):016x}"}
        (out / INFO).write_bytes(text_of(info))


def widened(grammar: Grammar, jobs: int = 0) -> Grammar:
    """The same rules with the unused features as further columns."""
    table, reader, random = grammar.table(), GrammarTextReader(), np.random.default_rng(5)
    first = 1
    for begin in range(0, table.sides, SIDES):
        lines = grammar_text(table, begin, begin + SIDES).splitlines()
        rare = random.random((len(lines), len(UNUSED))) < RARE
        values = [
            " ".join(f"{name}={JITTER if less else 1}" for name, less in zip(UNUSED, row, strict=True)) for row in rare
        ]
        parts = [line.rpartition(" |||") for line in lines]  # links stand last
        wide = [f"{rule} {more}{bar}{links}" for (rule, bar, links), more in zip(parts, values, strict=True)]
        reader.add(wide, str(grammar), first)
        first += len(wide)
    return Grammar.build(reader.finish(jobs), jobs)


def online_iteration(learner: BatchTrainer, decoder: HieroInLoop, initial: Weights) -> Weights:
    """The first iteration of section 5: each sentence is decoded with the updates of those before it.

    Steps are those of ``pa`` without averaging. The weights at the end are the first that the loop decodes with.
    """
    assert isinstance(learner, Pa) and learner.sentence_objective == "rouge-s"
    on, rouge = decoder.on, by_name("rouge-s", skip=learner.skip, beta=learner.beta)
    hiero = on.decoder(initial, decoder.templates)
    names = hiero.feature_names
    w = np.array([initial.get(name, 0.0) for name in names])
    for i in range(len(on.dev)):
        part = on.dev.subset([i])
        pool = on.with_references(hiero.kbest(part.sources, decoder.k, distinct=True, weights=w, jobs=1), part)
        gains = rouge.sentence_gains(rouge.stats(pool, 1))
        oracle = int(np.argmax(gains))
        loss = float(gains[oracle] - gains[0])  # (7)
        if loss > 0:
            x = _row(pool[0], oracle, len(w)) - _row(pool[0], 0, len(w))
            if learner.normalize:
                x /= _ranges(pool[0], len(w)) ** 2  # (4)
            w += loss / (x @ x + 1 / (2 * learner.C)) * x  # (8), (6)
    return {name: float(value) for name, value in zip(names, w, strict=True) if value}


def _row(forest: Forest, candidate: int, width: int) -> NDArray[np.float64]:
    """The features of one candidate of a list."""
    row = np.zeros(width)
    row[: forest.dense_width] = forest.dense[candidate]
    begin = forest.sparse_begin
    if len(begin):
        own = slice(int(begin[candidate]), int(begin[candidate + 1]))
        np.add.at(row, forest.sparse_ids[own], forest.sparse_values[own])
    return row


def _ranges(forest: Forest, width: int) -> NDArray[np.float64]:
    """The largest magnitude of each feature in a list, (5)."""
    r = np.full(width, 0.01)
    for candidate in range(forest.edge_count):
        r = np.maximum(r, np.abs(_row(forest, candidate, width)))
    return r
