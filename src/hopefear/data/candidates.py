"""Candidates of any origin, as files: lists, forests or a table, with their references and sources.

Commands that learn from candidates read them here, and so does the report of such a run.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from hopefear._core import Pool
from hopefear.errors import InputError
from hopefear.evaluation.reference_mismatch import SAMPLE, references_fit
from hopefear.formats import read_forests, read_lists
from hopefear.formats.file_kinds import explained
from hopefear.formats.nbest import iter_nbest
from hopefear.formats.pool import chosen
from hopefear.formats.table import TableSpec, read_table
from hopefear.metrics import from_record
from hopefear.runs.record import RunRecord
from hopefear.runs.session import SILENT, Session
from hopefear.util.files import PACKED, path_name


@dataclass(frozen=True)
class CandidateFiles:
    """The files of candidates, and how they are read."""

    nbest: Sequence[str] = ()  # parts of one list, or lists of the same sentences
    forests: str | None = None
    table: Any = None  # a file, or an object in memory
    refs: Sequence[str] = ()  # a file per translator
    sources: str | None = None
    format: str | None = None  # of lists and forests
    missing: str = "error"  # what a missing score of a list becomes
    features: Sequence[str] = ()  # of lists, by name or pattern
    outcome: Sequence[str] = ()  # of lists: scores that are no features
    metrics: Sequence[str] = ()  # of lists: those that are the name of a score, which is then no feature
    spec: TableSpec | None = None  # the columns of the table

    @classmethod
    def recorded(cls, record: RunRecord) -> CandidateFiles:
        """Those that a run learnt from; an InputError for files that are missing or were changed."""
        files, settings = record.files(), record.settings
        if not {"nbest", "forests", "table"} & files.keys():
            raise InputError("its candidates came from standard input and were not kept")
        first: dict[str, Any] = {
            role: next(iter(files.get(role, [])), None) for role in ("forests", "table", "sources")
        }
        how = {name: settings[name] for name in ("format", "missing", "features", "outcome") if name in settings}
        measures = (record.measure, *settings.get("others", ()))
        metrics = [name for measure in measures for name in from_record(measure).columns]
        names = {column.name for column in dataclasses.fields(TableSpec)}
        columns = {name: value for name, value in settings.items() if name in names}
        columns = settings.get("table", columns)  # 0.2 had them together
        spec = TableSpec(**columns) if "group" in columns else None
        return cls(files.get("nbest", []), refs=files.get("refs", []), metrics=metrics, spec=spec, **first, **how)

    def read(self, session: Session = SILENT) -> Pool:
        """The candidates, with progress, and a note if lists were merged."""
        if self.forests:
            with explained(forests=[self.forests], texts=self.refs):
                return read_forests(self.forests, list(self.refs) or None, self.format, self.sources)
        return self._lists(session) if self.table is None else self._table(session)

    def _lists(self, session: Session) -> Pool:
        update = session.progress("read", megabytes(self.nbest))
        with explained(lists=self.nbest, texts=self.refs):
            pool, merged = read_lists(
                self.nbest,
                self.refs,
                lambda size: update(size // 1_000_000, text="MB"),
                self.sources,
                self.format,
                missing=self.missing,
            )
        if merged:
            session.note(f"{len(self.nbest)} lists of the same sentences: merged without duplicates")
            first, *others = [self._firsts(path) for path in self.nbest]
            for path, texts in zip(self.nbest[1:], others, strict=True):
                for finding in references_fit(first, [texts], [path_name(path)], what="candidates"):
                    session.warn(finding)
        return self.named(pool)

    def _firsts(self, path: str) -> list[str]:
        """The first candidate of each sentence, as far as they are looked at."""
        sentences = islice(iter_nbest(path, self.format, self.refs or None, "zero"), SAMPLE)
        return [sentence.text(0) for sentence in sentences]

    def named(self, pool: Pool) -> Pool:
        """Lists with the features and outcomes that were named; a metric that names a score is an outcome."""
        scores = [name for name in self.metrics if name in pool.feature_names]
        outcome = list(dict.fromkeys([*self.outcome, *scores]))
        return chosen(pool, self.features, outcome) if outcome or self.features else pool

    def _table(self, session: Session) -> Pool:
        assert self.spec is not None
        session.progress("read")(text=str(self.table) if isinstance(self.table, str | os.PathLike) else "table")
        table = read_table(self.table, self.spec)
        table.column(self.spec.group, "--group")
        for finding in table.flat(self.spec).odd_columns(self.spec):
            session.warn(f"{table.name}: {finding}")
        table.flat(self.spec).refuse_constant(self.spec)
        pool = table.pool(self.spec, session.warn)
        if int(np.diff(pool.row_begin()).max()) < 2:
            finding = "every group has one candidate only: there is nothing to choose from"
            raise InputError(f"{table.name}: {finding}. Is {self.spec.group!r} the right column?")
        return pool


def megabytes(files: Sequence[str]) -> int | None:
    """The size of these files; None for standard input and packed files, whose unpacked size is not known."""
    if any(str(file) == "-" or Path(file).suffix in PACKED for file in files):
        return None
    return sum(Path(file).stat().st_size for file in files if Path(file).is_file()) // 1_000_000 or None
