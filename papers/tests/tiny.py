"""Every experiment of a paper at a tiny size on generated data."""

from __future__ import annotations

from dataclasses import replace

from hopefear_papers import Lab, find, load_all

__all__ = ["check", "names"]


def names(paper: str) -> list[str]:
    return [name for name in load_all() if name.startswith(f"{paper}-")]


def check(name: str, lab: Lab) -> None:
    outcome = find(name).run(lab)
    assert outcome.claims and (outcome.tables or outcome.figures)
    for table in outcome.tables:
        assert all(len(row) == len(table.columns) for row in table.rows)
    again = find(name).run(replace(lab, jobs=1))  # from the cache, and not dependent on jobs
    assert again == outcome
