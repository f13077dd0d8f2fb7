"""Repeat a table or figure of one of the papers.

States the paper's claim, runs it under several seeds, prints a table with the paper's numbers in brackets, and
tells you which claims held. Keeps results below --out, so a rerun continues where the last one stopped. Without NAME,
lists all experiments. With --cluster, results are computed on all machines, which must reach --data, --model and --out
by the same paths.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopefear.commands.base import Command, arg
from hopefear.errors import InputError

if TYPE_CHECKING:
    from hopefear.runs.session import Session
    from hopefear_papers.base import Experiment as PaperExperiment, Lab


class Experiment(Command[Iterator[str]]):
    names: Sequence[str] = arg("The tables and figures to repeat, or all.", default=(), positional=True, metavar="NAME")
    data: Any = arg(
        "A folder with es-en-fisher, de-en-multi30k, ur-en-indian or es-en-kbest (lists), or your own task.",
        default=None,
        file=True,
        folder=True,
        metavar="DIR",
        shown="generated",
    )
    model: Any = arg(
        "A model of the main task.", default=None, file=True, folder=True, metavar="MODEL", shown="built once"
    )
    size: str = arg(
        "small takes minutes; full is the paper's size; tiny is for a trial.", default="small", metavar="SIZE"
    )
    out: Any = arg("Where the results go.", default="hopefear-experiments", metavar="DIR")
    replicates: int = arg("Seeds for each recipe; 0: as many as --size says.", default=0, least=0)
    cluster: str | None = arg(
        "Run on a Ray cluster; auto: the one this machine belongs to, local: this machine.",
        default=None,
        metavar="ADDRESS",
    )

    examples = """
    hopefear experiment                                   # the list
    hopefear experiment chiang-fig1 --data data
    hopefear experiment tan-table1 tan-table2 --data data --size full --out results
    hopefear experiment all --size tiny
    hopefear experiment all --data /shared/data --size full --out /shared/results --cluster auto
    """

    def run(self, session: Session) -> Iterator[str]:
        """The text to print: the list of experiments, or each result when it is complete."""
        from hopefear_papers import find, load_all

        known = load_all()
        if not self.names:
            width = max(map(len, known))
            for experiment in known.values():
                yield f"{experiment.name.ljust(width)}  {experiment.paper}: {experiment.title}\n"
            return
        chosen = list(known.values()) if tuple(self.names) == ("all",) else [find(name) for name in self.names]
        if Path(self.out).exists() and not Path(self.out).is_dir():
            raise InputError(f"{self.out}: is a file. --out takes a directory")
        with ExitStack() as stack:
            yield from self._results(chosen, self._lab(chosen, session, stack))

    def _lab(self, chosen: Sequence[PaperExperiment], session: Session, stack: ExitStack) -> Lab:
        """The laboratory; on a cluster, work has begun there."""
        from hopefear_papers.base import Lab, begin_all
        from hopefear_papers.on_cluster import trials

        lab = Lab(
            out=Path(self.out),
            data=Path(self.data) if self.data else None,
            model=Path(self.model) if self.model else None,
            size=self.size,
            replicates=self.replicates,
            seed=self.seed,
            jobs=1 if self.cluster else self.jobs,
            run=session,
        )
        if self.cluster:
            lab.out.mkdir(parents=True, exist_ok=True)
            lab = replace(lab, far=stack.enter_context(trials(self.cluster, lab.paths)))
            begin_all(chosen, lab)
        return lab

    def _results(self, chosen: Sequence[PaperExperiment], lab: Lab) -> Iterator[str]:
        from hopefear_papers.base import lines_of, write_outcome

        for number, experiment in enumerate(chosen):
            began = time.monotonic()
            lab.run.note(f"{experiment.name} ({number + 1} of {len(chosen)}): {experiment.title}")
            outcome = experiment.run(lab)
            yield ("\n" if number else "") + "\n".join(lines_of(experiment, outcome)) + "\n"
            written = ", ".join(str(path) for path in write_outcome(experiment, lab, outcome))
            lab.run.note(f"{experiment.name}: {time.monotonic() - began:.0f} s; {written}")
