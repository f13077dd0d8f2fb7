"""Write a page about runs: what they are worth, and what to do next.

The page is one self-contained HTML file: a verdict on held-out data with its significance, scores in all metrics,
learning curves, warnings, differences between translations, sentences with hope and fear, weights, error surfaces.
Several runs are compared with the first. With --watch, report rewrites the page whenever a run logs something, until
all runs are finished, and the page reloads itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hopefear.commands.base import Command, arg
from hopefear.errors import InputError, OptionError
from hopefear.reports import SENTENCES

if TYPE_CHECKING:
    from hopefear.runs.session import Session


class Report(Command[Path]):
    runs: Sequence[Any] = arg(
        "The directories of the runs.", positional=True, kw_only=False, metavar="RUN", file=True, folder=True
    )
    out: Any = arg("The page to write.", default="report.html", kw_only=False, metavar="FILE")
    sentences: int = arg("Sentences to show with their clouds and trees.", default=SENTENCES, least=0, most=500)
    watch: bool = arg("Include unfinished runs, and rewrite the page as they continue.", default=False)

    examples = """
    hopefear report run
    hopefear report run-mert run-kbmira run-pro --out comparison.html
    hopefear report run --watch                     # while tune or train is running; Ctrl-C stops it
    """
    python = """
    >>> tuned = hf.tune("data/nbest.txt", refs=["data/ref.0", "data/ref.1"], trainer="kbmira", out="run")
    >>> hf.report("run", "report.html").name
    'report.html'
    """

    def check(self) -> None:
        if not self.runs:
            raise OptionError("no run to report on. Give the --out of a tune or train.")
        object.__setattr__(self, "runs", [_run_folder(run) for run in self.runs])

    def run(self, session: Session) -> Any:
        """The path of the page; of runs that are watched on the command line, what is printed meanwhile."""
        from hopefear.reports.make import make_report, watch

        how = {"sentences": self.sentences, "jobs": self.jobs}
        if self.watch:
            return self._watch(session, how) if session.command else watch(self.runs, self.out, **how)
        path = make_report(self.runs, self.out, **how)
        session.note(f"{path.stat().st_size / 1e6:.1f} MB")
        return path

    def _watch(self, session: Session, how: dict[str, int]) -> Iterator[str]:
        from hopefear.reports.make import watched

        times = 0
        try:
            for path in watched(self.runs, self.out, **how):
                times += 1
                if times == 1:
                    yield f"{path}\n"
                    session.note("rewriting the page whenever a run logs something; Ctrl-C stops")
            session.note("all runs are finished" + (f"; written {times} times" if times > 1 else ""))
        except KeyboardInterrupt:
            session.note("stopped; the page will not be rewritten again")


def _run_folder(run: Any) -> Path:
    """The directory of a run; its ``run.json`` will do as well."""
    from hopefear.util.messages import some

    path = Path(run)
    if path.name == "run.json":
        path = path.parent
    if not (path / "run.json").is_file():
        runs = sorted(str(record.parent) for record in path.glob("*/run.json")) if path.is_dir() else []
        cure = f"There is one in {some(runs)}" if runs else "Give the --out of a tune or train"
        raise InputError(f"{run}: is not a run directory: it has no run.json. {cure}.")
    return path
