"""Detects references that are spelled in another way than the output: metrics count such words as wrong.

    for finding in spelling_fit(outputs, references, metric):
        warn(finding)

Case, Unicode forms, sub-words, entities, invisible characters, doubly encoded UTF-8, tokens. Words of the output that
are in the reference are counted as they are, and with both sides in one form. If the form finds many more, the sides
differ in it. :func:`plain` has a text in all these forms at once.
"""

from __future__ import annotations

import html
import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial

from hopefear._core import Pool
from hopefear.metrics import Metric

SAMPLE = 1000  # lines that are looked at
CANDIDATES = 10  # of a list, whose words are taken together
LEAST = 20  # lines; fewer tell nothing about tokens
ONE_WORD = 10  # characters between two blanks, from which there are no blanks between words
HALF = 0.5  # difference in the share of sentences whose last mark is a token of its own
LATIN = re.compile("[\u00c2-\u00f4][\u0080-\u00ff\u0152-\u2122]")  # what UTF-8 looks like if read as Latin-1
SUBWORDS = re.compile("@@ |@@$| ##(?=\\w)")
END = re.compile(r"(\s?)[.!?\u0964]+\s*$")  # the last mark of a sentence

Get = Callable[[int], str]


@dataclass(frozen=True)
class Form:
    """A way to write both sides alike: how it is called, what to do, and the share of words from which it matters."""

    how: str
    cure: str
    change: Callable[[str], str]
    least: float = 0.02


def _joined(text: str) -> str:
    if "\u2581" in text:  # of SentencePiece
        text = text.replace(" ", "").replace("\u2581", " ")
    return SUBWORDS.sub("", text) if "@@" in text or "##" in text else text


def _visible(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cf"))


def _repaired(text: str) -> str:
    """UTF-8 that was read as Latin-1, or as Windows has it, and written as UTF-8 again."""
    if LATIN.search(text):
        for encoding in ("latin-1", "cp1252"):
            try:
                return text.encode(encoding).decode("utf-8")
            except UnicodeError:
                pass
    return text


def _normal(form: str) -> Callable[[str], str]:
    return lambda text: text if text.isascii() else unicodedata.normalize(form, text)  # type: ignore[arg-type]


CASE = Form("case is ignored", "Give --lowercase, or references of the same case", str.lower, 0.05)
FORMS = (
    Form("sub-words are joined", "Join the sub-words of the candidates first", _joined),
    Form("double encoding is undone", "Convert the original file to UTF-8 once", _repaired),
    Form("both are in Unicode's form NFC", "Convert both files to NFC (uconv -x nfc)", _normal("NFC")),
    Form("entities are characters", "Write &amp; and the like as characters on both sides", html.unescape),
    Form("invisible characters are left out", "Remove zero-width and control characters", _visible),
    Form("both are in Unicode's form NFKC", "Convert both files to NFKC (uconv -x nfkc)", _normal("NFKC"), 0.05),
)


def plain(text: str) -> str:
    """The text in all forms: two texts that differ only in them become the same.

    >>> plain("Ma\u0308n@@ ner &amp; Frauen") == plain("M\u00e4nner & Frauen")
    True
    """
    for form in FORMS:
        text = form.change(text)
    return text.lower()


def spelling_fit(outputs: Sequence[str], references: Sequence[Sequence[str]], metric: Metric | None) -> list[str]:
    """In what the references differ from the outputs, which are a line for each: a line, or nothing.

    Without a metric, what only some metrics see is left out: case and tokens.
    """
    if any(len(lines) != len(outputs) for lines in references):
        return []
    return _finding(outputs.__getitem__, lambda i: [lines[i] for lines in references], len(outputs), metric)


def pool_spelling(pool: Pool, metric: Metric | None) -> list[str]:
    """The same for lists or forests with references."""
    return _finding(partial(texts_of, pool), pool.references, len(pool), metric)


def texts_of(pool: Pool, i: int) -> str:
    """The first candidates of a sentence, or the best string of a forest."""
    forest = pool[i]
    if not forest.edge_count:
        return ""
    if not forest.is_list:
        return forest.viterbi({}).text
    return " ".join(pool.text(i, j) for j in range(min(CANDIDATES, forest.edge_count)))


def _finding(output: Get, references: Callable[[int], Sequence[str]], count: int, metric: Metric | None) -> list[str]:
    if metric is not None and metric.columns:
        return []
    rows = range(0, count, max(1, math.ceil(count / SAMPLE)))
    pairs = [(output(i), " ".join(references(i))) for i in rows]
    pairs = [(text, other) for text, other in pairs if text.strip() and other.strip()]
    if tokens := _tokens(pairs, _tokenizer(metric)):
        return [tokens]
    same = _shared(pairs)
    for form in (*FORMS, *([] if metric is None or metric.lowercase else [CASE])):
        changed = [(form.change(text), form.change(other)) for text, other in pairs]
        alike = _shared(changed) if changed != pairs else same
        if alike - same >= form.least:
            shares = f"{100 * same:.0f} % of the output's words are in the references, {100 * alike:.0f} %"
            return [f"{shares} if {form.how}. {form.cure}"]
    return []


def _shared(pairs: Sequence[tuple[str, str]]) -> float:
    """The share of words that are in the reference as well."""
    words = shared = 0
    for text, other in pairs:
        known = set(other.split())
        own = text.split()
        words += len(own)
        shared += sum(word in known for word in own)
    return shared / max(1, words)


def _tokenizer(metric: Metric | None) -> str | None:
    """Of a metric of words; others do not see tokens."""
    words = metric is not None and any(field.name == "tokenize" for field in fields(metric))  # type: ignore[arg-type]
    return metric.tokenize if metric is not None and words else None


def _tokens(pairs: Sequence[tuple[str, str]], tokenize: str | None) -> str:
    """One side is cut into tokens, the other is not, and the metric takes them as they are."""
    if tokenize is None or len(pairs) < LEAST:
        return ""
    sides = [[pair[k] for pair in pairs] for k in (0, 1)]
    lengths = [sum(map(len, side)) / sum(len(line.split()) for line in side) for side in sides]
    if max(lengths) >= ONE_WORD and tokenize in ("none", "13a", "intl"):
        where = "the output" if lengths[0] >= ONE_WORD else "the references"
        return f"there are no blanks between the words of {where}. Give --tokenize zh or char"
    if tokenize != "none":
        return ""
    ends = [[found for line in side if (found := END.search(line))] for side in sides]
    if min(map(len, ends)) < LEAST:
        return ""
    apart = [sum(bool(found[1]) for found in side) / len(side) for side in ends]
    if abs(apart[0] - apart[1]) < HALF:
        return ""
    one, other = ("output", "references") if apart[0] > apart[1] else ("references", "output")
    return f"the {one} seem to be tokenised and the {other} not. Tokenise both alike, or give --tokenize 13a"
