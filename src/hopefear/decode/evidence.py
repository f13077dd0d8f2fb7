"""More evidence for the candidates of lists: what ``hopefear features`` does. docs/neural.md has all formulas.

    evidence = Evidence(lm=["big.arpa"], model="model", consensus=["bleu"])
    pool = evidence.add(read_nbest("dev.jsonl"))

Lists are read and written piece by piece. A column depends on nothing but its own list and the models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hopefear._core import (
    Pool,
    Vocab,
    add_columns,
    consensus_columns,
    joint_column,
    lexical_columns,
    lexical_names,
    lm_columns,
    set_sources,
    shallow_columns,
    source_columns,
    text_columns,
)
from hopefear.decode.consensus import CONSENSUS, EXACT
from hopefear.decode.forced import Forced
from hopefear.errors import InputError, OptionError, input_error
from hopefear.formats.streaming import iter_pools, pool_writer
from hopefear.formats.weights import check_names, read_weights, weight_vector
from hopefear.model.directory import Model
from hopefear.model.language_model import LanguageModel
from hopefear.model.text import TextPipeline
from hopefear.runs.session import SILENT, Session
from hopefear.util.files import PathLike, path_name, read_lines
from hopefear.util.messages import plural, some
from hopefear.util.values import check_choice

AGREEMENT = ("posterior_1", "posterior_2", "posterior_3", "posterior_4", "votes", "centroid")

Matrix = NDArray[np.float64]


class ModelWords:
    """The words of lists as a model has them."""

    def __init__(self, text: TextPipeline) -> None:
        self.text, self.vocab = text, Vocab()
        self._known: dict[str, list[int]] = {}

    def pool(self, pool: Pool) -> Pool:
        """The lists in the model's words."""
        begin, words = [0], []
        for word in pool.vocab.names():
            own = self._known.get(word)
            if own is None:
                own = self._known[word] = [self.vocab.add(token) for token in self.text.tokens(word)]
            words += own
            begin.append(len(words))
        return pool.retokenized(np.array(begin, np.int64), np.array(words, np.int32), self.vocab)


@dataclass(frozen=True)
class Family:
    """Some columns that are computed together."""

    name: str
    columns: Sequence[str]
    compute: Callable[[Pool], Matrix]
    needs_source: bool = False


class Evidence:
    """Columns for the candidates of lists.

    With ``weights``, the candidates of ``consensus`` are as probable as exp(``scale`` w.h); without, equally probable.

    >>> pool = hf.read_nbest("data/nbest.txt")
    >>> more = hf.Evidence(consensus=["bleu"]).add(pool[:10])
    >>> more.feature_names[-3:]
    ['posterior_4', 'votes', 'centroid']
    """

    def __init__(
        self,
        *,
        lm: Sequence[PathLike] = (),
        model: PathLike | None = None,
        forced: bool = False,
        consensus: Sequence[str] = (),
        weights: PathLike | None = None,
        scale: float = 1.0,
        jobs: int = 0,
    ) -> None:
        if forced and model is None:
            raise OptionError("--forced needs --model.")
        for metric in consensus:
            check_choice("consensus", metric, CONSENSUS)
        self.jobs = jobs
        self.model = Model.open(model) if model is not None else None
        self.decoder = Forced(self.model) if self.model is not None and forced else None
        self._words = ModelWords(self.model.target_text) if self.model else None
        self._weights = read_weights(weights) if weights is not None else None
        self._weights_path = weights
        self._models = [(_lm_name(path), LanguageModel.read(path)) for path in lm]
        consensus_family = self._consensus(list(dict.fromkeys(consensus)), scale)
        self.families = [*self._surface(), *self._lms(), *self._of_model(), *consensus_family]
        self._check_twice()

    def add(self, pool: Pool) -> Pool:
        """The same lists with all columns; candidates without a source have only those that need none."""
        sourced = any(pool.source(i) for i in range(len(pool)))
        self._in_model = self._words.pool(pool) if self._words else None
        families = [family for family in self.families if sourced or not family.needs_source]
        values = [family.compute(pool) for family in families]
        names = [name for family in families for name in family.columns]
        return add_columns(pool, names, np.ascontiguousarray(np.hstack(values)), self.jobs)

    def _surface(self) -> list[Family]:
        split = len(text_columns())
        return [
            Family(
                "text", [f"text_{name}" for name in text_columns()], lambda p: shallow_columns(p, self.jobs)[:, :split]
            ),
            Family(
                "source",
                [f"source_{name}" for name in source_columns()],
                lambda p: shallow_columns(p, self.jobs)[:, split:],
                needs_source=True,
            ),
        ]

    def _lms(self) -> list[Family]:
        def family(name: str, model: LanguageModel) -> Family:
            return Family("lm", [name, f"{name}_unknown"], lambda p: lm_columns(p, model.core, self.jobs))

        return [family(name, model) for name, model in self._models]

    def _of_model(self) -> list[Family]:
        model = self.model
        if model is None:
            return []
        columns = [
            Family(
                "lm",
                [f"model_lm{i or ''}", f"model_lm{i or ''}_unknown"],
                lambda p, lm=lm: lm_columns(self._model_pool(), lm.core, self.jobs),  # type: ignore[misc]
            )
            for i, lm in enumerate(model.language_models)
        ]
        lexical = Family(
            "lexical",
            [f"lex_{name}" for name in lexical_names()],
            lambda p: lexical_columns(self._model_pool(), self._sources(p), model.grammar, self.jobs),
            needs_source=True,
        )
        if (joint := model.joint) is not None:

            def column(pool: Pool) -> Matrix:
                return joint_column(self._model_pool(), self._sources(pool), model.grammar, joint.core, self.jobs)

            columns.append(Family("joint", ["model_njm"], column, needs_source=True))
        decoder = self.decoder
        if decoder is None:
            return [*columns, lexical]
        forced = Family(
            "forced",
            [f"forced_{name}" for name in decoder.names],
            lambda p: decoder.columns(self._model_pool(), [p.source(i) for i in range(len(p))], self.jobs),
            needs_source=True,
        )
        return [*columns, lexical, forced]

    def _consensus(self, metrics: list[str], scale: float) -> list[Family]:
        if not metrics:
            return []

        def compute(pool: Pool) -> Matrix:
            w = None if self._weights is None else weight_vector(self._weights, pool.feature_names)
            return consensus_columns(pool, metrics, w, scale, EXACT, self.jobs)

        return [Family("consensus", [*(f"consensus_{name}" for name in metrics), *AGREEMENT], compute)]

    def check(self, pool: Pool, path: PathLike, run: Session) -> None:
        """Checks on the first piece of a list."""
        known, sourced = set(pool.feature_names), any(pool.source(i) for i in range(len(pool)))
        families = [family for family in self.families if sourced or not family.needs_source]
        if twice := [name for family in families for name in family.columns if name in known]:
            finding = f"has {plural(len(twice), 'column')} that would be added: {some(twice)}"
            raise InputError(f"{path_name(path)}: {finding}. Take the list as it was before features, or rename them")
        if not sourced:
            if self.model is not None:
                raise InputError(f"{path_name(path)}: has no source sentences, which --model needs. Give --sources")
            without = [name for family in self.families if family.needs_source for name in family.columns]
            run.note(f"no source sentences: {some(without)} are left out. Give --sources")
        if self._weights is not None:
            whose = f"the list, which has {some(pool.feature_names)}"
            strange = "that the list does not have"
            run.warn(check_names(str(self._weights_path), self._weights, pool.feature_names, strange, whose))

    def _model_pool(self) -> Pool:
        assert self._in_model is not None
        return self._in_model

    def _sources(self, pool: Pool) -> list[str]:
        assert self.model is not None
        return [self.model.source_text.text(pool.source(i)) for i in range(len(pool))]

    def _check_twice(self) -> None:
        names = [name for family in self.families for name in family.columns]
        if twice := [name for name in names if names.count(name) > 1]:
            raise OptionError(f"two columns would be called {twice[0]}: rename one of the files.")


def _lm_name(path: PathLike) -> str:
    """``lm_`` and the file's name without its endings."""
    stem = Path(path).name.split(".")[0] or "model"
    return "lm_" + re.sub(r"[\s=|]", "_", stem)


@dataclass(frozen=True)
class Added:
    """The columns that were added."""

    families: dict[str, list[str]]  #: the columns of each
    explanations: list[str]  #: of the candidates of one sentence

    def __str__(self) -> str:
        return "\n".join(text + "\n" for text in self.explanations)


def add_evidence(
    path: PathLike,
    out: PathLike,
    evidence: Evidence,
    run: Session = SILENT,
    *,
    sources: PathLike | None = None,
    explain: str | None = None,
) -> Added:
    """Read a list and write it with more columns; ``explain`` is the id of a sentence whose derivations are shown."""
    explanations: list[str] = []
    lines = read_lines(sources) if sources is not None else None
    update = run.progress("features")
    with pool_writer(out) as writer:
        for pool in iter_pools(path):
            if sources is not None and lines is not None:
                _give_sources(pool, lines, writer.written, path, sources)
            if writer.written == 0:
                evidence.check(pool, path, run)
            writer.add(evidence.add(pool))
            if evidence.decoder is not None and explain in (ids := pool.ids):
                i = ids.index(str(explain))
                explanations += [
                    evidence.decoder.explain(pool.source(i), pool.text(i, j)) for j in range(pool[i].edge_count)
                ]
            update(writer.written)
        if explain is not None and not explanations:
            raise InputError(f"{path_name(path)}: has no sentence {explain!r}. Give --explain one of its ids")
        if sources is not None and lines is not None and len(lines) != writer.written:
            finding = f"has {len(lines)} lines, but {path_name(path)} has {writer.written} sentences"
            raise input_error(path_name(sources), None, f"{finding}. Use the source of these sentences")
    families = {
        name: [column for family in evidence.families if family.name == name for column in family.columns]
        for name in dict.fromkeys(family.name for family in evidence.families)
    }
    return Added(families, explanations)


def _give_sources(pool: Pool, lines: list[str], first: int, path: PathLike, sources: PathLike) -> None:
    own = lines[first : first + len(pool)]
    if len(own) < len(pool):
        finding = f"has {len(lines)} lines, fewer than {path_name(path)} has sentences"
        raise input_error(path_name(sources), None, f"{finding}. Use the source of these sentences")
    set_sources(pool, own)
