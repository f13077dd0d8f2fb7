"""A translation task with its model: decoding, scoring and testing for the experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear import _core
from hopefear._core import Pool
from hopefear.decode import Hiero, rescore
from hopefear.errors import InputError
from hopefear.metrics import Bleu
from hopefear.model import BuildOptions, Model, build
from hopefear.model.features import template_of
from hopefear.runs.record import checksum
from hopefear.util.files import sweep
from hopefear_papers.base import Lab
from hopefear_papers.tasks import Part, TranslationTask, tasks

Weights = Mapping[str, float]

#: The features of our models in Tan's and Gimpel's "small" setting: those that are not always 0.
BASIC = ("lm", "phrase_ef", "phrase_fe", "lexical_ef", "lexical_fe", "rule", "word", "glue")

#: Templates whose features span several rules: forests are rescored with them.
RESCORED = ("bigram", "trigram", "trigger")
BLOCK = 100  # forests held at a time
POP_LIMIT = 50  # of the decoder at full size, where 200 takes three times as long


@dataclass(frozen=True)
class Setup:
    """A task with its model, which decodes and scores both parts."""

    task: TranslationTask
    model: Model
    dev: Part
    test: Part
    jobs: int
    limits: Mapping[str, int] = field(default_factory=dict)  # of the decoder, if they are not its defaults
    metric: Bleu = field(default_factory=Bleu)

    @cached_property
    def key(self) -> dict[str, Any]:
        """The part of every cache key that this task determines."""
        return {
            "task": self.task.name,
            "model": self.model.info["checksum"],
            "dev": self.dev.digest,
            "test": self.test.digest,
            **({"limits": dict(self.limits)} if self.limits else {}),
        }

    def initial(self, names: Sequence[str] = BASIC) -> dict[str, float]:
        """The model's weights of these features, and its penalties for copied words."""
        keep = {*names, "unknown", "identity"}
        return {name: value for name, value in self.model.weights.items() if name in keep}

    def decoder(
        self, weights: Weights, templates: Sequence[str] = (), limits: Mapping[str, int] | None = None
    ) -> Hiero:
        searched: dict[str, Any] = {**self.limits, **(limits or {})}
        return Hiero(self.model, weights, templates=tuple(templates), **searched)

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
        return self.with_references(pool, part)

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
        return self.with_references(pool, part)

    @staticmethod
    def with_references(pool: Pool, part: Part) -> Pool:
        """The pool, with references and sources of this part."""
        _core.set_references(pool, part.references)
        _core.set_sources(pool, part.sources)
        return pool

    def translate(
        self, part: Part, weights: Weights, templates: Sequence[str] = (), limits: Mapping[str, int] | None = None
    ) -> list[str]:
        """The best translations, as tokens."""
        if set(templates) & set(RESCORED):
            translations: list[str] = []
            for begin in range(0, len(part), BLOCK):
                block = part.subset(range(begin, min(begin + BLOCK, len(part))))
                best = self._rescored(block, weights, templates, limits).kbest(weights, 1, jobs=self.jobs)
                translations += [best.text(i, 0) for i in range(len(best))]
            return translations
        return self.decoder(weights, templates, limits).translate(part.sources, tokens=True, jobs=self.jobs)

    def stats(self, part: Part, hypotheses: Sequence[str]) -> NDArray[np.float64]:
        return self.metric.corpus_stats(hypotheses, part.references, self.jobs)

    def score(self, part: Part, hypotheses: Sequence[str]) -> float:
        return self.metric.score(self.stats(part, hypotheses).sum(axis=0))

    def tested(self, hypotheses: Sequence[str]) -> dict[str, Any]:
        """The fields of a trial's result about its translations of the test part."""
        stats = self.stats(self.test, hypotheses).sum(axis=0)
        ratio = float(stats[self.metric.max_order] / max(stats[-1], 1.0))
        return {"test": self.metric.score(stats), "ratio": ratio, "hypotheses": hypotheses}


def setup(lab: Lab, task: TranslationTask, dev: int, test: int, limits: Mapping[str, int] | None = None) -> Setup:
    """The task with its model below ``out/models``, built once; ``--model`` replaces that of the main task."""
    if lab.model is not None and task == tasks(lab)[0]:
        model = Model.open(lab.model, verify=False)
    else:
        model = _model(lab, task)
    parts = [
        Part.read(model, source, references, most)
        for (source, references), most in ((task.dev, dev), (task.test, test))
    ]
    if not all(len(part) for part in parts):
        raise InputError(f"{task.name}: there are no sentences to learn from or to test on")
    return Setup(task, model, parts[0], parts[1], lab.jobs, limits or {})


@lru_cache(maxsize=4)
def main_setup(lab: Lab, number: int = 0) -> Setup:
    """The n-th task (the last one if there are fewer), with as many sentences as the size allows."""
    known = tasks(lab)
    dev, test = lab.pick(tiny=12, small=300, full=878), lab.pick(tiny=12, small=1000, full=4000)
    limits = lab.pick(tiny={}, small={}, full={"pop_limit": POP_LIMIT})
    return setup(lab, known[min(number, len(known) - 1)], dev, test, limits)


def _model(lab: Lab, task: TranslationTask) -> Model:
    options: dict[str, Any] = {"strip_punctuation": task.strip, "max_options": 20}
    inputs = [checksum(path)["sha256"] for pair in task.train for path in pair]
    folder = lab.scratch(f"model {task.name}", {"inputs": inputs, "options": options})
    folder = lab.out / "models" / folder.name
    sweep(folder.parent)
    if not folder.is_dir():
        lab.run.note(f"{task.name}: building a model")
        sources, targets = zip(*task.train, strict=True)
        filter_to = [task.dev[0], task.test[0]]
        build(list(sources), list(targets), folder, BuildOptions(**options), filter_to=filter_to, jobs=lab.jobs)
    return Model.open(folder, verify=False)
