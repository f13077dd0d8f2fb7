"""The block-sequence decoder over a model of ``hopefear build --kind blocks`` (Tillmann and Zhang 2006, section 2).

    model = Model.open("model")
    decoder = Blocks(model, read_block_weights("run/weights.txt"))
    decoder.translate(["das grüne Haus"])
    pool = decoder.decode(lines)              # lattices, for lists, samples, hope and fear, ...

A lattice has the real-valued features of :data:`REAL` and the binary ones of the chosen templates, so that w.h(d) is
the score by which the decoder searched. Binary features are not declared beforehand: ``feature_names`` grows as they
are met. docs/blocks.md describes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import BlockCorpus, BlockDecoder, BlockWeights as CoreWeights, Examples, FeatureTable, Pool
from hopefear.decode.limits import MAX_OPTIONS, POP_LIMIT
from hopefear.errors import InputError, OptionError, input_error
from hopefear.formats.weights import ManyWeights, read_many_weights, weight_vector
from hopefear.model.directory import Model, open_same
from hopefear.model.features import SMALL, template_of
from hopefear.util.files import PathLike
from hopefear.util.values import check_choice

#: The real-valued features, in the order of their ids.
REAL = tuple("swap" if name == "glue" else name for name in SMALL)
FEATURES = ("none", "phrase", "word", "both")
REORDERINGS = ("monotone", "swap")
_PHRASE = ("block", "source", "target", "orient")
_WORD = ("pair", "ngram", "jump")
_MANY = 2000  # sentences from which it pays to score all blocks of the model at once


Weights = Mapping[str, float] | NDArray[np.float64]


@dataclass(frozen=True)
class Blocks:
    """A decoder for one model. ``weights`` of None are those of the model; features they do not name weigh 0.

    >>> report = hf.build("train.de", "train.en", "blocks", hf.BuildOptions(kind="blocks"))
    >>> hf.Blocks(hf.Model.open("blocks")).translate(["Das Haus steht hier."])
    ['The house stands here.']
    """

    model: Model
    weights: Mapping[str, float] = None  # type: ignore[assignment]
    pop_limit: int = POP_LIMIT["blocks"]  #: hypotheses looked at for each covered beginning of the sentence; 0: all
    max_options: int = MAX_OPTIONS["blocks"]  #: target phrases kept of one source phrase; 0: all
    features: str | None = None  #: binary features: none, phrase, word, both; None: those that have a weight
    reordering: str | None = None  #: monotone or swap; None: swap if the weights know of it, or have no binary features
    swap_limit: int = 0  #: hypotheses looked at where a gap is open; 0: an eighth of pop_limit, or all
    max_swap: int = 0  #: source words of either block of a swap; 0: any number
    lms: bool | None = None  #: ask the language models; None: if they have a weight or there are no binary features
    _core: BlockDecoder = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.model.require("blocks", "this decoder is for blocks")
        if self.weights is None:
            object.__setattr__(self, "weights", self.model.weights)
        named = templates_of(self.weights)
        binary = named & {*_PHRASE, *_WORD}
        if self.features is None:
            phrase, word = bool(named & {*_PHRASE}), bool(named & {*_WORD})
            chosen = {(True, True): "both", (True, False): "phrase", (False, True): "word", (False, False): "none"}
            object.__setattr__(self, "features", chosen[phrase, word])
        if self.reordering is None:
            swaps = not binary or bool(named & {"orient", "jump", "swap"})
            object.__setattr__(self, "reordering", "swap" if swaps else "monotone")
        if self.lms is None:
            object.__setattr__(self, "lms", not binary or bool(named & {"lm", "lm2"}))
        for name, value, known in (("features", self.features, FEATURES), ("reordering", self.reordering, REORDERINGS)):
            check_choice(name, value, known)
        core = BlockDecoder(
            self.model.grammar,
            [lm.core for lm in self.model.language_models] if self.lms else [],
            self.features in ("phrase", "both"),
            self.features in ("word", "both"),
            self.reordering == "swap",
        )
        object.__setattr__(self, "_core", core)

    @property
    def core(self) -> BlockDecoder:
        """The compiled decoder."""
        return self._core

    @property
    def limits(self) -> tuple[int, int, int, int]:
        """pop_limit, swap_limit, max_options, max_swap as the core takes them."""
        swap_limit = self.swap_limit or (max(1, self.pop_limit // 8) if self.pop_limit else 0)
        return self.pop_limit, swap_limit, self.max_options, self.max_swap

    @property
    def dense_names(self) -> list[str]:
        """The features that every edge has."""
        return list(REAL)

    @property
    def feature_names(self) -> list[str]:
        """The features of the forests so far, in the order of their ids."""
        return self._core.features.names()

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that decide its translations, in addition to the model and the weights."""
        names = ("pop_limit", "max_options", "reordering", "swap_limit", "max_swap")
        return {"features": [self.features], **{name: getattr(self, name) for name in names}}

    def of_lattices(self, arcs: Sequence[str]) -> Blocks:
        raise OptionError("--input plf is for hierarchical models only.")

    def adapted(self, **changes: Any) -> Blocks:
        """The same decoder with other options."""
        return replace(self, **changes)

    def opener(self) -> Callable[[], Blocks]:
        """Something that can be sent to another machine and opens the same decoder there, from the model's path."""
        names = ("pop_limit", "max_options", "features", "reordering", "swap_limit", "max_swap", "lms")
        options = {name: getattr(self, name) for name in names}
        return partial(_opened, str(self.model.path.resolve()), self.model.info["checksum"], options)

    def corpus(self, lines: Iterable[str], references: Iterable[str] = (), *, first: int = 0) -> BlockCorpus:
        """Lines of text made ready, for several passes over them; ``references``: one per line, or none at all."""
        targets = [self.model.target_text.text(line) for line in references]
        return self._core.corpus(*self.model.source_text.sentences(lines, first), targets)

    def ready(self, weights: Weights | None, sentences: int, jobs: int) -> CoreWeights:
        """Weights as the core takes them: by name, or an array by the ids of the features so far."""
        w = self.weights if weights is None else weights
        if isinstance(w, np.ndarray):
            table = self._core.table(w)
        else:
            table = w.table if isinstance(w, ManyWeights) else FeatureTable(list(w.items()))
        return CoreWeights(self._core, table, sentences >= _MANY, jobs)

    def weights_over(self, pool: Pool, weights: Weights | None = None) -> NDArray[np.float64]:
        """A weight for each feature of a pool."""
        w = self.weights if weights is None else weights
        if not isinstance(w, np.ndarray):
            return weight_vector(w, pool.feature_names)
        return np.concatenate([w, np.zeros(max(0, len(pool.features) - len(w)))])

    def examples(self, lines: Sequence[str], references: Sequence[Sequence[str]]) -> Examples:
        """Sentences to learn real-valued features from: lines, and for each reference a list of as many lines."""
        if self.features != "none":
            raise InputError(
                "online trainers learn the real-valued features of blocks only. Choose features none, or costmargin"
            )
        texts = [[self.model.target_text.text(line) for line in reference] for reference in references]
        per_line = [list(versions) for versions in zip(*texts, strict=True)]
        return self._core.examples(self.corpus(lines), per_line, *self.limits)

    def decode(
        self,
        lines: Iterable[str],
        weights: Weights | None = None,
        *,
        max_edges: int = 0,
        beam: float | None = None,
        first: int = 0,
        jobs: int = 0,
    ) -> Pool:
        """The lattices of these lines of text, in order; sentence ids count from ``first``.

        All pools of one decoder share their words and features. ``weights`` take the place of the decoder's own.
        ``max_edges`` and ``beam`` prune as ``Forest.pruned`` does.
        """
        corpus = self.corpus(lines, first=first)
        pool = self._core.decode(corpus, self.ready(weights, len(corpus), jobs), *self.limits, jobs)
        if max_edges or beam is not None:
            pool = pool.pruned(self.weights_over(pool, weights), beam=beam, max_edges=max_edges or None, jobs=jobs)
        return pool

    def kbest(
        self,
        lines: Iterable[str],
        k: int,
        distinct: bool = False,
        *,
        weights: Weights | None = None,
        first: int = 0,
        jobs: int = 0,
    ) -> Pool:
        """Lists of the k best of each line: ``decode(lines).kbest(weights, k)`` without keeping the lattices."""
        corpus = self.corpus(lines, first=first)
        return self._core.kbest(corpus, self.ready(weights, len(corpus), jobs), k, distinct, *self.limits, jobs)

    def translate(self, lines: Sequence[str], tokens: bool = False, jobs: int = 0) -> list[str]:
        """The best translation of each line, put together as running text, or with a blank between all ``tokens``."""
        corpus = self.corpus(lines)
        texts = self._core.translate(corpus, self.ready(None, len(corpus), jobs), *self.limits, jobs)
        return texts if tokens else self.model.running_text(texts, lines)


def _opened(path: str, checksum: str, options: Mapping[str, Any]) -> Blocks:
    return Blocks(open_same(path, checksum), {}, **options)


def read_block_weights(path: PathLike) -> Mapping[str, float]:
    """Weights for this decoder: of a large file only the values are kept, not the names."""
    weights = read_many_weights(path)
    if len(strangers_of(weights)) == (len(weights.templates) if isinstance(weights, ManyWeights) else len(weights)):
        raise input_error(path, None, "no weight here belongs to a feature of blocks. Use the weights of this model")
    return weights


def strangers_of(weights: Mapping[str, float]) -> list[str]:
    """Names that no feature of blocks has; of many weights, the templates."""
    names = sorted(weights.templates) if isinstance(weights, ManyWeights) else weights
    return [name for name in names if template_of(name) not in {*REAL, *_PHRASE, *_WORD}]


def templates_of(weights: Mapping[str, float]) -> frozenset[str]:
    """The templates of binary features, and the real-valued features, that have a weight other than 0."""
    if isinstance(weights, ManyWeights):
        return weights.templates
    return frozenset(template_of(name) for name, value in weights.items() if value != 0.0)
