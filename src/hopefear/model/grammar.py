"""Grammars: the memory-mapped file of a model, and the text format of cdec and Joshua."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hopefear._core import Grammar as Grammar, GrammarTextReader, RuleTable, grammar_text
from hopefear.runs.session import SILENT, Session
from hopefear.util.files import PathLike, PathsLike, atomic_write, iter_lines, output, path_list, path_name

_LINES = 20_000  # lines handed to the core at a time


class Rule(NamedTuple):
    """One rule of a grammar, for people."""

    source: str  #: with nonterminals [X,1] and [X,2]
    target: str
    values: dict[str, float]
    links: list[tuple[int, int]]  #: word alignment, counted in symbols


def read_grammar(paths: PathsLike, jobs: int = 0, run: Session = SILENT) -> Grammar:
    """A grammar from text files, ``[X] ||| source ||| target ||| features ||| alignment``, plain or packed.

    Glue rules (those of ``[S]``) and repeated rules are left out; a note tells how many.

    >>> description = hf.inspect("translator", export="rules.txt")
    >>> len(hf.read_grammar("rules.txt"))
    7359
    """
    reader = GrammarTextReader()
    for path in path_list(paths):
        lines = iter_lines(path)
        first = 1
        while block := list(itertools.islice(lines, _LINES)):
            reader.add(block, path_name(path), first)
            first += len(block)
    table = reader.finish(jobs)
    if reader.glue:
        run.note(f"{reader.glue} glue rules skipped: the decoder has its own")
    if reader.repeated:
        run.note(f"{reader.repeated} repeated rules left out")
    return Grammar.build(table, jobs)


def write_grammar_text(grammar: Grammar | RuleTable, path: PathLike) -> None:
    """The text format of cdec and Joshua; packed if the name ends in .gz, .xz or .zst."""
    table = grammar.table() if isinstance(grammar, Grammar) else grammar
    with output(path) as file:
        for begin in range(0, table.sides, _LINES):
            file.write(grammar_text(table, begin, begin + _LINES))


def write_grammar(grammar: Grammar, path: PathLike) -> None:
    """The file that ``Grammar.open`` maps; it appears complete or not at all."""
    with atomic_write(path, "wb") as file:
        file.write(grammar.bytes.data)


def iter_rules(grammar: Grammar, rules: Iterable[int] | None = None) -> Iterator[Rule]:
    """Rules with their words: all, or those with these numbers."""
    for rule in range(len(grammar)) if rules is None else rules:
        row = grammar.columns[rule]
        values = {name: float(value) for name, value in zip(grammar.names, row, strict=True)}
        yield Rule(grammar.source(rule), grammar.target(rule), values, grammar.links(rule))
