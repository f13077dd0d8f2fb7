"""Synchronous grammars as cdec and Joshua write them: ``[X] ||| source ||| target ||| features ||| alignment``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from hopefear.errors import InputError, input_error
from hopefear.util.files import PathLike, iter_lines, output, path_name
from hopefear.util.values import parsed_number


@dataclass(frozen=True, slots=True)
class Nonterminal:
    """A gap: ``[X,1]`` is ``Nonterminal("X", 1)``. Gaps with the same index are filled together."""

    label: str
    index: int


Symbol = str | Nonterminal


@dataclass(frozen=True)
class GrammarRule:
    """A rule of a synchronous context-free grammar. Its gaps are numbered 1, 2, ... in the order of the source side."""

    lhs: str
    source: tuple[Symbol, ...]
    target: tuple[Symbol, ...]
    features: dict[str, float] = field(default_factory=dict)
    alignment: tuple[tuple[int, int], ...] = ()

    @property
    def arity(self) -> int:
        return sum(isinstance(symbol, Nonterminal) for symbol in self.source)


_BLANKS = re.compile(r"[ \t\r\v\f]+")
_GAP = re.compile(r"\[([^\[\]]+),([0-9]{1,4})\]")
_NUMBERED = re.compile(r"\[([0-9]{1,4})\]")


def iter_grammar(path: PathLike) -> Iterator[GrammarRule]:
    """The rules of a file, one at a time. Values without a name are PhraseModel_0, PhraseModel_1, ... as in cdec."""
    for number, line in enumerate(iter_lines(path), 1):
        try:
            yield _parsed(line)
        except ValueError as error:
            raise input_error(path_name(path), number, str(error)) from None


def _parsed(line: str) -> GrammarRule:
    fields: list[list[str]] = [[]]
    for word in _BLANKS.split(line):
        if word == "|||":
            fields.append([])
        elif word:
            fields[-1].append(word)
    if len(fields) < 3:
        finding = f'expected at least 3 fields split by " ||| " (label, source, target), found {len(fields)}'
        raise ValueError(f"{finding}. Was the file cut off?")
    if len(fields) > 5:
        raise ValueError(f'expected at most 5 fields split by " ||| ", found {len(fields)}. Does a word contain "|||"?')
    fields += [[] for _ in range(5 - len(fields))]
    if len(fields[0]) != 1 or not re.fullmatch(r"\[[^\[\]]+\]", fields[0][0]):
        raise ValueError(f"{' '.join(fields[0])[:40]!r} is not a label. Write it in brackets: [X]")
    if not fields[1]:
        raise ValueError("the source side is empty. Leave the rule out")
    source = tuple(_source_symbol(word) for word in fields[1])
    labels = {symbol.index: symbol.label for symbol in source if isinstance(symbol, Nonterminal)}
    gaps = [symbol.index for symbol in source if isinstance(symbol, Nonterminal)]
    if gaps != list(range(1, len(gaps) + 1)):
        raise ValueError(f"the gaps of the source side are numbered {gaps}. Number them 1, 2, ... in order")
    target = tuple(_target_symbol(word, labels) for word in fields[2])
    if sorted(symbol.index for symbol in target if isinstance(symbol, Nonterminal)) != gaps:
        raise ValueError(
            "the two sides do not have the same gaps. Use each gap of the source side once in the target side"
        )
    alignment = tuple(_link(word, len(source), len(target)) for word in fields[4])
    return GrammarRule(fields[0][0][1:-1], source, target, _features(fields[3]), alignment)


def _source_symbol(word: str) -> Symbol:
    match = _GAP.fullmatch(word)
    return Nonterminal(match[1], int(match[2])) if match else word


def _target_symbol(word: str, labels: dict[int, str]) -> Symbol:
    match = _NUMBERED.fullmatch(word)
    if match:
        return Nonterminal(labels.get(int(match[1]), ""), int(match[1]))
    return _source_symbol(word)


def _features(words: list[str]) -> dict[str, float]:
    features: dict[str, float] = {}
    unnamed = 0
    for word in " ".join(words).replace(";", " ").split(" "):
        if not word:
            continue
        name, equals, value = word.rpartition("=")
        if not equals:
            name = f"PhraseModel_{unnamed}"
            unnamed += 1
        elif not name:
            raise ValueError(f'the feature {word[:40]!r} has no name before its "=". Name it')
        if name in features:
            raise ValueError(f"the feature {name[:40]!r} occurs twice. Keep one")
        try:
            features[name] = parsed_number(value)
        except ValueError:
            raise ValueError(f"the feature {word[:40]!r} is not name=value. Write a number") from None
        if not math.isfinite(features[name]):
            raise ValueError(f"the feature {name[:40]!r} has the value {value[:40]!r}. Write a finite number")
    return features


def _link(word: str, source: int, target: int) -> tuple[int, int]:
    match = re.fullmatch(r"([0-9]{1,9})-([0-9]{1,9})", word)
    if match is None:
        raise ValueError(f"the link {word[:40]!r} is not two numbers. Write source-target, as in 0-1")
    link = int(match[1]), int(match[2])
    if link[0] >= source or link[1] >= target:
        raise ValueError(f"the link {word!r} is outside of the rule. Count symbols from 0")
    return link


def write_grammar(rules: Iterable[GrammarRule], path: PathLike, style: str = "cdec") -> None:
    """Rules as text. ``style``: in cdec's the gaps of the target side are ``[1]``, in Joshua's ``[X,1]``."""
    if style not in ("cdec", "joshua"):
        raise InputError(f"grammar: there is no style {style!r}. Choose cdec or joshua")
    with output(path) as file:
        for rule in rules:
            line = _line(rule, style)
            try:
                same = _parsed(line) == rule
            except ValueError:
                same = False
            if not same:
                raise input_error(
                    path_name(path), None, f"the rule {line[:80]!r} cannot be written. Rename its words or labels"
                )
            file.write(line + "\n")


def _line(rule: GrammarRule, style: str) -> str:
    def text(symbol: Symbol, label: bool) -> str:
        if isinstance(symbol, str):
            return symbol
        return f"[{symbol.label},{symbol.index}]" if label else f"[{symbol.index}]"

    fields = [
        f"[{rule.lhs}]",
        " ".join(text(symbol, True) for symbol in rule.source),
        " ".join(text(symbol, style == "joshua") for symbol in rule.target),
        " ".join(f"{name}={float(value)!r}" for name, value in rule.features.items()),
    ]
    if rule.alignment:
        fields.append(" ".join(f"{i}-{j}" for i, j in rule.alignment))
    return " ||| ".join(fields)
