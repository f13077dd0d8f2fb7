"""Sentences of a run of ``hopefear train``, decoded again for the report: forests under the weights it ended with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hopefear import _core
from hopefear.decode import Blocks, Hiero
from hopefear.errors import InputError
from hopefear.model import Model
from hopefear.trainers.data import Corpus
from hopefear.util.files import read_whole

if TYPE_CHECKING:
    from hopefear.reports.gather import RunData

SENTENCES = 60  # decoded for lengths, n-grams and error surfaces
EDGES = 5_000  # kept of a forest


def decode_examples(run: RunData, jobs: int) -> None:
    """Give the run a part ``examples``: forests of some sentences, and their translations before training."""
    record = run.record
    assert record.model is not None
    model = Model.open(record.place(record.model), verify=False)
    run.initial = model.weights if record.initial is None else record.initial
    examples = _examples(run) or _development(run, model)
    words = [len(model.source_text.tokens(example["source"])) for example in examples]
    readable = [i for i, count in enumerate(words) if 5 <= count <= 40]
    usable = readable or [i for i, count in enumerate(words) if 1 <= count <= 40]
    if not usable:
        raise InputError("it has no development sentence to decode")
    step = max(1, len(usable) // SENTENCES)
    chosen = [examples[i] for i in usable[::step][:SENTENCES]]
    texts = [example["source"] for example in chosen]
    pool = _decoder(model, run.weights).decode(texts, max_edges=EDGES, jobs=jobs)
    count = min(len(example["references"]) for example in chosen)
    _core.set_references(pool, [[example["references"][r] for example in chosen] for r in range(count)])
    _core.set_sources(pool, [" ".join(model.source_text.tokens(text)) for text in texts])
    before = [example.get("before") for example in chosen]
    if any(text is None for text in before):
        before = list(_decoder(model, run.initial).translate(texts, tokens=True, jobs=jobs))
    run.said_before = {name: str(text) for name, text in zip(pool.ids, before, strict=True)}
    run.parts = {"examples": pool}


def _decoder(model: Model, weights: Mapping[str, float]) -> Hiero | Blocks:
    """With the sparse features only if there are weights for them."""
    if model.kind == "blocks":
        return Blocks(model, weights)
    return Hiero(model, weights, templates=None if any(v for name, v in weights.items() if "(" in name) else ())


def _examples(run: RunData) -> list[dict[str, Any]]:
    """The sentences that the run kept: source, references in tokens, the translation before training."""
    try:
        examples = json.loads(read_whole(run.path / "examples.json").decode("utf-8"))
        return [
            example
            for example in examples
            if isinstance(example["source"], str) and isinstance(example["references"], list)
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _development(run: RunData, model: Model) -> list[dict[str, Any]]:
    """The development data itself, or what was learnt from if there was none."""
    files = run.record.files()
    part = "dev_" if "dev_source" in files else ""
    corpus = Corpus.read(files[f"{part}source"][0], files[f"{part}refs"])
    tokens = [[model.target_text.text(line) for line in reference] for reference in corpus.references]
    return [{"source": line, "references": [lines[i] for lines in tokens]} for i, line in enumerate(corpus.lines)]
