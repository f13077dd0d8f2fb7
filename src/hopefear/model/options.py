"""What a model is built of: the options of :func:`hopefear.model.build`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from hopefear.errors import InputError
from hopefear.model.scripts import is_unsegmented
from hopefear.util.files import PathLike, iter_lines
from hopefear.util.values import check_choice

if TYPE_CHECKING:
    from hopefear.model.text import TextPipeline
    from hopefear.runs.session import Session

SIDES = ("none", "source", "target", "both")
#: Chosen on development data: docs/blocks.md.
BLOCK_COUNT, BLOCK_PROBABILITY = 2, 0.1
PHRASE = {"hiero": 10, "blocks": 8}  #: words of an initial phrase; Chiang (2007) has 10
MEMORY = 2.0  #: GB of rules and n-grams
_SAMPLE = 5000  # lines of a file that tell how it is written


@dataclass(frozen=True)
class BuildOptions:
    """What a model is made of. All of it is recorded in ``model.json``.

    >>> options = hf.BuildOptions(lm_order=3, tokenizer="unicode")
    >>> hf.build("train.de", "train.en", "model", options).counts["rules"]
    7359
    """

    kind: str = "hiero"  #: or "blocks"
    tokenizer: str = "auto"  #: of model/text.py, or two for source and target: "characters,unicode"; auto: see settled
    lowercase: bool = True
    strip_punctuation: str = "none"  #: "none", "source", "target" or "both"
    domains: tuple[str, ...] = ()  #: a name for each pair of files: small ones get a language model of their own
    max_words: int = 100  #: longer sentences are left out
    aligner: str = "fastalign"  #: or "eflomal", or both: "fastalign+eflomal"
    align_iterations: int = 5
    max_phrase: int = 0  #: words of an initial phrase; 0: PHRASE
    max_source_symbols: int = 5  #: of a rule; blocks have no such limit
    min_hole: int = 1  #: source words that a nonterminal covers at least
    tight: bool = True  #: words at the edges of initial phrases are aligned; blocks may have unaligned edges
    min_occurrences: int | None = None  #: phrase pairs seen less often are dropped; None: 1, for blocks BLOCK_COUNT
    min_hierarchical: int = 1  #: the same for rules with nonterminals
    max_options: int = 50  #: rules kept per source side, by p(e|f); 0: all
    min_probability: float | None = None  #: p(e|f) of a rule that is kept; None: 0, for blocks BLOCK_PROBABILITY
    min_symmetric: float = 0.0  #: the same for sqrt(p(e|f) p(f|e))
    lm_order: int = 5
    lm_prune: tuple[int, ...] = ()  #: n-grams of each order with counts up to this are left out
    joint_model: bool = False  #: train a neural joint model of the aligned text as well
    lex_frequency: int = 0  #: occurrences of a word that has lex features of its own; 0: 1 in 16,000 words
    sparse: bool = True  #: declare sparse features at all

    def __post_init__(self) -> None:
        from hopefear.model.align import aligner_names
        from hopefear.model.directory import KINDS
        from hopefear.model.language_model import MAX_ORDER

        for name, value, known in (("kind", self.kind, KINDS), ("strip_punctuation", self.strip_punctuation, SIDES)):
            check_choice(name, value, known)
        self._check_tokenizers()
        aligner_names(self.aligner)
        if self.domains and self.kind != "hiero":
            raise InputError("domains are for hierarchical models. Leave them out, or build --kind hiero")
        if self.joint_model and self.kind != "hiero":
            raise InputError("a joint model is for hierarchical models. Leave it out, or build --kind hiero")
        for name in self.domains:
            if not re.fullmatch(r"\w[\w.-]*", name) or self.domains.count(name) > 1:
                raise InputError(f"domain {name!r}: give each domain its own name, of letters, digits, . _ and -")
        for name, number, low, high in (
            ("max_words", self.max_words, 1, 1000),
            ("align_iterations", self.align_iterations, 1, 1000),
            ("max_phrase", self.max_phrase, 0, 15),
            ("lm_order", self.lm_order, 1, MAX_ORDER),
            ("lex_frequency", self.lex_frequency, 0, 1 << 40),
        ):
            if not low <= number <= high:
                raise InputError(f"{name}: {number} is not between {low} and {high}")
        usual = (BLOCK_COUNT, BLOCK_PROBABILITY) if self.kind == "blocks" else (1, 0.0)
        for name, default in zip(("min_occurrences", "min_probability"), usual, strict=True):
            if getattr(self, name) is None:
                object.__setattr__(self, name, default)
        for name in ("min_probability", "min_symmetric"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name}: {getattr(self, name)} is not between 0 and 1")

    def pipeline(self, side: str, files: Sequence[PathLike] = ()) -> TextPipeline:
        """How text of a side becomes tokens; sub-words are learnt from its files."""
        from hopefear.model.subwords import learn_merges
        from hopefear.model.text import TextPipeline

        strip = self.strip_punctuation in (side, "both")
        text = TextPipeline(self._tokenizer(side), self.lowercase, strip)
        if text.tokenizer != "sub-words":
            return text
        counts = Counter(word.lower() for path in files for line in iter_lines(path) for word in text.tokens(line))
        return replace(text, merges=learn_merges(counts))

    def _tokenizer(self, side: str) -> str:
        """The tokenizer of a side; ``auto`` that is not settled assumes words separated by spaces."""
        names = self.tokenizer.split(",")
        name = names[0 if side == "source" else -1]
        return "unicode" if name == "auto" else name

    def _check_tokenizers(self) -> None:
        from hopefear.model.text import TOKENIZERS

        names = self.tokenizer.split(",")
        for name in names if len(names) == 2 else [self.tokenizer]:
            check_choice("tokenizer", name, ("auto", *TOKENIZERS))

    def settled(self, source: Sequence[PathLike], target: Sequence[PathLike], run: Session) -> BuildOptions:
        """The same with tokenizers for these files in place of ``auto``; one that does not fit them gets a note.

        A side without spaces between words gets ``characters``, any other ``unicode``.
        """
        names = []
        for side, paths in (("source", source), ("target", target)):
            asked = self.tokenizer.split(",")[0 if side == "source" else -1]
            apart = is_unsegmented(line for path in paths if path != "-" for line in islice(iter_lines(path), _SAMPLE))
            name = ("characters" if apart else "unicode") if asked == "auto" else asked
            if apart and asked == "auto":
                run.note(f"{side}: no spaces separate its words, so each character is a token (--tokenizer characters)")
            elif apart and name != "characters":
                cure = "use --tokenizer auto, or separate the words by spaces"
                run.warn(f"{side}: no spaces separate its words, and {name} finds none; {cure}")
            names.append(name)
        return replace(self, tokenizer=names[0] if names[0] == names[1] else ",".join(names))

    def extraction(self) -> dict[str, Any]:
        """The arguments of the Extractor."""
        names = ("max_source_symbols", "min_hole", "tight", "min_occurrences", "min_hierarchical", "max_options")
        hiero = {name: getattr(self, name) for name in names}
        hiero |= {"max_phrase": self.max_phrase or PHRASE[self.kind], "max_nonterminals": 2, "fractional": True}
        if self.kind == "hiero":
            return {**hiero, "orientations": False}
        blocks = {"max_source_symbols": hiero["max_phrase"], "max_nonterminals": 0, "fractional": False}
        return {**hiero, **blocks, "tight": False, "orientations": True}
