"""``hopefear train --trainer costmargin``: relevant sets for a model of blocks, recorded as a run."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hopefear.cli.console import Console, plural
from hopefear.decode.blocks import Blocks, read_block_weights
from hopefear.errors import InputError, input_error
from hopefear.model.directory import Model
from hopefear.runs.directory import Run, checksum
from hopefear.trainers.blocks.costmargin import Costmargin, score_of, train_costmargin
from hopefear.trainers.online.job import Corpus


def train_and_record(
    console: Console,
    model: Model,
    options: Costmargin,
    out: str,
    given: Mapping[str, Any],
    resume: bool,
    overwrite: bool,
    seed: int,
    jobs: int,
) -> dict[str, Any]:
    """Trains into a run directory and returns the final scores. ``given``: source, refs, dev_source, ... as options."""
    if model.kind != "blocks":
        finding = f"is a model of {model.kind}, and costmargin learns block sequences"
        raise input_error(model.path, None, f"{finding}. Build one: hopefear build --kind blocks")
    if len(given["refs"]) != 1:
        raise InputError("costmargin learns from one reference a sentence: give one file to --refs")
    tuning = Corpus.read(given["source"], given["refs"])
    dev = Corpus.read(given["dev_source"], given["dev_refs"]) if given["dev_source"] else None
    test = Corpus.read(given["test_source"], given["test_refs"]) if given["test_source"] else None
    full = [i for i, line in enumerate(tuning.lines) if line.strip() and tuning.references[0][i].strip()]
    if len(full) < len(tuning):
        console.note(f"{plural(len(tuning) - len(full), 'sentence')} without words or references left out")
        tuning = tuning.subset(full)
    files = [given["source"], *given["refs"], *given["dev_refs"], *given["test_refs"]]
    files += [given[name] for name in ("dev_source", "test_source") if given[name]]
    inputs = [checksum(file) for file in files if file != "-"]
    settings = {
        "model": checksum(model.path / "model.json")["sha256"],
        "trainer": "costmargin",
        "options": options.options(),
        "seed": seed,
        "inputs": [one["sha256"] for one in inputs],
    }
    command = ["hopefear", *sys.argv[1:]]
    with Run.open(out, command=command, settings=settings, resume=resume, overwrite=overwrite) as run:
        if run.finished:
            return dict(run.record["final"])
        run.record |= {
            "directory": str(Path.cwd()),
            "model": str(model.path),
            **{name: list(value) if isinstance(value, tuple) else value for name, value in given.items()},
            "trainer": {"name": "costmargin", "options": options.options()},
            "metric": "bleu",
            "inputs": inputs,
            "sentences": {"train": len(tuning), "dev": len(dev) if dev else 0},
        }
        run.save()
        folder = run.path / "checkpoint" / "relevant"
        with console.progress("train costmargin", options.iterations) as progress:

            def hear(record: dict[str, Any]) -> None:
                event = record["event"]
                if event == "pass":
                    text = f"iteration {record['iteration']} pass {record['pass']} loss {record['loss']:.4f}"
                    progress.update(record["iteration"] - 1, text=text)
                    return
                run.log(event, **{name: value for name, value in record.items() if name != "event"})
                if event == "truths":
                    console.note(f"truths: bleu {record['bleu']:.2f} (mean over sentences)")
                    return
                text = f"iteration {record['iteration']}: loss {record['loss']:.4f}  train {record['train_bleu']:.2f}"
                text += f"  dev {record['dev']:.2f}" if "dev" in record else ""
                console.note(f"{text}  features {record['features']:,}")
                progress.update(record["iteration"])

            pair = (dev.lines, dev.references) if dev else None
            trained = train_costmargin(
                model, tuning.lines, tuning.references[0], folder, options, dev=pair, seed=seed, jobs=jobs, hear=hear
            )
        chosen = trained.history[trained.iteration - 1]
        final: dict[str, Any] = {"epoch": trained.iteration, "features": trained.features}
        final["train"] = {"bleu": chosen["train_bleu"]}
        if trained.score is not None:
            final["dev"] = {"bleu": trained.score}
        if test is not None:
            limits = (options.pop_limit, options.max_options, options.features, options.reordering)
            decoder = Blocks(model, read_block_weights(trained.weights), *limits, max_swap=options.max_swap)
            final["test"] = {"bleu": score_of(decoder, test.lines, test.references, jobs)}
        run.record["epochs"] = [
            {**record, "epoch": record["iteration"], "score": record.get("dev", record["train_bleu"])}
            for record in trained.history
        ]
        run.finish(trained.weights, final)
        shutil.rmtree(folder, ignore_errors=True)
        return final
