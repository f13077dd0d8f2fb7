"""Print the best candidate of every sentence under given weights.

Prints one line per sentence, in the order of the list and with its exact spacing. If scores are equal, the first
candidate wins. Lists of any length are read in bounded memory, and nothing is printed until the whole list was read
without an error. Forests and lattices are searched exactly. A table is written with all its rows and two more
columns, score and rank; rank 1 is the best of its group. With --mbr, rerank does minimum-Bayes-risk decoding; a
scale below 1 flattens the distribution.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from hopefear.commands import shared
from hopefear.commands.base import Command, arg
from hopefear.decode.limits import LIST_SIZE
from hopefear.errors import OptionError

if TYPE_CHECKING:
    from hopefear.decode.ranking import Ranked
    from hopefear.runs.session import Session


class Rerank(Command[Any]):
    nbest: Sequence[Any] = arg(
        "Candidate lists; several files are parts of one list.", default=(), file=True, folder=True
    )
    forests: Any = arg("Forests or lattices: a file, or a folder of them.", default=None, file=True, folder=True)
    format: str | None = shared.candidate_format()
    table: Any = shared.table()
    group: str | None = shared.group()
    features: Sequence[str] = shared.features(needs="table")
    missing: str | None = shared.missing()
    weights: Any = shared.weights()
    mbr: str | None = arg("Minimum Bayes risk: the highest expected bleu, chrf or ter.", default=None, metavar="METRIC")
    scale: float = shared.scale()
    out: str | None = arg(
        "With --table: the file for the table.", default=None, metavar="FILE", needs="table", shown="standard output"
    )
    nbest_out: str | None = arg(
        "Write the best candidates with their features as lists, too.", default=None, metavar="FILE"
    )
    k: int = arg("Distinct candidates per sentence in --nbest-out.", default=LIST_SIZE, least=1, needs="nbest_out")

    examples = """
    hopefear rerank --nbest test.nbest --weights run/weights.txt > best.txt
    zcat test.nbest.gz | hopefear rerank --nbest - --weights run/weights.txt > best.txt
    hopefear rerank --nbest test.jsonl --weights run/weights.txt > best.txt
    hopefear rerank --forests test.forests --weights run/weights.txt --nbest-out test.nbest.gz --k 50 > best.txt
    hopefear rerank --nbest test.jsonl --weights run/weights.txt --mbr bleu --scale 0.5 > best.txt
    hopefear rerank --table scores.csv --group query --weights run/weights.txt > ranked.csv
    hopefear rerank --table scores.parquet --group query --weights run/weights.txt --out ranked.parquet
    """

    def check(self) -> None:
        self.check_origin("nbest", "forests", "table")
        if self.table is not None and (self.nbest_out or self.format or self.mbr):
            raise OptionError("--format, --mbr and --nbest-out work only with --nbest and --forests.")
        shared.check_group(self)

    def run(self, session: Session) -> Any:
        """In Python a list of texts, or the ranked table; on the command line what is printed of them."""
        from hopefear.decode.reranking import Reranking, rerank, rerank_forests

        printed = bool(session.command)
        if self.table is not None:
            ranked = self._rank(session, "-" if printed else None)
            return None if printed else ranked
        how = self.as_options(Reranking, missing=self.missing or "error")
        best: Iterable[str]
        if self.forests:
            best = rerank_forests(self.forests, self.weights, session, how)
        else:
            best = rerank(self.nbest, self.weights, session, how)
        return (text + "\n" for text in best) if printed else list(best)

    def _rank(self, session: Session, out: str | None) -> Ranked:
        from hopefear.decode.ranking import rank_table
        from hopefear.formats.table import TableSpec

        assert self.group is not None
        spec = TableSpec(self.group, self.features, missing=self.missing or "error")
        return rank_table(self.table, self.weights, spec, session, out=self.out or out)
