"""Score outputs against references, and compare several outputs with the first.

Scores and signatures are those of sacreBLEU (for BLEU: tokenizer 13a, mixed case, smoothing exp). NAME=F,F,F is one
system with replicates, that is, runs with several seeds: the score is their mean, and the test accounts for their
variance. With several reference files, an empty line is a missing reference.

With --table, score takes the best candidate of each group: the one with the highest --by, by default the column
score that rerank --table writes, or the first row.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopefear.commands import shared
from hopefear.commands.base import Command, arg
from hopefear.commands.files import input_file, no_such_file
from hopefear.errors import InputError, OptionError
from hopefear.evaluation import SAMPLES

if TYPE_CHECKING:
    from hopefear.evaluation.scores import Scored
    from hopefear.metrics import Metric
    from hopefear.runs.session import Session


class Score(Command["Scored"]):
    hyp: Sequence[Any] = arg(
        "Outputs: F, or NAME=F,F for replicates of a system.", default=(), positional=True, kw_only=False, metavar="HYP"
    )
    refs: Sequence[Any] = arg("References: one file per translator.", default=(), file=True)
    format: str | None = arg(
        "The outputs are candidate lists of this format, whose first candidates are scored; list: detect the format.",
        default=None,
        metavar="NAME",
    )
    table: Sequence[Any] = arg("Score the best candidates of these tables instead.", default=(), file=True)
    group: str | None = arg(
        "The column of a table that says which rows compete.", default=None, metavar="COLUMN", needs="table"
    )
    by: str | None = arg(
        "The column whose highest value is best.",
        default=None,
        metavar="COLUMN",
        needs="table",
        shown="score, or the first row",
    )
    outcome: Sequence[str] = arg(
        "The column that says how good a candidate is.", default=(), metavar="COLUMN", needs="table"
    )
    text: str | None = arg(
        "The column with the candidates' text, to score against --references.",
        default=None,
        metavar="COLUMN",
        needs="table",
    )
    references: Sequence[str] = shared.references()
    metric: Sequence[str] = arg(
        "bleu, chrf, ter, ...; may be repeated.",
        default=(),
        metavar="NAME",
        repeated=True,
        shown="bleu; of tables the outcome",
    )
    lowercase: bool = arg("Ignore case.", default=False)
    tokenize: str | None = arg("Of BLEU: 13a, intl, zh, char, none, ...", default=None, metavar="NAME", shown="13a")
    json: bool = arg("Everything as JSON, in full precision.", default=False, terminal=True)
    samples: int = arg("Samples of the significance tests.", default=SAMPLES, least=1)
    test: str = arg("The significance test.", default="both", choices=("bootstrap", "randomization", "both", "none"))

    lines: Any = arg("Lines of text instead of files.", default=None, python=True)
    line_references: Any = arg("Their references.", default=None, python=True)

    examples = """
    hopefear score output.txt --refs ref.0 ref.1 ref.2 ref.3
    hopefear score baseline.txt new.txt --refs ref --metric bleu --metric chrf:word_order=2
    hopefear score base=b1.txt,b2.txt,b3.txt new=n1.txt,n2.txt,n3.txt --refs ref     # replicates
    hopefear score --table before.csv after.csv --group query --outcome grade
    """

    def check(self) -> None:
        if not isinstance(self.table, list | tuple):  # a frame in memory
            object.__setattr__(self, "table", (self.table,))
        if self.lines is not None:
            return
        object.__setattr__(self, "hyp", [_output(output) for output in self.hyp])
        if self.table:
            if self.hyp or self.refs:
                raise OptionError("--table has candidates and references in its columns: leave out HYP and --refs.")
            shared.check_group(self)
        elif not any(map(self.given, ("group", "by", "text", "references", "outcome"))):
            if not self.hyp:
                raise OptionError("no HYP. Put the outputs first: hopefear score HYP --refs F.")
            if not self.refs:
                raise OptionError("Missing option '--refs'.")
        names = [name for name, _ in self.systems]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise OptionError(f"{twice!r} is given twice. Give systems different names: NAME=F.")

    @property
    def systems(self) -> list[tuple[str, Sequence[Any]]]:
        """Names of the systems, and the files or the table of each."""
        tables: list[tuple[str, Sequence[Any]]] = [
            (str(table) if isinstance(table, str | os.PathLike) else f"table {number}", [table])
            for number, table in enumerate(self.table, 1)
        ]
        return [*tables, *self.hyp]

    def run(self, session: Session) -> Scored:
        from hopefear.evaluation.scores import Resampling, score_files, score_lines
        from hopefear.evaluation.table_scores import score_tables
        from hopefear.formats.table import TableSpec

        tests = {"both": ("bootstrap", "randomization"), "none": ()}.get(self.test, (self.test,))
        how = Resampling(tests, self.samples, self.seed, self.jobs)
        if self.lines is not None:
            return score_lines(self.lines, self.line_references, self.metrics(), how)
        if self.table:
            assert self.group is not None
            spec = TableSpec(self.group, (), self.text, self.references, self.outcome)
            if self.by is not None and self.by in self.outcome:
                session.warn(f"--by {self.by} is the outcome: this is the score of the best choice, not of a ranking")
            scored = score_tables(self.systems, spec, self.metrics(), how, self.by)
        else:
            scored = score_files(self.systems, self.refs, self.metrics(), how, self.format)
        if not self.json:
            session.warn(scored.warning())
        return scored

    def as_json(self, result: Scored) -> dict[str, Any]:
        return {"systems": result.record()}

    def metrics(self) -> list[Metric]:
        """The metrics; columns of the table may be among them."""
        names = tuple(self.metric) or tuple(self.outcome) or ("bleu",)
        return [self._metric(name) for name in names]

    def _metric(self, given: Any) -> Metric:
        """The metric of a name; an object stands for itself, a class for its defaults."""
        from hopefear.metrics import as_metric, from_text

        if isinstance(given, type):
            given = getattr(given, "name", given)
        if not isinstance(given, str):
            return as_metric(given)
        return from_text(given, self.lowercase, self._tokenizer(given), list(self.outcome))

    def _tokenizer(self, metric: str) -> str | None:
        return self.tokenize or ("13a" if metric.split(":")[0] == "bleu" else None)


def _output(value: Any) -> tuple[str, Sequence[Any]]:
    """``F``, ``F,F`` or ``NAME=F,F`` as a name and files to read; a pair of these is taken as it is."""
    if isinstance(value, tuple):
        return value
    from hopefear.util.files import is_remote

    text = os.fspath(value)
    if text == "-" or (is_remote(text) and "," not in text) or Path(text).exists():
        return text, [text]
    name, equals, rest = text.rpartition("=")
    files = rest.split(",")
    if not equals and len(files) == 1:
        raise InputError(no_such_file(text))
    return name or text, [input_file(file) for file in files]
