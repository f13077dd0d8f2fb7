"""Add features of neighbouring words or language models to forests.

Searches forests and lattices from any program by cube pruning. The features are language models and the templates
unigram, bigram, trigram, trigger and pair. You can also add scores from another program: a file with a line for each
candidate of lists, or for each edge of forests. Prints the best translations, with blanks between all tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hopefear.commands import shared
from hopefear.commands.base import Command, arg
from hopefear.commands.files import input_file
from hopefear.decode.limits import RESCORED
from hopefear.errors import OptionError

if TYPE_CHECKING:
    from hopefear.runs.session import Session


class Rescore(Command[Iterator[str]]):
    forests: str | None = arg("Forests or lattices of any format.", default=None, file=True, folder=True)
    nbest: Sequence[str] = arg("Candidate lists instead.", default=(), file=True, folder=True)
    format: str | None = shared.candidate_format()
    weights: str = arg("Weights of the old and the new features.", file=True)
    features: str | None = arg(
        "Names of features, one per line, e.g. the features.txt of a model.",
        default=None,
        file=True,
        shown="those that the weights name",
    )
    lm: Sequence[str] = arg(
        "A language model (ARPA, or saved by hopefear) as the feature NAME.", default=(), metavar="NAME=FILE"
    )
    scores: Sequence[str] = arg(
        "Scores of another program as the feature NAME: one per line, for each candidate or edge in order.",
        default=(),
        metavar="NAME=FILE",
    )
    sources: str | None = arg(
        "Source text, which pair features need.", default=None, file=True, shown="as in the forests"
    )
    pop_limit: int = arg("Edges kept per node; 0 is all.", default=RESCORED, least=0)
    out: str | None = arg("Write the new forests to this native file, lists as lists.", default=None, metavar="FILE")

    examples = """
    hopefear rescore --forests dev.forests --weights weights.txt --features model/features.txt --out larger.forests
    hopefear rescore --forests lattices/ --weights weights.txt --lm big=big.arpa.gz > best.txt
    hopefear rescore --nbest dev.nbest --weights weights.txt --scores comet=comet.txt --out scored.nbest > best.txt
    """

    def check(self) -> None:
        self.check_origin("forests", "nbest")
        for path in (*self.lm_files.values(), *self.score_files.values()):
            input_file(path)

    @property
    def lm_files(self) -> dict[str, str]:
        """Feature -> language model."""
        return _named("--lm", self.lm)

    @property
    def score_files(self) -> dict[str, str]:
        """Feature -> file of scores."""
        return _named("--scores", self.scores)

    def run(self, session: Session) -> Iterator[str]:
        from hopefear.decode.rescoring import rescore_files

        return (f"{text}\n" for text in rescore_files(self, session))


def _named(flag: str, values: Sequence[str]) -> dict[str, str]:
    """``NAME=FILE`` as feature -> file."""
    files = {}
    for value in values:
        name, _, path = value.partition("=")
        if not name or not path:
            raise OptionError(f"{flag} {value!r}: write NAME=FILE, e.g. big=big.arpa.gz")
        if name in files:
            raise OptionError(f"{flag} {value!r}: there are two features {name!r}. Give each its own name")
        files[name] = path
    return files
