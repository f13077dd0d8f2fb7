"""Trainers of models and the options of a run: training data, the settings that decide the result, scoring.

==================  ===========================================================================================
``OnlineTrainer``   learns while the model translates, alone or in a team, and by folds
``LoopTrainer``     a batch trainer in a loop of decoding and learning
``BlockTrainer``    costmargin: weights of block sequences, too many to be compared with others before and after
``ModelTrainer``    any other trainer that learns from a task
==================  ===========================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from hopefear.decode import Blocks, Hiero
from hopefear.errors import InputError, OptionError, input_error
from hopefear.evaluation.holdout import held_out
from hopefear.model.directory import Model
from hopefear.model.features import template_of
from hopefear.runs.directory import Run
from hopefear.runs.session import Session
from hopefear.train.folds import Crossed, fit_folds
from hopefear.train.model_data import built_from
from hopefear.train.model_results import better_than_untrained, finish, finish_blocks
from hopefear.trainers.base import Result, Trainer
from hopefear.trainers.blocks.costmargin import Costmargin
from hopefear.trainers.data import Corpus, Decoder, Task
from hopefear.trainers.in_loop import InLoop
from hopefear.trainers.online.base import Online
from hopefear.trainers.online.teams import Learners
from hopefear.trainers.outer_loop import looping
from hopefear.trainers.registry import find, options_from
from hopefear.util.processes import cores

if TYPE_CHECKING:
    from hopefear.commands.train import Train

#: Options that do nothing with costmargin, which has some of them among its own.
NOT_FOR_BLOCKS = ("features", "initial", "paper_start", "pop_limit", "max_options", "iterations", "kbest")


def model_trainer(command: Train) -> ModelTrainer:
    """The trainer that the options of ``hopefear train`` name."""
    kind = find(command.trainer)
    families: dict[str, type[ModelTrainer]] = {
        "online": OnlineTrainer,
        "candidates": LoopTrainer,
        "blocks": BlockTrainer,
    }
    return families.get(kind.family, ModelTrainer).of(kind, command)


@dataclass(frozen=True)
class Fit:
    """A result, and the data that it is scored on."""

    result: Result
    task: Task  # its dev is what the result is scored on
    crossed: Crossed | None = None  # translations of it by weights that did not learn from it


@dataclass(frozen=True)
class ModelTrainer:
    """A trainer with the options of the run around it."""

    trainer: Trainer
    command: Train

    ignores: ClassVar[tuple[str, ...]] = ("folds", "kbest", "iterations")  #: options that decide nothing here
    features: ClassVar[str] = "small"  #: what is trained unless ``--features`` says otherwise
    decodes_on_cluster: ClassVar[bool] = True  #: with ``--cluster``, the sentences are decoded there

    @classmethod
    def of(cls, kind: type[Trainer], command: Train) -> ModelTrainer:
        """The trainer of this kind with the options of a command."""
        if command.folds > 1:
            raise OptionError(f"--folds is for online trainers, not for {command.trainer}. Leave it out.")
        if command.simulate_learners or command.parallel:
            raise OptionError(f"{command.trainer} is a batch trainer: it has one learner. Leave out --parallel.")
        return cls(cls.made(kind, command), command)

    @classmethod
    def made(cls, kind: type[Trainer], command: Train) -> Trainer:
        """The trainer by itself."""
        return kind(seed=command.seed, jobs=command.jobs, **options_from(kind, command.set))

    @property
    def holds_out(self) -> bool:
        """Whether a share of the sentences is held out where there is no development data."""
        return True

    def decoder(self, model: Model) -> Hiero | Blocks:
        """The decoder whose weights are trained, with the features that are trained."""
        command = self.command
        features = command.features or self.features
        given = {"pop_limit": command.pop_limit, "max_options": command.max_options}
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

    def check(self, task: Task, session: Session) -> None:
        """Refuse what nothing can be learnt from, and warn of what should not be learnt from."""
        source, dev = self.command.source, self.command.dev_source
        for path, part in ((source, task.corpus), (dev or source, task.dev)):
            if part is not None and (warning := built_from(path, part, task.decoder.model)):
                session.warn(warning)
                break

    def sentences(self, task: Task) -> dict[str, int]:
        """How many sentences each part has."""
        return {"train": len(task.corpus), "dev": len(task.dev) if task.dev else 0}

    def settings(self, decoder: Decoder) -> dict[str, Any]:
        """The settings that decide the result, in addition to the inputs and the model."""
        chosen = {name: value for name, value in self.command.decisive().items() if name not in self.ignores}
        holdout = 0 if self.command.dev_source else self.command.holdout
        return {"trainer": self.trainer.described(), **chosen, "holdout": holdout, **decoder.settings}

    def fit(self, task: Task, initial: Mapping[str, float] | None, run: Session) -> Fit:
        """Learn."""
        return Fit(self.trainer.fit(task, initial, run=run), task)

    def finish(self, run: Run, session: Session, fit: Fit, test: Corpus | None) -> Result:
        """Score what was learnt, and write the end of the run."""
        result = better_than_untrained(fit.task, test, fit.result, self.trainer.jobs)
        finish(run, session, self.trainer, fit.task, test, result, fit.crossed if result.epoch else None)
        return result


@dataclass(frozen=True)
class OnlineTrainer(ModelTrainer):
    """One that learns while the model translates."""

    trainer: Online

    ignores: ClassVar[tuple[str, ...]] = ("kbest", "iterations")
    features: ClassVar[str] = "large"
    decodes_on_cluster: ClassVar[bool] = False  # its learners are there

    @classmethod
    def of(cls, kind: type[Trainer], command: Train) -> ModelTrainer:
        return cls(replace(cls.made(kind, command), learners=team(command)), command)  # type: ignore[call-arg,arg-type]

    def decoder(self, model: Model) -> Hiero | Blocks:
        if model.kind == "blocks" and self.command.cluster:
            raise OptionError("--cluster with an online trainer is for hierarchical models only.")
        return super().decoder(model)

    @property
    def holds_out(self) -> bool:
        return self.command.folds == 1  # each fold holds out its own

    def sentences(self, task: Task) -> dict[str, int]:
        folds = self.command.folds
        aside = held_out(len(task.corpus), self.command.holdout, self.command.seed)[1] if folds > 1 else None
        counts = super().sentences(task)
        return counts if task.dev or aside is None else {**counts, "dev": folds * len(aside)}

    def settings(self, decoder: Decoder) -> dict[str, Any]:
        learners = self.trainer.learners
        together = {"parallel": learners.parallel, "learners": learners.count, "simulated": learners.simulate}
        return {**super().settings(decoder), **together}

    def fit(self, task: Task, initial: Mapping[str, float] | None, run: Session) -> Fit:
        if self.command.folds == 1:
            return super().fit(task, initial, run)
        result, crossed = fit_folds(self.trainer, task, self.command.folds, self.command.holdout, initial, run)
        return Fit(result, replace(task, dev=crossed.corpus) if crossed else task, crossed)


@dataclass(frozen=True)
class LoopTrainer(ModelTrainer):
    """A batch trainer in a loop of decodings."""

    ignores: ClassVar[tuple[str, ...]] = ("folds",)

    @classmethod
    def made(cls, kind: type[Trainer], command: Train) -> Trainer:
        trainer = looping(kind, seed=command.seed, jobs=command.jobs, options=options_from(kind, command.set))
        return InLoop.around(trainer, command.iterations, command.kbest)


@dataclass(frozen=True)
class BlockTrainer(ModelTrainer):
    """Costmargin, whose weights start at 0."""

    trainer: Costmargin

    @property
    def holds_out(self) -> bool:
        return False

    @classmethod
    def of(cls, kind: type[Trainer], command: Train) -> ModelTrainer:
        for name in NOT_FOR_BLOCKS:
            if command.given(name):
                cure = f"Use --set {name}=VALUE" if name in Costmargin.__dataclass_fields__ else "Leave it out"
                raise OptionError(f"--{name.replace('_', '-')} is not for costmargin. {cure}")
        return super().of(kind, command)

    def decoder(self, model: Model) -> Blocks:
        if model.kind != "blocks":
            finding = f"is a model of {model.kind}, and costmargin learns block sequences"
            raise input_error(model.path, None, f"{finding}. Build one: hopefear build --kind blocks")
        return Blocks(model, {}, features="none", lms=False)

    def check(self, task: Task, session: Session) -> None:
        self.trainer.check(task)

    def settings(self, decoder: Decoder) -> dict[str, Any]:
        return {"trainer": self.trainer.described(), "holdout": 0, "seed": self.command.seed}

    def finish(self, run: Run, session: Session, fit: Fit, test: Corpus | None) -> Result:
        finish_blocks(run, session, self.trainer, fit.task, test, fit.result)
        return fit.result


def team(command: Train) -> Learners:
    """How many learners there are, and how they work together."""
    way = "async" if command.simulate_learners else command.parallel or ("async" if command.cluster else "none")
    count = command.simulate_learners or command.learners
    if not count and command.cluster:
        from hopefear.util.cluster import connect, total_cores

        connect(command.cluster)
        count = int(total_cores())
    count = count or cores()
    return Learners(way, 1 if way == "none" else count, bool(command.simulate_learners), command.cluster)
