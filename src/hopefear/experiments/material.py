"""What experiments work on: translation tasks with a model of our own, candidate lists, or generated ones.

``--data DIR`` has tasks in folders of their own (``es-en-fisher``, ``de-en-multi30k``, ``ur-en-indian``, and
``es-en-kbest`` for lists), or is one task itself: ``train.source``, ``train.target``, ``dev.source``, ``dev.ref.0``
..., ``test.source``, ``test.ref.0`` ..., as ``hopefear corpus`` writes them. Without ``--data`` a small language is
generated. Nothing is ever downloaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear._core import Pool
from hopefear.decode import Hiero, rescore
from hopefear.errors import InputError, input_error
from hopefear.experiments.base import Lab
from hopefear.metrics import Bleu
from hopefear.model import BuildOptions, Model, build
from hopefear.model.features import template_of
from hopefear.runs.record import checksum
from hopefear.util.files import atomic_write, iter_lines

__all__ = ["BASIC", "Part", "System", "Task", "main_system", "system", "tasks"]

Weights = Mapping[str, float]

#: Features a model of ours has in Tan's and Gimpel's "small" setting: those that ever fire.
BASIC = ("lm", "phrase_ef", "phrase_fe", "lexical_ef", "lexical_fe", "rule", "word", "glue")

#: Templates whose features see more than one rule: forests are rescored with them.
RESCORED = ("bigram", "trigram", "trigger")
BLOCK = 100  # forests held at a time


@dataclass(frozen=True)
class Task:
    """Files of one translation task."""

    name: str
    train: tuple[tuple[Path, Path], ...]
    dev: tuple[Path, tuple[Path, ...]]  # source, references
    test: tuple[Path, tuple[Path, ...]]
    strip: str = "none"

    @property
    def files(self) -> list[Path]:
        return [*(path for pair in self.train for path in pair), self.dev[0], *self.dev[1], self.test[0], *self.test[1]]


@dataclass(frozen=True)
class Part:
    """Sentences and their references, tokenised as the model's target side."""

    sources: list[str]
    references: list[list[str]]  # a list of lines for each reference
    raw: list[list[str]]  # the references as they are in the files

    def __len__(self) -> int:
        return len(self.sources)

    @cached_property
    def digest(self) -> str:
        """What it says, in short."""
        text = "\0".join("\n".join(lines) for lines in (self.sources, *self.raw))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def subset(self, kept: Sequence[int]) -> Part:
        columns, raw = ([[column[i] for i in kept] for column in of] for of in (self.references, self.raw))
        return Part([self.sources[i] for i in kept], columns, raw)


def tasks(lab: Lab) -> list[Task]:
    """The translation tasks there are, the main one first."""
    if lab.data is None:
        return [_generated(lab)]
    if not lab.data.is_dir():
        raise input_error(lab.data, None, "no such directory. Give the folder of the data")
    known = (_fisher(lab.data), _multi30k(lab.data), _urdu(lab.data), _own(lab.data))
    found = [task for task in known if task is not None]
    if not found:
        raise input_error(
            lab.data,
            None,
            "has neither es-en-fisher nor de-en-multi30k, nor a task of its own (train.source, train.target, "
            "dev.source, dev.ref.0, test.source, test.ref.0). Mend the path",
        )
    for task in found:
        for path in task.files:
            if not path.is_file():
                raise input_error(path, None, "no such file, and the experiment needs it. Mend --data")
    return found


def _references(folder: Path, stem: str) -> tuple[Path, ...]:
    return tuple(sorted(path for path in folder.glob(f"{stem}.*") if path.suffix[1:].isdigit()))


def _fisher(data: Path) -> Task | None:
    folder = data / "es-en-fisher"
    if not folder.is_dir():
        return None
    train = (
        (folder / "train.callhome.oracle.es.xz", folder / "train.callhome.en.xz"),
        (folder / "train.tatoeba.es.xz", folder / "train.tatoeba.en.xz"),
    )
    dev = (folder / "dev.oracle.es", _references(folder, "dev.en"))
    test = (folder / "devtest.oracle.es", _references(folder, "devtest.en"))
    return Task("es-en-fisher", train, dev, test, "source")


def _multi30k(data: Path) -> Task | None:
    folder = data / "de-en-multi30k"
    if not folder.is_dir():
        return None
    dev, test = ((folder / f"{part}.de", (folder / f"{part}.en",)) for part in ("val", "test_2016_flickr"))
    return Task("de-en-multi30k", ((folder / "train.de.xz", folder / "train.en.xz"),), dev, test)


def _urdu(data: Path) -> Task | None:
    """Few resources: trained on a dictionary, a little text, and the dev part once for each reference."""
    folder = data / "ur-en-indian" / "raw"
    if not folder.is_dir():
        return None
    train = [(folder / "dict.ur.xz", folder / "dict.en.xz"), (folder / "train-1k.ur", folder / "train-1k.en")]
    train += [(folder / "dev.ur", reference) for reference in _references(folder, "dev.en")]
    dev, test = ((folder / f"{part}.ur", _references(folder, f"{part}.en")) for part in ("devtest", "test"))
    return Task("ur-en-indian", tuple(train), dev, test)


def _own(data: Path) -> Task | None:
    if not (data / "train.source").is_file():
        return None
    target = data / "train.target"
    dev, test = ((data / f"{part}.source", _references(data, f"{part}.ref")) for part in ("dev", "test"))
    return Task(data.resolve().name, ((data / "train.source", target),), dev, test)


def _generated(lab: Lab) -> Task:
    """A made-up language, written out as files so that it goes the way of all data."""
    from hopefear.data.language import SyntheticParallel

    folder = lab.out / "generated"
    language = SyntheticParallel(seed=1)
    counts = {"train": lab.pick(tiny=300, small=3000, full=20000), "dev": lab.pick(tiny=24, small=200, full=1000)}
    counts["test"] = counts["dev"]
    stamp = folder / f"{lab.size}.done"
    if not stamp.exists():
        folder.mkdir(parents=True, exist_ok=True)
        for stream, (part, count) in enumerate(counts.items()):
            pairs = language.pairs(count, stream=stream, noise=None if part == "train" else 0)
            columns: dict[str, list[str]] = {f"{part}.source": [pair.source for pair in pairs]}
            if part == "train":
                columns["train.target"] = [pair.target for pair in pairs]
            else:
                lines = [language.references(pair, 2) for pair in pairs]
                columns |= {f"{part}.ref.{r}": [line[r] for line in lines] for r in range(2)}
            for name, texts in columns.items():
                with atomic_write(folder / name) as file:
                    file.writelines(text + "\n" for text in texts)
        stamp.touch()
    found = _own(folder)
    assert found is not None
    return found


@dataclass(frozen=True)
class System:
    """A task with its model: decodes both parts, scores what it says."""

    task: Task
    model: Model
    dev: Part
    test: Part
    jobs: int
    metric: Bleu = field(default_factory=Bleu)

    @cached_property
    def key(self) -> dict[str, Any]:
        """What decides every result on it."""
        return {
            "task": self.task.name,
            "model": self.model.info["checksum"],
            "dev": len(self.dev),
            "test": len(self.test),
        }

    def initial(self, names: Sequence[str] = BASIC) -> dict[str, float]:
        """The model's weights; those not named here are dropped, but copied words keep their penalties."""
        keep = {*names, "unknown", "identity"}
        return {name: value for name, value in self.model.weights.items() if name in keep}

    def decoder(
        self, weights: Weights, templates: Sequence[str] = (), limits: Mapping[str, int] | None = None
    ) -> Hiero:
        return Hiero(self.model, weights, templates=tuple(templates), **(limits or {}))  # type: ignore[arg-type]

    def lists(
        self,
        part: Part,
        weights: Weights,
        k: int,
        templates: Sequence[str] = (),
        distinct: bool = True,
        limits: Mapping[str, int] | None = None,
    ) -> Pool:
        """The k best of each sentence, with references."""
        if set(templates) & set(RESCORED):
            pool = self._rescored(part, weights, templates, limits).kbest(weights, k, distinct, jobs=self.jobs)
        else:
            pool = self.decoder(weights, templates, limits).kbest(part.sources, k, distinct, jobs=self.jobs)
        return self._with_references(pool, part)

    def _rescored(
        self, part: Part, weights: Weights, templates: Sequence[str], limits: Mapping[str, int] | None
    ) -> Pool:
        """Forests of the small model, with the features of these templates added by cube pruning over them."""
        dense = {name: value for name, value in weights.items() if "(" not in name}
        forests = self.decoder(dense, (), limits).decode(part.sources, jobs=self.jobs)
        _core.set_sources(forests, [" ".join(self.model.source_text.tokens(line)) for line in part.sources])
        names = [name for name in self.model.sparse_names if template_of(name) in templates]
        return rescore(forests, weights, names, jobs=self.jobs)

    def forests(
        self, part: Part, weights: Weights, templates: Sequence[str] = (), limits: Mapping[str, int] | None = None
    ) -> Pool:
        pool = self.decoder(weights, templates, limits).decode(part.sources, jobs=self.jobs)
        return self._with_references(pool, part)

    @staticmethod
    def _with_references(pool: Pool, part: Part) -> Pool:
        _core.set_references(pool, part.references)
        _core.set_sources(pool, part.sources)
        return pool

    def translate(
        self, part: Part, weights: Weights, templates: Sequence[str] = (), limits: Mapping[str, int] | None = None
    ) -> list[str]:
        """The best translations, as tokens."""
        if set(templates) & set(RESCORED):
            said: list[str] = []
            for begin in range(0, len(part), BLOCK):
                block = part.subset(range(begin, min(begin + BLOCK, len(part))))
                best = self._rescored(block, weights, templates, limits).kbest(weights, 1, jobs=self.jobs)
                said += [best.text(i, 0) for i in range(len(best))]
            return said
        return self.decoder(weights, templates, limits).translate(part.sources, tokens=True, jobs=self.jobs)

    def stats(self, part: Part, hypotheses: Sequence[str]) -> NDArray[np.float64]:
        return self.metric.corpus_stats(hypotheses, part.references, self.jobs)

    def score(self, part: Part, hypotheses: Sequence[str]) -> float:
        return self.metric.score(self.stats(part, hypotheses).sum(axis=0))


def system(lab: Lab, task: Task, dev: int, test: int) -> System:
    """The task with a model: built once and kept below ``out/models``, or that of ``--model`` for the main task."""
    if lab.model is not None and task == tasks(lab)[0]:
        model = Model.open(lab.model, verify=False)
    else:
        model = _model(lab, task)
    parts = [
        _part(model, source, references, most) for (source, references), most in ((task.dev, dev), (task.test, test))
    ]
    if not all(len(part) for part in parts):
        raise InputError(f"{task.name}: there are no sentences to learn from or to test on")
    return System(task, model, parts[0], parts[1], lab.jobs)


@lru_cache(maxsize=4)
def main_system(lab: Lab, number: int = 0) -> System:
    """The n-th task (the last one if there are fewer), with as many sentences as the size allows."""
    known = tasks(lab)
    dev, test = lab.pick(tiny=12, small=300, full=878), lab.pick(tiny=12, small=1000, full=4000)
    return system(lab, known[min(number, len(known) - 1)], dev, test)


def _model(lab: Lab, task: Task) -> Model:
    options = BuildOptions(strip_punctuation=task.strip, max_options=20)
    inputs = [checksum(path)["sha256"] for pair in task.train for path in pair]
    folder = lab.scratch(f"model {task.name}", {"inputs": inputs, "options": options.__dict__})
    folder = lab.out / "models" / folder.name
    if not folder.is_dir():
        lab.note(f"{task.name}: building a model")
        sources, targets = zip(*task.train, strict=True)
        build(list(sources), list(targets), folder, options, filter_to=[task.dev[0], task.test[0]], jobs=lab.jobs)
    return Model.open(folder, verify=False)


def _part(model: Model, source: Path, references: Sequence[Path], most: int) -> Part:
    """The first lines that have words in them."""
    columns = [list(iter_lines(path)) for path in (source, *references)]
    if len({len(column) for column in columns}) > 1:
        raise input_error(source, None, "its references have another number of lines. Are they its translations?")
    sources: list[str] = []
    texts: list[list[str]] = [[] for _ in references]
    raw: list[list[str]] = [[] for _ in references]
    for line in zip(*columns, strict=True):
        if len(sources) == most:
            break
        if not model.source_text.tokens(line[0]):
            continue
        sources.append(line[0])
        for column, whole, text in zip(texts, raw, line[1:], strict=True):
            column.append(" ".join(model.target_text.tokens(text)))
            whole.append(text)
    return Part(sources, texts, raw)
