"""``hopefear weigh``: a table in; weights, a record and a page out.

found = weigh("scores.csv", group="prompt", outcome="reward", out="weights")
print(found.verdict)
"""

from __future__ import annotations

import json
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from hopefear.errors import InputError
from hopefear.formats.weights import write_weights
from hopefear.report.page import card, document, scrolled, section, small_number, table
from hopefear.report.svg import Curve, line_chart
from hopefear.runs.events import Listener
from hopefear.runs.session import Session
from hopefear.train.weighing import WeighConfig, Weighed, weighed
from hopefear.util.files import atomic_write

TITLES = {"chosen": "chosen", "equal": "equal weights", "best_single": "best single score"}


def weigh(table: Any, listen: Listener = lambda event: None, **options: Any) -> Weighed:
    """Learn weights for the scores of a table, and say what they are worth.

    ``table`` is a file, a frame or a dict of arrays, with the options of ``WeighConfig`` beside it; or a WeighConfig.
    With ``out``, weights and a page are written there.
    """
    config = table if isinstance(table, WeighConfig) else WeighConfig(table=table, **options)
    if config.out is not None:
        _check_out(Path(config.out), config.overwrite)
    found = weighed(config, Session(listen))
    return _kept(found, config) if config.out is not None else found


def _check_out(path: Path, overwrite: bool) -> None:
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: is a file. --out takes a directory")
    if not overwrite and (path / "weigh.json").exists():
        raise InputError(f"{path}: holds a result already. --overwrite replaces it, or take another --out")


def _kept(found: Weighed, config: WeighConfig) -> Weighed:
    path = Path(str(config.out))
    path.mkdir(parents=True, exist_ok=True)
    write_weights(found.weights, path / "weights.txt")
    write_weights(found.equal, path / "equal.txt")
    with atomic_write(path / "weigh.html") as file:
        file.write(page(found, config.name))
    record = {"command": list(config.command), "seed": config.seed, **found.record()}
    with atomic_write(path / "weigh.json") as file:
        json.dump(record, file, indent=2, ensure_ascii=False, allow_nan=False)
        file.write("\n")
    return replace(found, path=path)


def page(found: Weighed, name: str) -> str:
    """One self-contained page."""
    scores = [
        [TITLES[key] + (f" ({escape(found.chosen)})" if key == "chosen" else ""), small_number(one.score),
         f"{small_number(one.low)} to {small_number(one.high)}"]
        for key, one in found.held_out.items()
    ]  # fmt: skip
    if found.at_random is not None:
        one = found.at_random
        scores.append(["a candidate by chance", small_number(one.score), f"{one.low:.4g} to {one.high:.4g}"])
    left = {one.feature: one for one in found.without}
    weights = []
    for key, weight in found.weights.items():
        lost = left.get(key)
        more = [small_number(lost.loss), f"{lost.p:.2g}"] if lost else ["", ""]
        weights.append([escape(key), small_number(weight), small_number(found.equal[key]), *more])
    ways = [[escape(way), small_number(score)] for way, score in found.compared.items()]
    curve = [[str(one.groups), small_number(one.score), f"{one.gain:+.3g}", f"{one.p:.2g}"] for one in found.curve]
    intro = f"{found.groups} groups, {found.candidates} candidates, {len(found.weights)} scores."
    body = [
        f"<h1>{escape(name)}</h1>",
        card(f"<p><strong>{escape(found.verdict)}</strong></p>", *(f"<p>{escape(one)}</p>" for one in found.warnings)),
        section("scores", f"{found.outcome} on groups that were not learnt from", escape(intro),
                table(["", "score", "95 %"], scores)),
        section("weights", "Weights", "What unseen groups lose when a score is left out; p: could that be chance?",
                table(["score", "weight", "equal weight", "lost without it", "p"], weights)),
        section("ways", "Ways to learn", escape(f"By cross-validation. Chosen: {found.chosen}; {found.why}."),
                table(["way", "score"], ways)),
        section("curve", "Learning curve", "How the chosen way does with fewer groups.", _chart(found),
                table(["groups learnt from", "score", "gain over equal weights", "p"], curve)),
    ]  # fmt: skip
    return document(f"weigh {name}", "<main>" + "".join(body) + "</main>", {})


def _chart(found: Weighed) -> str:
    if len(found.curve) < 2:
        return ""
    x = [float(one.groups) for one in found.curve]
    learnt = Curve(found.chosen, x, [one.score for one in found.curve])
    equal = Curve("equal weights", x, [found.held_out["equal"].score] * len(x))
    return scrolled(line_chart("Learning curve", "groups learnt from", found.outcome, [learnt, equal]))
