"""``hopefear rerank``: the best candidate of every sentence under given weights."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Many
from hopefear.util.words import plural, some

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hopefear._core import Vocab

PARAMS = [
    Many(["--nbest"], type=InputFile(), required=True, help="Candidate lists; several files are parts of one list."),
    click.Option(["--weights"], type=InputFile(), required=True, help="Weights, e.g. the weights.txt of a run."),
]

EXAMPLES = """
hopefear rerank --nbest test.nbest --weights run/weights.txt > best.txt
zcat test.nbest.gz | hopefear rerank --nbest - --weights run/weights.txt > best.txt
hopefear rerank --nbest test.jsonl --weights run/weights.txt > best.txt
"""

IN_MEMORY = 1 << 24  # bytes of output; more waits in a temporary file


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, nbest: tuple[str, ...], weights: str, seed: int, jobs: int) -> None:
    """Print the best candidate of every sentence under given weights.

    One line a sentence, in the order of the list, blank for blank as the list has it. Of equal scores the first wins.
    Lists of any length are read in bounded memory; nothing is printed before all of a list was read without an error.
    """
    from hopefear.errors import InputError
    from hopefear.formats import iter_nbest, read_weights

    scorer = Scorer(read_weights(weights))
    with tempfile.SpooledTemporaryFile(IN_MEMORY, "w+", encoding="utf-8", newline="") as best:
        with console.progress("rerank") as progress:
            for sentence in iter_nbest(nbest):
                scores = sentence.forest.scores(scorer.vector(sentence.forest.features))
                best.write(sentence.text(int(scores.argmax())) + "\n")
                progress.update()
        if scorer.size and not scorer.used:
            raise InputError(
                f"{weights}: none of its {len(scorer.weights)} weights belongs to a feature of the list, "
                f"which has {some(scorer.without)}. Use the weights of this model"
            )
        if unused := [name for name in scorer.weights if name not in scorer.used]:
            console.warn(
                f"{weights}: {plural(len(unused), 'weight')} for features that the list does not have: {some(unused)}"
            )
        if scorer.without:
            names = some(scorer.without)
            console.warn(f"{plural(len(scorer.without), 'feature')} of the list without a weight, taken as 0: {names}")
        best.seek(0)
        while text := best.read(1 << 20):
            sys.stdout.write(text)


class Scorer:
    """The weights as a vector over the features that a list has shown so far."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        import numpy as np

        self.weights = weights
        self.used: set[str] = set()
        self.without: list[str] = []
        self.size = 0
        self._values: NDArray[np.float64] = np.zeros(16)

    def vector(self, features: Vocab) -> NDArray[np.float64]:
        import numpy as np

        count = len(features)
        if count > len(self._values):
            self._values = np.concatenate([self._values, np.zeros(count)])
        for number in range(self.size, count):
            name = features[number]
            if name in self.weights:
                self._values[number] = self.weights[name]
                self.used.add(name)
            else:
                self.without.append(name)
        self.size = count
        return self._values
