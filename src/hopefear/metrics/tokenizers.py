"""sacreBLEU's tokenisers, applied to a vocabulary instead of to a text wherever that is the same.

Two of them look at one word at a time: ``none`` (split at white space) and ``13a`` (it pads the line with blanks, and
none of its patterns reaches across white space). So does lower-casing: the only letter that depends on its neighbours,
the final sigma, looks no further than the word. These are applied once to every word type. The others (``intl``,
``zh``, ``char``, ``spm`` ...) see whole lines and so need texts: candidate lists, not forests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from hopefear import _core
from hopefear._core import Pool
from hopefear.errors import InputError

WORDWISE = ("none", "13a")


@lru_cache(maxsize=8)
def line_tokenizer(name: str) -> Callable[[str], str]:
    """A tokeniser of sacreBLEU: a line to the same line with a blank between tokens."""
    if name == "none":
        return lambda line: line
    import sacrebleu

    if name not in sacrebleu.BLEU.TOKENIZERS:
        raise InputError(f"tokenize: there is no {name}. Choose one of {', '.join(sorted(sacrebleu.BLEU.TOKENIZERS))}")
    try:
        tokenizer: Any = sacrebleu.BLEU(tokenize=name).tokenizer
    except (ImportError, RuntimeError, OSError) as error:
        raise InputError(f"tokenize: sacreBLEU cannot load {name}: {' '.join(str(error).split())}") from None
    return lambda line: str(tokenizer(line.rstrip()))


def prepared(pool: Pool, tokenize: str, lowercase: bool) -> Pool:
    """The pool as the metric sees it: tokenised and lower-cased."""
    if tokenize not in WORDWISE:
        return _by_lines(pool, line_tokenizer(tokenize), lowercase)
    if tokenize == "none" and not lowercase and not _core.has_space(pool.vocab):
        return pool
    vocab = _core.Vocab()
    words = pool.vocab.names()
    if lowercase:
        words = [word.lower() for word in words]
    if tokenize == "13a":
        tokenizer = line_tokenizer("13a")
        words = [word if word.isalnum() else tokenizer(word) for word in words]
    return pool.retokenized(*_core.split_all(words, vocab), vocab)


def _by_lines(pool: Pool, tokenizer: Callable[[str], str], lowercase: bool) -> Pool:
    if not pool.is_lists:
        raise InputError("this tokenizer needs whole sentences: use tokenize=none or 13a on lattices and forests")

    @lru_cache(maxsize=2**16)
    def line(text: str) -> str:
        return tokenizer(text.lower() if lowercase else text)

    texts = [line(pool.text(i, j)) for i in range(len(pool)) for j in range(pool[i].edge_count)]
    references = [[line(text) for text in pool.references(i)] for i in range(len(pool))]
    return _core.with_texts(pool, texts, references)


def corpus_pool(
    hypotheses: Sequence[str], references: Sequence[Sequence[str | None]], tokenize: str, lowercase: bool
) -> Pool:
    """Lines of text as a pool of one candidate a sentence, tokenised and lower-cased.

    A missing reference is None or empty.
    """
    if isinstance(references, str) or any(isinstance(lines, str) for lines in references):
        raise InputError("references must be a list of lists of lines: one list for each reference")
    for number, lines in enumerate(references):
        if len(lines) != len(hypotheses):
            raise InputError(f"reference {number} has {len(lines)} lines, but there are {len(hypotheses)} hypotheses")
    hyps, refs = list(hypotheses), [list(lines) for lines in references]
    # 13a joins what a hyphen at the end of a line split, so only lines without a line break are a matter of words.
    broken = tokenize == "13a" and (any(map(_broken, hyps)) or any(any(map(_broken, lines)) for lines in refs))
    if tokenize in WORDWISE and not broken:
        return prepared(_core.corpus_pool(hyps, refs), tokenize, lowercase)
    tokenizer = line_tokenizer(tokenize)

    def apply(line: str) -> str:
        return tokenizer(line.lower() if lowercase else line)

    return _core.corpus_pool(
        [apply(line) for line in hyps], [[None if line is None else apply(line) for line in lines] for lines in refs]
    )


def _broken(line: str | None) -> bool:
    return line is not None and "\n" in line.rstrip()
