"""The model of a translator: built from the text to build from, then without rules that it does not need."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hopefear.creation.recipe import Recipe
from hopefear.creation.stages import remove
from hopefear.creation.target_text import more_text
from hopefear.model.builder import build
from hopefear.model.options import BuildOptions
from hopefear.model.shrinking import shrink
from hopefear.runs.session import Session


def build_model(
    data: Mapping[str, Any], recipe: Recipe, folder: Path, out: Path, seed: int, jobs: int, run: Session
) -> dict[str, Any]:
    """The model with all that the recipe says. The record has counts, and seconds of each step."""
    source, target = ([folder / name for name in data["train"][side]] for side in ("source", "target"))
    options = BuildOptions(
        tokenizer=recipe.tokenizer,
        domains=recipe.domains,
        strip_punctuation=recipe.strip_punctuation,
        lm_order=recipe.lm_order,
        joint_model=recipe.joint_model,
    )
    return build_pruned(source, target, out, options, recipe.prune, seed, jobs, run, more_text(data, folder))


def build_pruned(
    source: Sequence[Path],
    target: Sequence[Path],
    out: Path,
    options: BuildOptions,
    prune: float,
    seed: int,
    jobs: int,
    run: Session,
    lm_text: Sequence[Path] = (),
) -> dict[str, Any]:
    """A model without rules that it does not need; ``out`` is replaced."""
    whole = out.with_name(f"{out.name}.whole")
    report = build(source, target, whole, options, lm_text=lm_text, overwrite=True, seed=seed, jobs=jobs, run=run)
    if out.exists():  # the work ended before its record was written
        shutil.rmtree(out)
    rules = shrink(whole, out, prune, jobs=jobs)["rules"]
    remove(whole)  # in one step: half of a model could not be built over again
    run.note(f"{rules['after']:,} of {rules['before']:,} rules are kept")
    return {"counts": {**report.counts, "rules": rules["after"]}, "steps": report.seconds}
