"""The data that a model's weights are learnt from, and the record of a run of ``hopefear train``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopefear.errors import InputError
from hopefear.evaluation.held_out_scores import Difference
from hopefear.evaluation.holdout import split
from hopefear.evaluation.reference_mismatch import leak, same_text, translated_fit
from hopefear.formats.forests import plf_lattices
from hopefear.formats.weights import check_names, read_many_weights, read_weights
from hopefear.model.directory import Model
from hopefear.runs.events import Epoch, Event, Listener
from hopefear.runs.session import Session
from hopefear.trainers.base import Result
from hopefear.trainers.data import Corpus, Decoder, Task
from hopefear.trainers.online.base import paper_weights
from hopefear.util.files import PathLike, path_name, read_lines
from hopefear.util.messages import plural, table

if TYPE_CHECKING:
    from hopefear.commands.train import Train
    from hopefear.train.model_trainers import ModelTrainer


@dataclass(frozen=True)
class Trained:
    """The result of a run."""

    path: Path
    final: dict[str, Any]
    result: Result | None = None  # None: the run was finished before

    @property
    def weights(self) -> Mapping[str, float]:
        """The weights that were learnt."""
        return read_many_weights(self.path / "weights.txt")

    def record(self) -> dict[str, Any]:
        """The output of ``--json``."""
        return self.final

    def __str__(self) -> str:
        """A small table: before and after, a column for each part."""
        final = self.final
        parts = [part for part in ("train", "dev", "test") if part in final]
        if "before" not in final:  # a model of blocks, whose weights start at 0
            return "\n".join(f"bleu {part}  {final[part]['bleu']:.2f}" for part in parts)
        rows = [["bleu", *parts]]
        ways = [("before", final["before"]), (f"after, epoch {final['epoch']}", final)]
        if "untrained" in final:
            ways.insert(0, ("untrained model", final["untrained"]))
        for name, scores in ways:
            rows.append([name, *(f"{scores[part]['bleu']:.2f}" for part in parts)])
        changes = [f"{part}: {Difference.of(final[part]['change']).text}" for part in parts if "change" in final[part]]
        return "\n".join([table(rows), *changes])


@dataclass(frozen=True)
class Inputs:
    """The input of a run, read and checked."""

    model: Model
    task: Task
    test: Corpus | None
    weights: dict[str, float] | None
    initial: str | None  # the file of these weights


def read_inputs(command: Train, trainer: ModelTrainer, session: Session) -> Inputs:
    """Everything that the options of ``hopefear train`` name."""
    model = Model.open(command.model, jobs=command.jobs)
    decoder = trainer.decoder(model)
    if command.input == "plf":
        lattices = plf_lattices(read_lines(command.source), command.source)
        decoder = decoder.of_lattices(lattices.feature_names)
    weights, initial = _initial(command)
    if command.paper_start:
        weights = paper_weights(decoder.feature_names)
    elif weights is not None:
        whose = f"{model.path}. Use the weights of this model"
        session.warn(check_names(initial or "", weights, decoder.feature_names, "that are not trained", whose))
    corpus = Corpus.read(command.source, command.refs)
    dev = Corpus.read(command.dev_source, command.dev_refs) if command.dev_source else None
    test = Corpus.read(command.test_source, command.test_refs) if command.test_source else None
    if decoder.model.kind == "hiero" and command.input != "plf":  # the weights of blocks begin at 0
        start = decoder.model.weights if weights is None else weights
        for part, refs in ((corpus, command.refs), (dev, command.dev_refs), (test, command.test_refs)):
            for finding in misplaced_references(decoder, part, refs, start, command.jobs) if part is not None else ():
                session.warn(f"{finding} [wrong-references]")
    for part, what in ((dev, "sentences of --dev-source"), (test, "sentences of --test-source")):
        if part is not None and (leaked := leak(corpus.lines, part.lines, what)):
            session.warn(leaked)
    if dev is None and trainer.holds_out:
        corpus, dev = split(corpus, command.holdout, command.seed)
    corpus = _with_words(command.source, corpus, model, session, command.input == "plf")
    task = Task(decoder, corpus, dev, bool(command.cluster) and trainer.decodes_on_cluster)
    trainer.check(task, session)
    return Inputs(model, task, test, weights, initial)


def misplaced_references(
    decoder: Decoder, corpus: Corpus, names: Sequence[PathLike], weights: Mapping[str, float], jobs: int
) -> list[str]:
    """Findings about wrong references of a corpus, by translations of some of its lines."""

    def translate(rows: list[int]) -> list[str]:
        pool = decoder.kbest([corpus.lines[i] for i in rows], 1, weights=weights, jobs=jobs)
        return [pool.text(i, 0) for i in range(len(pool))]

    text, files = decoder.model.target_text.text, [path_name(name) for name in names]
    own = [lines.__getitem__ for lines in corpus.references]
    if same := same_text(corpus.lines.__getitem__, own, len(corpus), files, "source"):
        return same
    references = [[text(line) for line in lines] for lines in corpus.references]
    return translated_fit(translate, references, files)


def _initial(command: Train) -> tuple[dict[str, float] | None, str | None]:
    """The weights to start from and their file, if they are not those of the model."""
    if command.initial and Path(command.initial).is_dir():
        return Model.open(command.initial, jobs=command.jobs).weights, str(Path(command.initial) / "model.json")
    return (read_weights(command.initial), command.initial) if command.initial else (None, None)


def _with_words(path: str, corpus: Corpus, model: Model, session: Session, lattices: bool = False) -> Corpus:
    """The corpus without empty sentences, from which nothing can be learnt."""
    tokens = model.source_text.tokens
    full = [
        i
        for i, line in enumerate(corpus.lines)
        if tokens(line.strip("() \t") if lattices else line) and any(lines[i].strip() for lines in corpus.references)
    ]
    if not full:
        raise InputError(f"{path}: no line has a word and a reference. There is nothing to learn from")
    if len(full) < len(corpus):
        session.note(f"{plural(len(corpus) - len(full), 'sentence')} without words or references left out")
    return corpus.subset(full)


def built_from(path: str, corpus: Corpus, model: Model) -> str | None:
    """A warning if most of the sentences seem to be in the text that the model was built from.

    That is so if its language model, which is not pruned, has every n-gram of a reference. Short sentences do not tell.
    """
    if not model.language_models or model.info["options"].get("lm_prune"):
        return None
    lm, long, seen = model.language_models[0], 0, 0
    for line in corpus.references[0][:2000]:
        words = model.target_text.tokens(line)
        if len(words) > lm.order:
            long += 1
            scores = lm.full_scores(" ".join(words))
            seen += all(score.ngram_length >= min(i + 2, lm.order) for i, score in enumerate(scores))
    if long < 10 or seen <= long / 2:
        return None
    finding = f"{path}: {seen} of {long} longer sentences seem to be text that {model.path} was built from"
    return f"{finding}: scores would be too good, and weights would not hold elsewhere. Use other text"


def with_notes(listen: Listener) -> Listener:
    """Epochs as notes as well."""
    session = Session(listen)

    def show(event: Event) -> object:
        if isinstance(event, Epoch) and "iteration" not in event.figures:  # costmargin writes its own notes
            fold = f"fold {event.context['fold']}, " if "fold" in event.context else ""
            text = f"{fold}epoch {event.epoch}: bleu {event.score:.2f}"
            if isinstance(moved := event.figures.get("moved"), Mapping):
                text += "  moved: " + ", ".join(f"{name} {by:+.3f}" for name, by in list(moved.items())[:4])
            session.note(text)
        return listen(event)

    return show
