"""The page of ``hopefear weigh``."""

from __future__ import annotations

from html import escape

from hopefear.evaluation.weigh_result import TITLES, Weighed
from hopefear.reports.page import chart, document, section, small_number, table
from hopefear.util.svg import Curve


def page(weighed: Weighed, name: str) -> str:
    """One self-contained page."""
    scores = [
        [TITLES[key] + (f" ({escape(weighed.chosen)})" if key == "chosen" else ""), small_number(estimate.score),
         f"{small_number(estimate.low)} to {small_number(estimate.high)}"]
        for key, estimate in weighed.held_out.items()
    ]  # fmt: skip
    if weighed.at_random is not None:
        chance = weighed.at_random
        scores.append(["a random candidate", small_number(chance.score), f"{chance.low:.4g} to {chance.high:.4g}"])
    left = {without.feature: without for without in weighed.without}
    weights = []
    for key, weight in weighed.weights.items():
        lost = left.get(key)
        more = [small_number(lost.loss), f"{lost.p:.2g}"] if lost else ["", ""]
        weights.append([escape(key), small_number(weight), small_number(weighed.equal[key]), *more])
    ways = [[escape(way), small_number(score)] for way, score in weighed.compared.items()]
    curve = [
        [str(point.groups), small_number(point.score), f"{point.gain:+.3g}", f"{point.p:.2g}"]
        for point in weighed.curve
    ]
    intro = f"{weighed.groups} groups, {weighed.candidates} candidates, {len(weighed.weights)} scores."
    top = [
        f'<h1>weigh {escape(name)} · {escape(intro)}</h1><p class="verdict">{escape(weighed.verdict)}</p>',
        *(f'<p class="finding">{escape(text)}</p>' for text in weighed.warnings),
    ]
    shown = [
        section("scores", f"{weighed.outcome} on held-out groups", escape(intro),
                table(["", "score", "95 %"], scores, name="scores"), short="Scores"),
        section("weights", "Weights", "The loss on held-out groups without the score, and its p.",
                table(["score", "weight", "equal weight", "lost without it", "p"], weights, name="weights")),
        section("ways", "Trainers", escape(f"By cross-validation. Selected: {weighed.chosen}; {weighed.why}."),
                table(["trainer", "score"], ways, name="trainers")),
        section("curve", "Learning curve", "The score of the selected trainer with fewer groups.", _chart(weighed),
                table(["groups learnt from", "score", "gain over equal weights", "p"], curve, name="curve")),
    ]  # fmt: skip
    return document(f"weigh {name}", "".join(top), shown)


def _chart(weighed: Weighed) -> str:
    if len(weighed.curve) < 2:
        return ""
    x = [float(point.groups) for point in weighed.curve]
    learnt = Curve(weighed.chosen, x, [point.score for point in weighed.curve])
    equal = Curve("equal weights", x, [weighed.held_out["equal"].score] * len(x))
    return chart("learning", "Learning curve", "groups learnt from", weighed.outcome, [learnt, equal])
