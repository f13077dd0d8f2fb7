"""Chiang (2012): Hope and fear for discriminative training of statistical translation models."""

from __future__ import annotations

from typing import Any

import numpy as np

from hopefear.experiments.base import Claim, Curve, Figure, Lab, Outcome, Table, experiment
from hopefear.experiments.clouds import cloud, typical_document
from hopefear.experiments.material import Part, main_system
from hopefear.tuning import vector

PAPER = "Chiang 2012"


def _longest(part: Part, count: int, most: int = 40) -> Part:
    """The longest sentences up to so many words: the paper's news has 22 words a line, telephone speech 10."""
    sizes = [len(text.split()) for text in part.sources]
    order = sorted((i for i, size in enumerate(sizes) if size <= most), key=lambda i: (-sizes[i], i))
    kept = sorted(order[:count])
    return Part([part.sources[i] for i in kept], [[column[i] for i in kept] for column in part.references])


@experiment("chiang-fig1", "fear in the whole forest and in the 100-best list", f"{PAPER}, figure 1")
def fig1(lab: Lab) -> Outcome:
    """Searching the whole forest for the fear derivation is better than searching the n-best list, which covers a
    small portion of the space: the fear of the forest is far outside the box of the 100 best."""
    on = main_system(lab)
    count = lab.pick(tiny=8, small=150, full=800)

    def compute() -> dict[str, Any]:
        start = on.initial()
        part = _longest(on.dev, count)
        forests = on.forests(part, start)
        document = typical_document(forests, start, lab.jobs)
        found = {how: forests.hope_fear(start, document, approximation=how, jobs=lab.jobs)
                 for how in ("forest", "linear", "kbest")}  # fmt: skip
        lists = forests.kbest(start, 100, distinct=False, jobs=lab.jobs)
        w = vector(lists, start)
        floors = [float(lists[i].scores(w).min()) for i in range(len(lists))]
        rows: dict[str, dict[str, list[float]]] = {}
        for how, triples in found.items():
            rows[how] = {
                # w.h(d) + mu loss(d) up to what is the same for all d: what the search maximises
                "hope": [triple.hope.score + triple.hope.gain for triple in triples],
                "fear": [triple.fear.score - triple.fear.gain for triple in triples],
                "hope gain": [triple.hope.gain for triple in triples],
                "fear gain": [triple.fear.gain for triple in triples],
                "outside": [float(triple.fear.score < floor) for triple, floor in zip(triples, floors, strict=True)],
            }
        words = np.array([len(text.split()) for text in part.sources])
        example = int(np.argmin(np.abs(words - 14)))
        return {"rows": rows, "example": cloud(forests, example, start, on.metric, document=document, seed=lab.seed)}

    found = lab.cached("chiang fig1", {**on.key, "sentences": count, "form": 5}, compute)
    rows = found["rows"]
    table, better, ahead = [], {}, {}
    for kind in ("fear", "hope"):
        for how, name in (("kbest", "100-best"), ("forest", "forest reranking"), ("linear", "linear BLEU")):
            values, base = np.array(rows[how][kind]), np.array(rows["kbest"][kind])
            better[kind, how] = float(np.mean(values > base + 1e-9))
            ahead[kind, how] = float(np.mean(values - base))
            table.append(
                [kind, name, f"{values.mean():.3f}", f"{ahead[kind, how]:+.3f}", f"{100 * better[kind, how]:.0f} %",
                 f"{np.mean(rows[how][f'{kind} gain']):.3f}"]
            )  # fmt: skip
    outside = 100 * float(np.mean(rows["forest"]["outside"]))
    worse = float(np.mean(np.array(rows["forest"]["fear"]) < np.array(rows["kbest"]["fear"]) - 1e-9))
    example = found["example"]
    shown = (("sample", "random samples"), ("kbest", "100-best"), ("best", "best"), ("hope", "hope, forest"),
             ("fear", "fear, forest"), ("fear_kbest", "fear, 100-best"))  # fmt: skip
    curves = [
        Curve(name, [p[0] for p in example["points"][kind]], [p[1] for p in example["points"][kind]], points=True)
        for kind, name in shown
    ]
    return Outcome(
        tables=[
            Table(
                f"{len(rows['forest']['fear'])} long sentences of {on.task.name}; objective: w.h + B, for fear w.h - B",
                ["what", "search", "objective", "over 100-best", "better in", "B"],
                table,
            )
        ],
        claims=[
            Claim(
                "fear found in the forest is better than that of the 100-best list",
                ahead["fear", "forest"] > 0,
                f"{ahead['fear', 'forest']:+.3f} on average; better in {100 * better['fear', 'forest']:.0f} % of the "
                f"sentences, worse in {100 * worse:.0f} %",
            ),
            Claim(
                "so is hope",
                ahead["hope", "forest"] > 0,
                f"{ahead['hope', 'forest']:+.3f} on average, better in {100 * better['hope', 'forest']:.0f} %",
            ),
            Claim("it lies outside the 100-best box", outside > 50, f"in {outside:.0f} % of the sentences"),
        ],
        figures=[Figure("chiang-fig1", example["source"], "model score", "BLEU+1 of the sentence", curves)],
        numbers={"ahead": {" ".join(key): value for key, value in ahead.items()}},
    )
