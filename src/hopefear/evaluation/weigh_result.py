"""The result of ``hopefear weigh``: the scores of the weights, and the verdict in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from hopefear.reranker import Reranker, Scoring
from hopefear.util.messages import digits_for, plural, some, table
from hopefear.util.values import plain

FEW = 20  # groups below which no verdict is given
CERTAIN = 0.05  # p below which a difference is called one
TITLES = {"chosen": "chosen", "equal": "equal weights", "best_single": "best single score"}


@dataclass(frozen=True)
class Measured:
    """A score on groups that were not learnt from, with its 95 % interval."""

    score: float
    low: float
    high: float

    def cells(self) -> list[str]:
        """Score and interval as a table shows them."""
        d = digits_for([self.score, self.low, self.high])
        return [f"{self.score:.{d}f}", f"{self.low:.{d}f} to {self.high:.{d}f}"]


@dataclass(frozen=True)
class Point:
    """A point of the learning curve."""

    groups: int
    score: float
    gain: float  # over equal weights
    p: float


@dataclass(frozen=True)
class Left:
    """The loss without one score, and its p value."""

    feature: str
    loss: float
    p: float


@dataclass(frozen=True)
class Weighed(Scoring):
    """Weights, and what they are worth."""

    chosen: str  # how they were learnt
    why: str
    weights: dict[str, float]
    equal: dict[str, float]  # weights that need no learning
    held_out: dict[str, Measured]  # chosen, equal, best_single
    better_than_equal: bool | None  # None: cannot tell
    gain: float  # over equal weights
    interval: tuple[float, float]  # of the gain, 95 %
    p: float
    at_random: Measured | None  # a random candidate of each group; None where that has no score
    better_than_chance: bool | None
    outcome: str
    best_single: str  # the score that is best alone
    groups: int
    candidates: int
    compared: dict[str, float]  # each way's score in cross-validation
    curve: list[Point]
    without: list[Left]
    warnings: list[str]
    verdict: str = ""
    group: str = ""  # the column that says which candidates compete
    means: dict[str, float] = field(default_factory=dict)  # of each score
    missing: str = "error"  # what a missing score becomes: the policy that was learnt with, where lists have it
    path: Path | None = None

    @property
    def reranker(self) -> Reranker:
        about = {"chosen": self.chosen, "verdict": self.verdict}
        return Reranker(self.weights, self.missing, self.means, self.outcome, self.group, about)

    def _repr_html_(self) -> str:
        """For notebooks."""
        from hopefear.display import weighed_html

        return weighed_html(self)

    def record(self) -> dict[str, Any]:
        """The output of ``--json``, and the content of ``weigh.json``."""
        record = asdict(self)
        record.pop("path")
        return dict(plain(record))

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """The verdict; scores on groups that were not learnt from, the weights, and the learning curve."""
        return "\n\n".join([self.verdict, *map(table, self.tables()), f"chosen: {self.chosen} ({self.why})"])

    def tables(self) -> tuple[list[list[str]], ...]:
        """Scores, weights and learning curve as rows of cells."""
        scores = [[self.outcome, "score", "95 %"]]
        for key, measured in self.held_out.items():
            title = f"{TITLES[key]} ({self.chosen})" if key == "chosen" else TITLES[key]
            scores.append([title, *measured.cells()])
        if self.at_random is not None:
            scores.append(["random choice", *self.at_random.cells()])
        left = {drop.feature: drop for drop in self.without}
        weights = [["score", "weight", "lost without it", "p"]]
        for name, weight in self.weights.items():
            lost = left.get(name)
            weights.append([name, f"{weight:.4g}", f"{lost.loss:.3g}" if lost else "", f"{lost.p:.2g}" if lost else ""])
        curve = [["groups learnt from", "score", "gain over equal", "p"]]
        for point in self.curve:
            score = f"{point.score:.{digits_for([point.score])}f}"
            curve.append([str(point.groups), score, f"{point.gain:+.3g}", f"{point.p:.2g}"])
        return scores, weights, curve


def verdict(weighed: Weighed) -> str:
    """In plain words."""
    half = (weighed.interval[1] - weighed.interval[0]) / 2
    by = f"by {abs(weighed.gain):.3g} ± {half:.2g} in {weighed.outcome} on held-out groups"
    doubts = [warning.partition(": did")[0] for warning in weighed.warnings if "leak" in warning]
    if weighed.groups < FEW:
        doubts.append(f"{plural(weighed.groups, 'group')} cannot tell good weights from luck")
    elif weighed.better_than_chance is not True and weighed.at_random is not None:
        figures = f"{weighed.held_out['chosen'].score:.3g} against {weighed.at_random.score:.3g}"
        doubts.append(f"no better than a random candidate as far as {weighed.groups} groups can tell ({figures})")
    lines = [f"Do not trust this: {doubt}." for doubt in doubts]
    if weighed.better_than_equal:
        lines.append(f"Better than equal weights {by}.")
        short = [point for point in weighed.curve[:-1] if not (point.p <= CERTAIN and point.gain > 0)]
        if short:
            lines.append(f"{short[-1].groups} groups would not have been enough.")
    elif weighed.better_than_equal is False:
        lines.append(f"Worse than equal weights {by}: the result has equal weights.")
    else:
        lines.append(
            f"No better than equal weights as far as {weighed.groups} groups can tell ({weighed.gain:+.3g}, "
            f"p = {weighed.p:.2g}): use equal weights, or label more groups."
        )
    nothing = [drop for drop in weighed.without if drop.p > CERTAIN]
    if weighed.better_than_equal and nothing and len(nothing) < len(weighed.without):
        least = min(drop.p for drop in nothing)
        words = "adds nothing" if len(nothing) == 1 else "add nothing"
        names = some(drop.feature for drop in nothing)
        lines.append(f"{names} {words} significant (p = {least:.2g} or more).")
    return " ".join(lines)
