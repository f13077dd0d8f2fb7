"""The hierarchical decoder: CKY with cube pruning over a model of ``hopefear build`` (Chiang 2007).

    model = Model.open("model")
    decoder = Hiero(model)
    decoder.translate(["la casa verde"])      # ['the green house']
    pool = decoder.decode(lines)              # forests, for lists, samples, hope and fear, ...
    pool[0].kbest(decoder.weights, 100)

A forest is over the features of the model, so that w.h(d) is the score by which the decoder searched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Examples, HieroDecoder, Pool, SentenceRule as SentenceRule, Vocab
from hopefear.decode.explanation import explanation
from hopefear.decode.limits import MAX_OPTIONS, POP_LIMIT
from hopefear.errors import InputError
from hopefear.formats.forests import plf_lattices
from hopefear.model.directory import Model, open_same
from hopefear.model.features import PROBABILITIES, SMALL, TEMPLATES, template_of
from hopefear.model.grammar import Grammar
from hopefear.model.language_model import LanguageModel
from hopefear.model.text import LETTERS, TextPipeline
from hopefear.util.files import PathLike
from hopefear.util.messages import plural


@dataclass(frozen=True)
class Prepared:
    """Sentences whose words are known already, with rules of their own: what decoders take in place of lines.

    ``rules[i]`` stand next to those of the grammar for sentence i alone. See :class:`SentenceRule`: a rule translates
    the words ``[begin, end)`` of its sentence, and where it is ``forced`` nothing else does.
    """

    words: Sequence[Sequence[str]]  #: as the model's text has them; none is empty or has a blank in it
    kinds: Sequence[str]  #: of each sentence a letter per word: n for a number, c for a name, w for others
    rules: Sequence[Sequence[SentenceRule]] = ()  #: of each sentence, or none at all

    def __len__(self) -> int:
        return len(self.words)


#: What a decoder translates: lines of text, lattices, or sentences with rules of their own.
Lines = Iterable[str] | Pool | Prepared
_Sentences = tuple[list[str], list[str], list[str], list[list[SentenceRule]]]


@dataclass(frozen=True)
class Hiero:
    """A decoder for one model, or the path of one.

    ``weights`` of None are those of the model; features they do not name weigh 0.

    >>> decoder = hf.Hiero("translator")
    >>> decoder.decode(["Das Haus steht hier."])
    <Pool of 1 sentence, 153 edges, 13 features>
    >>> decoder.translate(["Das Haus steht hier."])
    ['The house stands here.']
    """

    model: Model
    weights: Mapping[str, float] = None  # type: ignore[assignment]
    pop_limit: int = POP_LIMIT["hiero"]  #: rule applications kept of a span of 10 words, fewer of narrow ones; 0: all
    max_options: int = MAX_OPTIONS["hiero"]  #: target sides kept of one source side; 0: all
    max_span: int = 0  #: source words below a rule with nonterminals; 0: as in extraction
    templates: tuple[str, ...] | None = None  #: sparse features; None: those that have a weight
    rescore_edges: int = 2000  #: edges of a forest to which templates of neighbouring words are added; 0: all
    rescore_limit: int = 100  #: edges then kept per node; 0: all
    arcs: tuple[str, ...] = ()  #: features of lattices: what their arcs score
    input: str = "text"  #: or plf: lines are lattices
    extra: tuple[str, ...] = ()  #: features that only rules of sentences have
    _core: HieroDecoder = field(init=False, repr=False, compare=False)

    if TYPE_CHECKING:

        def __init__(
            self,
            model: Model | PathLike,
            weights: Mapping[str, float] | None = ...,
            pop_limit: int = ...,
            max_options: int = ...,
            max_span: int = ...,
            templates: tuple[str, ...] | None = ...,
            rescore_edges: int = ...,
            rescore_limit: int = ...,
            arcs: tuple[str, ...] = ...,
            input: str = ...,
            extra: tuple[str, ...] = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            object.__setattr__(self, "model", Model.open(self.model))
        self.model.require("hiero", "this decoder is for hiero")
        if self.weights is None:
            object.__setattr__(self, "weights", self.model.weights)
        if self.max_span == 0:
            object.__setattr__(self, "max_span", self.model.max_span)
        dense = self.model.dense_names
        if self.templates is None:
            named = {template_of(name) for name, value in self.weights.items() if name not in dense and value != 0.0}
            known = {template_of(name) for name in self.model.sparse_names} if named else set()
            object.__setattr__(self, "templates", tuple(sorted(named & known)))
        assert self.templates is not None
        if wrong := [name for name in self.templates if name not in TEMPLATES]:
            raise InputError(f"there is no template {wrong[0]!r}. Choose from {', '.join(TEMPLATES)}")
        if own := [name for name in self.arcs if name in dense]:
            raise InputError(f"a score of arcs and a feature of the model are both named {own[0]}. Rename the score")
        if taken := [name for name in self.extra if name in (*dense, *self.arcs)]:
            raise InputError(f"an extra feature has the name of another feature, {taken[0]}. Rename it")
        dense += [*self.arcs, *self.extra]
        sparse = self.model.templates(self.templates, len(dense)) if self.templates else None
        core = HieroDecoder(
            self.model.grammar,
            [lm.core for lm in self.model.language_models],
            dense,
            list(self.model.sparse_names) if sparse is not None else [],
            sparse,
            list(self.arcs),
            self.model.joint.core if self.model.joint is not None else None,
        )
        object.__setattr__(self, "_core", core)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that decide its translations, in addition to the model and the weights."""
        names = ("pop_limit", "max_options", "max_span", "rescore_edges", "rescore_limit")
        return {"features": list(self.templates or ()), **{name: getattr(self, name) for name in names}}

    def of_lattices(self, arcs: Sequence[str]) -> Hiero:
        """The same decoder for lattices in PLF, whose arcs have these scores."""
        return replace(self, arcs=tuple(arcs), input="plf")

    def with_pop_limit(self, pop_limit: int) -> Hiero:
        """The same decoder with another limit; both share their words and what they have looked up."""
        other = copy(self)
        object.__setattr__(other, "pop_limit", pop_limit)
        return other

    @classmethod
    def over(
        cls, grammar: Grammar, language_models: Sequence[LanguageModel], weights: Mapping[str, float], **limits: Any
    ) -> Hiero:
        """A decoder over a grammar of any origin (:func:`~hopefear.model.grammar.read_grammar`), without a model.

        Its features are the columns of the grammar, and lm, lm2, rule, word, glue, identity, unknown, number, name.
        Words of the input stand between blanks. ``limits`` are pop_limit, max_options and max_span.
        """
        plain = TextPipeline("none", False, False).as_dict()
        names = [*(name for name in SMALL if name not in PROBABILITIES), *grammar.names]
        if strangers := [name for name, value in weights.items() if value and name not in names]:
            finding = f"there is a weight for {strangers[0]!r}, but no such feature in the grammar or the decoder"
            raise InputError(f"{finding}. The grammar has {', '.join(grammar.names) or 'none'}")
        info = {
            "kind": "hiero",
            "options": {},
            "text": {"source": plain, "target": plain},
            "weights": dict(weights),
            "features": list(dict.fromkeys(names)),
        }
        model = Model(Path("grammar"), info, grammar, tuple(language_models), ())
        return cls(model, weights, **limits)

    def __repr__(self) -> str:
        return f"Hiero({self.model!r}, {plural(len(self.weights), 'weight')}, pop_limit={self.pop_limit})"

    @property
    def dense_names(self) -> list[str]:
        """The features that every edge has."""
        return [*self.model.dense_names, *self.arcs, *self.extra]

    @property
    def feature_names(self) -> list[str]:
        """The features of the forests, in the order of their ids."""
        return self._core.features.names()

    @property
    def _limits(self) -> tuple[int, int, int, int, int]:
        return self.pop_limit, self.max_options, self.max_span, self.rescore_edges, self.rescore_limit

    def _read(self, lines: Lines, first: int = 0) -> Lines:
        """Lines of PLF as lattices."""
        if self.input == "text" or isinstance(lines, Pool | Prepared):
            return lines
        return plf_lattices(list(lines), "source", first)

    def _sentences(self, lines: Iterable[str] | Prepared, first: int = 0) -> _Sentences:
        """Ids, words between blanks, their kinds, and their rules."""
        if not isinstance(lines, Prepared):
            return *self.model.source_text.sentences(lines, first), []
        ids = [str(number) for number in range(first, first + len(lines))]
        return ids, [" ".join(words) for words in lines.words], list(lines.kinds), [list(own) for own in lines.rules]

    def _lattices(self, pool: Pool) -> tuple[Pool, str]:
        """Lattices over words as the model has them, and the kinds of these words."""
        vocab, begin = Vocab(), [0]
        words: list[int] = []
        kinds: list[str] = []
        for number in range(len(pool.vocab)):
            for word, kind in self.model.source_text.kinds(pool.vocab[number]):
                words.append(vocab.add(word))
                if words[-1] == len(kinds):
                    kinds.append(LETTERS[kind])
            begin.append(len(words))
        return pool.retokenized(np.array(begin, np.int64), np.array(words, np.int32), vocab), "".join(kinds)

    def decode(
        self,
        lines: Lines,
        weights: Mapping[str, float] | NDArray[np.float64] | None = None,
        *,
        max_edges: int = 0,
        beam: float | None = None,
        first: int = 0,
        jobs: int = 0,
    ) -> Pool:
        """The forests of these lines of text, in order; sentence ids count from ``first``.

        A pool of lattices (``read_forests("asr.plf")``) takes the place of text; its features must be among ``arcs``.
        So do sentences with rules of their own (:class:`Prepared`); features of these rules may be among ``extra``.
        All pools of one decoder share their words and features. ``weights`` take the place of the decoder's own.
        ``max_edges`` and ``beam`` prune as ``Forest.pruned`` does, before the forest is written out: that is cheaper.

        >>> forests = hf.Hiero("translator").decode(["Das Haus steht hier.", "Ein rotes Boot."])
        >>> forests.ids, int(forests[1].count_derivations())
        (['0', '1'], 94)
        """
        w = self.weights if weights is None else weights
        lines = self._read(lines, first)
        if isinstance(lines, Pool):
            return self._core.decode_lattices(*self._lattices(lines), w, self._limits, max_edges, beam, jobs)
        ids, texts, kinds, rules = self._sentences(lines, first)
        return self._core.decode(ids, texts, kinds, w, self._limits, max_edges, beam, jobs, rules)

    def kbest(
        self,
        lines: Lines,
        k: int,
        distinct: bool = False,
        *,
        weights: Mapping[str, float] | NDArray[np.float64] | None = None,
        first: int = 0,
        jobs: int = 0,
    ) -> Pool:
        """Lists of the k best of each line: ``decode(lines).kbest(weights, k)`` without keeping the forests."""
        w = self.weights if weights is None else weights
        lines = self._read(lines, first)
        if isinstance(lines, Pool):
            return self._core.kbest_lattices(*self._lattices(lines), w, k, distinct, self._limits, jobs)
        ids, texts, kinds, rules = self._sentences(lines, first)
        return self._core.kbest(ids, texts, kinds, w, k, distinct, self._limits, jobs, rules)

    def examples(self, lines: Sequence[str] | Prepared, references: Sequence[Sequence[str]]) -> Examples:
        """Sentences to learn from: lines, and for each reference a list of as many lines."""
        words = [[self.model.target_text.tokens(line) for line in reference] for reference in references]
        per_line = [list(reference) for reference in zip(*words, strict=True)]
        if isinstance(text := self._read(lines), Pool):
            return self._core.lattice_examples(*self._lattices(text), per_line, self._limits)
        ids, texts, kinds, rules = self._sentences(text)
        return self._core.examples(ids, texts, kinds, per_line, self._limits, rules)

    def opener(self) -> Callable[[], Hiero]:
        """Something that can be sent to another machine and opens the same decoder there, from the model's path."""
        names = ("pop_limit", "max_options", "max_span", "templates", "arcs", "input", "extra")
        options = {name: getattr(self, name) for name in names}
        return partial(_opened, str(self.model.path.resolve()), self.model.info["checksum"], options)

    @overload
    def translate(self, lines: str, tokens: bool = False, jobs: int = 0) -> str: ...  # type: ignore[overload-overlap]
    @overload
    def translate(self, lines: Sequence[str] | Pool, tokens: bool = False, jobs: int = 0) -> list[str]: ...

    def translate(self, lines: str | Sequence[str] | Pool, tokens: bool = False, jobs: int = 0) -> str | list[str]:
        """The best translation of each line, put together as running text, or with a blank between all ``tokens``.

        A string is one line, and its translation a string.
        """
        if isinstance(lines, str):
            return self.translate([lines], tokens, jobs)[0]
        pool = self.kbest(lines, 1, jobs=jobs)
        texts = [pool.text(i, 0) for i in range(len(pool))]
        return texts if tokens else self.model.running_text(texts, () if isinstance(lines, Pool) else lines)

    def explain(self, line: str) -> str:
        """The best derivation of a line as a tree: the words and the score of each rule."""
        pool = self.decode([line])
        return explanation(pool[0].viterbi(self.weights), pool.source(0).split(), self.weights)


def _opened(path: str, checksum: str, options: Mapping[str, Any]) -> Hiero:
    return Hiero(open_same(path, checksum), **options)
