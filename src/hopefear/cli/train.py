"""``hopefear train``: the weights of a model, from sentences and their references."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopefear.cli.console import Console, Progress
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Many, Positional, count

if TYPE_CHECKING:
    from hopefear.decode import Decoder
    from hopefear.runs.directory import Run
    from hopefear.trainers.online.job import Corpus, Trained, Translations

PARAMS = [
    Positional(["model"], required=True, type=InputFile(folders=True), metavar="MODEL"),
    click.Option(["--source"], required=True, type=InputFile(), help="Sentences to learn from."),
    Many(["--refs"], required=True, type=InputFile(), help="Their references, a file each."),
    click.Option(["--trainer"], required=True, metavar="NAME", help="How to learn; hopefear trainers lists them."),
    click.Option(["--out"], required=True, metavar="RUN", help="The run directory to make."),
    click.Option(["--dev-source"], type=InputFile(), help="Sentences to choose the best epoch on."),
    Many(["--dev-refs"], type=InputFile(), help="Their references."),
    click.Option(["--test-source"], type=InputFile(), help="Sentences to translate once, at the end."),
    Many(["--test-refs"], type=InputFile(), help="Their references."),
    Many(["--set"], metavar="NAME=VALUE", help="Options of the trainer; hopefear trainers NAME lists them."),
    click.Option(
        ["--features"],
        metavar="SMALL",
        help="small: the dense features; large: lex features as well; or templates, e.g. lex,group. "
        "[large, for batch trainers small]",
    ),
    click.Option(
        ["--initial"],
        type=InputFile(folders=True),
        help="Weights to start from: a file, or a model, for those it was built with. "
        "[1 for language models and phrases]",
    ),
    click.Option(
        ["--holdout"],
        type=float,
        default=0.1,
        metavar="SHARE",
        help="Without --dev-source: share of the sentences kept aside to choose the epoch on. [0.1]",
    ),
    click.Option(
        ["--parallel"],
        type=click.Choice(["none", "average", "mix", "async"]),
        help="How several learners work together. [none; async on a cluster]",
    ),
    count("--learners", 0, "How many learners; 0 is one a core.", least=0),
    count("--simulate-learners", 0, "So many async learners, taking turns in one process; deterministic.", least=0),
    click.Option(["--cluster"], metavar="ADDRESS", help="Learners on a Ray cluster; auto: the one at hand."),
    count("--pop-limit", 200, "Of the decoder: rule applications kept a span; 0 is all.", least=0),
    count("--max-options", 20, "Of the decoder: target sides kept of a source side; 0 is all.", least=0),
    count("--kbest", 200, "Of batch trainers: candidates taken of each sentence in an iteration.", least=2),
    count("--iterations", 10, "Of batch trainers: decodings to learn from."),
    click.Option(
        ["--checkpoint-every"], type=float, default=30.0, metavar="SECONDS", help="Between two checkpoints. [30]"
    ),
    click.Option(["--resume"], is_flag=True, help="Go on with a run that was interrupted."),
    click.Option(["--overwrite"], is_flag=True, help="Replace a run that is there already."),
    click.Option(["--json"], is_flag=True, help="The scores as JSON."),
]

EXAMPLES = """
hopefear train model --source tune.es --refs tune.en.0 tune.en.1 --trainer arow --out run
hopefear train model --source tune.es --refs tune.en --dev-source dev.es --dev-refs dev.en \\
    --trainer mira --set eta=0.05 epochs=5 --parallel mix --learners 4 --out run
hopefear train model --source tune.es --refs tune.en --trainer mira --parallel async --out run
hopefear train model --source tune.es --refs tune.en --trainer mert --out run
hopefear train blocks --source train.de --refs train.en --trainer costmargin --set iterations=30 --out run
hopefear translate model --weights run/weights.txt < test.es > test.out
"""

EXAMPLE_SENTENCES = 200  # of the development data, kept with the run as translations before and after


@make_command(PARAMS, examples=EXAMPLES)
def command(
    console: Console,
    model: str,
    source: str,
    refs: tuple[str, ...],
    trainer: str,
    out: str,
    dev_source: str | None,
    dev_refs: tuple[str, ...],
    test_source: str | None,
    test_refs: tuple[str, ...],
    set: tuple[str, ...],
    features: str | None,
    initial: str | None,
    holdout: float,
    parallel: str | None,
    learners: int,
    simulate_learners: int,
    cluster: str | None,
    pop_limit: int,
    max_options: int,
    kbest: int,
    iterations: int,
    checkpoint_every: float,
    resume: bool,
    overwrite: bool,
    json: bool,
    seed: int,
    jobs: int,
) -> None:
    """Learn the weights of a model from sentences and their references.

    Online trainers (sgd, mira, arow, minrisk, perceptron) decode a sentence, search hope and fear in its forest,
    update, and go on; the averaged weights translate the development data after each epoch, and the best epoch is
    kept. The other trainers go round a loop of decoding and learning. BLEU is that of tokens as the model makes them.

    The same input, seed and options give the same weights, whatever --jobs is; only --parallel async without
    --simulate-learners does not.
    """
    from hopefear.cli.trainers import find_any, parse_options
    from hopefear.decode import Blocks
    from hopefear.formats import read_weights
    from hopefear.model.directory import Model
    from hopefear.runs.directory import Run, checksum
    from hopefear.trainers.online.base import ONLINE
    from hopefear.trainers.online.job import Corpus
    from hopefear.util.processes import cores

    context = click.get_current_context()
    for flag, one, other in (("dev", dev_source, dev_refs), ("test", test_source, test_refs)):
        if bool(one) != bool(other):
            raise click.UsageError(f"--{flag}-source and --{flag}-refs go together.", context)
    kind = find_any(trainer)
    online = trainer in ONLINE
    options = parse_options(kind, set)
    way = "async" if simulate_learners else parallel or ("async" if cluster else "none")
    if simulate_learners and (cluster or parallel not in (None, "async")):
        raise click.UsageError("--simulate-learners goes with neither --cluster nor another --parallel.", context)
    if not online and (simulate_learners or cluster or parallel):
        raise click.UsageError(f"{trainer} is a batch trainer: it has one learner. Leave out --parallel.", context)
    if cluster and way == "none":
        raise click.UsageError("--cluster needs --parallel async, mix or average.", context)
    Run.check(out, resume=resume, overwrite=overwrite)
    opened = Model.open(model, jobs=jobs)
    if opened.kind == "blocks" and cluster:
        raise click.UsageError("--cluster is for hierarchical models only.", context)
    if trainer == "costmargin":
        from hopefear.cli.train_costmargin import train_and_record

        given = {"source": source, "refs": refs, "dev_source": dev_source, "dev_refs": dev_refs}
        given |= {"test_source": test_source, "test_refs": test_refs}
        unused = {"features": "--set features", "initial": "", "pop_limit": "--set pop_limit"}
        unused |= {"max_options": "--set max_options", "iterations": "--set iterations", "kbest": ""}
        for name, instead in unused.items():
            if context.get_parameter_source(name) != click.core.ParameterSource.DEFAULT:
                cure = f"Use {instead}=VALUE" if instead else "Leave it out"
                raise click.UsageError(f"--{name.replace('_', '-')} is not for costmargin. {cure}", context)
        made = kind(**options)
        final = train_and_record(console, opened, made, out, given, resume, overwrite, seed, jobs)
        if json:
            click.echo(json_module.dumps(final, indent=2, ensure_ascii=False))
        else:
            for part in ("train", "dev", "test"):
                if part in final:
                    click.echo(f"bleu {part}  {final[part]['bleu']:.2f}")
        console.note(f"weights: {Path(out) / 'weights.txt'}")
        return
    decoder = _decoder(opened, features or ("large" if online else "small"), pop_limit, max_options)
    weights: dict[str, float] | None = None
    if initial and Path(initial).is_dir():
        weights, initial = Model.open(initial, jobs=jobs).weights, str(Path(initial) / "model.json")
    elif initial:
        weights = read_weights(initial)
    _check_initial(console, initial, weights, decoder)
    tuning = Corpus.read(source, refs)
    dev = Corpus.read(dev_source, dev_refs) if dev_source else None
    test = Corpus.read(test_source, test_refs) if test_source else None
    if dev is None:
        tuning, dev = tuning.split(holdout, seed)
    tuning = _with_words(console, source, tuning, decoder)
    team = simulate_learners or learners or (cores() if way != "none" else 1)
    files = [source, *refs, *dev_refs, *test_refs, *(f for f in (dev_source, test_source, initial) if f)]
    inputs = [checksum(file) for file in files if file != "-"]
    settings: dict[str, Any] = {
        "model": checksum(Path(model) / "model.json")["sha256"],
        "trainer": trainer,
        "options": dict(options),
        "features": [decoder.features] if isinstance(decoder, Blocks) else list(decoder.templates or ()),
        "parallel": way,
        "learners": team if way != "none" else 1,
        "simulated": bool(simulate_learners),
        "pop_limit": pop_limit,
        "max_options": max_options,
        "holdout": 0 if dev_source else holdout,
        "seed": seed,
        "inputs": [one["sha256"] for one in inputs],
    }
    if not online:
        settings |= {"kbest": kbest, "iterations": iterations}
    with ExitStack() as stack:
        run = stack.enter_context(
            Run.open(out, command=["hopefear", *sys.argv[1:]], settings=settings, resume=resume, overwrite=overwrite)
        )
        if not run.finished:
            run.record |= {
                "directory": str(Path.cwd()),
                "model": str(model),
                "source": source,
                "refs": list(refs),
                "dev_source": dev_source,
                "dev_refs": list(dev_refs),
                "trainer": {"name": trainer, "options": settings["options"]},
                "metric": "bleu",
                "inputs": inputs,
                "sentences": {"train": len(tuning), "dev": len(dev) if dev else 0},
            }
            run.save()
            progress = stack.enter_context(console.progress(f"train {trainer}"))
            hear = _Ear(run, progress, console)
            if online:
                from hopefear.trainers.online.job import train

                trained = train(
                    decoder,
                    tuning,
                    kind(**options),
                    dev=dev,
                    initial=weights,
                    parallel=way,
                    learners=team,
                    simulate=bool(simulate_learners),
                    cluster=cluster,
                    seed=seed,
                    jobs=jobs,
                    folder=run.path / "checkpoint",
                    checkpoint_every=checkpoint_every,
                    hear=hear,
                )
            else:
                from hopefear.train.loop import LOOP_DEFAULTS
                from hopefear.train.model_loop import train_batch

                learner = kind(seed=seed, jobs=jobs, **{**LOOP_DEFAULTS.get(trainer, {}), **options})
                trained = train_batch(
                    decoder,
                    tuning,
                    learner,
                    dev=dev,
                    initial=weights,
                    iterations=iterations,
                    k=kbest,
                    seed=seed,
                    jobs=jobs,
                    folder=run.path / "checkpoint",
                    hear=hear,
                )
            _finish(run, decoder, trained, tuning, dev, test, seed, jobs)
        final, warnings = run.record["final"], run.record["warnings"]
    for warning in warnings:
        console.warn(warning)
    if json:
        click.echo(json_module.dumps(final, indent=2, ensure_ascii=False))
    else:
        _print(final)
    console.note(f"weights: {run.path / 'weights.txt'}")


class _Ear:
    """Puts what a job says into the log and on the screen."""

    def __init__(self, run: Run, progress: Progress, console: Console) -> None:
        self.run, self.progress, self.console = run, progress, console

    def __call__(self, said: dict[str, Any]) -> None:
        event = said.get("event")
        if event == "progress":
            text = f"epoch {said['epoch']}  {said['per_second']:.1f} sentences/s"
            text += f"  B: hope {said['hope']:+.2f} best {said['best']:+.2f} fear {said['fear']:+.2f}"
            text += f"  working set {said['constraints']:.1f}"
            self.progress.update(said["done"], said["total"], text)
            return
        self.run.log(str(event or "epoch"), **{name: value for name, value in said.items() if name != "event"})
        if event == "warning":
            self.run.warn(said["text"])
        elif event in ("epoch", "decoded"):
            text = f"epoch {said['epoch']}: bleu {said['score']:.2f}"
            if isinstance(said.get("moved"), dict):
                text += "  moved: " + ", ".join(f"{name} {by:+.3f}" for name, by in list(said["moved"].items())[:4])
            self.console.note(text)


def _decoder(model: Any, features: str, pop_limit: int, max_options: int) -> Decoder:
    from hopefear.decode import Blocks, Hiero
    from hopefear.errors import InputError
    from hopefear.model.features import template_of

    if model.kind == "blocks":
        source = click.get_current_context().get_parameter_source
        default = click.core.ParameterSource.DEFAULT
        pops = Blocks.pop_limit if source("pop_limit") == default else pop_limit
        most = Blocks.max_options if source("max_options") == default else max_options
        return Blocks(model, model.weights, pops, most, "none" if features in ("small", "large") else features)

    named = {"small": (), "large": ("lex",)}
    templates = named.get(features, tuple(name.strip() for name in features.split(",") if name.strip()))
    known = sorted({template_of(name) for name in model.sparse_names})
    if wrong := [name for name in templates if name not in known]:
        if features == "large":
            return Hiero(model, model.weights, pop_limit, max_options, templates=())
        raise InputError(
            f"--features {features}: {model.path} has no features {wrong[0]!r}. It has: small, {', '.join(known)}"
        )
    return Hiero(model, model.weights, pop_limit, max_options, templates=templates)


def _check_initial(console: Console, path: str | None, weights: Mapping[str, float] | None, decoder: Decoder) -> None:
    from hopefear.cli.console import plural, some
    from hopefear.errors import input_error

    if not path or weights is None:
        return
    known = {*decoder.feature_names}
    strangers = [name for name in weights if name not in known]
    if len(strangers) == len(weights):
        finding = f"none of its {plural(len(weights), 'weight')} belongs to a feature of {decoder.model.path}"
        raise input_error(path, None, f"{finding}. Use the weights of this model")
    if strangers:
        console.warn(f"{path}: {plural(len(strangers), 'weight')} for features that are not trained: {some(strangers)}")


def _with_words(console: Console, path: str, corpus: Corpus, decoder: Decoder) -> Corpus:
    """Without empty sentences: there is nothing to learn from them."""
    from hopefear.cli.console import plural
    from hopefear.errors import InputError

    text = decoder.model.source_text
    full = [
        i
        for i, line in enumerate(corpus.lines)
        if text.tokens(line) and any(one[i].strip() for one in corpus.references)
    ]
    if not full:
        raise InputError(f"{path}: no line has a word and a reference. There is nothing to learn from")
    if len(full) < len(corpus):
        console.note(f"{plural(len(corpus) - len(full), 'sentence')} without words or references left out")
    return corpus.subset(full)


def _finish(
    run: Run,
    decoder: Decoder,
    trained: Trained,
    tuning: Corpus,
    dev: Corpus | None,
    test: Corpus | None,
    seed: int,
    jobs: int,
) -> None:
    """Score before and after, say what is suspicious, write everything."""
    import hashlib
    from dataclasses import asdict

    import numpy as np

    from hopefear._core import corpus_pool
    from hopefear.evaluation.diagnosis import examine_outcome
    from hopefear.evaluation.significance import paired_bootstrap
    from hopefear.metrics import Bleu
    from hopefear.trainers.online.job import Translations
    from hopefear.util.files import atomic_write

    final: dict[str, Any] = {"epoch": trained.epoch}
    before: dict[str, Any] = {}
    # Without development data, dev is what was learnt from, as in tune.
    parts = [("dev", tuning if dev is None else dev), ("test", test)]
    findings = []
    kept: dict[str, Any] = {}  # statistics of every sentence, so that reports can compare runs
    for part, corpus in parts:
        if corpus is None:
            continue
        old, new = (Translations.of(decoder, corpus, w, jobs) for w in (trained.initial, trained.weights))
        final[part] = {"bleu": new.score, "length_ratio": new.length_ratio}
        before[part] = {"bleu": old.score, "length_ratio": old.length_ratio}
        digest = hashlib.sha256("\n".join(line for one in old.tokens for line in one).encode()).hexdigest()
        kept |= {f"{part}_before": old.stats, f"{part}_after": new.stats, f"{part}_references": np.array(digest)}
        if part == "test":
            final[part]["p"] = paired_bootstrap(new.stats, old.stats, Bleu(), 1000, seed, jobs).p
        else:
            was, now = (corpus_pool(one.texts, one.tokens) for one in (old, new))
            findings = list(examine_outcome(was, now, Bleu(), seed=seed, jobs=jobs))
            with atomic_write(run.path / "examples.json") as file:
                json_module.dump(_examples(corpus, old, new), file, ensure_ascii=False, indent=1)
    final["before"] = before
    with atomic_write(run.path / "stats.npz", "wb") as stats:
        np.savez_compressed(stats, **kept)
    for warning in trained.warnings:
        run.warn(warning)
    for finding in findings:
        run.warn(str(finding))
    run.record["findings"] = [asdict(finding) for finding in findings]
    run.record["epochs"] = trained.history
    run.record["initial"] = {name: value for name, value in trained.initial.items() if value}
    run.finish(trained.weights, final)


def _examples(corpus: Corpus, old: Translations, new: Translations) -> list[dict[str, Any]]:
    chosen = range(min(EXAMPLE_SENTENCES, len(corpus)))
    return [
        {
            "line": i + 1,
            "source": corpus.lines[i],
            "references": [one[i] for one in old.tokens],
            "before": old.texts[i],
            "after": new.texts[i],
        }
        for i in chosen
    ]


def _print(final: Mapping[str, Any]) -> None:
    parts = [part for part in ("dev", "test") if part in final]
    rows: list[Sequence[str]] = [["bleu", *parts]]
    for name, scores in (("before", final["before"]), (f"after, epoch {final['epoch']}", final)):
        rows.append([name, *(f"{scores[part]['bleu']:.2f}" for part in parts)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        click.echo("  ".join([row[0].ljust(widths[0]), *cells]))
