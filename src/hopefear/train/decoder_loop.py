"""``hopefear tune --decoder-command``: the outer loop around a decoder, and coordinate ascent around that."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hopefear._core import Pool
from hopefear.errors import InputError, OptionError
from hopefear.evaluation.diagnosis import (
    Finding,
    examine_held_out,
    examine_lists,
    examine_outcome,
    examine_weights,
    other_spelling,
    wrong_references,
)
from hopefear.evaluation.held_out_scores import difference
from hopefear.evaluation.scores import first_best
from hopefear.formats import read_forests, read_weights, write_forests
from hopefear.formats.weights import weight_vector
from hopefear.runs import checkpoint
from hopefear.runs.events import Decoded, Event, Listener, Setting
from hopefear.runs.replicates import Replicate, Scores
from hopefear.runs.session import Session
from hopefear.train.coordinate_ascent import CoordinateAscent, Parameter, read_parameters
from hopefear.train.decoder_command import DecoderCommand
from hopefear.train.replicates import Tuned, describe, finish, random_initial
from hopefear.train.scorer_command import ScoredDecoder, ScorerCommand
from hopefear.trainers.outer_loop import Looped, Number, OuterLoop, Request, looping
from hopefear.trainers.registry import find_batch, options_from
from hopefear.util.files import atomic_write
from hopefear.util.messages import digits_for

if TYPE_CHECKING:
    from hopefear.commands.tune import Tune

RETUNE_ITERATIONS = 5  # between parameters; Brown (2011), section 7, has 4 or 5


def tune_decoder(command: Tune, outer: Session) -> Tuned:
    """Learn the weights of a decoder that is a command, and leave a run directory."""
    command.check_out(outer)
    parameters = read_parameters(command.params) if command.params else []
    weights = read_weights(command.initial) if command.initial else None
    _check(command, parameters, weights)
    loop = _loop(command, parameters)
    ascent = CoordinateAscent(seed=command.seed, every=command.retune_every, evaluations=command.max_evaluations)
    recipe = describe(loop.trainer)
    inputs = command.inputs()
    settings = {**command.decisive(), **recipe, "inputs": [file["sha256"] for file in inputs]}
    with command.open_run("tune", settings, outer) as run:
        if not run.finished:
            run.record.trainer, run.record.metric, run.record.measure = recipe.values()
            run.record.inputs = inputs
            run.save()
        total = ascent.evaluations if parameters else command.replicates * (loop.iterations + 1)
        session = run.session(_with_progress(outer, loop, total))
        outcome = (
            around_parameters(loop, ascent, parameters, weights, session)
            if parameters
            else in_replicates(loop, command, weights, session)
        )
        tuned = replace(outcome.tuned, path=run.path)
        if not run.finished:
            run.record.sentences = outcome.sentences
            run.record.holdout = {"share": command.holdout, "ids": outcome.held_out}
            if tuned.setting is not None:
                with atomic_write(run.path / "params.txt") as file:
                    file.writelines(f"{name} {value!r}\n" for name, value in tuned.setting.items())
            finish(run, session, tuned, outcome.findings)
    outer.note(f"weights: {tuned.path}/weights.txt")
    if tuned.setting is not None:
        outer.note(f"params: {tuned.path}/params.txt")
    return tuned


def _check(command: Tune, parameters: Sequence[Parameter], weights: Mapping[str, float] | None) -> None:
    if command.random_init and weights is None:
        raise InputError("--random-init draws weights around given ones. Give --initial")
    if parameters and (command.replicates > 1 or command.random_init):
        raise InputError(
            "--params looks for one setting of the decoder, and each replicate would find another. "
            "Leave out --replicates and --random-init, and repeat the command under other seeds"
        )


def _loop(command: Tune, parameters: Sequence[Parameter]) -> OuterLoop:
    assert command.decoder_command is not None
    kind = find_batch(command.trainer)
    options = options_from(kind, command.set)
    decoder = DecoderCommand(command.decoder_command, tuple(command.refs), command.sources, command.decoder_timeout)
    decoder.check([parameter.name for parameter in parameters])
    scorer = ScorerCommand(command.scorer_command, command.decoder_timeout) if command.scorer_command else None
    if scorer is not None:
        scorer.check()
    metric, *others = command.metrics()
    if others:
        raise OptionError("--decoder-command takes one --metric.")
    return OuterLoop(
        looping(kind, options, metric=metric, seed=command.seed, jobs=command.jobs),
        ScoredDecoder(decoder, scorer) if scorer is not None else decoder,
        command.iterations,
        holdout=command.holdout,
        seed=command.seed,
        recent=command.recent or 0,
    )


def _with_progress(outer: Session, loop: OuterLoop, total: int) -> Listener:
    """Decodings and settings as progress on the screen as well."""
    update = outer.progress(f"tune {loop.trainer.name}", total)

    def listen(event: Event) -> object:
        if isinstance(event, Decoded | Setting):
            update(text=f"{event.log_name}  {loop.metric.key} {event.score:.{digits_for((event.score,))}f}")
        return outer.listen(event)

    return listen


@dataclass(frozen=True)
class Looping:
    """The results of a run around a decoder."""

    tuned: Tuned
    findings: Sequence[Finding]
    sentences: dict[str, int]
    held_out: list[str]


def in_replicates(loop: OuterLoop, config: Tune, weights: Mapping[str, float] | None, session: Session) -> Looping:
    """One loop after the other, each with its own seed: a decoder may use the whole machine."""
    assert session.folder is not None
    seed, key = config.seed, loop.metric.key
    loops: list[Looped] = []
    replicates: list[Replicate] = []
    for number in range(config.replicates):
        own = replace(loop, trainer=replace(loop.trainer, seed=seed + number))
        start = random_initial(weights, seed + number) if config.random_init and weights is not None else weights
        looped = own.run(start, session.part(f"replicate-{number + 1}"))
        loops.append(looped)
        replicates.append(
            Replicate(seed + number, looped.weights, _scores(looped.best.scores, key), looped.history, looped.warnings)
        )
    tuned = Tuned(replicates, _scores(loops[0].decoded[0].scores, key), loop.metric)
    number = next(i for i, replicate in enumerate(replicates) if replicate is tuned.best)
    best, folder = loops[number], session.folder / f"replicate-{number + 1}"
    before, after = (first_best(loop.decoding(folder, k), loop.trainer.jobs) for k in (1, best.best.number))
    findings = examine(loop, loop.candidates(folder, len(best.decoded)), best.weights, before, after)
    more = {"best_iteration": best.best.number, "decodings": len(best.decoded), "stopped": best.stopped}
    return Looping(replace(tuned, more=more), findings, *_parts(loop, before))


def _scores(scores: Mapping[str, float], key: str) -> Scores:
    return {part: {key: score} for part, score in scores.items()}


def _parts(loop: OuterLoop, pool: Pool) -> tuple[dict[str, int], list[str]]:
    parts = loop.parts(len(pool))
    aside = parts.get("holdout", ())
    return {part: len(which) for part, which in parts.items()}, [pool.ids[i] for i in aside]


def examine(loop: OuterLoop, pool: Pool, weights: Mapping[str, float], before: Pool, after: Pool) -> list[Finding]:
    """Findings about the lists that were learnt from, the weights, and the decoder's translations before and after."""
    metric, jobs = loop.metric, loop.trainer.jobs
    spelled = other_spelling(before, metric)
    if wrong := wrong_references(before, seed=loop.seed):
        return [*spelled, *wrong]
    parts = loop.parts(len(before))
    learnt = pool.subset(parts["dev"])
    findings = [*spelled, *examine_lists(learnt, metric, None, jobs)]
    findings += examine_weights(learnt, weight_vector(weights, learnt.feature_names))
    first, last = before.subset(parts["dev"]), after.subset(parts["dev"])
    findings += examine_outcome(first, last, metric, seed=loop.seed, jobs=jobs)
    if "holdout" in parts:
        aside = parts["holdout"]
        old, new = (metric.stats(each.subset(aside), jobs) for each in (before, after))
        findings += examine_held_out(difference(old, new, metric, seed=loop.seed, jobs=jobs), metric)
    return findings


@dataclass
class SettingScores:
    """Settings of the decoder and how they scored, kept in a folder: nothing is decoded twice."""

    loop: OuterLoop
    folder: Path
    like: Pool | None = None

    def scores(self, setting: Mapping[str, Number], weights: Mapping[str, float]) -> dict[str, float]:
        known = checkpoint.load(self.path(setting, weights).with_suffix(".json"))
        if known is None:
            values = ", ".join(f"{name} = {value!r}" for name, value in setting.items())
            request = Request(parameters=setting, like=self.like, label=f"setting {values}")
            return self.keep(setting, weights, self.loop.decoder.decode(weights, self.folder, request))
        return dict(known["scores"])

    def keep(self, setting: Mapping[str, Number], weights: Mapping[str, float], pool: Pool) -> dict[str, float]:
        path = self.path(setting, weights)
        best = first_best(pool, self.loop.trainer.jobs)
        self.like = self.like or best
        scores = self.loop.scores(best)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_forests(best, path.with_suffix(".forests"))
        checkpoint.save(path.with_suffix(".json"), {"setting": dict(setting), "scores": scores})
        return scores

    def first_best(self, setting: Mapping[str, Number], weights: Mapping[str, float]) -> Pool:
        return read_forests(self.path(setting, weights).with_suffix(".forests"))

    def path(self, setting: Mapping[str, Number], weights: Mapping[str, float]) -> Path:
        text = json.dumps([sorted(setting.items()), sorted(weights.items())])
        return self.folder / hashlib.sha256(text.encode()).hexdigest()[:24]


def around_parameters(
    loop: OuterLoop,
    ascent: CoordinateAscent,
    parameters: Sequence[Parameter],
    weights: Mapping[str, float] | None,
    session: Session,
) -> Looping:
    """Coordinate ascent. Without weights to begin with, they are tuned first, for the setting to begin with."""
    assert session.folder is not None
    folder, key = session.folder, loop.metric.key
    start = {parameter.name: parameter.start for parameter in parameters}
    settings = SettingScores(loop, folder / "settings")
    tunings: list[tuple[Path, int]] = []
    short = replace(loop, iterations=min(loop.iterations, RETUNE_ITERATIONS))

    def tuned_for(
        own: OuterLoop, setting: Mapping[str, Number], begin: Mapping[str, float] | None, number: int, only: bool
    ) -> tuple[Looped, float]:
        where = folder / f"tuning-{number}"
        looped = own.run(begin, session.part(where.name), parameters=setting, learnt_only=only)
        tunings.append((where, len(looped.decoded)))
        for decoded in (looped.decoded[0], looped.best):
            settings.keep(setting, decoded.weights, own.decoding(where, decoded.number))
        return looped, looped.best.scores["dev"]

    def evaluate(setting: Mapping[str, Number], w: Mapping[str, float]) -> float:
        return settings.scores(setting, w)["dev"]

    def retune(setting: Mapping[str, Number], w: Mapping[str, float], number: int) -> tuple[Mapping[str, float], float]:
        # The current weights are left out: a tuner that may keep them never leaves its region (Brown 2011, section 8).
        looped, score = tuned_for(short, setting, w, number, True)
        return looped.weights, score

    first = dict(weights or {})
    begin: Mapping[str, float] = first
    if weights is None:
        begin = tuned_for(loop, start, None, 0, False)[0].weights
    outcome = ascent.run(parameters, evaluate, retune, begin, loop.metric.higher_is_better, session)
    scores = settings.scores(outcome.setting, outcome.weights)
    replicate = Replicate(loop.seed, outcome.weights, _scores(scores, key), outcome.history, outcome.warnings)
    more = {"params": outcome.setting, "evaluations": outcome.evaluations, "stopped": outcome.stopped}
    tuned = Tuned([replicate], _scores(settings.scores(start, first), key), loop.metric, more, outcome.setting)
    before, after = settings.first_best(start, first), settings.first_best(outcome.setting, outcome.weights)
    findings: list[Finding] = []
    if tunings:
        where, decodings = tunings[-1]
        findings = examine(loop, loop.candidates(where, decodings), outcome.weights, before, after)
    return Looping(tuned, findings, *_parts(loop, before))
