"""Learn weights from candidate lists, tables of scores or forests of any origin.

Prints the metric before and after tuning, on the training sentences and on the held-out ones, and writes
RUN/weights.txt, RUN/run.json and RUN/log.jsonl. Before means under --initial, or the first candidate of each list; for
forests without --initial it is unknown. If you give several metrics, tune optimises the first. The result is
deterministic: the same input, seed and options give the same weights for any --jobs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopefear.commands import shared
from hopefear.commands.base import RunCommand, arg
from hopefear.commands.candidates import CandidatesCommand, read_lists, start_weights, warn_of_leak, warn_of_references
from hopefear.errors import OptionError

if TYPE_CHECKING:
    from hopefear._core import Pool
    from hopefear.metrics import Metric
    from hopefear.runs.directory import Run
    from hopefear.runs.session import Session
    from hopefear.train.replicates import Tuned
    from hopefear.trainers.batch.base import CandidateTrainer

DECODER = "decoder_command"


class Tune(CandidatesCommand["Tuned"], RunCommand["Tuned"]):
    decoder_command: str | None = arg(
        "A decoder to run in a loop, with {weights} and {nbest} for its files.",
        default=None,
        metavar="CMD",
        decides=True,
    )
    scorer_command: str | None = arg(
        "A program that scores new candidates, with {candidates}, {sources} and {scores} for its files.",
        default=None,
        metavar="CMD",
        needs=("nbest", DECODER),
        decides=True,
    )
    decoder_timeout: float | None = arg("Time limit for one decoding.", default=None, metavar="SECONDS", needs=DECODER)
    iterations: int = arg(
        "Decodings to learn from, with --decoder-command.",
        default=shared.DECODINGS,
        least=1,
        needs=DECODER,
        decides=True,
    )
    recent: int | None = arg(
        "Learn from the candidates of the last N decodings only.",
        default=None,
        least=1,
        shown="all",
        needs=DECODER,
        decides=True,
    )
    params: str | None = arg("TOML: parameters of the decoder to tune as well.", default=None, file=True, needs=DECODER)
    retune_every: int = arg(
        "Retune the weights after this many parameters; 0: never.", default=4, least=0, needs="params", decides=True
    )
    max_evaluations: int = arg(
        "Maximum number of parameter settings to try.", default=750, least=1, needs="params", decides=True
    )
    trainer: Any = arg("The trainer, as hopefear trainers lists them, or module:Class.", metavar="NAME")
    set: Any = shared.trainer_options()
    metric: Sequence[Any] = arg(
        "The metric to optimise: bleu, chrf, ter, ..., or a column. Further metrics are only reported.",
        default=(),
        metavar="NAME",
        shown="the outcome, or bleu",
    )
    lowercase: bool = shared.lowercase()
    tokenize: str | None = shared.tokenize()
    initial: str | None = shared.initial()
    random_init: bool = arg("Start each replicate from a random model around --initial.", default=False, decides=True)
    holdout: float = arg(
        "Share of the sentences to hold out.", default=shared.HELD_OUT, metavar="SHARE", least=0, most=1, decides=True
    )
    replicates: int = arg(
        "Number of seeds to train with; the best development score wins.", default=1, least=1, decides=True
    )
    cv: int | None = arg(
        "Folds of a cross-validation, which also selects l2.", default=None, least=2, shown="none", decides=True
    )
    bag: int | None = arg(
        "Average the weights of this many fits on resampled sentences.", default=None, least=1, shown="none"
    )
    dev_nbest: Sequence[str] = arg(
        "Score and select on these lists instead.", default=(), file=True, needs=("nbest", "forests")
    )
    dev_refs: Sequence[str] = arg("Their references.", default=(), file=True, needs="dev_nbest")
    memory: float | None = arg(
        "Memory limit for candidates; the rest goes to disk, next to RUN.",
        default=None,
        metavar="GB",
        least=0,
        shown="no limit",
    )
    cluster: str | None = shared.cluster()
    json: bool = arg("The scores as JSON.", default=False, terminal=True)

    examples = """
    hopefear tune --nbest dev.nbest.gz --refs ref.0 ref.1 --trainer kbmira --out run
    hopefear tune --nbest dev.nbest.gz --refs ref.0 ref.1 --trainer mert --set restarts=10 \\
        --initial weights.txt --replicates 5 --out run
    hopefear tune --nbest dev.jsonl --metric comet --trainer pro --out run     # a column of the lists
    hopefear tune --table scores.csv --group prompt --outcome reward --trainer auto --out run
    hopefear tune --table hyps.parquet --group id --features 'lm*' rev --text hyp --references ref \\
        --metric bleu --metric chrf --trainer mert --out run
    hopefear tune --decoder-command 'decode -w {weights} < dev.src > {nbest}' --refs ref.0 \\
        --initial weights.txt --trainer kbmira --out run
    """

    def check(self) -> None:
        self.check_origin("nbest", "forests", "table", DECODER, "pool")
        shared.check_group(self)
        if self.decoder_command and (self.cv or self.bag):
            raise OptionError("--cv and --bag work only with lists, forests and tables.")
        if self.decoder_command and self.cluster:
            raise OptionError("--cluster works only with lists, forests and tables: the decoder command runs here.")

    def run(self, session: Session) -> Tuned:
        from hopefear.util.disk import on_disk

        if self.memory is None:
            return self._tune(session)
        folder = Path(self.out).absolute().parent
        folder.mkdir(parents=True, exist_ok=True)
        with on_disk(folder, self.memory):
            return self._tune(session)

    def _tune(self, session: Session) -> Tuned:
        if self.decoder_command:
            from hopefear.train.decoder_loop import tune_decoder

            return tune_decoder(self, session)
        from hopefear.util import cluster

        task = _Tuning.of(self, session)
        inputs = self.inputs()
        with self.open_run("tune", self._settings(task, [file["sha256"] for file in inputs]), session) as run:
            if not run.finished:
                self._record(run, task, inputs)
            with cluster.joined(self.cluster) if self.cluster else nullcontext():
                tuned = self._fit(task, run, session)
        session.note(f"weights: {tuned.path}/weights.txt")
        return tuned

    def _settings(self, task: _Tuning, checksums: Sequence[str]) -> dict[str, Any]:
        """Everything that decides the result."""
        import hashlib

        from hopefear.formats.pool import reduce
        from hopefear.train.replicates import describe
        from hopefear.util.values import plain

        settings = {**self.decisive(), **describe(task.trainer), "inputs": list(checksums)}
        if task.others:
            settings["others"] = [plain(metric.record()) for metric in task.others]
        if self.in_memory:
            settings["frame"] = hashlib.sha256(reduce(task.pool)[1][0]).hexdigest()
        return settings

    def _record(self, run: Run, task: _Tuning, inputs: list[dict[str, Any]]) -> None:
        """Record what is known before the fit."""
        from hopefear.train.replicates import describe

        aside = task.parts.get("holdout")
        run.record.trainer, run.record.metric, run.record.measure = describe(task.trainer).values()
        run.record.inputs = inputs
        run.record.sentences = {part: len(sentences) for part, sentences in task.parts.items()}
        run.record.holdout = {"share": self.holdout, "ids": aside.ids if aside is not None else []}
        run.save()

    def _fit(self, task: _Tuning, run: Run, outer: Session) -> Tuned:
        """The fits, what they are worth, and what may be wrong with them."""
        from hopefear.evaluation.diagnosis import diagnose
        from hopefear.evaluation.held_out_scores import difference
        from hopefear.evaluation.scores import chosen_stats
        from hopefear.formats.missing import LIST_POLICIES
        from hopefear.formats.pool import means_of
        from hopefear.train.baselines import baselines, cross_validated
        from hopefear.train.replicates import finish, fit_replicates, with_progress

        trainer, aside, metric = task.trainer, task.parts.get("holdout"), task.trainer.metric
        session = run.session(with_progress(outer, trainer.name, self.replicates, metric, trainer.epochs_at_most))
        more = {name: value for name, value in run.record.final.items() if name in ("cv", "baselines", "change")}
        if self.cv and not run.finished:
            trainer, more["cv"] = cross_validated(
                trainer, task.learnt_from, task.initial, self.cv, task.choose_l2, session, bool(self.cluster)
            )
        tuned = fit_replicates(
            trainer,
            task.parts,
            task.initial,
            random_init=self.random_init,
            replicates=self.replicates,
            others=task.others,
            on_cluster=bool(self.cluster),
            run=session,
        )
        best, chance = tuned.best.weights, {"seed": self.seed, "jobs": self.jobs}
        change = None
        if aside is not None and not run.finished:
            known = {"after": chosen_stats(aside, best, metric, self.jobs)}
            if tuned.before:
                before = chosen_stats(aside, task.initial or {}, metric, self.jobs)
                change = difference(before, known["after"], metric, **chance)
                known |= {"initial": before} if task.initial is not None else {}
            more["baselines"] = baselines(task.learnt_from, aside, metric, known, **chance)
            more |= {"change": change.record()} if change is not None else {}
        missing = self.missing if self.missing in LIST_POLICIES else "error"
        tuned = replace(tuned, path=run.path, more={**tuned.more, **more}, group=self.group or "")
        tuned = replace(tuned, means=means_of(task.learnt_from), missing=missing)
        if run.finished:
            return tuned
        session.progress("diagnosis")()
        history = tuned.best.history if trainer.name != "mert" else ()
        findings = diagnose(task.learnt_from, metric, best, task.initial, held_out=change, history=history, **chance)
        reported = ("unknown-feature",)  # when the weights were read
        finish(run, session, tuned, [finding for finding in findings if finding.code not in reported])
        return tuned

    def metrics(self, pool: Pool | None = None) -> list[Metric]:
        """The metrics, each once: the first is optimised, all are reported."""
        from hopefear.metrics import Bleu, as_metric, metric_for, usual

        own = getattr(self.trainer, "metric", None)  # of a trainer that was made in Python
        chosen = own is not None and own != Bleu()  # which is the default
        names = tuple(self.metric) or ((own,) if chosen else ()) or tuple(self.outcome)
        names = names or ("bleu" if pool is None else usual(pool),)
        metrics: dict[str, Metric] = {}
        for name in names:
            metric = metric_for(name, self.lowercase, self.tokenize, pool) if isinstance(name, str) else as_metric(name)
            metrics.setdefault(metric.key, metric)
        return list(metrics.values())


@dataclass(frozen=True)
class _Tuning:
    """Data and trainer of a run, read and checked."""

    pool: Pool
    parts: dict[str, Pool]  # train or dev is learnt from, dev is scored, holdout is held out
    trainer: CandidateTrainer
    others: Sequence[Metric]
    choose_l2: bool
    initial: Mapping[str, float] | None

    @property
    def learnt_from(self) -> Pool:
        return self.parts.get("train", self.parts["dev"])

    @classmethod
    def of(cls, command: Tune, session: Session) -> _Tuning:
        from hopefear.evaluation.diagnosis import other_spelling
        from hopefear.trainers.registry import find_batch, options_from, own_options

        given = command.trainer
        kind = find_batch(given)
        options = own_options(given) | options_from(kind, command.set)
        command.check_out(session)
        pool = command.read(session)
        if command.table is not None and command.initial is None:
            session.note("before means the first row of each group. Give --initial if you use other weights now")
        if command.scorer_command:
            pool = _scored(command.scorer_command, pool, session)
        metric, *others = command.metrics(pool)
        for finding in other_spelling(pool, metric):
            session.warn(str(finding))
        trainer: CandidateTrainer = kind(metric=metric, seed=command.seed, jobs=command.jobs, **options)
        choose_l2 = bool(command.cv) and trainer.strength is not None and "l2" not in options
        if command.bag:
            trainer = trainer.bagged(command.bag)
        parts = _parts(command, pool, metric, session)
        return cls(pool, parts, trainer, others, choose_l2, start_weights(command.initial, pool, session))


def _scored(scorer_command: str, pool: Pool, session: Session) -> Pool:
    """Lists with the scores of a command."""
    from hopefear.train.scorer_command import ScorerCommand

    session.progress("score")(text="--scorer-command")
    scorer = ScorerCommand(scorer_command)
    scorer.check()
    return scorer.scored(pool)


def _parts(command: Tune, pool: Pool, metric: Metric, session: Session) -> dict[str, Pool]:
    """The parts of the data: learnt from, scored, held out."""
    from hopefear.evaluation.holdout import split
    from hopefear.formats.references import need_references

    need_references(pool, metric)
    learn, aside = split(pool, command.holdout, command.seed)
    parts = {"dev": learn}
    if command.dev_nbest:
        form = command.format if command.nbest else None
        parts = {"train": learn, "dev": read_lists(command.dev_nbest, command.dev_refs, session, format=form)}
        need_references(parts["dev"], metric, "--dev-refs")
        warn_of_references(parts["dev"], command.dev_refs, session, metric)
        warn_of_leak(learn, parts["dev"], "sentences of --dev-nbest", session)
    if aside is not None:
        parts["holdout"] = aside
    elif command.holdout:
        session.note(f"{len(pool)} sentences: too few to hold some out")
    return parts
