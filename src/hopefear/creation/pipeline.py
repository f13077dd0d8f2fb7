"""From a corpus to a translator: ``hopefear create`` as a function.

    made = create(CreateOptions(corpus=["memory.tmx"], source_language="de", target_language="en", out="translator"))
    made.test["bleu"]

Every stage leaves its result in ``OUT.work``; the same call continues after an interruption with the stage that was not
done. The translator appears when everything is done, and the folder of the stages is gone.
"""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hopefear.creation.building import FINAL, FIRST, TUNED, build_final, build_model, weights_of
from hopefear.creation.data import prepare, read_part
from hopefear.creation.joint_tuning import tune_joint
from hopefear.creation.learning import choose_way, decoding_recipe, learn, parts
from hopefear.creation.options import CreateOptions
from hopefear.creation.page import report_page
from hopefear.creation.recipe import Recipe, choose_recipe
from hopefear.creation.scoring import learning_curve, score_all, verdict
from hopefear.creation.stages import Work, folder_of, remove
from hopefear.creation.terms import choose_term_weight
from hopefear.decode import Hiero
from hopefear.formats.weights import read_weights
from hopefear.model.directory import INFO, Model, check_out, put_weights
from hopefear.runs.session import SILENT, Session
from hopefear.train.model_data import misplaced_references
from hopefear.trainers.data import Corpus
from hopefear.translator.folder import CARD, GLOSSARY, write_card
from hopefear.translator.glossary import read_glossary
from hopefear.util.files import atomic_folder, atomic_write, same_file

REPORT = "report.html"


@dataclass(frozen=True)
class Created:
    """A translator, and what is known of it."""

    path: Path
    pairs: dict[str, Any]  #: read, kept, dropped: reason -> pairs
    test: dict[str, Any]  #: bleu, chrf, sentences, low, high: the limits of BLEU at 95 %
    recipe: dict[str, Any]
    seconds: float
    verdict: str

    def record(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        return {"pairs": self.pairs, "test": self.test, "recipe": self.recipe, "seconds": self.seconds}

    def __str__(self) -> str:
        kept, read = self.pairs["kept"], self.pairs["read"]
        return f"{self.path}\t{kept:,} of {read:,} pairs\t{self.verdict}"


def create(options: CreateOptions, run: Session = SILENT) -> Created:
    """Read, clean and split the corpus, build a model, learn its weights, score it, and put it into one folder."""
    out = Path(options.out)
    begun = folder_of(out)
    if any(_is_result(out, begun / name) for name in (FINAL, FIRST)):  # killed when only the stages were left to remove
        remove(begun)
    check_out(out, options.overwrite)
    terms = [] if options.glossary is None else read_glossary(options.glossary)
    out.absolute().parent.mkdir(parents=True, exist_ok=True)
    work = Work(out, options.fingerprint(), run)
    folder, jobs, seed = work.folder, options.jobs, options.seed
    stages: dict[str, dict[str, Any]] = {}
    data = stages["data"] = work.stage("data", lambda: prepare(options, folder, run))
    recipe = choose_recipe(data, options.tokenizer)
    stages["build"] = work.stage("build", lambda: build_model(data, recipe, folder, seed, jobs, run))
    model = Model.open(folder / FIRST, verify=False, jobs=options.jobs)
    dev, test = (read_part(folder, part, data["references"][part]) for part in ("dev", "test"))
    _warn_of_references(options, model, {"dev": dev, "test": test}, run)
    weights = folder / weights_of(FIRST)
    to_learn, to_choose = parts(dev, recipe)
    training = Session(run.listen, folder / "training")
    stages["learn"] = work.stage("learn", lambda: learn(model, to_learn, recipe, weights, seed, jobs, training))
    language = options.target_language
    way = stages["choose"] = work.stage("choose", lambda: choose_way(model, to_choose, weights, language, jobs, run))
    if not all(term.forced for term in terms):
        stages["terms"] = work.stage(
            "terms", lambda: choose_term_weight(folder / FIRST, weights, way["scale"], terms, dev, language, jobs, run)
        )
    if recipe.tune_joint:
        tuned = folder / TUNED
        stages["tune"] = work.stage("tune", lambda: tune_joint(model, dev, weights, tuned, seed, jobs, run))
    name, final = FIRST, model
    if recipe.dev_text:
        stages[FINAL] = work.stage(FINAL, lambda: build_final(data, recipe, folder, seed, jobs, run))
        name, final = FINAL, Model.open(folder / FINAL, verify=False, jobs=jobs)
    learnt = folder / weights_of(name)
    scored = stages["test"] = work.stage(
        "test", lambda: score_all(final, test, learnt, way["scale"], language, seed, jobs, run)
    )
    if options.curve:
        stages["curve"] = work.stage(
            "curve", lambda: learning_curve(folder, data, recipe, model, test, seed, jobs, language, run)
        )
    return _finish(options, recipe, stages, scored, work, name)


def _warn_of_references(options: CreateOptions, model: Model, parts: Mapping[str, Corpus], run: Session) -> None:
    """Warn about the user's own references that seem to be those of other sentences."""
    for part, corpus in parts.items():
        if getattr(options, f"{part}_source") is not None:
            decoder, names = Hiero(model, model.weights), getattr(options, f"{part}_refs")
            for finding in misplaced_references(decoder, corpus, names, model.weights, options.jobs):
                run.warn(finding)


def _finish(
    options: CreateOptions,
    recipe: Recipe,
    stages: Mapping[str, dict[str, Any]],
    scored: dict[str, Any],
    work: Work,
    final: str,
) -> Created:
    """Put everything into the folder of the translator, which appears whole, and remove that of the stages."""
    out, data = Path(options.out), stages["data"]
    pairs = {name: data["pairs"][name] for name in ("read", "kept", "dropped")}
    test = {name: scored[name] for name in ("bleu", "chrf", "sentences", "low", "high")}
    chosen = {**recipe.as_dict(), **decoding_recipe(stages["choose"]), "learnt": stages["learn"]["learnt"]}
    if data["target_text"]["kept"]:
        chosen["target_text"] = data["target_text"]["kept"]
    if (weight := stages.get("terms", {}).get("weight")) is not None:
        chosen["glossary"] = weight
    seconds = sum(stage["seconds"] for stage in stages.values())
    made = Created(out, pairs, test, chosen, seconds, verdict(scored, stages["learn"]["learnt"]))
    name = options.name or out.absolute().name
    model = work.folder / final
    put_weights(model, read_weights(work.folder / weights_of(final)))
    write_card(model, _card(options, made, name, data))
    with atomic_write(model / REPORT) as file:
        file.write(report_page(name, options.source_language, options.target_language, made, stages))
    with atomic_folder(out, _ours) as new:
        for entry in model.iterdir():
            same_file(entry, new / entry.name)
        if options.glossary is not None:
            shutil.copyfile(options.glossary, new / GLOSSARY)
    work.remove()
    return made


def _is_result(out: Path, model: Path) -> bool:
    """Whether the translator was made from this model in the folder of its stages."""
    try:
        return all(filecmp.cmp(out / name, model / name, shallow=False) for name in (INFO, CARD, REPORT))
    except OSError:
        return False


def _ours(folder: Path) -> list[str]:
    """What a translator's folder has from us; a glossary is the user's."""
    info = Model.open(folder, verify=False).info if (folder / INFO).is_file() else {"files": {}}
    return [*info["files"], INFO, CARD, REPORT]


def _card(options: CreateOptions, made: Created, name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    domains = zip(data["train"]["domains"], data["train"]["pairs"], strict=True)
    more = data["dev_text"] if made.recipe["dev_text"] else {}
    return {
        "name": name,
        "source": options.source_language,
        "target": options.target_language,
        "licence": options.licence,
        "made_from": [{"corpus": domain, "pairs": count + more.get(domain, 0)} for domain, count in domains],
        "scores": {key: round(float(value), 2) for key, value in made.test.items()},
        "recipe": made.recipe,
    }
