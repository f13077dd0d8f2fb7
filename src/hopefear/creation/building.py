"""The models of a translator: built from the text to build from, then without rules that they do not need."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hopefear.creation.dev_text import joined
from hopefear.creation.recipe import Recipe
from hopefear.creation.stages import remove
from hopefear.creation.target_text import more_text
from hopefear.formats.weights import read_weights, write_weights
from hopefear.model.builder import build
from hopefear.model.directory import Model
from hopefear.model.joint import JointModel, mean_of
from hopefear.model.options import BuildOptions
from hopefear.model.shrinking import shrink
from hopefear.runs.session import Session

FIRST, FINAL, TUNED = "model", "final", "tuned.npz"  #: the model that weights are learnt with, that with
#: their sentences too, and the joint model trained for BLEU


def weights_of(model: str) -> str:
    """The file of a model's learnt weights."""
    return f"{model}.weights.txt"


def build_model(
    data: Mapping[str, Any], recipe: Recipe, folder: Path, seed: int, jobs: int, run: Session
) -> dict[str, Any]:
    """The model with all that the recipe says. The record has counts, and seconds of each step."""
    source, target = ([folder / name for name in data["train"][side]] for side in ("source", "target"))
    return _build(source, target, data, recipe, folder / FIRST, seed, jobs, run)


def build_final(
    data: Mapping[str, Any], recipe: Recipe, folder: Path, seed: int, jobs: int, run: Session
) -> dict[str, Any]:
    """The same from the sentences that weights were learnt from too, and the weights of the features that it has."""
    source, target = joined(data, folder)
    tuned = JointModel.open(folder / TUNED) if recipe.tune_joint else None
    record = _build(source, target, data, recipe, folder / FINAL, seed, jobs, run, tuned)
    known = set(Model.open(folder / FINAL, verify=False, jobs=jobs).feature_names)
    weights = read_weights(folder / weights_of(FIRST))
    write_weights({name: value for name, value in weights.items() if name in known}, folder / weights_of(FINAL))
    return record


def _build(
    source: Sequence[Path],
    target: Sequence[Path],
    data: Mapping[str, Any],
    recipe: Recipe,
    out: Path,
    seed: int,
    jobs: int,
    run: Session,
    tuned: JointModel | None = None,
) -> dict[str, Any]:
    options = BuildOptions(
        tokenizer=recipe.tokenizer,
        domains=recipe.domains,
        strip_punctuation=recipe.strip_punctuation,
        lm_order=recipe.lm_order,
        joint_model=recipe.joint_model,
    )
    more = more_text(data, out.parent)
    return build_pruned(source, target, out, options, recipe.prune, seed, jobs, run, more, tuned)


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
    tuned: JointModel | None = None,
) -> dict[str, Any]:
    """A model without rules that it does not need; ``out`` is replaced.

    The joint model is the mean of its own and of a ``tuned`` one.
    """
    whole = out.with_name(f"{out.name}.whole")
    report = build(source, target, whole, options, lm_text=lm_text, overwrite=True, seed=seed, jobs=jobs, run=run)
    if out.exists():  # the work ended before its record was written
        shutil.rmtree(out)
    joint = mean_of([tuned, JointModel.open(whole / "joint.npz")]) if tuned is not None else None
    rules = shrink(whole, out, prune, jobs=jobs, joint=joint)["rules"]
    remove(whole)  # in one step: half of a model could not be built over again
    run.note(f"{rules['after']:,} of {rules['before']:,} rules are kept")
    return {"counts": {**report.counts, "rules": rules["after"]}, "steps": report.seconds}
