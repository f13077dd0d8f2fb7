"""The options of commands that read candidates: lists, forests or a table, with their references and sources."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hopefear.commands import shared
from hopefear.commands.base import Command, R_co, arg

if TYPE_CHECKING:
    from hopefear._core import Pool
    from hopefear.data.candidates import CandidateFiles
    from hopefear.formats.table import TableSpec
    from hopefear.metrics import Metric
    from hopefear.runs.session import Session

LISTS = ("nbest", "forests", "decoder_command")
CHOSEN = ("table", "nbest", "pool")  # of these, features and outcomes can be chosen


class TableCommand(Command[R_co]):
    """Options of a table: which columns mean what."""

    table: Any = shared.table()
    group: str | None = shared.group()
    features: Sequence[str] = shared.features(needs=CHOSEN, decides=True)
    text: str | None = arg("The candidates' text.", default=None, metavar="COLUMN", needs="table", decides=True)
    references: Sequence[str] = shared.references(decides=True)
    outcome: Sequence[str] = arg(
        "How good a candidate is: reward, accuracy, ...", default=(), metavar="COLUMN", needs=CHOSEN, decides=True
    )
    missing: str | None = shared.missing(needs=CHOSEN, decides=True)

    @property
    def in_memory(self) -> bool:
        """Whether the table is an object and no file."""
        return getattr(self, "pool", None) is not None or (
            self.table is not None and not isinstance(self.table, str | os.PathLike)
        )

    @property
    def spec(self) -> TableSpec:
        """The columns of the table."""
        from hopefear.formats.table import TableSpec

        assert self.group is not None
        return TableSpec(self.group, self.features, self.text, self.references, self.outcome, self.missing or "error")

    def inputs(self) -> list[dict[str, Any]]:
        """Path and checksum of every file that is read, for the record of a run."""
        from hopefear.runs.record import record_inputs

        return record_inputs(
            {name: paths for name, paths in self.files().items() if not (name == "table" and self.in_memory)}
        )


class CandidatesCommand(TableCommand[R_co]):
    """Candidates of any origin: lists, forests or a table."""

    nbest: Sequence[str] = arg(
        "Candidate lists: parts of one list, or lists of the same sentences.", default=(), file=True, folder=True
    )
    forests: str | None = arg(
        "Forests or lattices instead: a file, or a folder of them.", default=None, file=True, folder=True
    )
    format: str | None = shared.candidate_format(needs=("nbest", "forests"), decides=True)
    refs: Sequence[str] = arg(
        "References: one file per translator. Not needed if the lists hold them.", default=(), file=True, needs=LISTS
    )
    sources: str | None = arg(
        "The source sentences, one per line; {sources} in a decoder's command.", default=None, file=True, needs=LISTS
    )

    pool: Any = arg("Candidates in memory: what read_nbest and read_forests return.", default=None, python=True)

    def read(self, session: Session) -> Pool:
        """The candidates."""
        if self.pool is not None:
            return self.data.named(self.pool)
        return self.data.read(session)

    @property
    def data(self) -> CandidateFiles:
        """The files of the candidates, and how they are read."""
        from hopefear.data.candidates import CandidateFiles
        from hopefear.metrics import METRICS, split_text

        metrics = [*getattr(self, "metric", ()), getattr(getattr(self, "trainer", None), "metric", None)]
        names = [str(name).partition(":")[0] for name in metrics if isinstance(name, str)]
        return CandidateFiles(
            self.nbest,
            self.forests,
            self.table,
            self.refs,
            self.sources,
            self.format,
            self.missing or "error",
            self.features,
            self.outcome,
            [name for name in names if split_text(name)[0] not in METRICS],
            self.spec if self.table is not None else None,
        )


def read_lists(
    nbest: Sequence[str], refs: Sequence[str], session: Session, sources: str | None = None, format: str | None = None
) -> Pool:
    """Lists from files, with progress and a note if they were merged."""
    from hopefear.data.candidates import CandidateFiles

    return CandidateFiles(nbest, refs=refs, sources=sources, format=format).read(session)


def warn_of_references(pool: Pool, refs: Sequence[str], session: Session, metric: Metric | None = None) -> None:
    """A warning for each of these files whose lines seem to be references of other sentences, or spelled otherwise."""
    from hopefear.evaluation.diagnosis import other_spelling, wrong_references
    from hopefear.util.files import path_name

    names = [path_name(path) for path in refs]
    for finding in [*other_spelling(pool, metric), *wrong_references(pool, names)]:
        session.warn(str(finding))


def warn_of_leak(learnt_from: Pool, scored: Pool, what: str, session: Session) -> None:
    """A warning if the lists to be scored are those learnt from."""
    from hopefear.evaluation.reference_mismatch import leak, texts_for_leak

    if finding := leak(texts_for_leak(learnt_from), texts_for_leak(scored), what):
        session.warn(finding)


def start_weights(path: str | None, pool: Pool, session: Session) -> Mapping[str, float] | None:
    """The weights of ``--initial``, by the names of these candidates' features."""
    from hopefear.formats import read_weights
    from hopefear.formats.weights import check_names, matched_numbers

    if not path:
        return None
    initial: Mapping[str, float] = read_weights(path)
    if not initial:
        return initial
    initial, note = matched_numbers(path, initial, pool.feature_names)
    session.warn(note)
    whose = "the lists. Use the weights of this model"
    session.warn(check_names(path, initial, pool.feature_names, "that the lists do not have", whose))
    return initial
