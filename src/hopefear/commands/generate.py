"""Generate candidate lists with references to practise on.

Writes DIR/nbest.txt (or nbest.jsonl), ref.0, ref.1, ..., source.txt and initial.txt (weights set by hand). Each list
has a hidden correct translation, and the features are noisy measures of a candidate's errors, so there is something
to learn. The same seed gives the same files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hopefear.commands.base import arg
from hopefear.commands.shared import WritesFiles
from hopefear.data import CANDIDATES, DENSE, REFERENCES, SENTENCES

if TYPE_CHECKING:
    from hopefear.runs.session import Session


@dataclass(frozen=True)
class Files:
    """The files that were written, in the order of writing."""

    paths: list[str]

    def __str__(self) -> str:
        return "\n".join(self.paths)

    def record(self) -> dict[str, list[str]]:
        """The result as plain values."""
        return {"files": self.paths}


class Generate(WritesFiles[Files]):
    sentences: int = arg("Number of sentences.", default=SENTENCES, least=1)
    candidates: int = arg("Distinct candidates per sentence.", default=CANDIDATES, least=1)
    refs: int = arg("References per sentence.", default=REFERENCES, least=1, most=16)
    dense: int = arg("Dense features.", default=DENSE, least=1)
    sparse: int = arg("Sparse features, one per word.", default=0, least=0)
    jsonl: bool = arg("JSON lines with a metric column, in place of Moses' format.", default=False)

    examples = """
    hopefear generate --out data
    hopefear generate --out data --sentences 1000 --candidates 200 --sparse 5000 --seed 7
    hopefear generate --out data --jsonl          # with a metric column, "quality"
    """
    python = """
    >>> files = hf.generate(out="practice", sentences=50, candidates=10)
    >>> files.paths[:3]
    ['practice/nbest.txt', 'practice/source.txt', 'practice/ref.0']
    """

    def run(self, session: Session) -> Files:
        from hopefear.data.lists import Synthetic

        lists = Synthetic(self.sentences, self.candidates, self.refs, self.dense, self.sparse, self.seed)
        files = lists.write(self.out, self.jsonl, self.overwrite, session)
        return Files([str(path) for path in files.values()])
