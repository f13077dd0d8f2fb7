"""Tune weights on candidate lists that come with the package, and print BLEU before and after.

Shows the two commands that it runs, example and tune, as you would type them. Replaces the results of an earlier
quickstart in DIR.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hopefear.commands.base import Command, arg, command_line

if TYPE_CHECKING:
    from hopefear.runs.session import Session


class Quickstart(Command[Iterator[str]]):
    out: str = arg("The directory to write to.", default="hopefear-quickstart", metavar="DIR")
    trainer: str = arg("The trainer.", default="kbmira", metavar="NAME")

    examples = """
    hopefear quickstart
    hopefear quickstart --trainer mert --out try-mert --seed 2
    """

    def run(self, session: Session) -> Iterator[str]:
        from pathlib import Path

        from hopefear.commands.example import Example
        from hopefear.commands.tune import Tune
        from hopefear.data.examples import REFERENCES

        data, run = Path(self.out) / "data", Path(self.out) / "run"
        example = Example(out=str(data), overwrite=True)
        session.note(command_line(example))
        example.run(session)
        tune = Tune(
            nbest=[str(data / "nbest.txt")],
            refs=[str(data / f"ref.{i}") for i in range(REFERENCES)],
            trainer=self.trainer,
            initial=str(data / "initial.txt"),
            out=str(run),
            overwrite=True,
            seed=self.seed,
            jobs=self.jobs,
        )
        session.note(command_line(tune))
        yield f"{tune.run(session)}\n"
        session.note(f"Now try: hopefear rerank --nbest {tune.nbest[0]} --weights {run / 'weights.txt'} | head")
