"""From run directories to the page."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from hopefear.errors import InputError
from hopefear.reports import SENTENCES, compare, page, scores, sections
from hopefear.reports.gather import RunData, RunReader
from hopefear.reports.run_view import MetricGroup, RunView, by_metric
from hopefear.reports.sentence_list import listing, sentences
from hopefear.reports.verdict import judged
from hopefear.util.files import atomic_write, path_name
from hopefear.util.messages import plural, some

EVERY = 2.0  # seconds between two looks at a run that is watched
RELOAD = 5000  # milliseconds after which its page loads itself again
AGAIN = (
    f'<p class="reloads" data-reload="{RELOAD}">A run is not finished. While <code>report --watch</code> runs, '
    "this page is rewritten and reloads itself every few seconds. "
    '<button type="button" hidden>stop loading</button></p>'
)


def make_report(
    runs: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str], *, sentences: int = SENTENCES, jobs: int = 0
) -> Path:
    """Write the page of these runs. Of several runs the first is the one that the others are compared with."""
    return _Maker(runs, out, sentences, jobs).write()


def watch(
    runs: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    sentences: int = SENTENCES,
    jobs: int = 0,
    every: float = EVERY,
) -> Path:
    """Write the page, of unfinished runs too, and again whenever one of them has logged something; until all are done.

    The page of unfinished runs loads itself again, the last one does not.
    """
    *_, path = watched(runs, out, sentences=sentences, jobs=jobs, every=every)
    return path


def watched(
    runs: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    sentences: int = SENTENCES,
    jobs: int = 0,
    every: float = EVERY,
) -> Iterator[Path]:
    """The same, step by step: the path of the page each time that it was written."""
    maker = _Maker(runs, out, sentences, jobs, unfinished=True)
    seen: object = None
    while True:
        state = maker.state()
        if state != seen:
            seen = state
            yield maker.write()
            if maker.finished:
                return
        time.sleep(every)


class _Maker:
    """Makes the page of some runs, again and again; a finished run is examined once."""

    def __init__(
        self,
        runs: Sequence[str | os.PathLike[str]],
        out: str | os.PathLike[str],
        sentences: int,
        jobs: int,
        unfinished: bool = False,
    ) -> None:
        if not runs:
            raise InputError("no run to report on. Give the --out of a tune or train")
        self.paths = [Path(run) for run in runs]
        self.out = Path(out)
        if self.out.is_file() and self.out.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"{path_name(self.out)}: exists and is no page: take a name that ends in .html")
        self.sentences, self.jobs = sentences, jobs
        self.reader = RunReader(jobs, unfinished)
        self.finished = False
        self._examined: dict[int, RunView] = {}

    def state(self) -> list[tuple[int, int]]:
        """What changes when a run continues: the size of its log, and the age of its record."""
        states = []
        for path in self.paths:
            for name in ("log.jsonl", "run.json"):
                try:
                    about = (path / name).stat()
                    states.append((about.st_size, about.st_mtime_ns))
                except OSError:
                    states.append((0, 0))
        return states

    def write(self) -> Path:
        runs = [self._examine(number, path) for number, path in enumerate(self.paths)]
        _name_apart([view.run for view in runs])
        self.finished = all(view.run.finished for view in runs)
        text = _page(runs, self.jobs)
        self.out.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(self.out) as file:
            file.write(text)
        return self.out

    def _examine(self, number: int, path: Path) -> RunView:
        if number not in self._examined:
            view = RunView(self.reader.read(path), number, self.sentences, self.jobs)
            if not view.run.finished:
                return view
            self._examined[number] = view
        return self._examined[number]


def _name_apart(runs: Sequence[RunData]) -> None:
    """Runs of the same name in different folders get the folder's name too."""
    names = [run.name for run in runs]
    for run in runs:
        if names.count(run.name) > 1:
            run.name = str(run.path)


def _page(view: Sequence[RunView], jobs: int) -> str:
    runs = [each.run for each in view]
    names = [run.name for run in runs]
    groups = by_metric(view)
    judgements = [judged(group, jobs) for group in groups]
    seen = [each for each in view if each.clouds]
    listings = [listed for each in judgements if each is not None and (listed := listing(each)) is not None]
    weights, rows = compare.weights_table(view)
    compared = [each.compared for each in judgements if each is not None and each.compared is not None]
    shown = [
        scores.pairs(compared, len(groups) == 1),
        scores.scores(groups, jobs),
        compare.metrics(groups, judgements, jobs),
        sections.warnings(runs),
        sections.curves(groups),
        sections.buckets(judgements),
        sentences(listings),
        sections.candidates(seen) if seen else None,
        sections.weights(groups) if weights is not None else None,
        weights,
        sections.surface(seen, jobs) if seen else None,
        sections.lengths(view) if any(part.bleu for each in view for part in each.scored.values()) else None,
        compare.options(view) if len(runs) > 1 else None,
        sections.made(runs),
    ]
    data = {
        "runs": [
            {"name": each.run.name, "metric": page.escape_metric(each.run.key), "sentences": each.clouds}
            for each in seen
        ],
        "sentences": [listed.record() for listed in listings],
        "weights": rows,
    }
    again = "" if all(run.finished for run in runs) else AGAIN
    title = f"hopefear: {', '.join(names)}" if len(names) <= 3 else f"hopefear: {len(names)} runs"
    return page.document(title, again + scores.top(_heading(groups, runs), groups, judgements, jobs), shown, data)


def _heading(groups: Sequence[MetricGroup], runs: Sequence[RunData]) -> str:
    """What was compared, in one line."""
    names = some([run.name for run in runs], 6)
    metrics = ", ".join(group.title for group in groups)
    what = plural(len(runs), "run") if len(runs) > 1 else f"What training with {runs[0].trainer} did"
    return f"{what}: {names} · {metrics}" if len(runs) > 1 else f"{what} · {names} · {metrics}"
