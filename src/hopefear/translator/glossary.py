"""Glossaries: terms and how they are to be translated.

    Bremsbelag <tab> brake pad
    Tor        <tab> goal        <tab> preferred
    Fisch*     <tab> fish        <tab> forced
    Bahn       <tab> DB          <tab> forced <tab> case <tab> the company, not the train

The columns: source, target, ``forced`` (the default) or ``preferred``, ``case`` if the capitals of the source term must
agree, and a note. Empty lines and lines that begin with ``#`` do not count. A forced term stands in every translation
wherever its source term stands; a preferred one is one more way to say it. A ``*`` at the end of a source word stands
for any ending, so that inflected forms are met too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from hopefear.errors import input_error
from hopefear.model.text import TextPipeline
from hopefear.util.files import PathLike, iter_lines, path_name

#: The feature of preferred terms, and its weight if nobody names one.
FEATURE, WEIGHT = "glossary", 2.0
_KINDS = ("forced", "preferred")


@dataclass(frozen=True, slots=True)
class Term:
    """A line of a glossary.

    >>> terms = [hf.Term("Boot", "barge"), hf.Term("Tor", "goal", forced=False, note="in sports")]
    >>> hf.Translator("translator", glossary=terms)("Das Boot steht hier.")
    'The barge stands here.'
    """

    source: str
    target: str
    forced: bool = True
    case: bool = False  #: capitals must agree
    note: str = ""


@dataclass(frozen=True, slots=True)
class Match:
    """A term over the words ``[begin, end)`` of a sentence."""

    begin: int
    end: int
    term: Term


def read_glossary(path: PathLike) -> list[Term]:
    """The terms of a TSV file."""
    terms = []
    for number, line in enumerate(iter_lines(path), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            terms.append(_term(line, path_name(path), number))
    return terms


def _term(line: str, name: str, number: int) -> Term:
    columns = [column.strip() for column in line.split("\t")]
    if len(columns) < 2 or not columns[0] or not columns[1]:
        raise input_error(name, number, "has no source and target term. Put a tab between the two")
    if len(columns) > 5:
        raise input_error(name, number, f"has {len(columns)} columns. The five are source, target, kind, case and note")
    source, target, kind, case, note = columns + [""] * (5 - len(columns))
    if kind.lower() not in ("", *_KINDS):
        raise input_error(name, number, f"{kind!r} is not a kind of term. Write forced or preferred")
    if case.lower() not in ("", "case", "no", "yes", "true", "false", "0", "1"):
        raise input_error(name, number, f"{case!r} in the column case. Write case, or leave it empty")
    return Term(source, target, kind.lower() != "preferred", case.lower() in ("case", "yes", "true", "1"), note)


@dataclass(frozen=True)
class Glossary:
    """Terms, ready to be found in sentences of one model."""

    terms: Sequence[Term]
    text: TextPipeline  #: of the source language
    _by_word: dict[str, list[tuple[list[str], Term]]] = field(default_factory=dict, init=False, repr=False)
    _by_stem: list[tuple[list[str], Term]] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        for term in self.terms:
            pattern = self._pattern(term.source)
            if not pattern:
                continue
            if pattern[0].endswith("*"):
                self._by_stem.append((pattern, term))
            else:
                self._by_word.setdefault(pattern[0].lower(), []).append((pattern, term))

    def _pattern(self, source: str) -> list[str]:
        """The words of a term; one whose ending is open keeps its ``*``."""
        words: list[str] = []
        for piece in source.split():
            bare = piece[:-1] if piece.endswith("*") and len(piece) > 1 else piece
            words += self._whole_words.tokens(bare)
            if words and bare != piece:
                words[-1] += "*"
        return words

    @cached_property
    def _whole_words(self) -> TextPipeline:
        return replace(self.text.as_spelled, merges=None)

    def matches(self, forms: Sequence[str], free: Sequence[bool]) -> list[Match]:
        """The terms in a sentence, of which ``free`` words may be covered. Of forced ones that overlap, the longest."""
        if not self.terms:
            return []
        starts = [place for place in range(len(forms)) if place == 0 or not self.text.is_part(forms[place - 1])]
        ends = [*starts[1:], len(forms)]
        words = ["".join(self.text.whole(forms[begin:end])) for begin, end in zip(starts, ends, strict=False)]
        may = [all(free[begin:end]) for begin, end in zip(starts, ends, strict=False)]
        return [Match(starts[m.begin], ends[m.end - 1], m.term) for m in self._of_words(words, may)]

    def _of_words(self, forms: Sequence[str], free: Sequence[bool]) -> list[Match]:
        lower = [form.lower() for form in forms]
        every = [match for place in range(len(forms)) for match in self._at(place, forms, lower, free)]
        taken = [False] * len(forms)
        kept = []
        for match in sorted((m for m in every if m.term.forced), key=lambda m: (m.begin - m.end, m.begin)):
            if not any(taken[match.begin : match.end]):
                taken[match.begin : match.end] = [True] * (match.end - match.begin)
                kept.append(match)
        kept += [match for match in every if not match.term.forced and not any(taken[match.begin : match.end])]
        return sorted(kept, key=lambda m: (m.begin, m.end))

    def _at(self, place: int, forms: Sequence[str], lower: Sequence[str], free: Sequence[bool]) -> Iterator[Match]:
        candidates = self._by_word.get(lower[place], [])
        if self._by_stem:
            candidates = [*candidates, *self._by_stem]
        for pattern, term in candidates:
            end = place + len(pattern)
            if end > len(forms) or not all(free[place:end]):
                continue
            words = forms if term.case else lower
            wanted = pattern if term.case else [word.lower() for word in pattern]
            if all(_is(word, want) for word, want in zip(words[place:end], wanted, strict=True)):
                yield Match(place, end, term)


def _is(word: str, wanted: str) -> bool:
    return word.startswith(wanted[:-1]) if len(wanted) > 1 and wanted.endswith("*") else word == wanted
