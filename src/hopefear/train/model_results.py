"""The end of a training run: scores before and after, findings, and examples of translations."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from hopefear._core import corpus_pool
from hopefear.decode.blocks import Blocks
from hopefear.evaluation.diagnosis import examine_outcome
from hopefear.evaluation.held_out_scores import difference
from hopefear.evaluation.significance import paired_bootstrap
from hopefear.metrics import Bleu
from hopefear.runs.directory import Run
from hopefear.runs.session import Session
from hopefear.train.folds import Crossed
from hopefear.trainers.base import Result, Trainer
from hopefear.trainers.blocks.costmargin import Costmargin
from hopefear.trainers.data import Corpus, Task, Translations
from hopefear.util.files import atomic_write

EXAMPLES = 200  # sentences of the development data, kept with the run as translations before and after


def finish(
    run: Run,
    session: Session,
    trainer: Trainer,
    task: Task,
    test: Corpus | None,
    result: Result,
    crossed: Crossed | None = None,
) -> None:
    """Score before and after, warn of suspicious results, and write the run.

    ``crossed``: the translations of the development data, made by weights that did not learn from it as the result did.
    """
    final: dict[str, Any] = {"epoch": result.epoch}
    before: dict[str, Any] = {}
    findings = []
    stats_of: dict[str, Any] = {}  # statistics of every sentence, so that reports can compare runs
    # Without development data, dev is what was learnt from, as in tune.
    for part, corpus in (("dev", task.dev or task.corpus), ("test", test)):
        if corpus is None:
            continue
        both = (result.initial, result.weights)
        if part == "dev" and crossed is not None:
            old, new = crossed.before, crossed.after
        elif corpus is task.dev:
            old, new = (task.on_dev(w, trainer.jobs) for w in both)
        else:
            old, new = (Translations.of(task.decoder, corpus, w, trainer.jobs) for w in both)
        final[part] = {"bleu": new.score, "length_ratio": new.length_ratio}
        before[part] = {"bleu": old.score, "length_ratio": old.length_ratio}
        digest = hashlib.sha256("\n".join(line for lines in old.tokens for line in lines).encode()).hexdigest()
        stats_of |= {f"{part}_before": old.stats, f"{part}_after": new.stats, f"{part}_references": np.array(digest)}
        if part == "test":
            final[part]["p"] = paired_bootstrap(new.stats, old.stats, Bleu(), 1000, trainer.seed, trainer.jobs).p
        if part == "test" or task.dev is not None or crossed is not None:  # sentences that were not learnt from
            change = difference(old.stats, new.stats, Bleu(), seed=trainer.seed, jobs=trainer.jobs)
            final[part]["change"] = change.record()
        if part == "dev":
            was, now = (corpus_pool(lines.texts, lines.tokens) for lines in (old, new))
            findings = list(examine_outcome(was, now, Bleu(), seed=trainer.seed, jobs=trainer.jobs))
            with atomic_write(run.path / "examples.json") as file:
                json.dump(_examples(corpus, old, new), file, ensure_ascii=False, indent=1)
    final["before"] = before
    final |= {"folds": result.details["folds"]} if "folds" in result.details else {}
    final |= {"untrained": result.details["untrained"]} if "untrained" in result.details else {}
    with atomic_write(run.path / "stats.npz", "wb") as stats:
        np.savez_compressed(stats, **stats_of)
    for warning in (*result.warnings, *map(str, findings)):
        session.warn(warning)
    run.record.findings = [asdict(finding) for finding in findings]
    run.record.epochs = result.history
    run.record.initial = {name: value for name, value in result.initial.items() if value}
    run.finish(result.weights, final)


def better_than_untrained(task: Task, test: Corpus | None, result: Result, jobs: int) -> Result:
    """The result, or the model's own weights if they translate the development data better.

    What training began with may be something else than these weights: then their scores are in the details.
    """
    own = task.decoder.model.weights
    if all(own.get(name, 0.0) == result.initial.get(name, 0.0) for name in {*own, *result.initial}):
        return result  # they took part when the best epoch was chosen
    scores: dict[str, Any] = {}
    for part, corpus in (("dev", task.dev or task.corpus), ("test", test)):
        if corpus is not None:
            on_dev = corpus is task.dev
            made = task.on_dev(own, jobs) if on_dev else Translations.of(task.decoder, corpus, own, jobs)
            scores[part] = {"bleu": made.score, "length_ratio": made.length_ratio}
    result = replace(result, details={**result.details, "untrained": scores})
    untrained, learnt = scores["dev"]["bleu"], result.score
    if task.dev is None:
        learnt = Translations.of(task.decoder, task.corpus, result.weights, jobs).score
    if untrained <= learnt:
        return result
    finding = f"training ended at {learnt:.2f}, and the untrained model has {untrained:.2f}: its weights are kept"
    warnings = [*result.warnings, f"{finding}. Start from them, without --initial and --paper-start"]
    return replace(result, weights=own, score=untrained, epoch=0, warnings=warnings)


def _examples(corpus: Corpus, old: Translations, new: Translations) -> list[dict[str, Any]]:
    return [
        {
            "line": i + 1,
            "source": corpus.lines[i],
            "references": [reference[i] for reference in old.tokens],
            "before": old.texts[i],
            "after": new.texts[i],
        }
        for i in range(min(EXAMPLES, len(corpus)))
    ]


def finish_blocks(
    run: Run, session: Session, trainer: Costmargin, task: Task, test: Corpus | None, result: Result
) -> None:
    """As ``finish``, for a model of blocks: weights start at 0, and are in a file because they are many."""
    assert result.file is not None
    final: dict[str, Any] = {"epoch": result.epoch, "features": result.details["features"]}
    final["train"] = {"bleu": result.details["train"]}
    if task.dev is not None:
        final["dev"] = {"bleu": result.score}
    if test is not None:
        decoder = Blocks(
            task.decoder.model,
            result.weights,
            trainer.pop_limit,
            trainer.max_options,
            trainer.features,
            trainer.reordering,
            max_swap=trainer.max_swap,
        )
        final["test"] = {"bleu": Translations.of(decoder, test, result.weights, trainer.jobs).score}
    run.record.epochs = result.history
    run.finish(result.file, final)
    if session.folder is not None:
        import shutil

        shutil.rmtree(session.folder / "relevant", ignore_errors=True)
