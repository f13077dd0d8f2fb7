"""``hopefear tune``: weights from candidates of any origin."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from hopefear.cli.console import Console, plural, some
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Many, count

if TYPE_CHECKING:
    from hopefear._core import Pool
    from hopefear.metrics import Metric
    from hopefear.runs.directory import Run
    from hopefear.train.tuning import Tuned

PARAMS = [
    Many(["--nbest"], type=InputFile(), help="Candidate lists: parts of one, or lists of the same sentences."),
    click.Option(
        ["--forests"], type=InputFile(folders=True), help="Forests or lattices instead: a file, or a folder of them."
    ),
    click.Option(
        ["--decoder-command"],
        metavar="CMD",
        help="A decoder to run again and again, with {weights} and {nbest} for its files.",
    ),
    click.Option(["--decoder-timeout"], type=float, metavar="SECONDS", help="Longest time for one decoding."),
    count("--iterations", 10, "Decodings to learn from, with --decoder-command."),
    click.Option(["--sources"], type=InputFile(), help="What the decoder translates: {sources} in its command."),
    click.Option(["--params"], type=InputFile(), help="TOML: parameters of the decoder to tune as well."),
    count("--retune-every", 4, "Parameters between two tunings of the weights; 0: none.", least=0),
    count("--max-evaluations", 750, "Settings of the parameters to try at most."),
    Many(["--refs"], type=InputFile(), help="References, a file each. Not needed if the lists hold them."),
    click.Option(["--trainer"], required=True, metavar="NAME", help="How to learn; hopefear trainers lists them."),
    click.Option(["--out"], required=True, metavar="RUN", help="The run directory to make."),
    Many(["--set"], metavar="NAME=VALUE", help="Options of the trainer; hopefear trainers NAME lists them."),
    click.Option(
        ["--metric"],
        default="bleu",
        metavar="NAME",
        help="What to optimise: bleu, chrf, ter, ..., or a column of the lists. [bleu]",
    ),
    click.Option(["--lowercase"], is_flag=True, help="The metric ignores case."),
    click.Option(
        ["--tokenize"], metavar="NAME", help="The metric's tokenizer; by default, words are taken as they are."
    ),
    click.Option(["--initial"], type=InputFile(), help="Weights to start from."),
    click.Option(["--random-init"], is_flag=True, help="Start each replicate from a random model around --initial."),
    click.Option(
        ["--holdout"], type=float, default=0.1, metavar="SHARE", help="Share of the sentences kept aside. [0.1]"
    ),
    count("--replicates", 1, "Fits under so many seeds; the best by development score is kept."),
    Many(["--dev-nbest"], type=InputFile(), help="Score and choose on these lists instead."),
    Many(["--dev-refs"], type=InputFile(), help="Their references."),
    click.Option(["--resume"], is_flag=True, help="Go on with a run that was interrupted."),
    click.Option(["--overwrite"], is_flag=True, help="Replace a run that is there already."),
    click.Option(["--json"], is_flag=True, help="The scores as JSON."),
]

EXAMPLES = """
hopefear tune --nbest dev.nbest.gz --refs ref.0 ref.1 --trainer kbmira --out run
hopefear tune --nbest dev.nbest.gz --refs ref.0 ref.1 --trainer mert --set restarts=10 \\
    --initial weights.txt --replicates 5 --out run
hopefear tune --nbest dev.jsonl --metric comet --trainer pro --out run     # a column of the lists
hopefear tune --decoder-command 'decode -w {weights} < dev.src > {nbest}' --refs ref.0 \\
    --initial weights.txt --trainer kbmira --out run
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(
    console: Console,
    nbest: tuple[str, ...],
    forests: str | None,
    decoder_command: str | None,
    decoder_timeout: float | None,
    iterations: int,
    sources: str | None,
    params: str | None,
    retune_every: int,
    max_evaluations: int,
    refs: tuple[str, ...],
    trainer: str,
    out: str,
    set: tuple[str, ...],
    metric: str,
    lowercase: bool,
    tokenize: str | None,
    initial: str | None,
    random_init: bool,
    holdout: float,
    replicates: int,
    dev_nbest: tuple[str, ...],
    dev_refs: tuple[str, ...],
    resume: bool,
    overwrite: bool,
    json: bool,
    seed: int,
    jobs: int,
) -> None:
    """Learn weights from candidate lists or forests of any origin.

    Prints the metric before and after, on the sentences learnt from and on those kept aside, and writes
    RUN/weights.txt, RUN/run.json and RUN/log.jsonl. Before means --initial, or the first candidate of each list. The
    same input, seed and options give the same weights, whatever --jobs is.
    """
    from hopefear.cli.trainers import find, parse_options
    from hopefear.evaluation.diagnosis import diagnose
    from hopefear.formats import read_forests, read_weights
    from hopefear.runs.directory import Run, record_inputs
    from hopefear.train.tuning import describe, metric_key, split, tune

    if [bool(nbest), bool(forests), bool(decoder_command)].count(True) != 1:
        raise click.UsageError("give one of --nbest, --forests, --decoder-command.", click.get_current_context())
    refuse_unused(click.get_current_context(), bool(decoder_command), bool(params), bool(dev_nbest))
    if decoder_command:
        from hopefear.cli.tune_decoder import tune_decoder

        tune_decoder(
            console,
            decoder_command=decoder_command,
            decoder_timeout=decoder_timeout,
            iterations=iterations,
            sources=sources,
            params=params,
            retune_every=retune_every,
            max_evaluations=max_evaluations,
            refs=refs,
            trainer=trainer,
            out=out,
            set=set,
            metric=metric,
            lowercase=lowercase,
            tokenize=tokenize,
            initial=initial,
            random_init=random_init,
            holdout=holdout,
            replicates=replicates,
            resume=resume,
            overwrite=overwrite,
            json=json,
            seed=seed,
            jobs=jobs,
        )
        return
    kind = find(trainer)
    options = parse_options(kind, set)
    Run.check(out, resume=resume, overwrite=overwrite)
    weights = read_weights(initial) if initial else None
    pool = read_forests(forests, list(refs) or None) if forests else read_pool(console, nbest, refs)
    measure = metric_for(metric, pool, lowercase, tokenize)
    learner = kind(metric=measure, seed=seed, jobs=jobs, **options)
    need_references(pool, measure)
    if initial and weights:
        warn_of_strangers(console, initial, weights, pool)
    learn, aside = split(pool, holdout, seed)
    parts = {"dev": learn}
    if dev_nbest:
        parts = {"train": learn, "dev": read_pool(console, dev_nbest, dev_refs)}
        need_references(parts["dev"], measure)
    if aside is not None:
        parts["holdout"] = aside
    elif holdout:
        console.note(f"{len(pool)} sentences: too few to keep some aside")
    inputs = record_inputs(
        {"nbest": nbest, "forests": forests, "refs": refs, "dev_nbest": dev_nbest, "dev_refs": dev_refs}
        | {"initial": initial}
    )
    recipe = describe(learner, measure)
    settings = {
        **recipe,
        "seed": seed,
        "replicates": replicates,
        "holdout": holdout,
        "random_init": random_init,
        "inputs": [one["sha256"] for one in inputs],
    }
    with ExitStack() as stack:
        run = stack.enter_context(
            Run.open(out, command=["hopefear", *sys.argv[1:]], settings=settings, resume=resume, overwrite=overwrite)
        )
        if not run.finished:
            run.record |= {
                **recipe,
                "directory": str(Path.cwd()),
                "inputs": inputs,
                "sentences": {part: len(sentences) for part, sentences in parts.items()},
                "holdout": {"share": holdout, "ids": aside.ids if aside is not None else []},
            }
            run.save()
        progress = stack.enter_context(console.progress(f"tune {trainer}"))

        def hear(number: int, epoch: dict[str, Any]) -> None:
            if "epoch" in epoch:
                run.log("epoch", replicate=number + 1, **epoch)
            which = f"replicate {number + 1}, " if replicates > 1 else ""
            score = epoch.get("score")
            shown = f"  {metric_key(measure)} {score:.2f}" if isinstance(score, float) else ""
            state = f"epoch {epoch['epoch']}" if "epoch" in epoch else ", ".join(f"{v} {k}" for k, v in epoch.items())
            progress.update(text=f"{which}{state}{shown}")

        tuned = tune(
            learner,
            measure,
            parts,
            initial=weights,
            random_init=random_init,
            replicates=replicates,
            seed=seed,
            jobs=jobs,
            run=run,
            hear=hear,
        )
        if not run.finished:
            progress.update(text="diagnosis")
            run.record["epochs"] = tuned.best.history
            for warning in tuned.best.warnings:
                run.warn(warning)
            findings = [
                finding
                for finding in diagnose(
                    learn,
                    measure,
                    tuned.best.weights,
                    weights,
                    holdout=aside,
                    history=tuned.best.history if kind.name != "mert" else (),
                    seed=seed,
                    jobs=jobs,
                )
                if finding.code != "unknown-feature"  # said already
            ]
            run.record["findings"] = [asdict(finding) for finding in findings]
            for finding in findings:
                run.warn(str(finding))
            run.finish(tuned.best.weights, tuned.final())
    tell(console, run, tuned, measure, tuned.final() if json else None)


def refuse_unused(ctx: click.Context, decoder: bool, params: bool, dev: bool) -> None:
    """An option that would change nothing is a mistake, and is named."""
    loop = ("decoder_timeout", "iterations", "sources", "params", "retune_every", "max_evaluations")
    for needed, given, names in (
        ("--decoder-command", decoder, loop),
        ("--nbest and --forests", not decoder, ("dev_nbest", "dev_refs")),
        ("--params", params, ("retune_every", "max_evaluations")),
        ("--dev-nbest", dev, ("dev_refs",)),
    ):
        for name in () if given else names:
            if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT:
                raise click.UsageError(f"--{name.replace('_', '-')} goes with {needed} only.", ctx)


def read_pool(console: Console, nbest: Sequence[str], refs: Sequence[str]) -> Pool:
    """Several lists are parts of one, or, if they begin with the same sentence, lists of the same sentences."""
    from hopefear.train.tuning import read_lists

    with console.progress("read") as progress:
        pool, merged = read_lists(nbest, refs, lambda size: progress.update(size // 1_000_000, text="MB"))
    if merged:
        console.note(f"{len(nbest)} lists of the same sentences: merged without duplicates")
    return pool


def warn_of_strangers(console: Console, path: str, weights: Mapping[str, float], pool: Pool) -> None:
    known = {*pool.feature_names}
    if strangers := [name for name in weights if name not in known]:
        console.warn(
            f"{path}: {plural(len(strangers), 'weight')} for features that the lists do not have: {some(strangers)}"
        )


def metric_for(text: str, pool: Pool, lowercase: bool, tokenize: str | None) -> Metric:
    """The metric of ``--metric``; a name that is none of ours may be a column of the lists."""
    from hopefear.cli.metric_options import parse_metric

    name, _, rest = text.partition(":")
    if name in pool.number_names:
        text = f"external:column={name}" + (f",{rest}" if rest else "")
    metric = parse_metric(text, lowercase, tokenize, columns=pool.number_names)
    if metric.name == "external" and "scale=" not in text:
        # Trainers expect gains of about 0 to 1: bring a column of 0 to 100 there.
        largest = float(abs(metric.stats(pool)[:, 0]).max())
        metric = replace(metric, scale=next((s for s in (1.0, 10.0, 100.0, 1000.0) if largest <= s), largest))  # type: ignore[type-var]
    return metric


def need_references(pool: Pool, metric: Metric) -> None:
    from hopefear.errors import InputError

    if metric.name == "external":
        return
    without = next((i for i in range(len(pool)) if not pool.references(i)), None)
    if without is not None:
        raise InputError(f"sentence {pool.ids[without]} has no reference, and {metric.name} needs one. Give --refs")


TITLES = {"train": "train", "dev": "dev", "holdout": "held out"}


def tell(console: Console, run: Run, tuned: Tuned, metric: Metric, final: Mapping[str, Any] | None) -> None:
    """What came out, as a table or as JSON."""
    for warning in run.record["warnings"]:
        console.warn(warning)
    if final is not None:
        click.echo(json_module.dumps(final, indent=2, ensure_ascii=False))
    else:
        print_scores(tuned, metric)
    console.note(f"weights: {run.path / 'weights.txt'}")


def print_scores(tuned: Tuned, metric: Metric) -> None:
    """A small table: before and after, a column for each part."""
    parts = list(tuned.best.scores)
    rows = [[tuned.metric, *(TITLES[part] for part in parts)], ["before", *_cells(tuned.before, parts, tuned.metric)]]
    many = len(tuned.replicates) > 1
    if many:
        spread = [tuned.over_replicates(part) for part in parts]
        rows.append([f"after, mean of {len(tuned.replicates)}", *(f"{value:.2f}" for value, _ in spread)])
        rows.append(["  standard deviation", *(f"{value:.2f}" for _, value in spread)])
    name = f"after, best (seed {tuned.best.seed})" if many else "after"
    rows.append([name, *_cells(tuned.best.scores, parts, tuned.metric)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        click.echo("  ".join([row[0].ljust(widths[0]), *cells]))
    click.echo(f"{tuned.metric}|{metric.signature()}")


def _cells(scores: Mapping[str, Mapping[str, float]], parts: Sequence[str], metric: str) -> list[str]:
    return [f"{scores[part][metric]:.2f}" for part in parts]
