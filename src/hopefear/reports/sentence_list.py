"""All sentences with what every system says of them, as the script lists them: searched, filtered, any two compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hopefear._core import Pool
from hopefear.evaluation.scores import best_of
from hopefear.metrics import Metric
from hopefear.reports import page
from hopefear.reports.page import Section, section
from hopefear.reports.run_view import PARTS, TITLES, RunView
from hopefear.reports.verdict import Ranking

BEFORE = "before training"


@dataclass(frozen=True)
class SourceSentence:
    """What is the same for all systems."""

    id: str
    source: str
    references: Sequence[str]


@dataclass(frozen=True)
class Listing:
    """Sentences, part after part, and what the systems say: for each a text and its score, 0 to 1, per sentence."""

    title: str  # the metric of the scores
    parts: Sequence[tuple[str, int]]  # titles and numbers of sentences
    sentences: Sequence[SourceSentence]
    systems: Mapping[str, Sequence[tuple[str, float]]]
    pair: tuple[int, int]  # the systems that are compared at first

    def record(self) -> dict[str, Any]:
        """Each text once per sentence."""
        texts, choices, gains = [], [], []
        for each in zip(*self.systems.values(), strict=True):
            known = {text: round(float(gain), 4) for text, gain in each}
            place = {text: k for k, text in enumerate(known)}
            texts.append(list(known))
            gains.append(list(known.values()))
            choices.append([place[text] for text, _ in each])
        return {
            "parts": [list(part) for part in self.parts],
            "systems": list(self.systems),
            "pair": list(self.pair),
            "ids": [sentence.id for sentence in self.sentences],
            "sources": [sentence.source for sentence in self.sentences],
            "references": [list(sentence.references) for sentence in self.sentences],
            "texts": texts,
            "said": choices,
            "gains": gains,
        }


def listing(judged: Ranking) -> Listing | None:
    """The runs of a metric on the same sentences, the best first, and the translations before training."""
    runs = [view for system in (*judged.order, *judged.apart) for view in system.runs if view.sentences]
    if not any(each.after for view in runs for changes in view.sentences.values() for each in changes):
        return None  # scores without texts
    parts = [part for part in (*PARTS, "examples") if part in runs[0].sentences]
    runs = [view for view in runs if all(_same(view, runs[0], part) for part in parts)]
    whole = {view: [each for part in parts for each in view.sentences[part]] for view in runs}
    systems: dict[str, list[tuple[str, float]]] = {}
    for view, changes in whole.items():
        systems[view.run.name] = [(each.after, each.gain_after) for each in changes]
    for view, changes in whole.items():  # usually the same for all
        before = [(each.before, each.gain_before) for each in changes]
        if before not in systems.values():
            name = BEFORE if BEFORE not in systems else f"{view.run.name}, {BEFORE}"
            systems[name] = before
    if len(systems) < 2:
        systems[BEFORE] = list(next(iter(systems.values())))
    first = whole[runs[0]]
    names = list(systems)
    pair = (1, 0) if len(runs) > 1 else (names.index(BEFORE), 0)
    return Listing(
        judged.group.title,
        [(TITLES[part], len(runs[0].sentences[part])) for part in parts],
        [SourceSentence(sentence.id, sentence.source, sentence.references or []) for sentence in first],
        systems,
        pair,
    )


def candidates_listing(
    title: str, part: str, pool: Pool, weights: Mapping[str, Mapping[str, float]], metric: Metric, jobs: int = 0
) -> Listing | None:
    """What each of these weights selects from the same candidates; None if the candidates have no text."""
    systems = {}
    for name, each in weights.items():
        selected = best_of(pool, each, jobs)
        gains = metric.sentence_gains(metric.stats(selected, jobs))
        systems[name] = [(selected.text(i, 0), float(gain)) for i, gain in enumerate(gains)]
    if not any(text for rows in systems.values() for text, _ in rows):
        return None
    sentences = [SourceSentence(pool.ids[i], pool.source(i), pool.references(i)) for i in range(len(pool))]
    return Listing(title, [(part, len(pool))], sentences, systems, (min(1, len(systems) - 1), 0))


def _same(view: RunView, other: RunView, part: str) -> bool:
    return part in view.sentences and part in view.scored and view.scored[part].of == other.scored[part].of


def sentences(listings: Sequence[Listing], note: str = "") -> Section | None:
    """The section; the script fills it with the data of the page."""
    if not listings:
        return None
    boxes = []
    for number, listing in enumerate(listings):
        box = (
            f'<div class="listing" data-listing="{number}"><p class="faint">{len(listing.sentences):,} sentences of '
            f"{len(listing.systems)} systems. They need JavaScript.</p></div>"
        )
        boxes.append(page.headed(len(listings) == 1, listing.title, box))
    lead = (
        "Every sentence, with the translations of any two systems: <del>only the first</del>, "
        "<ins>only the second</ins>. The numbers are the score of the sentence alone, 0 to 1, and the second minus the "
        "first. Each sentence has an "
        f"address to link to.{note}"
    )
    return section("sentences", "Sentences", lead, *boxes)
