"""Weights from candidates of any origin: what ``hopefear tune`` does.

    tuned = tune(TuneConfig(nbest=["dev.nbest"], refs=["ref.0", "ref.1"], trainer="kbmira", out="run"))
    tuned.best.weights, tuned.final()

Candidates are lists or forests in files, or what a decoder says again and again (``hopefear.train.decoder_tuning``).
Around the trainer: a part kept aside, replicates in parallel, random initial models, scores before and after. A
replicate is a fit under a seed of its own; replicates run in processes of their own, and each leaves its result in the
run's ``checkpoint/``, where ``resume`` finds it.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np

from hopefear._core import Pool
from hopefear.errors import InputError, OptionError
from hopefear.evaluation.diagnosis import Finding, diagnose
from hopefear.evaluation.scores import score_of
from hopefear.formats import read_forests, read_lists, read_weights
from hopefear.formats.kinds import explained
from hopefear.formats.pool import reduce
from hopefear.formats.references import case_warning
from hopefear.formats.table import TableSpec, read_table
from hopefear.formats.weights import check_names, matched_numbers
from hopefear.metrics import METRICS, Metric, from_text, split_text
from hopefear.runs import checkpoint
from hopefear.runs.directory import Run, RunConfig
from hopefear.runs.events import Epoch, Event, Listener, Progress
from hopefear.runs.record import record_inputs
from hopefear.runs.session import SILENT, Session
from hopefear.train.baselines import baselines, cross_validated
from hopefear.train.estimators import Auto, Bagged, bagged_trainer
from hopefear.train.holdout import split
from hopefear.trainers.batch.base import BatchTrainer
from hopefear.trainers.registry import find_batch, options_from
from hopefear.util import cluster
from hopefear.util.disk import on_disk
from hopefear.util.processes import Say, Task, cores, run_tasks
from hopefear.util.values import plain
from hopefear.util.words import one_of

Weights = dict[str, float]
Scores = dict[str, dict[str, float]]  # part -> metric -> score


@dataclass(frozen=True, kw_only=True)
class TuneConfig(RunConfig):
    """The options of ``hopefear tune``, by the same names."""

    trainer: str
    nbest: Sequence[str] = ()
    forests: str | None = None
    format: str | None = None  # of lists or forests; None: seen from the files
    decoder_command: str | None = None
    table: Any = None  # a file, a frame or a dict of arrays
    group: str | None = None
    features: Sequence[str] = ()
    text: str | None = None
    references: Sequence[str] = ()
    outcome: Sequence[str] = ()
    missing: str | None = None
    refs: Sequence[str] = ()
    set: Mapping[str, Any] | Sequence[str] = ()
    metric: str | Sequence[str] = ()  # the first is optimised, all are reported; by default an outcome, or bleu
    lowercase: bool = False
    tokenize: str | None = None
    initial: str | None = None
    random_init: bool = False
    holdout: float = 0.1
    replicates: int = 1
    cv: int | None = None
    bag: int | None = None
    dev_nbest: Sequence[str] = ()
    dev_refs: Sequence[str] = ()
    cluster: str | None = None  # fits on a Ray cluster: auto, local or an address
    memory: float | None = None  # GB that candidates may take before they go to disk; None: no limit
    # with a decoder in the loop; None: not given
    scorer_command: str | None = None  # also with lists
    decoder_timeout: float | None = None
    iterations: int | None = None
    recent: int | None = None  # decodings whose candidates are learnt from; None: all
    sources: str | None = None
    params: str | None = None
    retune_every: int | None = None
    max_evaluations: int | None = None

    def __post_init__(self) -> None:
        for name in ("nbest", "features", "references", "outcome", "refs", "metric", "dev_nbest", "dev_refs"):
            value = getattr(self, name)  # one, where several would do
            if isinstance(value, str | os.PathLike):
                object.__setattr__(self, name, (value,))
        from_table = self.table is not None
        if [bool(self.nbest), bool(self.forests), bool(self.decoder_command), from_table].count(True) != 1:
            raise OptionError("give one of --nbest, --forests, --table, --decoder-command.")
        if from_table and not self.group:
            raise OptionError("--table needs --group, the column that says which candidates compete.")
        loop = ("decoder_timeout", "iterations", "recent", "params", "retune_every", "max_evaluations")
        for needed, given, names in (
            ("--decoder-command", self.decoder_command, loop),
            ("--table", from_table, ("group", "features", "text", "references", "outcome", "missing")),
            ("--nbest, --forests and --decoder-command", not from_table, ("refs", "sources")),
            ("--nbest and --decoder-command", self.nbest or self.decoder_command, ("scorer_command",)),
            ("--nbest and --forests", self.nbest or self.forests, ("format", "dev_nbest", "dev_refs")),
            ("--params", self.params, ("retune_every", "max_evaluations")),
            ("--dev-nbest", self.dev_nbest, ("dev_refs",)),
        ):
            for name in () if given else names:
                if getattr(self, name) not in (None, (), []):
                    raise OptionError(f"--{name.replace('_', '-')} goes with {needed} only.")

        if self.decoder_command and (self.cv or self.bag or self.trainer == "auto"):
            raise OptionError("--cv, --bag and --trainer auto go with lists, forests and tables only.")
        if self.decoder_command and self.cluster:
            raise OptionError("--cluster goes with lists, forests and tables only: the decoder command runs here.")
        if (self.cv is not None and self.cv < 2) or (self.bag is not None and self.bag < 1):
            raise OptionError("--cv takes 2 folds or more, --bag one fit or more.")

    @property
    def metrics(self) -> tuple[str, ...]:
        """The first is optimised, all are reported."""
        return tuple(self.metric) or tuple(self.outcome) or ("bleu",)

    @property
    def framed(self) -> bool:
        """Whether the table is an object in memory and no file."""
        return self.table is not None and not isinstance(self.table, str | os.PathLike)

    @property
    def spec(self) -> TableSpec:
        """The columns of the table."""
        assert self.group is not None
        return TableSpec(self.group, self.features, self.text, self.references, self.outcome, self.missing or "error")


@dataclass(frozen=True)
class Replicate:
    """One fit."""

    seed: int
    weights: Weights
    scores: Scores
    history: list[Any]
    warnings: list[str]


@dataclass(frozen=True)
class Tuned:
    """All fits; ``best`` is the one with the best development score, the earliest of equals."""

    replicates: list[Replicate]
    before: Scores  # empty if it is not known
    metric: Metric
    more: dict[str, Any] = field(default_factory=dict)  # for ``final``: what a loop around a decoder has to say
    setting: Mapping[str, Any] | None = None  # the decoder's parameters, if they were tuned
    path: Path | None = None  # of the run
    others: Sequence[Metric] = ()  # reported as well

    @property
    def best(self) -> Replicate:
        sign = 1 if self.metric.higher_is_better else -1
        return max(self.replicates, key=lambda one: sign * one.scores["dev"][self.metric.key])

    def over_replicates(self, part: str, key: str | None = None) -> tuple[float, float]:
        """Mean and standard deviation of a part's score, in the metric of that name (that which was optimised)."""
        values = [one.scores[part][key or self.metric.key] for one in self.replicates]
        return mean(values), stdev(values) if len(values) > 1 else 0.0

    def final(self) -> dict[str, Any]:
        """What ``run.json`` has under ``final``: the best replicate's scores, and all others."""
        found: dict[str, Any] = {part: dict(scores) for part, scores in self.best.scores.items()}
        found["before"] = self.before
        if len(self.replicates) > 1:
            found["best_seed"] = self.best.seed
            found["replicates"] = [{"seed": one.seed, **one.scores} for one in self.replicates]
            spread = {part: self.over_replicates(part) for part in self.best.scores}
            found["mean"] = {part: {self.metric.key: value} for part, (value, _) in spread.items()}
            found["deviation"] = {part: {self.metric.key: value} for part, (_, value) in spread.items()}
        return found | self.more


def tune(config: TuneConfig, listen: Listener = lambda event: None) -> Tuned:
    """Learn weights and leave a run directory."""
    if config.memory is None:
        return _tune(config, listen)
    folder = Path(config.out).absolute().parent
    folder.mkdir(parents=True, exist_ok=True)
    with on_disk(folder, config.memory):
        return _tune(config, listen)


def _tune(config: TuneConfig, listen: Listener) -> Tuned:
    if config.decoder_command:
        from hopefear.train.decoder_tuning import tune_decoder

        return tune_decoder(config, listen)
    session = Session(listen)
    task = _task(config, session)
    inputs = record_inputs({name: getattr(config, name) for name in INPUTS if name != "table" or not config.framed})
    with config.open_run("tune", _settings(config, task, [one["sha256"] for one in inputs])) as run:
        if not run.finished:
            _record(run, config, task, inputs)
        with cluster.joined(config.cluster) if config.cluster else nullcontext():
            return _tuned(config, task, run, listen)


@dataclass(frozen=True)
class _Task:
    """What is learnt, from what, and how; read and checked."""

    pool: Pool
    parts: dict[str, Pool]  # train or dev is learnt from, dev is scored, holdout is kept aside
    trainer: BatchTrainer
    others: Sequence[Metric]
    choose_l2: bool
    initial: Mapping[str, float] | None

    @property
    def learnt_from(self) -> Pool:
        return self.parts.get("train", self.parts["dev"])


def _task(config: TuneConfig, session: Session) -> _Task:
    kind = Auto if config.trainer == "auto" else find_batch(config.trainer)
    options = options_from(kind, config.set)
    config.check_out(session)
    initial: Mapping[str, float] | None = read_weights(config.initial) if config.initial else None
    pool = _read(config, session)
    if config.scorer_command:
        pool = _scored(config, pool, session)
    metric, *others = metrics_for(config, pool)
    if not (metric.columns or metric.lowercase) and (warning := case_warning(pool)):
        session.warn(warning)
    trainer: BatchTrainer = kind(metric=metric, seed=config.seed, jobs=config.jobs, **options)
    choose_l2 = bool(config.cv) and hasattr(trainer, "l2") and "l2" not in options
    if config.bag:
        trainer = bagged_trainer(trainer, config.bag)
    parts = _parts(config, pool, metric, session)
    if config.initial and initial:
        initial, note = matched_numbers(config.initial, initial, pool.feature_names)
        if note:
            session.warn(note)
        whose = "the lists. Use the weights of this model"
        if strangers := check_names(config.initial, initial, pool.feature_names, "that the lists do not have", whose):
            session.warn(strangers)
    return _Task(pool, parts, trainer, others, choose_l2, initial)


def _settings(config: TuneConfig, task: _Task, inputs: Sequence[str]) -> dict[str, Any]:
    """Everything that decides the result."""
    settings = {
        **describe(task.trainer),
        "seed": config.seed,
        "replicates": config.replicates,
        "holdout": config.holdout,
        **({"cv": config.cv} if config.cv else {}),
        "random_init": config.random_init,
        "inputs": list(inputs),
    }
    if config.format:
        settings["format"] = config.format
    if config.scorer_command:
        settings["scorer_command"] = config.scorer_command
    if task.others:
        settings["others"] = [plain(one.record()) for one in task.others]
    if config.table is not None:
        settings["table"] = asdict(config.spec)
    if config.framed:
        settings["frame"] = hashlib.sha256(reduce(task.pool)[1][0]).hexdigest()
    return settings


def _record(run: Run, config: TuneConfig, task: _Task, inputs: list[dict[str, Any]]) -> None:
    """What is known before anything is learnt."""
    aside = task.parts.get("holdout")
    run.record.trainer, run.record.metric, run.record.measure = describe(task.trainer).values()
    run.record.inputs = inputs
    run.record.sentences = {part: len(sentences) for part, sentences in task.parts.items()}
    run.record.holdout = {"share": config.holdout, "ids": aside.ids if aside is not None else []}
    run.save()


def _tuned(config: TuneConfig, task: _Task, run: Run, listen: Listener) -> Tuned:
    """The fits, what they are worth, and what may be wrong with them."""
    trainer, aside = task.trainer, task.parts.get("holdout")
    metric = trainer.metric
    session = run.session(shown(listen, config, metric, trainer.epochs_at_most))
    more = {name: one for name, one in run.record.final.items() if name in ("cv", "baselines")}
    if config.cv and not run.finished:
        trainer, more["cv"] = cross_validated(
            trainer, task.learnt_from, task.initial, config.cv, task.choose_l2, session, bool(config.cluster)
        )
    how: dict[str, Any] = {name: getattr(config, name) for name in ("random_init", "replicates")}
    how["on_cluster"] = bool(config.cluster)
    tuned = fit_replicates(trainer, task.parts, task.initial, others=task.others, run=session, **how)
    best, chance = tuned.best.weights, {"seed": config.seed, "jobs": config.jobs}
    if aside is not None and not run.finished:
        more["baselines"] = baselines(task.learnt_from, aside, metric, best, task.initial, **chance)
    tuned = replace(tuned, path=run.path, more={**tuned.more, **more})
    if run.finished:
        return tuned
    session.progress(f"tune {config.trainer}")(text="diagnosis")
    history = tuned.best.history if trainer.name != "mert" else ()
    found = diagnose(task.learnt_from, metric, best, task.initial, holdout=aside, history=history, **chance)
    finish(run, session, tuned, [one for one in found if one.code != "unknown-feature"])  # which was said already
    return tuned


#: Options that name files, and so the roles of a run's inputs.
INPUTS = ("nbest", "forests", "table", "refs", "sources", "dev_nbest", "dev_refs", "initial")


def finish(run: Run, session: Session, tuned: Tuned, findings: Sequence[Finding]) -> None:
    """Record what came out."""
    run.record.epochs = tuned.best.history
    for warning in tuned.best.warnings:
        session.warn(warning)
    for finding in findings:
        session.warn(str(finding))
    run.record.findings = [asdict(finding) for finding in findings]
    run.finish(tuned.best.weights, tuned.final())


def _read(config: TuneConfig, session: Session) -> Pool:
    """What is learnt from."""
    if config.forests:
        with explained(forests=[config.forests], texts=config.refs):
            return read_forests(config.forests, list(config.refs) or None, config.format, config.sources)
    if config.table is None:
        return read_candidates(config.nbest, config.refs, session, config.sources, config.format)
    session.progress("read")(text=f"{config.table}" if isinstance(config.table, str) else "table")
    table = read_table(config.table, config.spec)
    table.column(config.spec.group, "--group")
    table.flat(config.spec).refuse_constant(config.spec)
    pool = table.pool(config.spec, session.warn)
    sizes = np.diff(pool.row_begin())
    if int(sizes.max()) < 2:
        finding = "every group has one candidate only: there is nothing to choose from"
        raise InputError(f"{table.name}: {finding}. Is {config.group!r} the right column?")
    if config.initial is None:
        session.note("before is the first row of each group. Give --initial if that is not what you use now")
    return pool


def _scored(config: TuneConfig, pool: Pool, session: Session) -> Pool:
    """Lists with the scores of a command."""
    from hopefear.train.scorer_command import ScorerCommand

    assert config.scorer_command is not None
    session.progress("score")(text="--scorer-command")
    scorer = ScorerCommand(config.scorer_command)
    scorer.check()
    return scorer.scored(pool)


def read_candidates(
    nbest: Sequence[str], refs: Sequence[str], session: Session, sources: str | None = None, format: str | None = None
) -> Pool:
    """Lists from files, with progress and a word if they were merged."""
    update = session.progress("read", megabytes(nbest))
    with explained(lists=nbest, texts=refs):
        pool, merged = read_lists(nbest, refs, lambda size: update(size // 1_000_000, text="MB"), sources, format)
    if merged:
        session.note(f"{len(nbest)} lists of the same sentences: merged without duplicates")
    return pool


def _parts(config: TuneConfig, pool: Pool, metric: Metric, session: Session) -> dict[str, Pool]:
    """What is learnt from, what is scored, what is kept aside."""
    need_references(pool, metric)
    learn, aside = split(pool, config.holdout, config.seed)
    parts = {"dev": learn}
    if config.dev_nbest:
        form = config.format if config.nbest else None
        parts = {"train": learn, "dev": read_candidates(config.dev_nbest, config.dev_refs, session, format=form)}
        need_references(parts["dev"], metric, "--dev-refs")
    if aside is not None:
        parts["holdout"] = aside
    elif config.holdout:
        session.note(f"{len(pool)} sentences: too few to keep some aside")
    return parts


def metrics_for(config: TuneConfig, pool: Pool | None = None) -> list[Metric]:
    """The metrics of a config, each once: the first is optimised."""
    found: dict[str, Metric] = {}
    for text in config.metrics:
        metric = metric_for(text, config, pool)
        found.setdefault(metric.key, metric)
    return list(found.values())


def metric_for(text: str, config: TuneConfig, pool: Pool | None = None) -> Metric:
    """A metric by its name. One that is none of ours is a column of the lists, or will be."""
    name, _, rest = text.partition(":")
    columns = pool.number_names if pool is not None else [name] if name not in METRICS else []
    if pool is not None and not columns and split_text(text)[0] not in METRICS and "," not in text:
        finding = f"there is no metric {name!r}, and the candidates have no columns of numbers.{one_of(name, METRICS)}"
        cure = 'Scores of your own come as "metrics" in JSON lines, or with --table and --outcome'
        raise OptionError(f"--metric: {finding} {cure}.")
    metric = from_text(text, config.lowercase, config.tokenize, columns)
    if pool is not None and metric.name == "external" and "scale=" not in rest:
        # Trainers expect gains of about 0 to 1: bring a column of 0 to 100 there.
        largest = float(abs(metric.stats(pool)[:, 0]).max())
        metric = replace(metric, scale=next((s for s in (1.0, 10.0, 100.0, 1000.0) if largest <= s), largest))  # type: ignore[type-var]
    return metric


def need_references(pool: Pool, metric: Metric, option: str = "--refs") -> None:
    """Complain about the first sentence without a reference, if the metric needs them."""
    if metric.columns:
        return
    without = next((i for i in range(len(pool)) if not pool.references(i)), None)
    if without is not None:
        raise InputError(f"sentence {pool.ids[without]} has no reference, and {metric.name} needs one. Give {option}")


def describe(trainer: BatchTrainer) -> dict[str, Any]:
    """What is learnt with, as ``run.json`` has it. Threads and seeds are not part of it."""
    options = {name: value for name, value in trainer.options().items() if name not in ("jobs", "seed", "metric")}
    return {
        "trainer": {"name": trainer.name, "options": options},
        "metric": f"{trainer.metric.key}|{trainer.metric.signature()}",
        "measure": plain(trainer.metric.record()),
    }


def megabytes(files: Sequence[str]) -> int | None:
    """The size of these files, in so far as it says how much will be read: not of standard input or packed files."""
    if any(str(file) == "-" or Path(file).suffix in (".gz", ".xz", ".zst") for file in files):
        return None
    return sum(Path(file).stat().st_size for file in files if Path(file).is_file()) // 1_000_000 or None


def shown(listen: Listener, config: TuneConfig, metric: Metric, epochs: int | None = None) -> Listener:
    """Epochs, of so many at most, as progress on the screen as well."""
    total = epochs * config.replicates if epochs is not None else None
    update = Session(listen).progress(f"tune {config.trainer}", total)

    def hear(event: Event) -> object:
        which = f"replicate {event.context['replicate']}, " if config.replicates > 1 and event.context else ""
        if isinstance(event, Epoch):
            update(text=f"{which}epoch {event.epoch}  {metric.key} {event.score:.2f}")
        return listen(replace(event, text=which + event.text) if isinstance(event, Progress) else event)

    return hear


def random_initial(initial: Mapping[str, float], seed: int) -> Weights:
    """A random initial model: each weight from N(mu, |mu/2|^2) around the given mu (Gimpel and Smith 2012, note 13)."""
    random = np.random.default_rng([seed, 13])
    return {name: float(random.normal(mu, abs(mu) / 2)) for name, mu in initial.items()}


def _far_away(
    learnt: Callable[[int, int, Say], dict[str, Any]],
) -> Callable[[], Callable[[int], tuple[list[dict[str, Any]], dict[str, Any]]]]:
    """For a worker of a cluster: a replicate, and what it said meanwhile."""

    def work(number: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        said: list[dict[str, Any]] = []
        return said, learnt(number, 1, said.append)

    return lambda: work


def fit_replicates(
    trainer: BatchTrainer,
    parts: Mapping[str, Pool],
    initial: Mapping[str, float] | None = None,
    *,
    random_init: bool = False,
    replicates: int = 1,
    others: Sequence[Metric] = (),
    on_cluster: bool = False,
    run: Session = SILENT,
) -> Tuned:
    """Learn from ``parts["dev"]`` (or ``parts["train"]`` where there is one) under N seeds, and score all parts.

    Before means the initial weights, or the first candidate of each list; of forests without initial weights nothing
    is known. ``others`` are metrics to report beside the trainer's own. Replicate k has the trainer's seed + k. With a
    folder, replicates that were finished already are taken from it. ``on_cluster``: the one that was joined does the
    replicates, or the fits that each is the mean of.
    """
    metric, jobs, seed = trainer.metric, trainer.jobs, trainer.seed
    learn_from = parts.get("train", parts["dev"])
    names = learn_from.feature_names
    start = {name: initial.get(name, 0.0) for name in names} if initial is not None else None
    if random_init and start is None:
        start = dict.fromkeys(names, 1.0)

    def scores(weights: Mapping[str, float], threads: int) -> Scores:
        return {
            part: {one.key: score_of(pool, one, weights, threads) for one in (metric, *others)}
            for part, pool in parts.items()
        }

    at_once = min(replicates, jobs or cores())
    threads = max(1, (jobs or cores()) // at_once)

    def known(number: int) -> dict[str, Any] | None:
        return checkpoint.load(run.folder / f"replicate-{number + 1}.json") if run.folder is not None else None

    def learnt(number: int, threads: int, say: Say) -> dict[str, Any]:
        own = replace(trainer, seed=seed + number, jobs=threads)
        begin = random_initial(start, seed + number) if random_init and start is not None else start
        result = own.fit(learn_from, begin, run=Session(lambda event: say(plain(event.plain()))))
        weights = {name: float(weight) for name, weight in result.weights.items()}
        return {
            "seed": seed + number,
            "weights": weights,
            "scores": scores(weights, threads),
            "history": plain(result.history),
            "warnings": result.warnings,
        }

    def kept(number: int, found: dict[str, Any]) -> dict[str, Any]:
        if run.folder is None:
            return found
        checkpoint.save(run.folder / f"replicate-{number + 1}.json", found)
        return {}

    def replicate(number: int) -> Task:
        return lambda say: {} if known(number) is not None else kept(number, learnt(number, threads, say))

    def hear(number: int, said: Mapping[str, Any]) -> None:
        run.tell(Event.restored(said).within(replicate=number + 1))

    if on_cluster:
        missing = [number for number in range(replicates) if known(number) is None]
        results = []
        if isinstance(trainer, Bagged):
            trainer = replace(trainer, each=cluster.spread(run.warn))
            results += [kept(number, learnt(number, 1, partial(hear, number))) for number in missing]
        else:
            far = cluster.in_order(_far_away(learnt), missing, run.warn)
            for number, (said, found) in zip(missing, far, strict=True):
                for each in said:
                    hear(number, each)
                results.append(kept(number, found))
    else:
        results = run_tasks([replicate(number) for number in range(replicates)], at_once, hear)
    if run.folder is not None:
        results = [known(number) or {} for number in range(replicates)]
    known_before = start is not None or all(pool.is_lists for pool in parts.values())
    before = scores(start if start is not None else {}, jobs) if known_before else {}
    return Tuned([Replicate(**result) for result in results], before, metric, others=list(others))
