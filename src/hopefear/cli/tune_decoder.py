"""``hopefear tune --decoder-command``: the outer loop, and with ``--params`` coordinate ascent around it."""

from __future__ import annotations

import dataclasses
import hashlib
import json as json_module
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hopefear.cli.console import Console

if TYPE_CHECKING:
    from hopefear._core import Pool
    from hopefear.metrics import Metric
    from hopefear.train.coordinate_ascent import Ascended, CoordinateAscent, Parameter
    from hopefear.train.decoder_command import Number
    from hopefear.train.loop import Hear, Looped, OuterLoop
    from hopefear.train.tuning import Tuned

RETUNE_ITERATIONS = 5  # between parameters; Brown (2011), section 7, has 4 or 5


def tune_decoder(
    console: Console,
    *,
    decoder_command: str,
    decoder_timeout: float | None,
    iterations: int,
    sources: str | None,
    params: str | None,
    retune_every: int,
    max_evaluations: int,
    refs: Sequence[str],
    trainer: str,
    out: str,
    set: Sequence[str],
    metric: str,
    lowercase: bool,
    tokenize: str | None,
    initial: str | None,
    random_init: bool,
    holdout: float,
    replicates: int,
    resume: bool,
    overwrite: bool,
    json: bool,
    seed: int,
    jobs: int,
) -> None:
    """Everything from the options to the run directory."""
    from hopefear.cli.trainers import find, parse_options
    from hopefear.cli.tune import tell
    from hopefear.errors import InputError
    from hopefear.formats import read_weights
    from hopefear.runs.directory import Run, record_inputs
    from hopefear.train.coordinate_ascent import CoordinateAscent, read_parameters
    from hopefear.train.decoder_command import DecoderCommand
    from hopefear.train.loop import LOOP_DEFAULTS, OuterLoop
    from hopefear.train.tuning import describe, metric_key

    kind = find(trainer)
    options = {**LOOP_DEFAULTS.get(trainer, {}), **parse_options(kind, set)}
    Run.check(out, resume=resume, overwrite=overwrite)
    parameters = read_parameters(params) if params else []
    decoder = DecoderCommand(decoder_command, tuple(refs), sources, decoder_timeout)
    decoder.check([parameter.name for parameter in parameters])
    weights = read_weights(initial) if initial else None
    if random_init and weights is None:
        raise InputError("--random-init draws weights around given ones. Give --initial")
    if parameters and (replicates > 1 or random_init):
        raise InputError(
            "--params looks for one setting of the decoder, and each replicate would find another. "
            "Leave out --replicates and --random-init, and repeat the command under other seeds"
        )
    measure = metric_of(metric, lowercase, tokenize)
    learner = kind(metric=measure, seed=seed, jobs=jobs, **options)
    loop = OuterLoop(learner, decoder, iterations, holdout=holdout, seed=seed)
    inputs = record_inputs({"refs": refs, "sources": sources, "initial": initial, "params": params})
    recipe = describe(learner, measure)
    settings = {
        "decoder_command": decoder_command,
        **recipe,
        "seed": seed,
        "iterations": iterations,
        "replicates": replicates,
        "holdout": holdout,
        "random_init": random_init,
        "retune_every": retune_every if parameters else None,
        "max_evaluations": max_evaluations if parameters else None,
        "inputs": [one["sha256"] for one in inputs],
    }
    with ExitStack() as stack:
        run = stack.enter_context(
            Run.open(out, command=["hopefear", *sys.argv[1:]], settings=settings, resume=resume, overwrite=overwrite)
        )
        if not run.finished:
            run.record |= {**recipe, "directory": str(Path.cwd()), "inputs": inputs}
            run.save()
        total = max_evaluations if parameters else replicates * (iterations + 1)
        progress = stack.enter_context(console.progress(f"tune {trainer}", total))

        def hear(said: dict[str, Any]) -> None:
            if not run.finished:
                run.log(said.get("event", "epoch"), **{name: value for name, value in said.items() if name != "event"})
            if said.get("event") in ("decoded", "evaluated", "tuned", "rolled back"):
                progress.update(text=f"{said['event']}  {metric_key(measure)} {said['score']:.2f}")

        folder = run.path / "checkpoint"
        if parameters:
            ascent = CoordinateAscent(every=retune_every, evaluations=max_evaluations, seed=seed)
            outcome = around_parameters(loop, ascent, parameters, folder, weights, hear)
        else:
            outcome = in_replicates(loop, folder, weights, random_init, replicates, seed, hear)
        final = outcome.tuned.final() | outcome.more
        if not run.finished:
            for warning in outcome.tuned.best.warnings:
                run.warn(warning)
            for finding in outcome.findings:
                run.warn(str(finding))
            run.record |= {
                "epochs": outcome.tuned.best.history,
                "findings": [dataclasses.asdict(finding) for finding in outcome.findings],
                "sentences": outcome.sentences,
                "holdout": {"share": holdout, "ids": outcome.held_out},
            }
            if outcome.setting is not None:
                from hopefear.util.files import atomic_write

                with atomic_write(run.path / "params.txt") as file:
                    file.writelines(f"{name} {value!r}\n" for name, value in outcome.setting.items())
            run.finish(outcome.tuned.best.weights, final)
    tell(console, run, outcome.tuned, measure, final if json else None)
    if outcome.setting is not None:
        if not json:
            click.echo("params  " + "  ".join(f"{name}={value!r}" for name, value in outcome.setting.items()))
        console.note(f"params: {run.path / 'params.txt'}")


def metric_of(text: str, lowercase: bool, tokenize: str | None) -> Metric:
    """The metric of ``--metric``; a name that is none of ours is a column that the decoder will write."""
    from hopefear.cli.metric_options import parse_metric
    from hopefear.metrics import METRICS

    name, _, rest = text.partition(":")
    if name not in METRICS:
        text = f"external:column={name}" + (f",{rest}" if rest else "")
    return parse_metric(text, lowercase, tokenize)


@dataclass(frozen=True)
class Outcome:
    """What is printed and recorded in the end."""

    tuned: Tuned
    findings: Sequence[Any]
    more: dict[str, Any]
    sentences: dict[str, int]
    held_out: list[str]
    setting: Mapping[str, Number] | None = None


def in_replicates(
    loop: OuterLoop,
    folder: Path,
    weights: Mapping[str, float] | None,
    random_init: bool,
    replicates: int,
    seed: int,
    hear: Hear,
) -> Outcome:
    """One loop after the other, each under a seed of its own: decoders take the machine for themselves."""
    from hopefear.train.loop import first_best
    from hopefear.train.tuning import Replicate, Tuned, metric_key, random_initial

    key = metric_key(loop.metric)
    loops: list[Looped] = []
    found: list[Replicate] = []
    for number in range(replicates):
        own = dataclasses.replace(loop, trainer=dataclasses.replace(loop.trainer, seed=seed + number))
        start = random_initial(weights, seed + number) if random_init and weights is not None else weights
        looped = own.run(folder / f"replicate-{number + 1}", start, hear=hear)
        loops.append(looped)
        found.append(
            Replicate(seed + number, looped.weights, _scores(looped.best.scores, key), looped.history, looped.warnings)
        )
    tuned = Tuned(found, _scores(loops[0].decoded[0].scores, key), key, loop.metric.higher_is_better, "dev")
    number = next(i for i, one in enumerate(found) if one is tuned.best)
    best, own_folder = loops[number], folder / f"replicate-{number + 1}"
    before, after = (first_best(loop.decoding(own_folder, k), loop.trainer.jobs) for k in (1, best.best.number))
    findings = examine(loop, loop.candidates(own_folder, len(best.decoded)), best.weights, before, after)
    more = {"best_iteration": best.best.number, "decodings": len(best.decoded), "stopped": best.stopped}
    return Outcome(tuned, findings, more, *_parts(loop, before))


def _scores(scores: Mapping[str, float], key: str) -> dict[str, dict[str, float]]:
    return {part: {key: score} for part, score in scores.items()}


def _parts(loop: OuterLoop, pool: Pool) -> tuple[dict[str, int], list[str]]:
    parts = loop.parts(len(pool))
    aside = parts.get("holdout", ())
    return {part: len(which) for part, which in parts.items()}, [pool.ids[i] for i in aside]


def examine(loop: OuterLoop, pool: Pool, weights: Mapping[str, float], before: Pool, after: Pool) -> list[Any]:
    """Findings about the lists that were learnt from, the weights, and the decoder's translations before and after."""
    from hopefear.evaluation.diagnosis import compare_holdout, examine_lists, examine_outcome, examine_weights
    from hopefear.train.tuning import vector

    metric, jobs = loop.metric, loop.trainer.jobs
    parts = loop.parts(len(before))
    learnt = pool.subset(parts["dev"])
    found = [*examine_lists(learnt, metric, None, jobs), *examine_weights(learnt, vector(learnt, weights))]
    first, last = before.subset(parts["dev"]), after.subset(parts["dev"])
    found += examine_outcome(first, last, metric, seed=loop.seed, jobs=jobs)
    if "holdout" in parts:
        aside = parts["holdout"]
        found += compare_holdout(before.subset(aside), after.subset(aside), metric, loop.seed, jobs)
    return found


@dataclass
class Settings:
    """Settings of the decoder and how they scored, kept in a folder: nothing is decoded twice."""

    loop: OuterLoop
    folder: Path
    like: Pool | None = None

    def scores(self, setting: Mapping[str, Number], weights: Mapping[str, float]) -> dict[str, float]:
        from hopefear.train.loop import load

        path = self.path(setting, weights)
        known = load(path.with_suffix(".json"))
        if known is None:
            shown = ", ".join(f"{name} = {value!r}" for name, value in setting.items())
            pool = self.loop.decoder.decode(
                weights, self.folder, parameters=setting, like=self.like, label=f"setting {shown}"
            )
            known = self.keep(setting, weights, pool)
        return dict(known["scores"])

    def keep(self, setting: Mapping[str, Number], weights: Mapping[str, float], pool: Pool) -> dict[str, Any]:
        from hopefear.formats import write_forests
        from hopefear.train.loop import first_best, save

        path = self.path(setting, weights)
        best = first_best(pool, self.loop.trainer.jobs)
        self.like = self.like or best
        known = {"setting": dict(setting), "scores": self.loop.scores(best)}
        self.folder.mkdir(parents=True, exist_ok=True)
        write_forests(best, path.with_suffix(".forests"))
        save(path.with_suffix(".json"), known)
        return known

    def first_best(self, setting: Mapping[str, Number], weights: Mapping[str, float]) -> Pool:
        from hopefear.formats import read_forests

        return read_forests(self.path(setting, weights).with_suffix(".forests"))

    def path(self, setting: Mapping[str, Number], weights: Mapping[str, float]) -> Path:
        text = json_module.dumps([sorted(setting.items()), sorted(weights.items())])
        return self.folder / hashlib.sha256(text.encode()).hexdigest()[:24]


def around_parameters(
    loop: OuterLoop,
    ascent: CoordinateAscent,
    parameters: Sequence[Parameter],
    folder: Path,
    weights: Mapping[str, float] | None,
    hear: Hear,
) -> Outcome:
    """Coordinate ascent. Without weights to begin with, they are tuned first, for the setting to begin with."""
    from hopefear.train.tuning import Replicate, Tuned, metric_key

    key = metric_key(loop.metric)
    start = {parameter.name: parameter.start for parameter in parameters}
    settings = Settings(loop, folder / "settings")
    tunings: list[tuple[Path, int]] = []
    short = dataclasses.replace(loop, iterations=min(loop.iterations, RETUNE_ITERATIONS))

    def tuned_for(
        own: OuterLoop, setting: Mapping[str, Number], begin: Mapping[str, float] | None, number: int, only: bool
    ) -> tuple[Looped, float]:
        where = folder / f"tuning-{number}"
        looped = own.run(where, begin, parameters=setting, learnt_only=only, hear=hear)
        tunings.append((where, len(looped.decoded)))
        for one in (looped.decoded[0], looped.best):
            settings.keep(setting, one.weights, own.decoding(where, one.number))
        return looped, looped.best.scores["dev"]

    def evaluate(setting: Mapping[str, Number], w: Mapping[str, float]) -> float:
        return settings.scores(setting, w)["dev"]

    def retune(setting: Mapping[str, Number], w: Mapping[str, float], number: int) -> tuple[Mapping[str, float], float]:
        # The weights at hand are left out: a tuner that may keep them never leaves its region (Brown 2011, section 8).
        looped, score = tuned_for(short, setting, w, number, True)
        return looped.weights, score

    first = dict(weights or {})
    begin: Mapping[str, float] = first
    if weights is None:
        begin = tuned_for(loop, start, None, 0, False)[0].weights
    found: Ascended = ascent.run(parameters, evaluate, retune, begin, loop.metric.higher_is_better, hear)
    scores = settings.scores(found.setting, found.weights)
    replicate = Replicate(loop.seed, found.weights, _scores(scores, key), found.history, found.warnings)
    tuned = Tuned([replicate], _scores(settings.scores(start, first), key), key, loop.metric.higher_is_better, "dev")
    before, after = settings.first_best(start, first), settings.first_best(found.setting, found.weights)
    findings: list[Any] = []
    if tunings:
        where, decodings = tunings[-1]
        findings = examine(loop, loop.candidates(where, decodings), found.weights, before, after)
    more = {"params": found.setting, "evaluations": found.evaluations, "stopped": found.stopped}
    return Outcome(tuned, findings, more, *_parts(loop, before), found.setting)
