"""Weights from sentences that the model was not built from, and the way to choose a translation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hopefear.corpus.languages import primary
from hopefear.creation.decoding import Way, bleu_of, score, translations
from hopefear.creation.recipe import SCALES, Recipe
from hopefear.decode import Hiero
from hopefear.formats.weights import read_weights, write_weights
from hopefear.model.directory import Model
from hopefear.runs.session import Session
from hopefear.trainers.data import Corpus, Task

LEARNERS = 8  # simulated ones: the weights do not depend on the cores of the machine
HOLDOUT = 0.2  # of the sentences, in each fold
WORTH = 0.2  # BLEU that minimum Bayes risk must gain on dev to be used: it takes time


def parts(dev: Corpus, recipe: Recipe) -> tuple[Corpus, Corpus]:
    """The sentences to learn from, and those to choose on, which are evenly spread."""
    if not recipe.choose:
        chosen = range(len(dev))
        return dev.subset(list(chosen)[: recipe.learn or len(dev)]), dev
    every = len(dev) / recipe.choose
    aside = {int(n * every) for n in range(recipe.choose)}
    rest = [i for i in range(len(dev)) if i not in aside]
    step = len(rest) / recipe.learn
    return dev.subset([rest[int(n * step)] for n in range(recipe.learn)]), dev.subset(sorted(aside))


def learn(
    model: Model, corpus: Corpus, recipe: Recipe, file: Path, seed: int, jobs: int, run: Session
) -> dict[str, Any]:
    """Learn weights in folds and write them; the model's own if nothing that was learnt is better."""
    from hopefear.train.folds import fit_folds
    from hopefear.trainers.online.arow import Arow
    from hopefear.trainers.online.teams import Learners

    if not recipe.learn:
        write_weights(model.weights, file)
        return {"learnt": False, "why": f"{len(corpus)} sentences are too few to learn weights from"}
    known = {name.partition("(")[0] for name in model.sparse_names}
    templates = tuple(name for name in recipe.features if name in known)
    decoder = Hiero(model, model.weights, templates=templates)
    team = Learners("async", LEARNERS, True)
    trainer = Arow(seed=seed, jobs=jobs, learners=team, epochs=recipe.epochs)
    if run.folder is not None:
        run.folder.mkdir(exist_ok=True)
    result, _ = fit_folds(trainer, Task(decoder, corpus), recipe.folds, min(HOLDOUT, 1 / recipe.folds), None, run)
    weights = {name: value for name, value in result.weights.items() if value or name in model.dense_names}
    write_weights(weights, file)
    return {
        "learnt": bool(result.epoch),
        "before": result.initial_score,
        "after": result.score,
        "sentences": len(corpus),
        "weights": len(weights),
        "warnings": list(result.warnings),
    }


def choose_way(model: Model, corpus: Corpus, file: Path, language: str, jobs: int, run: Session) -> dict[str, Any]:
    """The scale of minimum Bayes risk that translates these sentences best, if it is worth its time."""
    decoder = Hiero(model, read_weights(file))
    ways: Sequence[Way] = (None, *SCALES)
    texts = translations(decoder, corpus.lines, ways, "choose", run, jobs)
    metric = bleu_of(primary(language))
    scores = {way: score(texts[way], corpus, metric, jobs) for way in ways}
    best = max(SCALES, key=lambda way: scores[way])
    chosen = best if scores[best] >= scores[None] + WORTH else None
    named = {"best score" if way is None else f"{way:g}": value for way, value in scores.items()}
    return {"scale": chosen, "bleu": named, "sentences": len(corpus)}


def decoding_recipe(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """How the translator decodes, as its card has it."""
    scale = chosen["scale"]
    return {"mbr": None} if scale is None else {"mbr": "bleu", "scale": float(scale)}
