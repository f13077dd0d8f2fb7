"""The weights of a model, from sentences and their references: what ``hopefear train`` does.

    trained = online(TrainConfig(model="model", source="tune.es", refs=["tune.en"], trainer="arow", out="run"))
    trained.final["dev"]["bleu"]

Online trainers learn while the model translates; ``costmargin`` learns a model of blocks; batch trainers go round a
loop of decoding and learning. Data, records, scores before and after and the run directory are the same for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hopefear.decode import Blocks, Hiero
from hopefear.errors import InputError, OptionError, input_error
from hopefear.formats.forests import plf_lattices
from hopefear.formats.weights import check_names, read_many_weights, read_weights
from hopefear.metrics import Bleu
from hopefear.model.directory import Model
from hopefear.model.features import template_of
from hopefear.runs.directory import RunConfig
from hopefear.runs.events import Epoch, Event, Listener
from hopefear.runs.record import checksum, record_inputs
from hopefear.runs.session import Session
from hopefear.train.folds import fit_folds
from hopefear.train.holdout import held_out, split_corpus
from hopefear.train.loop import LOOP_DEFAULTS
from hopefear.train.model_loop import fit_in_loop
from hopefear.train.outcome import better_than_untrained, finish, finish_blocks
from hopefear.trainers.base import Result, Trainer
from hopefear.trainers.batch.base import BatchTrainer
from hopefear.trainers.blocks.costmargin import Costmargin
from hopefear.trainers.data import Corpus, Task
from hopefear.trainers.online.base import Online, paper_weights
from hopefear.trainers.online.teams import Learners
from hopefear.trainers.registry import find, options_from
from hopefear.util.cluster import joined
from hopefear.util.files import read_lines
from hopefear.util.processes import cores
from hopefear.util.values import plain
from hopefear.util.words import plural

KBEST, ITERATIONS = 200, 10  # of batch trainers
#: Options that do nothing with costmargin, which has some of them among its own.
NOT_FOR_BLOCKS = ("features", "initial", "paper_start", "pop_limit", "max_options", "iterations", "kbest")


@dataclass(frozen=True, kw_only=True)
class TrainConfig(RunConfig):
    """The options of ``hopefear train``, by the same names; None: not given."""

    model: str
    source: str
    refs: Sequence[str]
    trainer: str
    dev_source: str | None = None
    dev_refs: Sequence[str] = ()
    test_source: str | None = None
    test_refs: Sequence[str] = ()
    set: Mapping[str, Any] | Sequence[str] = ()
    features: str | None = None
    initial: str | None = None
    paper_start: bool = False
    input: str = "text"  # or "plf": the sources are lattices
    holdout: float = 0.1
    folds: int = 1
    parallel: str | None = None
    learners: int = 0
    simulate_learners: int = 0
    cluster: str | None = None
    pop_limit: int | None = None
    max_options: int | None = None
    kbest: int | None = None
    iterations: int | None = None
    checkpoint_every: float = 30.0

    def __post_init__(self) -> None:
        for part in ("dev", "test"):
            if bool(getattr(self, f"{part}_source")) != bool(getattr(self, f"{part}_refs")):
                raise OptionError(f"--{part}-source and --{part}-refs go together.")
        if self.paper_start and self.initial:
            raise OptionError("--paper-start and --initial are two places to begin. Leave one out.")
        if self.folds > 1 and not self.dev_source and self.folds * self.holdout > 1:
            raise OptionError(f"{self.folds} folds cannot hold out {self.holdout:g} each. Lower --holdout or --folds.")
        if self.simulate_learners and (self.cluster or self.parallel not in (None, "async")):
            raise OptionError("--simulate-learners goes with neither --cluster nor another --parallel.")
        if self.cluster and self.parallel == "none":
            raise OptionError("--cluster needs --parallel async, mix or average.")

    @property
    def team(self) -> Learners:
        """How many learners there are, and how they work together."""
        way = "async" if self.simulate_learners else self.parallel or ("async" if self.cluster else "none")
        count = self.simulate_learners or self.learners
        if not count and self.cluster:
            from hopefear.util.cluster import connect, total_cores

            connect(self.cluster)
            count = int(total_cores())
        count = count or cores()
        return Learners(way, 1 if way == "none" else count, bool(self.simulate_learners), self.cluster)

    def make_trainer(self) -> Trainer:
        """The trainer with its options."""
        kind = find(self.trainer)
        options = options_from(kind, self.set)
        if issubclass(kind, Online):
            return kind(seed=self.seed, jobs=self.jobs, learners=self.team, **options)
        if self.folds > 1:
            raise OptionError(f"--folds is for online trainers, not for {self.trainer}. Leave it out.")
        if self.simulate_learners or self.parallel:
            raise OptionError(f"{self.trainer} is a batch trainer: it has one learner. Leave out --parallel.")
        defaults = LOOP_DEFAULTS.get(self.trainer, {}) if issubclass(kind, BatchTrainer) else {}
        if issubclass(kind, Costmargin):
            for name in NOT_FOR_BLOCKS:
                if getattr(self, name) not in (None, False):
                    cure = f"Use --set {name}=VALUE" if name in Costmargin.__dataclass_fields__ else "Leave it out"
                    raise OptionError(f"--{name.replace('_', '-')} is not for costmargin. {cure}")
        return kind(seed=self.seed, jobs=self.jobs, **{**defaults, **options})


@dataclass(frozen=True)
class Trained:
    """What a run left behind."""

    path: Path
    final: dict[str, Any]
    result: Result | None = None  # None: the run was finished before

    @property
    def weights(self) -> Mapping[str, float]:
        return read_many_weights(self.path / "weights.txt")


@dataclass(frozen=True)
class Inputs:
    """What a run learns from, read and checked."""

    model: Model
    task: Task
    test: Corpus | None
    weights: dict[str, float] | None
    initial: str | None  # the file of these weights


def online(config: TrainConfig, listen: Listener = lambda event: None) -> Trained:
    """Learn the weights of a model and leave a run directory."""
    session = Session(listen)
    trainer = config.make_trainer()
    config.check_out(session)
    given = _read(config, trainer, session)
    inputs = record_inputs({**{name: getattr(config, name) for name in INPUTS}, "initial": given.initial})
    settings = _settings(config, trainer, given, [one["sha256"] for one in inputs])
    with config.open_run("train", settings) as run:
        session = run.session(_shown(listen), config.checkpoint_every)
        if run.finished:
            return Trained(run.path, run.record.final)
        record, task = run.record, given.task
        record.model, record.inputs = config.model, inputs
        record.trainer = settings["trainer"]
        record.metric, record.measure = f"bleu|{Bleu().signature()}", plain(Bleu().record())
        record.sentences = {"train": len(task.corpus), "dev": len(task.dev) if task.dev else _aside(config, task)}
        record.holdout = {"share": settings["holdout"]}
        run.save()
        crossed = None
        with joined(str(config.cluster)) if task.on_cluster else nullcontext():
            if isinstance(trainer, BatchTrainer):
                iterations, k = config.iterations or ITERATIONS, config.kbest or KBEST
                result = fit_in_loop(trainer, task, given.weights, iterations=iterations, k=k, run=session)
            elif isinstance(trainer, Online) and config.folds > 1:
                result, crossed = fit_folds(trainer, task, config.folds, config.holdout, given.weights, session)
                task = replace(task, dev=crossed.corpus) if crossed else task
            else:
                result = trainer.fit(task, given.weights, run=session)
        if isinstance(trainer, Costmargin):
            finish_blocks(run, session, trainer, task, given.test, result)
        else:
            result = better_than_untrained(task, given.test, result, trainer.jobs)
            finish(run, session, trainer, task, given.test, result, crossed if result.epoch else None)
        return Trained(run.path, run.record.final, result)


def _aside(config: TrainConfig, task: Task) -> int:
    """How many sentences the folds hold out."""
    aside = held_out(len(task.corpus), config.holdout, config.seed)[1] if config.folds > 1 else None
    return 0 if aside is None else config.folds * len(aside)


#: Options that name files, and so the roles of a run's inputs.
INPUTS = ("source", "refs", "dev_source", "dev_refs", "test_source", "test_refs")


def _settings(config: TrainConfig, trainer: Trainer, given: Inputs, inputs: Sequence[str]) -> dict[str, Any]:
    """Everything that decides the result."""
    elsewhere = ("seed", "jobs", "metric", "learners")
    options = {name: value for name, value in trainer.options().items() if name not in elsewhere}
    decoder = given.task.decoder
    settings: dict[str, Any] = {
        "model": checksum(given.model.path / "model.json")["sha256"],
        "trainer": {"name": trainer.name, "options": options},
        "holdout": 0 if config.dev_source or isinstance(trainer, Costmargin) else config.holdout,
        "seed": config.seed,
        "inputs": list(inputs),
    }
    if isinstance(trainer, Costmargin):
        return settings
    assert isinstance(decoder, Hiero | Blocks)
    settings["paper_start"] = config.paper_start
    if config.input != "text":
        settings["input"] = config.input
    settings["features"] = [decoder.features] if isinstance(decoder, Blocks) else list(decoder.templates or ())
    settings |= {"pop_limit": decoder.pop_limit, "max_options": decoder.max_options}
    if isinstance(trainer, Online):
        team = trainer.learners
        settings |= {"folds": config.folds} if config.folds > 1 else {}
        return settings | {"parallel": team.parallel, "learners": team.count, "simulated": team.simulate}
    return settings | {"kbest": config.kbest or KBEST, "iterations": config.iterations or ITERATIONS}


def _read(config: TrainConfig, trainer: Trainer, session: Session) -> Inputs:
    model = Model.open(config.model, jobs=config.jobs)
    if model.kind == "blocks" and config.cluster and isinstance(trainer, Online):
        raise OptionError("--cluster with an online trainer is for hierarchical models only.")
    blocks = isinstance(trainer, Costmargin)
    if blocks and model.kind != "blocks":
        finding = f"is a model of {model.kind}, and costmargin learns block sequences"
        raise input_error(model.path, None, f"{finding}. Build one: hopefear build --kind blocks")
    decoder = Blocks(model, {}, features="none", lms=False) if blocks else decoder_of(config, trainer, model)
    if config.input == "plf":
        if not isinstance(decoder, Hiero):
            raise OptionError("--input plf is for hierarchical models only.")
        lattices = plf_lattices(read_lines(config.source), config.source)
        decoder = replace(decoder, arcs=tuple(lattices.feature_names), input="plf")
    weights, initial = _initial(config)
    if config.paper_start:
        weights = paper_weights(decoder.feature_names)
    elif weights is not None:
        whose = f"{model.path}. Use the weights of this model"
        strangers = check_names(initial or "", weights, decoder.feature_names, "that are not trained", whose)
        if strangers:
            session.warn(strangers)
    corpus = Corpus.read(config.source, config.refs)
    dev = Corpus.read(config.dev_source, config.dev_refs) if config.dev_source else None
    test = Corpus.read(config.test_source, config.test_refs) if config.test_source else None
    if dev is None and not blocks and config.folds == 1:
        corpus, dev = split_corpus(corpus, config.holdout, config.seed)
    corpus = _with_words(config.source, corpus, model, session, config.input == "plf")
    task = Task(decoder, corpus, dev, bool(config.cluster) and not isinstance(trainer, Online))
    if isinstance(trainer, Costmargin):
        trainer.check(task)
    else:
        for path, part in ((config.source, corpus), (config.dev_source or config.source, dev)):
            if part is not None and (warning := _built_from(path, part, model)):
                session.warn(warning)
                break
    return Inputs(model, task, test, weights, initial)


def _initial(config: TrainConfig) -> tuple[dict[str, float] | None, str | None]:
    """The weights to start from and their file, if they are not those of the model."""
    if config.initial and Path(config.initial).is_dir():
        return Model.open(config.initial, jobs=config.jobs).weights, str(Path(config.initial) / "model.json")
    return (read_weights(config.initial), config.initial) if config.initial else (None, None)


def decoder_of(config: TrainConfig, trainer: Trainer, model: Model) -> Hiero | Blocks:
    """The decoder whose weights are trained, with the features that are trained."""
    features = config.features or ("large" if isinstance(trainer, Online) else "small")
    given = {"pop_limit": config.pop_limit, "max_options": config.max_options}
    limits: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if model.kind == "blocks":
        binary = "none" if features in ("small", "large") else features
        return Blocks(model, model.weights, features=binary, **limits)
    named = {"small": (), "large": ("lex",)}
    templates = named.get(features, tuple(name.strip() for name in features.split(",") if name.strip()))
    known = sorted({template_of(name) for name in model.sparse_names})
    wrong = [name for name in templates if name not in known]
    if wrong and features != "large":
        finding = f"--features {features}: {model.path} has no features {wrong[0]!r}"
        raise InputError(f"{finding}. It has: small, {', '.join(known)}")
    return Hiero(model, model.weights, templates=() if wrong else templates, **limits)


def _with_words(path: str, corpus: Corpus, model: Model, session: Session, lattices: bool = False) -> Corpus:
    """Without empty sentences: there is nothing to learn from them."""
    tokens = model.source_text.tokens
    full = [
        i
        for i, line in enumerate(corpus.lines)
        if tokens(line.strip("() \t") if lattices else line) and any(one[i].strip() for one in corpus.references)
    ]
    if not full:
        raise InputError(f"{path}: no line has a word and a reference. There is nothing to learn from")
    if len(full) < len(corpus):
        session.note(f"{plural(len(corpus) - len(full), 'sentence')} without words or references left out")
    return corpus.subset(full)


def _built_from(path: str, corpus: Corpus, model: Model) -> str | None:
    """A warning if most of the sentences seem to stand in the text that the model was built from.

    That is so if its language model, which is not pruned, has every n-gram of a reference. Short sentences do not tell.
    """
    if not model.language_models or model.info["options"].get("lm_prune"):
        return None
    lm, long, seen = model.language_models[0], 0, 0
    for line in corpus.references[0][:2000]:
        words = model.target_text.tokens(line)
        if len(words) > lm.order:
            long += 1
            found = lm.full_scores(" ".join(words))
            seen += all(one.ngram_length >= min(i + 2, lm.order) for i, one in enumerate(found))
    if long < 10 or seen <= long / 2:
        return None
    finding = f"{path}: {seen} of {long} longer sentences seem to be text that {model.path} was built from"
    return f"{finding}, which it knows by heart: scores are too good, and weights too. Use text that it has not seen"


def _shown(listen: Listener) -> Listener:
    """Epochs as notes as well."""
    session = Session(listen)

    def hear(event: Event) -> object:
        if isinstance(event, Epoch) and "iteration" not in event.figures:  # costmargin has notes of its own
            fold = f"fold {event.context['fold']}, " if "fold" in event.context else ""
            text = f"{fold}epoch {event.epoch}: bleu {event.score:.2f}"
            if isinstance(moved := event.figures.get("moved"), Mapping):
                text += "  moved: " + ", ".join(f"{name} {by:+.3f}" for name, by in list(moved.items())[:4])
            session.note(text)
        return listen(event)

    return hear
