"""Add columns of evidence to every candidate of a list.

Always adds length, repeated n-grams, punctuation and brackets, and numbers, names and copies compared with the source.
Options add language models, word translations, coverage and derivations by a model, and consensus within the list.
Lists of any length are read in bounded memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hopefear.commands import shared
from hopefear.commands.base import Command, arg

if TYPE_CHECKING:
    from hopefear.decode.evidence import Added
    from hopefear.runs.session import Session


class Features(Command["Added"]):
    list: Any = arg("The list.", positional=True, kw_only=False, metavar="LIST", file=True, folder=True)
    out: Any = arg("The new list: JSON lines if its name has .jsonl, otherwise Moses'.", metavar="LIST")
    lm: Sequence[Any] = arg("Language models: ARPA files, or saved by hopefear.", default=(), file=True)
    model: Any = arg(
        "A model of hopefear build: word translations, language models.", default=None, file=True, folder=True
    )
    consensus: Sequence[str] = arg(
        "Expected bleu, chrf or ter against the other candidates, and agreement of n-grams and words.",
        default=(),
        metavar="METRIC",
    )
    weights: Any = arg(
        "With --consensus: weights that make candidates probable.",
        default=None,
        file=True,
        needs="consensus",
        shown="all are equally probable",
    )
    scale: float = arg("With --weights: p is exp(X w.h) over its sum.", default=1.0, least=0, most=1e6, metavar="X")
    forced: bool = arg("With --model: the best derivation of each candidate.", default=False)
    explain: str | None = arg(
        "With --forced: print the derivations of a sentence's candidates.", default=None, metavar="ID", needs="forced"
    )
    sources: Any = arg("Source text, one line per sentence.", default=None, file=True, shown="as in the list")

    group: str | None = arg("Of a table: rows with the same value compete.", default=None, metavar="COLUMN")
    text: str | None = arg("Of a table: the text of the candidates.", default=None, metavar="COLUMN", needs="group")
    missing: str | None = shared.missing()

    examples = """
    hopefear features dev.jsonl --out dev.more.jsonl --lm big.arpa.gz
    hopefear features dev.jsonl --out dev.more.jsonl --model model --consensus bleu chrf --weights run/weights.txt
    hopefear features dev.jsonl --out dev.more.jsonl --model model --forced --explain 17
    hopefear features scores.csv --group query --text passage --out dev.jsonl
    hopefear features dev.nbest --out dev.more.nbest --sources dev.es --model model
    """
    python = """
    >>> added = hf.add_features("data/nbest.txt", sources="data/source.txt", out="more.jsonl")
    >>> added.families["source"]
    ['source_ratio', 'source_mark_gap', 'source_numbers', 'source_names', 'source_copies']
    """

    def run(self, session: Session) -> Added:
        from hopefear.decode.evidence import Evidence, add_evidence
        from hopefear.formats.inputs import lists_of

        evidence = Evidence(
            lm=self.lm,
            model=self.model,
            forced=self.forced,
            consensus=self.consensus,
            weights=self.weights,
            scale=self.scale,
            jobs=self.jobs,
        )
        source = lists_of(self.list, self.group, self.text, self.missing or "error")
        added = add_evidence(source, self.out, evidence, session, sources=self.sources, explain=self.explain)
        for name, columns in added.families.items():
            session.note(f"{name}: {' '.join(columns)}")
        return added
