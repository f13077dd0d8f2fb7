"""Learn weights for the scores of a table, and test what they are worth.

The table has one row per candidate. One column says which candidates compete (a sentence, query or prompt), one says
how good each candidate is, and the others are scores. Cross-validation selects a trainer. The verdict comes from
held-out groups: better than equal weights, worse, or cannot tell.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopefear.commands import shared
from hopefear.commands.base import Command, arg
from hopefear.errors import InputError, OptionError

if TYPE_CHECKING:
    from hopefear._core import Pool
    from hopefear.evaluation.weigh_result import Weighed
    from hopefear.formats.table import Table, TableSpec
    from hopefear.metrics import Metric
    from hopefear.runs.session import Session


class Weigh(Command["Weighed"]):
    table: Any = arg(
        "The table, or candidate lists with outcomes, or with --qrels TREC runs.",
        positional=True,
        kw_only=False,
        several=True,
        metavar="TABLE",
        file=True,
        folder=True,
    )
    group: str | None = arg(
        "A column: rows with the same value compete; lists need none.", default=None, metavar="COLUMN", kw_only=False
    )
    outcome: str | None = arg(
        "How good a candidate is: reward, accuracy, grade, ...", default=None, metavar="COLUMN", kw_only=False
    )
    metric: str | None = arg(
        "The metric: ndcg@10, mrr, map, recall@100, precision, recall, fbeta or rate.",
        default=None,
        metavar="NAME",
        shown="its mean",
    )
    qrels: Any = arg("TREC judgements: then TABLE is one TREC run or several.", default=None, file=True)
    features: Sequence[str] = shared.features()
    text: str | None = arg("The text of the candidates.", default=None, metavar="COLUMN")
    lower_is_better: bool = arg("The outcome is an error or a cost.", default=False)
    missing: str | None = shared.missing()
    out: Any = arg("Where weights.txt, weigh.html and weigh.json go.", default=None, metavar="DIR", shown="print only")
    folds: int = arg("Folds of the cross-validation.", default=5, least=2)
    overwrite: bool = arg("Replace an existing result.", default=False)
    json: bool = arg("Everything as JSON.", default=False, terminal=True)

    examples = """
    hopefear weigh scores.csv --group prompt --outcome reward --out weights
    hopefear weigh runs.parquet --group query --outcome grade --features 'bm25' 'dense_*'
    hopefear weigh hypotheses.tsv --group utterance --metric rate:errors=errors,length=words --json
    hopefear weigh bm25.run dense.run --qrels qrels.txt --metric ndcg@10 --out fused
    hopefear weigh train.letor --metric map
    hopefear weigh answers.jsonl --outcome comet    # lists of candidates
    """

    def check(self) -> None:
        from hopefear.formats.trec import GRADE, GROUP

        several = isinstance(self.table, list | tuple) and len(self.table) > 1
        if several and isinstance(self.table[0], str | os.PathLike) and self.qrels is None:
            raise OptionError("give one table. Several files are TREC runs, which need --qrels.")
        if self.judged:
            for name, value in (("group", GROUP), ("outcome", GRADE), ("metric", "ndcg@10")):
                object.__setattr__(self, name, getattr(self, name) or value)
        if self.group is None and not self._lists:
            raise OptionError("--group is missing: the column that says which candidates compete.")
        if self.outcome is None and self.metric is None:
            raise OptionError("--outcome is missing: the column that says how good a candidate is.")

    def run(self, session: Session) -> Weighed:
        from dataclasses import replace

        from hopefear.formats.missing import LIST_POLICIES
        from hopefear.train import weighing

        if self.out is not None:
            self._check_out(Path(self.out))
        pool = self.read(session)
        metric = weighing.scaled(self.measure(), pool)
        warnings = weighing.check(pool, metric, self.name, self.spec.group, self.outcome, judged=bool(self.qrels))
        for warning in warnings:
            session.warn(warning)
        work = weighing.Weighing(pool, metric, session, folds=self.folds, seed=self.seed, jobs=self.jobs)
        missing = self.missing if self.missing in LIST_POLICIES else "error"
        weighed = replace(work.weighed(warnings), group=self.group or "", missing=missing)
        if self.out is None:
            return weighed
        session.note(f"weights: {self.out}/weights.txt")
        session.note(f"report: {self.out}/weigh.html")
        return self._write(weighed, session)

    @property
    def judged(self) -> bool:
        """Whether the input is of a kind that brings its own groups and grades."""
        from hopefear.formats.letor import is_letor

        return self.qrels is not None or is_letor(self._source)

    @property
    def _lists(self) -> bool:
        """Whether the input has lists of candidates, and so brings its groups."""
        from hopefear._core import Pool
        from hopefear.formats.records import is_table

        source = self._source
        return isinstance(source, Pool) or (isinstance(source, str | os.PathLike) and not is_table(source))

    @property
    def _source(self) -> Any:
        """The source of the table: a file, or an object in memory."""
        return self.table[0] if isinstance(self.table, list | tuple) and len(self.table) == 1 else self.table

    @property
    def name(self) -> str:
        """The name of the table in messages and on the page."""
        files = [self._source] if isinstance(self._source, str | os.PathLike) else self._source
        return ", ".join(map(str, files)) if isinstance(files, list | tuple) else "the table"

    @property
    def spec(self) -> TableSpec:
        """The columns of the table."""
        from hopefear.formats.pool import GROUP
        from hopefear.formats.table import TableSpec

        columns = dict.fromkeys([*filter(None, [self.outcome]), *self.measure().columns])
        return TableSpec(self.group or GROUP, self.features, self.text, (), tuple(columns), self.missing or "error")

    def measure(self) -> Metric:
        """The mean of the outcome, or what ``--metric`` says."""
        from dataclasses import fields

        from hopefear.formats.trec import RETRIEVED
        from hopefear.metrics import External, find, from_text, split_text

        if self.metric is None:
            return External(str(self.outcome), not self.lower_is_better)
        name, rest = split_text(self.metric)
        kind = find(name)
        known = {each.name for each in fields(kind)} if kind is not None else set()  # type: ignore[arg-type]
        given = {"column": self.outcome, "retrieved": RETRIEVED if self.qrels else None}
        more = [f"{key}={value}" for key, value in given.items() if key in known and value and f"{key}=" not in rest]
        metric = from_text(f"{name}:{','.join(filter(None, [rest, *more]))}")
        if not metric.columns:
            raise OptionError(f"--metric: {name} compares text. Choose a metric of number columns.")
        if self.qrels and not metric.whole_order:
            raise OptionError(f"--metric: {name} does not score a ranking. With --qrels, choose one such as ndcg@10.")
        return metric

    def read(self, session: Session | None = None) -> Pool:
        """The candidates of the table, in an order that says nothing about them."""
        from hopefear.train.weighing import shuffled_pool

        table = self._read_table()
        if session is not None and self.group is not None and not self.judged:
            for finding in table.flat(self.spec).odd_columns(self.spec):
                session.warn(f"{table.name}: {finding}")
        # Features of LETOR files may well be silent.
        return shuffled_pool(table, self.spec, self.seed, refuse_constant=not self.judged)

    def _read_table(self) -> Table:
        from hopefear._core import Pool
        from hopefear.formats.letor import is_letor, read_letor
        from hopefear.formats.nbest import read_nbest
        from hopefear.formats.pool import as_table
        from hopefear.formats.table import read_table
        from hopefear.formats.trec import read_trec

        if self.qrels is not None:
            return read_trec(list(self.table), self.qrels)
        if self.group is None:
            pool = self._source if isinstance(self._source, Pool) else read_nbest(self._source)
            return as_table(pool, self.name)
        return read_letor(self._source) if is_letor(self._source) else read_table(self._source, self.spec)

    def _check_out(self, path: Path) -> None:
        if path.exists() and not path.is_dir():
            raise InputError(f"{path}: is a file. --out takes a directory")
        if not self.overwrite and (path / "weigh.json").exists():
            raise InputError(f"{path}: already has a result. Use --overwrite to replace it, or choose another --out")

    def _write(self, weighed: Weighed, session: Session) -> Weighed:
        """Weights, page and record."""
        import json
        from dataclasses import replace

        from hopefear.formats.weights import write_weights
        from hopefear.reports.weighing import page
        from hopefear.util.files import atomic_write

        path = Path(self.out)
        path.mkdir(parents=True, exist_ok=True)
        write_weights(weighed.weights, path / "weights.txt")
        write_weights(weighed.equal, path / "equal.txt")
        with atomic_write(path / "weigh.html") as file:
            file.write(page(weighed, self.name))
        record = {"command": list(session.command), "seed": self.seed, **weighed.record()}
        with atomic_write(path / "weigh.json") as file:
            json.dump(record, file, indent=2, ensure_ascii=False, allow_nan=False)
            file.write("\n")
        return replace(weighed, path=path)
