"""Sentences of a run of ``hopefear train``, decoded again for the report: forests under the weights it ended with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopefear import _core
from hopefear.decode import Hiero
from hopefear.errors import InputError
from hopefear.files import iter_lines
from hopefear.formats import read_weights
from hopefear.model import Model

if TYPE_CHECKING:
    from hopefear.report.gather import Reader, RunData

__all__ = ["decode_examples"]

SENTENCES = 60  # decoded for lengths, n-grams and error surfaces
EDGES = 20_000  # kept of a forest


def decode_examples(run: RunData, reader: Reader) -> None:
    """Give the run a part ``examples``: forests of some development sentences, and what was said of them before."""
    settings = run.record["settings"]
    model = Model.open(_place(run, settings["model"]), verify=False)
    source = settings.get("dev_source") or settings.get("source")
    references = settings.get("dev_refs") or settings.get("refs") or []
    lines = list(iter_lines(_place(run, _path(source))))
    columns = [list(iter_lines(_place(run, _path(one)))) for one in references]
    if any(len(column) != len(lines) for column in columns):
        raise InputError("its references have another number of lines than its source")
    named = _named(run)
    words = [len(model.source_text.tokens(line)) for line in lines]
    usable = [i for i, count in enumerate(words) if 1 <= count <= 40]
    readable = [i for i in usable if words[i] >= 5] or usable
    chosen = [i for i in named if i in set(usable)]
    step = max(1, len(readable) // SENTENCES)
    chosen += [i for i in readable[::step][:SENTENCES] if i not in set(chosen)]
    if not chosen:
        raise InputError("its development set has no sentence to decode")
    run.initial = _initial(run, model)
    texts = [lines[i] for i in chosen]
    templates = _templates(model, run.weights)
    pool = Hiero(model, run.weights, templates=templates).decode(texts, jobs=reader.jobs)
    target = model.target_text
    _core.set_references(pool, [[" ".join(target.tokens(column[i])) for i in chosen] for column in columns])
    _core.set_sources(pool, [" ".join(model.source_text.tokens(text)) for text in texts])
    before = Hiero(model, run.initial, templates=_templates(model, run.initial)).translate(
        texts, tokens=True, jobs=reader.jobs
    )
    run.said_before = dict(zip(pool.ids, before, strict=True))
    run.chosen = [pool.ids[k] for k in range(len(named))] if named else []
    run.parts = {"examples": pool.pruned(run.weights, max_edges=EDGES, jobs=reader.jobs)}


def _templates(model: Model, weights: Mapping[str, float]) -> tuple[str, ...] | None:
    return None if any(value for name, value in weights.items() if "(" in name) else ()


def _path(one: Any) -> str:
    """A file is named by its path, or by a record that has one."""
    return str(one["path"] if isinstance(one, Mapping) else one)


def _place(run: RunData, path: Any) -> Path:
    where = Path(_path(path))
    if not where.is_absolute() and not where.exists() and run.record.get("directory"):
        where = Path(run.record["directory"]) / where
    if not where.exists():
        raise InputError(f"{path} is gone")
    return where


def _named(run: RunData) -> list[int]:
    """The sentences that the run named in examples.json: line numbers from 0."""
    try:
        found = json.loads((run.path / "examples.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    examples: Sequence[Any] = found.get("sentences", []) if isinstance(found, dict) else found
    numbers = [one.get("index", one.get("id")) if isinstance(one, dict) else one for one in examples]
    return [int(n) for n in numbers if isinstance(n, int) or (isinstance(n, str) and n.isdigit())]


def _initial(run: RunData, model: Model) -> dict[str, float]:
    for name in ("initial.txt", "initial-weights.txt", "checkpoint/initial.txt"):
        if (run.path / name).is_file():
            return read_weights(run.path / name)
    given = run.record.get("initial") or run.record["settings"].get("initial")
    if isinstance(given, Mapping) and all(isinstance(value, int | float) for value in given.values()):
        return {str(name): float(value) for name, value in given.items()}
    return model.weights
