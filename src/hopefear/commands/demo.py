"""Build, train and score a translator on prepared text, and write a report.

The translator learns to turn Young's literal Bible translation of 1862 ("riseth early Joshua") into plain English
from 20,000 verses. Its weights are trained on other verses and tested on unseen books. Prints BLEU on dev and test
before and after training, and shows the commands that it runs. Replaces the results of an earlier demo in DIR, but
reuses its model.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopefear.commands.base import Command, arg, command_line

if TYPE_CHECKING:
    from hopefear.runs.session import Session


class Demo(Command[Iterator[str]]):
    out: str = arg("Where to work.", default="hopefear-demo", metavar="DIR")
    trainer: str = arg("The trainer: arow, mira, sgd, ...", default="arow", metavar="NAME")
    epochs: int = arg("Passes over the verses to learn from.", default=3, least=1)

    examples = """
    hopefear demo        # needs: pip install 'hopefear[demo]'
    hopefear demo --trainer mira --out try-mira
    """

    def run(self, session: Session) -> Iterator[str]:
        from hopefear.commands.corpus import Corpus
        from hopefear.commands.report import Report
        from hopefear.errors import InputError
        from hopefear.model.directory import Model
        from hopefear.runs import read_run

        folder = Path(self.out)
        verses, model, run, page = (folder / name for name in ("verses", "model", "run", "report.html"))
        yield from _step(Corpus(out=str(verses), overwrite=True, seed=self.seed, jobs=self.jobs), session)
        try:
            Model.open(model, jobs=self.jobs)
        except InputError:
            yield from _step(self._build(verses, model), session)
        else:
            session.note(f"\n{model} already exists")
        yield from _step(self._train(verses, model, run), session)
        yield from _step(Report(runs=[str(run)], out=str(page), seed=self.seed, jobs=self.jobs), session)
        yield "\n"
        final = read_run(run).final
        for name in ("dev", "test"):
            before, after = final["before"][name]["bleu"], final[name]["bleu"]
            yield f"{name}: BLEU {before:.2f} before training, {after:.2f} after\n"
        yield f"report: {page}\n"
        session.note(
            f"\nNow try: echo 'And he riseth, and doth go' | hopefear translate {model} --weights {run}/weights.txt"
        )

    def _build(self, verses: Path, model: Path) -> Command[Any]:
        from hopefear.commands.build import Build

        return Build(
            source=[str(verses / "train.source")],
            target=[str(verses / "train.target")],
            # Two thirds of the rules with gaps are seen once: without them the model is half as large, and as good.
            min_rule_count=2,
            out=str(model),
            overwrite=True,
            seed=self.seed,
            jobs=self.jobs,
        )

    def _train(self, verses: Path, model: Path, run: Path) -> Command[Any]:
        from hopefear.commands.train import Train

        def references(part: str) -> list[str]:
            return [str(verses / f"{part}.ref.{i}") for i in range(3)]

        return Train(
            model=str(model),
            source=str(verses / "tune.source"),
            refs=references("tune"),
            dev_source=str(verses / "dev.source"),
            dev_refs=references("dev"),
            test_source=str(verses / "test.source"),
            test_refs=references("test"),
            trainer=self.trainer,
            set=[f"epochs={self.epochs}"],
            # Four learners that take turns use all cores, and the result is the same every time. The search is a
            # quarter as wide as usual: a demonstration should not take long.
            simulate_learners=4,
            pop_limit=50,
            out=str(run),
            overwrite=True,
            seed=self.seed,
            jobs=self.jobs,
        )


def _step(command: Command[Any], session: Session) -> Iterator[str]:
    """Show a command, run it, and give what it prints."""
    session.note(f"\n$ {command_line(command)}")
    yield f"{command.run(session)}\n"
