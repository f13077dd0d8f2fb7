"""A run with everything that the page shows of it."""

from __future__ import annotations

from typing import Any

from hopefear.formats.weights import weight_vector
from hopefear.report.gather import RunData
from hopefear.report.numbers import BeforeAfter, before_after, influence, kept_before_after
from hopefear.report.sentences import Translation, choose, clouds, translations


class Examined:
    """A run with everything that was computed for it."""

    def __init__(self, run: RunData, number: int, count: int, jobs: int) -> None:
        self.run = run
        self.number = number  # on the page
        self.scored: dict[str, BeforeAfter] = {}
        self.changes: list[Translation] = []
        self.clouds: list[dict[str, Any]] = []
        self.deviations: dict[str, float] = {}
        for part, kept in run.kept.items():
            self.scored[part] = kept_before_after(part, kept, jobs)
        if not run.parts:
            return
        for part in run.parts:
            if len(run.parts[part]):
                self.scored[part] = before_after(run, part, jobs)
        pool = run.parts[run.part]
        w = weight_vector(run.weights, pool.feature_names)
        self.deviations = influence(pool if pool.is_lists else pool.kbest(w, 50, jobs=jobs))
        self.changes = translations(run, run.part, jobs)
        picked = choose(self.changes, count)
        made = clouds(run, pool, [one.index for one in picked], jobs)
        self.clouds = [{**each, "change": round(one.change, 4)} for each, one in zip(made, picked, strict=True)]

    def final(self, part: str) -> tuple[float | None, float | None]:
        """Before and after of a part, from the record."""
        final, key = self.run.record.final, self.run.key
        return final.get("before", {}).get(part, {}).get(key), final.get(part, {}).get(key)
