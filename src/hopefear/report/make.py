"""From run directories to the page."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from html import escape
from pathlib import Path

import hopefear
from hopefear.errors import InputError
from hopefear.report import page, sections
from hopefear.report.examined import Examined
from hopefear.report.gather import Reader, RunData
from hopefear.util.files import atomic_write


def make_report(
    runs: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str], *, sentences: int = 24, jobs: int = 0
) -> Path:
    """Write the page of these runs. Of several runs the first is the one that the others are compared with."""
    if not runs:
        raise InputError("no run to report on. Give the --out of a tune or train")
    out = Path(out)
    reader = Reader(jobs)
    read = _distinct([reader.read(Path(run)) for run in runs])
    found = [Examined(run, number, sentences, jobs) for number, run in enumerate(read)]
    text = _page(found, jobs)
    out.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(out) as file:
        file.write(text)
    return out


def _distinct(runs: list[RunData]) -> list[RunData]:
    """Runs of the same name in different folders get the folder's name too."""
    names = [run.name for run in runs]
    for run in runs:
        if names.count(run.name) > 1:
            run.name = str(run.path)
    return runs


def _page(found: Sequence[Examined], jobs: int) -> str:
    runs = [one.run for one in found]
    label = page.escape_metric(runs[0].key)
    names = [run.name for run in runs]
    shown = [("start", "In a minute", sections.start(found))]
    shown.append(("scores", "Scores", sections.scores(found, jobs)))
    shown.append(("warnings", "Warnings", sections.warnings(runs)))
    shown.append(("curves", "Learning", sections.curves(runs)))
    seen = [one for one in found if one.clouds]
    if seen:
        shown.append(("sentence", "A sentence", sections.sentence(seen)))
        shown.append(("translations", "Translations", sections.translations(seen)))
    shown.append(("weights", "Weights", sections.weights(found, names)))
    if seen:
        shown.append(("surface", "Error surface", sections.surface(seen, jobs)))
    if any(one.bleu for each in found for one in each.scored.values()):
        shown.append(("length", "Length and n-grams", sections.lengths(found)))
    shown.append(("made", "How it was made", sections.made(runs)))
    links = "".join(f'<li><a href="#{name}">{escape(short)}</a></li>' for name, short, _ in shown)
    title = f"hopefear: {', '.join(names)}" if len(names) <= 3 else f"hopefear: {len(names)} runs"
    body = (
        '<a class="skip" href="#start">to the content</a>'
        f"<header><h1>{escape(_headline(runs))}</h1>{sections.summary(found)}</header>"
        f'<nav aria-label="sections"><ul>{links}</ul></nav>'
        f"<main>{''.join(content for _, _, content in shown)}</main>"
        f"<footer>Made by hopefear {escape(hopefear.__version__)} on {time.strftime('%Y-%m-%d', time.gmtime())}. "
        "This page holds everything it shows and asks nothing of the network.</footer>"
    )
    data = {"metric": label, "runs": [{"name": one.run.name, "sentences": one.clouds} for one in seen]}
    return page.document(title, body, data)


def _headline(runs: Sequence[RunData]) -> str:
    if len(runs) == 1:
        return f"What training with {runs[0].trainer} did"
    return f"What training did: {len(runs)} runs"
