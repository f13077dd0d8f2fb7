"""Compare trainers on the same candidates, with several random seeds.

Runs each trainer with each seed and scores all results on the same held-out sentences. Prints means with standard
deviations and intervals, and says which differences are significant. Writes table.md, table.tex, table.csv,
compare.json, report.html and all weights to RUN. After an interruption, --resume continues and keeps finished fits.
"""

from __future__ import annotations

import dataclasses
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopefear.commands import shared
from hopefear.commands.base import RunCommand, arg
from hopefear.commands.candidates import CandidatesCommand, read_lists, start_weights, warn_of_leak, warn_of_references
from hopefear.errors import OptionError, input_error
from hopefear.util.messages import digits_for, suggestion

if TYPE_CHECKING:
    from hopefear._core import Pool
    from hopefear.evaluation.comparison import Compared
    from hopefear.evaluation.data_sets import ComparedOnSets
    from hopefear.metrics import Metric
    from hopefear.runs.directory import Run
    from hopefear.runs.events import Event
    from hopefear.runs.session import Session
    from hopefear.train.replicates import Tuned
    from hopefear.trainers.batch.base import CandidateTrainer


class Compare(CandidatesCommand["Compared | ComparedOnSets"], RunCommand["Compared | ComparedOnSets"]):
    trainers: Sequence[Any] = arg(
        "The trainers: names separated by commas or spaces, or module:Class.", metavar="NAME,NAME", decides=True
    )
    seeds: int = arg("Number of seeds per trainer, counted from --seed.", default=3, least=1, decides=True)
    set: Any = arg(
        "Options of a trainer, as in kbmira.C=0.01.",
        default=(),
        metavar="TRAINER.NAME=VALUE",
        several=True,
        decides=True,
    )
    metric: Sequence[str] = arg(
        "The metric to optimise and compare by: bleu, chrf, ..., or a column.",
        default=(),
        metavar="NAME",
        shown="the outcome, or bleu",
    )
    lowercase: bool = shared.lowercase()
    tokenize: str | None = shared.tokenize()
    initial: str | None = shared.initial()
    random_init: bool = arg("Start each seed from a random model around --initial.", default=False, decides=True)
    holdout: float = arg(
        "Without --test-nbest: share of the sentences to hold out and compare on.",
        default=0.2,
        metavar="SHARE",
        least=0.01,
        most=0.9,
        decides=True,
    )
    test_nbest: Sequence[str] = arg("Compare on these lists instead.", default=(), file=True, needs="nbest")
    test_refs: Sequence[str] = arg("Their references.", default=(), file=True, needs="test_nbest")
    data_sets: Sequence[str] = arg(
        "Compare on several data sets: a TOML file for each, with its nbest, refs, table, ... .", default=(), file=True
    )
    cluster: str | None = shared.cluster()
    json: bool = arg("The comparison as JSON.", default=False, terminal=True)

    examples = """
    hopefear compare --nbest dev.nbest --refs ref.0 ref.1 --trainers mert,kbmira,pro --seeds 5 --out compared
    hopefear compare --table scores.csv --group prompt --outcome reward --trainers mert,minrisk --out compared
    hopefear compare experiment.toml --resume
    hopefear compare --data-sets fisher.toml news.toml --trainers mert,pro --seeds 5 --out compared
    """

    @property
    def names(self) -> list[str]:
        """The trainers, each once."""
        return list(self.trainers_by_name)

    @property
    def trainers_by_name(self) -> dict[str, Any]:
        """Each trainer once: a name, a class or an object; two objects of a class differ by their options."""
        if isinstance(self.trainers, Mapping):
            return {str(name): trainer for name, trainer in self.trainers.items()}
        given: dict[str, Any] = {}
        objects = [trainer for trainer in self.trainers if not isinstance(trainer, str)]
        for trainer in self.trainers:
            if isinstance(trainer, str):
                given |= {name: name for name in trainer.replace(",", " ").split()}
            else:
                alone = [other.name for other in objects].count(trainer.name) == 1
                given[str(trainer.name) if alone else repr(trainer)] = trainer
        return given

    def check(self) -> None:
        self.check_origin("nbest", "forests", "table", "data_sets", "pool")
        shared.check_group(self)
        if not self.names:
            raise OptionError("--trainers needs at least one name. hopefear trainers lists them.")

    def run(self, session: Session) -> Compared | ComparedOnSets:
        return self._on_sets(session) if self.data_sets else self._on_one(session)

    def _on_sets(self, session: Session) -> ComparedOnSets:
        """The comparison on each data set, in a run directory of its own below RUN; and a table of them all."""
        from hopefear.evaluation.data_sets import ComparedOnSets
        from hopefear.reports.comparison import page_of_sets

        parts = {Path(file).stem: self._on_set(file) for file in self.data_sets}
        if len(parts) < len(self.data_sets):
            raise OptionError("--data-sets: two files have the same name, which names the data set. Rename one.")
        results = {}
        for name, part in parts.items():
            session.note(f"data set {name}")
            results[name] = part._on_one(session)
        compared = ComparedOnSets(results)
        _write_texts(compared, Path(self.out), page_of_sets(compared))
        session.note(f"report: {self.out}/report.html")
        return compared

    def _on_set(self, file: str) -> Compare:
        """This comparison on the data set of a file."""
        import tomllib

        from hopefear.util.files import path_name, read_whole

        try:
            options = tomllib.loads(read_whole(file).decode("utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise input_error(path_name(file), None, f"not TOML: {error}") from None
        options = {name.replace("-", "_"): value for name, value in options.items()}
        known = [declared.name for declared in dataclasses.fields(CandidatesCommand)]
        known += ["initial", "test_nbest", "test_refs", "metric"]
        if wrong := next((name for name in options if name not in known), None):
            finding = f"a data set has no {wrong!r}.{suggestion(wrong, known)}"
            raise input_error(path_name(file), None, f"{finding} Write {', '.join(known)}")
        return dataclasses.replace(self, data_sets=(), out=str(Path(self.out) / Path(file).stem), **options)

    def _on_one(self, session: Session) -> Compared:
        from hopefear.util import cluster

        task = _Comparison.of(self, session)
        inputs = self.inputs()
        settings = {
            **self.decisive(),
            "trainers": self.names,
            "metric": f"{task.metric.key}|{task.metric.signature()}",
            "options": {name: trainer.options() for name, trainer in task.trainers.items()},
            "inputs": [file["sha256"] for file in inputs],
        }
        with self.open_run("compare", settings, session) as run:
            run.record.inputs = inputs
            run.record.metric = f"{task.metric.key}|{task.metric.signature()}"
            run.record.sentences = {part: len(pool) for part, pool in task.parts.items()}
            with cluster.joined(self.cluster) if self.cluster else nullcontext():
                comparison, tuned = self._compare(task, run, session)
            best = {recipe.name: tuned[recipe.name].best.weights for recipe in comparison.recipes}  # on dev
            _write(comparison, Path(self.out), self._page(comparison, task, best, run))
            if not run.finished:
                chosen = max(tuned.values(), key=lambda fits: task.metric.sign * fits.over_replicates("dev")[0])
                run.finish(chosen.best.weights, comparison.record())
        session.note(f"report: {self.out}/report.html")
        return comparison

    def _compare(self, task: _Comparison, run: Run, outer: Session) -> tuple[Compared, dict[str, Tuned]]:
        import numpy as np

        from hopefear.evaluation.comparison import compared
        from hopefear.evaluation.scores import chosen_stats
        from hopefear.formats import write_weights

        session = run.session(_with_progress(outer, task.metric, len(task.trainers), self.seeds))
        tuned: dict[str, Tuned] = {}
        seconds: dict[str, float] = {}
        for number, (name, trainer) in enumerate(task.trainers.items()):
            session.progress("compare", len(task.trainers) * self.seeds)(number * self.seeds, text=name)
            begun = time.monotonic()
            tuned[name] = self._fit(task, trainer, session.part(_folder(name), trainer=name))
            seconds[name] = round(time.monotonic() - begun, 2)
            for replicate in tuned[name].replicates:
                path = Path(self.out) / "weights" / f"{_folder(name)}-{replicate.seed}.txt"
                path.parent.mkdir(exist_ok=True)
                write_weights(replicate.weights, path)
        seconds = _kept_seconds(run, seconds)
        key, aside = task.metric.key, task.parts["test"]
        comparison = compared(
            task.metric,
            "test" if self.test_nbest else "held out",
            {name: [fit.scores["dev"][key] for fit in fits.replicates] for name, fits in tuned.items()},
            {
                name: np.stack([chosen_stats(aside, fit.weights, task.metric, self.jobs) for fit in fits.replicates])
                for name, fits in tuned.items()
            },
            {name: [_curve(fit.history) for fit in fits.replicates] for name, fits in tuned.items()},
            seconds,
            seed=self.seed,
            jobs=self.jobs,
        )
        return comparison, tuned

    def _page(self, comparison: Compared, task: _Comparison, best: Mapping[str, Mapping[str, float]], run: Run) -> str:
        from hopefear.reports.compare import WeightsOf
        from hopefear.reports.comparison import page
        from hopefear.reports.numbers import influence
        from hopefear.reports.sections import how
        from hopefear.reports.sentence_list import BEFORE, candidates_listing

        pool, initial = task.parts["test"], task.initial or {}
        weights_of = {**best, BEFORE: initial} if initial else best
        listing = candidates_listing(comparison.label, comparison.part, pool, weights_of, task.metric, self.jobs)
        first = next(iter(best.values()))
        varying = influence(pool if pool.is_lists else pool.kbest(first, 50, jobs=self.jobs))
        weights = [WeightsOf(name, vector, initial, varying) for name, vector in best.items()]
        options = {name: trainer.options() for name, trainer in task.trainers.items()}
        return page(comparison, listing, weights, how(run.record, options))

    def _fit(self, task: _Comparison, trainer: CandidateTrainer, session: Session) -> Tuned:
        """All seeds of one trainer; those that were finished are taken from the run."""
        from hopefear.train.replicates import fit_replicates

        assert session.folder is not None
        session.folder.mkdir(parents=True, exist_ok=True)
        return fit_replicates(
            trainer,
            {"dev": task.parts["dev"]},
            task.initial,
            random_init=self.random_init,
            replicates=self.seeds,
            on_cluster=bool(self.cluster),
            run=session,
        )


def _with_progress(outer: Session, metric: Metric, trainers: int, seeds: int) -> Callable[[Event], object]:
    """The fits that are done, which are under way, and the best score so far, as progress on the screen."""
    from hopefear.runs.events import Epoch, Progress

    update = outer.progress("compare", trainers * seeds)
    best: list[float] = []
    done: list[int] = [0]

    def listen(event: Event) -> object:
        if isinstance(event, Progress) and event.label == "compare":
            done[:] = [event.done or 0]
        elif isinstance(event, Progress):
            seed = f", seed {event.context['replicate']}" if "replicate" in event.context else ""
            update(done[0], text=f"{event.label.removeprefix('tune ')}{seed}: {event.text}")
            return None
        elif isinstance(event, Epoch):
            best[:] = [(max if metric.higher_is_better else min)([event.score, *best])]
            name, seed = (event.context.get(key, "") for key in ("trainer", "replicate"))
            score = f"best {metric.key} {best[0]:.{digits_for(best)}f}"
            update(done[0], text=f"{name}, seed {seed}, epoch {event.epoch}  {score}")
        return outer.listen(event)

    return listen


@dataclass(frozen=True)
class _Comparison:
    """Data and trainers of a comparison, read and checked."""

    parts: dict[str, Pool]
    trainers: dict[str, CandidateTrainer]
    metric: Metric
    initial: Mapping[str, float] | None

    @classmethod
    def of(cls, command: Compare, session: Session) -> _Comparison:
        from hopefear.evaluation.holdout import split
        from hopefear.formats.references import need_references
        from hopefear.metrics import as_metric, metric_for, usual

        kinds = _kinds(command)
        command.check_out(session)
        pool = command.read(session)
        name = (tuple(command.metric) or tuple(command.outcome) or (usual(pool),))[0]
        own = (command.lowercase, command.tokenize, pool)
        metric = metric_for(name, *own) if isinstance(name, str) else as_metric(name)
        need_references(pool, metric)
        warn_of_references(pool, command.refs, session, metric)
        if command.test_nbest:
            test = read_lists(command.test_nbest, command.test_refs, session)
            need_references(test, metric, "--test-refs")
            warn_of_references(test, command.test_refs, session, metric)
            warn_of_leak(pool, test, "sentences of --test-nbest", session)
            parts = {"dev": pool, "test": test}
        else:
            learn, aside = split(pool, command.holdout, command.seed)
            if aside is None:
                raise OptionError(f"{len(pool)} sentences are too few to hold some out. Give --test-nbest.")
            parts = {"dev": learn, "test": aside}
        trainers = {
            name: kind(metric=metric, seed=command.seed, jobs=command.jobs, **options)
            for name, (kind, options) in kinds.items()
        }
        return cls(parts, trainers, metric, start_weights(command.initial, pool, session))


def _kinds(command: Compare) -> dict[str, tuple[Any, dict[str, Any]]]:
    """Name -> class and options of each trainer."""
    from hopefear.trainers.registry import find_batch, options_from, own_options

    given: dict[str, list[str]] = {name: [] for name in command.names}
    for text in command.set:
        name, dot, rest = str(text).partition(".")
        if not dot or name not in given:
            raise OptionError(f"--set {text}: write --set TRAINER.NAME=VALUE, with one of {', '.join(given)}.")
        given[name].append(rest)
    trainers = command.trainers_by_name
    kinds = {name: find_batch(trainer) for name, trainer in trainers.items()}
    return {name: (kind, own_options(trainers[name]) | options_from(kind, given[name])) for name, kind in kinds.items()}


def _folder(name: str) -> str:
    return re.sub(r"[^\w.=-]+", "-", name).strip("-")


def _curve(history: Sequence[Any]) -> list[float]:
    """The score after each epoch."""
    return [float(epoch["score"]) for epoch in history if isinstance(epoch, dict) and epoch.get("score") is not None]


def _kept_seconds(run: Run, seconds: dict[str, float]) -> dict[str, float]:
    """How long each trainer took when it was run, not when its results were read again."""
    from hopefear.runs import checkpoint

    path = run.path / "checkpoint" / "seconds.json"
    known = checkpoint.load(path) or {}
    longest = {name: max(value, known.get(name, 0.0)) for name, value in seconds.items()}
    checkpoint.save(path, longest)
    return longest


def _write(comparison: Compared, folder: Path, page: str) -> None:
    """The tables, the charts and the page."""
    from hopefear.reports.comparison import figures
    from hopefear.util.files import atomic_write
    from hopefear.util.pdf import pdf_of

    drawings = {}
    (folder / "figures").mkdir(exist_ok=True)
    for name, drawn in figures(comparison).items():
        drawings[f"figures/{name}.svg"] = drawn + "\n"
        with atomic_write(folder / "figures" / f"{name}.pdf", "wb") as binary:
            binary.write(pdf_of(drawn))
    _write_texts(comparison, folder, page, drawings)


def _write_texts(
    comparison: Compared | ComparedOnSets, folder: Path, page: str, more: Mapping[str, str] | None = None
) -> None:
    from hopefear.util.files import atomic_write

    texts = {
        "table.md": comparison.markdown(),
        "table.tex": comparison.latex(),
        "table.csv": comparison.csv(),
        "compare.json": json.dumps(comparison.record(), indent=2, ensure_ascii=False) + "\n",
        "report.html": page,
    }
    for name, text in {**texts, **(more or {})}.items():
        with atomic_write(folder / name) as file:
            file.write(text)
