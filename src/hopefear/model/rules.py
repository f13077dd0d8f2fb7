"""Rules out of a word-aligned text: in memory, on disk where they do not fit, or on a cluster. The bytes are the same.

On disk and on a cluster there are three steps. Rules of some sentences at a time are extracted and split into parts by
the hashes of their source sides. Each part is merged: counts are added up, rules are scored and selected. The merged
parts become the grammar's file. Only one part at a time is held in memory; on a cluster, one per core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import Extractor, Grammar, ParallelText, RuleTable, write_grammar
from hopefear.errors import InputError
from hopefear.model.rule_filter import filter_rules, least_logs
from hopefear.runs.session import SILENT, Session
from hopefear.util import cluster
from hopefear.util.files import os_error

Bytes = NDArray[np.uint8]
_SLICES = 50  # at least, to show progress and to notice Ctrl-C
_SLICE_WORDS = 200_000  # source words of a slice, at most
_TASK_WORDS = 1_000_000  # the same of a task on a cluster
ANY_SPAN = 1000  # words: as long as any sentence
ENTRY_BYTES = 300  # of memory that a rule takes from when it is seen until it is in the grammar's file


@dataclass(frozen=True)
class Rules:
    """What was extracted."""

    grammar: Grammar
    file: Path | None  #: of the grammar, if it is mapped
    words: RuleTable  #: all rules, or those whose source side is one word
    counts: dict[str, int]

    def filtered(self, sentences: Sequence[str], jobs: int) -> Rules:
        """Only rules that can apply to these sentences."""
        return replace(
            self, grammar=Grammar.build(self.grammar.filtered(list(sentences), ANY_SPAN, jobs), jobs), file=None
        )


def extract(
    text: ParallelText,
    extraction: Mapping[str, Any],
    folder: Path,
    *,
    min_probability: float = 0.0,
    min_symmetric: float = 0.0,
    memory: float,
    on_cluster: bool = False,
    jobs: int = 0,
    run: Session = SILENT,
) -> Rules:
    """All rules of a text.

    ``extraction``: the arguments of the Extractor. ``folder``: for temporary files, and for the grammar's file if there
    is one. ``memory``: GB that rules may take; more of them go to disk. ``on_cluster``: the one that was joined.
    """
    limits = (min_probability, min_symmetric)
    if on_cluster:
        parts, instances = _on_cluster(text, extraction, run)
        return _written(text, extraction, parts, folder, limits, instances, jobs)
    extractor, runs = Extractor(text, **extraction), 0
    slices = list(_slices(text, max(_SLICES, -(-text.source_words // _SLICE_WORDS))))
    step = run.progress("extract", len(slices))
    for begin, end in slices:
        extractor.run(begin, end, jobs)
        step()
        if extractor.entries * ENTRY_BYTES > memory * 1e9:
            _spill(extractor, folder, runs)
            runs += 1
    if runs:
        _spill(extractor, folder, runs)
        parts = (extractor.merged(_taken(folder, part, runs + 1), jobs) for part in range(Extractor.PARTS))
        return _written(text, extraction, parts, folder, limits, extractor.instances, jobs)
    table = extractor.finish(jobs)
    counts = {"rule_occurrences": extractor.instances, "rules_seen": extractor.rules}
    _check(len(table) > 0)
    table = filter_rules(table, *limits)
    return Rules(Grammar.build(table, jobs), None, table, counts)


def _slices(text: ParallelText, count: int) -> Iterable[tuple[int, int]]:
    return ((len(text) * i // count, len(text) * (i + 1) // count) for i in range(count))


def _check(any_rule: bool) -> None:
    if not any_rule:
        raise InputError(
            "no rule could be extracted: the word alignment has no usable links. Check that the files are parallel"
        )


def _save(path: Path, array: Bytes) -> None:
    try:
        path.write_bytes(array.data)
    except OSError as error:
        raise os_error(path, error) from None


def _spill(extractor: Extractor, folder: Path, number: int) -> None:
    for part in range(Extractor.PARTS):
        _save(folder / f"taken-{part}-{number}", extractor.take(part))


def _taken(folder: Path, part: int, runs: int) -> list[Bytes]:
    """What was taken of a part; the files are gone."""
    arrays = []
    for number in range(runs):
        path = folder / f"taken-{part}-{number}"
        arrays.append(np.fromfile(path, np.uint8))
        path.unlink()
    return arrays


def _written(
    text: ParallelText,
    extraction: Mapping[str, Any],
    parts: Iterable[Bytes],
    folder: Path,
    limits: tuple[float, float],
    instances: int,
    jobs: int,
) -> Rules:
    """The grammar's file out of merged parts."""
    paths = []
    for number, part in enumerate(parts):
        paths.append(folder / f"merged-{number}")
        _save(paths[-1], part)
    out = folder / "grammar.bin"
    least_ef, least_symmetric = least_logs(*limits)
    words, seen = write_grammar(
        text,
        [str(path) for path in paths],
        str(folder),
        str(out),
        orientations=bool(extraction.get("orientations")),
        least_ef=least_ef,
        least_symmetric=least_symmetric,
        jobs=jobs,
    )
    for path in paths:
        path.unlink()
    counts = {"rule_occurrences": instances, "rules_seen": seen}
    _check(out.exists())
    return Rules(Grammar.open(str(out), verify=False), out, words, counts)


def _on_cluster(text: ParallelText, extraction: Mapping[str, Any], run: Session) -> tuple[Iterable[Bytes], int]:
    """The merged parts in order, and the number of rule occurrences. The text travels to each machine once."""
    slices = list(_slices(text, max(1, -(-text.source_words // _TASK_WORDS))))
    arrays = text.arrays()
    step = run.progress("extract", len(slices) + Extractor.PARTS)
    instances, taken = 0, []
    for occurrences, parts in cluster.scattered(
        partial(_far_take, arrays, extraction), slices, Extractor.PARTS, run.warn
    ):
        instances += occurrences
        taken.append(parts)
        step()
    items = [[parts[number] for parts in taken] for number in range(Extractor.PARTS)]
    merged = cluster.in_order(partial(_far_merge, arrays, extraction), items, run.warn, places=True)
    return _each(merged, step), instances


def _each(parts: Iterable[Bytes], step: Callable[[], object]) -> Iterable[Bytes]:
    for part in parts:
        step()
        yield part


Taken = tuple[int, list[Bytes]]  # rule occurrences, and entries by part


def _far_take(arrays: tuple[Any, ...], extraction: Mapping[str, Any]) -> Callable[[tuple[int, int]], Taken]:
    """On a worker, for a range of sentences."""
    extractor = Extractor(ParallelText.over(*arrays), **extraction)

    def take(pairs: tuple[int, int]) -> Taken:
        before = extractor.instances
        extractor.run(*pairs, 1)
        return extractor.instances - before, [extractor.take(part) for part in range(Extractor.PARTS)]

    return take


def _far_merge(arrays: tuple[Any, ...], extraction: Mapping[str, Any]) -> Callable[[Sequence[Any]], Bytes]:
    """On a worker: all that was taken of a part to the merged part."""
    extractor = Extractor(ParallelText.over(*arrays), **extraction)
    return lambda taken: extractor.merged(taken, 1)
