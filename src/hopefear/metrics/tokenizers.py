"""Tokenisation and lower-casing of text for metrics, as sacreBLEU does it.

Some preparations look at one word at a time: ``none`` (split at white space), ``13a`` (it pads the line with blanks,
and none of its patterns reaches across white space), and lower-casing (the only letter that depends on its
neighbours, the final sigma, looks no further than the word). These are applied once to each word type, and so to
forests as well. The others (``intl``, ``zh``, ``char``, ``spm`` ...) see whole lines and need texts: candidate lists.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from hopefear import _core
from hopefear._core import Pool
from hopefear.errors import InputError


@dataclass(frozen=True)
class Preparation:
    """How text is prepared for a metric."""

    apply: Callable[[str], str] | None = None  # to a word or, unless word by word, to a line; None: nothing
    wordwise: bool = True
    reads_line_breaks: bool = False  # a line break means something to it, so it is word by word only within a line


@lru_cache(maxsize=32)
def preparation(tokenize: str, lowercase: bool) -> Preparation:
    """Lower-casing, then a tokeniser of sacreBLEU."""
    if tokenize == "none":
        return Preparation(str.lower if lowercase else None)
    tokenizer = line_tokenizer(tokenize)

    def line(text: str) -> str:
        return tokenizer(text.lower() if lowercase else text)

    def word(text: str) -> str:
        if text.isalnum():  # 13a has nothing to do: most words
            return text.lower() if lowercase else text
        return line(text)

    if tokenize == "char":  # each character is a word, blanks are none: the words can be cut one by one
        return Preparation(line)
    return Preparation(word, reads_line_breaks=True) if tokenize == "13a" else Preparation(line, wordwise=False)


@lru_cache(maxsize=8)
def line_tokenizer(name: str) -> Callable[[str], str]:
    """A tokeniser of sacreBLEU: a line to the same line with blanks between tokens."""
    import sacrebleu

    if name not in sacrebleu.BLEU.TOKENIZERS:
        raise InputError(f"tokenize: there is no {name}. Choose one of {', '.join(sorted(sacrebleu.BLEU.TOKENIZERS))}")
    try:
        tokenizer: Any = sacrebleu.BLEU(tokenize=name).tokenizer
    except (ImportError, RuntimeError, OSError) as error:
        raise InputError(f"tokenize: sacreBLEU cannot load {name}: {' '.join(str(error).split())}") from None
    return lambda line: str(tokenizer(line.rstrip()))


def prepared(pool: Pool, preparation: Preparation) -> Pool:
    """The pool as the metric sees it."""
    if not preparation.wordwise:
        return _by_lines(pool, preparation)
    if preparation.apply is None and not _core.has_space(pool.vocab):
        return pool
    vocab = _core.Vocab()
    words = pool.vocab.names()
    if preparation.apply is not None:
        words = [preparation.apply(word) for word in words]
    return pool.retokenized(*_core.split_all(words, vocab), vocab)


def _by_lines(pool: Pool, preparation: Preparation) -> Pool:
    if not pool.is_lists:
        raise InputError("this tokenizer needs whole sentences: use tokenize=none or 13a on lattices and forests")
    assert preparation.apply is not None
    line = lru_cache(maxsize=2**16)(preparation.apply)
    texts = [line(pool.text(i, j)) for i in range(len(pool)) for j in range(pool[i].edge_count)]
    references = [[line(text) for text in pool.references(i)] for i in range(len(pool))]
    return _core.with_texts(pool, texts, references)


def corpus_pool(
    hypotheses: Sequence[str], references: Sequence[Sequence[str | None]], preparation: Preparation
) -> Pool:
    """Lines of text as a pool of one candidate per sentence, as the metric sees it.

    A missing reference is None or empty.
    """
    if isinstance(references, str) or any(isinstance(lines, str) for lines in references):
        raise InputError("references must be a list of lists of lines: one list for each reference")
    if hypotheses and not references:
        raise InputError("there are no references. Give at least one list of lines")
    for number, lines in enumerate(references):
        if len(lines) != len(hypotheses):
            raise InputError(f"reference {number} has {len(lines)} lines, but there are {len(hypotheses)} hypotheses")
    hyps, refs = list(hypotheses), [list(lines) for lines in references]
    apply = preparation.apply
    line_by_line = not preparation.wordwise
    if preparation.reads_line_breaks:
        line_by_line |= any(map(_broken, hyps)) or any(any(map(_broken, lines)) for lines in refs)
    try:
        pool = _core.corpus_pool(hyps, refs)
    except TypeError:
        raise InputError("hypotheses and references must be lines of valid Unicode text") from None
    if apply is None or not line_by_line:
        return prepared(pool, preparation)
    # A reference that only becomes empty by tokenisation is there, and empty: missing ones are left out before.
    columns = [[line for line in column if line is not None] for column in zip(*refs, strict=True)]
    there = [[line for line in lines if line.strip()] or lines[:1] for lines in columns]
    return _core.with_texts(pool, [apply(line) for line in hyps], [[apply(line) for line in lines] for lines in there])


def _broken(line: str | None) -> bool:
    return line is not None and "\n" in line.rstrip()
