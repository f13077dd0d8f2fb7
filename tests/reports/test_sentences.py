"""Sentences of the page: translations, clouds, trees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hopefear.formats.weights import weight_vector
from hopefear.reports.gather import RunReader
from hopefear.reports.sentences import _joined, choose, clouds, translations


@pytest.mark.parametrize("name", ["kbmira", "ter", "forests"])
def test_hope_is_better_and_fear_is_worse_than_the_best(runs: Path, name: str) -> None:
    run = RunReader(jobs=1).read(runs / name)
    pool = run.parts["dev"]
    chosen = choose(translations(run, "dev", 1), 5)
    made = clouds(run, pool, [translation.index for translation in chosen], jobs=2)
    assert made == clouds(run, pool, [translation.index for translation in chosen], jobs=1)
    for translation, cloud in zip(chosen, made, strict=True):
        for when in ("before", "after"):
            now = cloud[when]
            marks = now["marks"]
            gain = {kind: cloud["points"][place][1] for kind, place in marks.items()}
            assert set(marks) == {"best", "hope", "fear"}
            if name != "forests":  # a search in a forest is approximate
                assert gain["hope"] >= gain["best"] >= gain["fear"]
            assert now["x"][marks["best"]] == pytest.approx(0.0, abs=1e-6)
            assert max(now["x"]) <= 1e-6
        assert cloud["texts"][cloud["points"][cloud["after"]["marks"]["best"]][0]] == translation.after
        assert ("trees" in cloud["after"]) == (name == "forests")


def test_a_tree_says_the_translation(runs: Path) -> None:
    run = RunReader(jobs=1).read(runs / "forests")
    pool = run.parts["dev"]

    def said(node: dict[str, object]) -> list[str]:
        children = [said(child) for child in node["c"]]  # type: ignore[attr-defined]
        return [w for part in node["t"] for w in (children[part - 1] if isinstance(part, int) else [part])]  # type: ignore[attr-defined]

    for i, cloud in enumerate(clouds(run, pool, range(len(pool)))):
        for kind in ("best", "hope", "fear"):
            text = cloud["texts"][cloud["points"][cloud["after"]["marks"][kind]][0]]
            assert " ".join(said(cloud["after"]["trees"][kind])) == text
        best = pool[i].viterbi(weight_vector(run.weights, pool.feature_names))

        def total(node: dict[str, Any]) -> float:
            return float(node["w"]) + float(sum(map(total, node["c"])))

        assert total(cloud["after"]["trees"]["best"]) == pytest.approx(best.score, abs=0.5)


def test_glue_becomes_flat() -> None:
    leaf = {"s": ["x"], "t": ["y"], "w": 1.0, "c": []}
    glue = {"s": [1, 2], "t": [1, 2], "w": 0.5, "c": [leaf, leaf]}
    tree = _joined({"s": [1], "t": [1], "w": 0.25, "c": [{"s": [1, 2], "t": [1, 2], "w": 0.5, "c": [glue, leaf]}]})
    assert len(tree["c"]) == 3 and tree["t"] == [1, 2, 3] and tree["w"] == 1.25
