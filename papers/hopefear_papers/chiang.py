"""Chiang (2012): Hope and fear for discriminative training of statistical translation models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from hopefear.decode import Hiero
from hopefear.evaluation.clouds import cloud, typical_document
from hopefear.evaluation.significance import Comparison
from hopefear.formats.weights import weight_vector
from hopefear.trainers.data import Corpus, Task
from hopefear.trainers.online.mira import Mira
from hopefear.util.svg import Curve
from hopefear_papers.base import Claim, Figure, Lab, Outcome, Table, better, experiment, levelled, spread, with_spread
from hopefear_papers.loop import OCH, compare, mark
from hopefear_papers.online import POP_LIMIT, online_setup, trained
from hopefear_papers.setups import Setup
from hopefear_papers.tasks import Part
from hopefear_papers.verdicts import RATE, Gap, in_bleu

PAPER = "Chiang 2012"


def _longest(part: Part, count: int, most: int = 40) -> Part:
    """The longest sentences up to so many words: the paper's news has 22 words per line, telephone speech 10."""
    sizes = [len(text.split()) for text in part.sources]
    order = sorted((i for i, size in enumerate(sizes) if size <= most), key=lambda i: (-sizes[i], i))
    return part.subset(sorted(order[:count]))


#: The weights of figure 1: those that a model is built with, a quarter of them (the loss then counts four times as
#: much), and those that MIRA learns.
SCALES = {"as built": 1.0, "a quarter": 0.25, "MIRA's": None}


def _scaled(lab: Lab, on: Setup, learn: Part, scale: float | None) -> dict[str, float]:
    if scale is not None:
        return {name: scale * value for name, value in on.initial().items()}
    decoder = Hiero(on.model, on.initial(), templates=(), pop_limit=POP_LIMIT)
    learner = Mira(seed=lab.seed, jobs=lab.jobs, epochs=lab.pick(tiny=1, small=3, full=3))
    return dict(learner.fit(Task(decoder, Corpus(learn.sources, learn.raw)), on.initial()).weights)


def _searched(lab: Lab, on: Setup, part: Part, learn: Part) -> dict[str, Any]:
    """The objective of hope and fear by three ways of search, and the cloud of the sentence where they differ most."""
    words = np.array([len(text.split()) for text in part.sources])
    rows: dict[str, dict[str, dict[str, list[float]]]] = {}
    for label, scale in SCALES.items():
        w = _scaled(lab, on, learn, scale)
        forests = on.forests(part, w)
        document = typical_document(forests, w, lab.jobs)
        lists = forests.kbest(w, 100, distinct=False, jobs=lab.jobs)
        floors = [float(lists[i].scores(weight_vector(w, lists.feature_names)).min()) for i in range(len(lists))]
        rows[label] = {}
        for how in ("kbest", "forest", "linear"):
            triples = forests.hope_fear(w, document, approximation=how, jobs=lab.jobs)
            rows[label][how] = {
                # w.h(d) + mu loss(d) up to what is the same for all d: what the search maximises
                "hope": [triple.hope.score + triple.hope.gain for triple in triples],
                "fear": [triple.fear.score - triple.fear.gain for triple in triples],
                "outside": [float(one.fear.score < floor) for one, floor in zip(triples, floors, strict=True)],
            }
    gained = np.array(rows[label]["forest"]["fear"]) - np.array(rows[label]["kbest"]["fear"])
    example = int(np.argmax(np.where((words >= 8) & (words <= 25), gained, -np.inf)))
    shown = cloud(forests, example, w, on.metric, document=document, seed=lab.seed)
    return {"rows": rows, "words": [int(words.min()), float(words.mean())], "weights": w, "example": shown}


@experiment("chiang-fig1", "fear in the whole forest and in the 100-best list", f"{PAPER}, figure 1")
def fig1(lab: Lab) -> Outcome:
    """Searching the whole forest for the fear derivation is better than searching the n-best list, which covers a
    small portion of the space: the fear of the forest is far outside the box of the 100 best."""
    on, learn, _ = online_setup(lab)
    part = _longest(on.dev, lab.pick(tiny=8, small=150, full=200))
    key = {**on.key, "learn": learn.digest, "sentences": part.digest, "scales": SCALES}
    results = lab.cached("chiang fig1", key, lambda: _searched(lab, on, part, learn))
    table, gaps = [], {}
    for label in SCALES:
        rows = results["rows"][label]
        for kind in ("fear", "hope"):
            for how, name in (("forest", "forest reranking"), ("linear", "linear BLEU")):
                gained = np.array(rows[how][kind]) - np.array(rows["kbest"][kind])
                more, less = (float(np.mean(sign * gained > 1e-9)) for sign in (1, -1))
                p = float(wilcoxon(gained).pvalue) if np.any(np.abs(gained) > 1e-9) else 1.0
                gaps[label, kind, how] = Gap(float(gained.mean()), p)
                table.append([label, kind, name, f"{np.mean(rows[how][kind]):.2f}", f"{gained.mean():+.3f}",
                              f"{100 * more:.0f} %", f"{100 * less:.0f} %", f"{p:.2g}"])  # fmt: skip
    outside = {label: 100 * float(np.mean(results["rows"][label]["forest"]["outside"])) for label in SCALES}

    def ahead(text: str, kind: str) -> Claim:
        own = {label: gaps[label, kind, "forest"] for label in SCALES}
        evidence = "; ".join(f"weights {label}: {gap.delta:+.3f}, p = {gap.p:.2g}" for label, gap in own.items())
        return better(text, own["MIRA's"], evidence)

    shown = (("sample", "random samples"), ("kbest", "100-best"), ("best", "best"), ("hope", "hope, forest"),
             ("fear", "fear, forest"), ("fear_kbest", "fear, 100-best"))  # fmt: skip
    points = results["example"]["points"]
    curves = [Curve(name, [p[0] for p in points[kind]], [p[1] for p in points[kind]], points=True)
              for kind, name in shown]  # fmt: skip
    least, mean = results["words"]
    return Outcome(
        tables=[
            Table(
                f"{len(part)} sentences of {least} and more words (on average {mean:.0f}) of {on.task.name}; "
                "objective: w.h + B, for fear w.h - B; Wilcoxon's p",
                ["weights", "what", "search", "objective", "over 100-best", "better in", "worse in", "p"],
                table,
            )
        ],
        claims=[
            ahead("with trained weights, fear found in the forest is better than that of the 100-best list", "fear"),
            ahead("so is hope", "hope"),
            Claim("with trained weights, the fear lies outside the 100-best box", outside["MIRA's"] > 50,
                  ", ".join(f"weights {label}: in {value:.0f} %" for label, value in outside.items())),
        ],
        notes=["The larger the weights against the loss, the closer hope and fear are to the best derivation: the "
               "table has the weights a model is built with, a quarter of them, and those of three epochs of MIRA."],
        figures=[Figure("chiang-fig1", "derivations of one sentence", "model score", "BLEU+1 of the sentence", curves)],
    )  # fmt: skip


# Online training -----------------------------------------------------------------------------------------------------

NOTE = (
    "Spanish-English telephone speech with a model of 133,000 sentence pairs instead of Arabic-English with 175 "
    "million words; fewer sentences and epochs than the paper's 3,011 and 10 unless the size is full. Asynchronous "
    "learners take turns in logical time."
)
#: model, objective, algorithm, approximation, parallelisation as in the columns of table 1; trainer; options; dev, test
ROWS: tuple[tuple[str, str, str, str, str, str, dict[str, Any], float | None, float | None], ...] = (
    ("small", "1 - BLEU", "MERT", "-", "-", "mert", OCH, 42.1, 45.2),
    ("small", "hinge", "SGD 0.02", "rerank", "IPM", "sgd", {"eta": 0.02}, 42.2, 44.9),
    ("small", "risk", "SGD 0.05", "linear", "IPM", "minrisk", {"eta": 0.05}, 41.9, 44.8),
    ("small", "hinge", "MIRA 0.05", "rerank", "IPM", "mira", {"eta": 0.05}, 42.2, 44.9),
    ("large", "hinge", "SGD 0.01", "rerank", "IPM", "sgd", {"eta": 0.01}, 42.4, 45.2),
    ("large", "hinge", "MIRA 0.01", "rerank", "IPM", "mira", {"eta": 0.01}, 43.1, 45.9),
    ("large", "hinge", "MIRA 0.01", "rerank", "async", "mira", {"eta": 0.01}, 44.5, 47.3),
    ("large", "hinge", "AROW 1 0.01", "rerank", "async", "arow", {"eta": 1.0, "lambda_": 0.01}, 44.7, 47.6),
    ("small", "1 - BLEU", "MERT, ours", "-", "-", "mert", {}, None, None),
)


def learners(lab: Lab) -> int:
    """The number of parallel learners at this size."""
    return lab.pick(tiny=2, small=4, full=20)


def mert_options(lab: Lab, options: Mapping[str, Any] = OCH) -> dict[str, Any]:
    """Options of MERT at this size, by default as printed."""
    sizes: dict[str, Any] = lab.pick(tiny={"restarts": 0, "kicks": 0, "passes": 2}, small={"restarts": 10}, full={})
    return {**sizes, **options}


@experiment("chiang-table1", "eight ways to train the small and the large model", f"{PAPER}, table 1")
def table1(lab: Lab) -> Outcome:
    """On the small model MERT is best on the test set, by little (45.2 against 44.8 to 44.9). Lexical features help
    only with a good learner: SGD gains nothing, MIRA 0.7, asynchronous MIRA 2.1, AROW 2.4 BLEU over MERT (47.6)."""
    on, _, _ = online_setup(lab)
    runs = []
    for model, _objective, _algorithm, _approx, par, name, options, _, _ in ROWS:
        own = mert_options(lab, options) if name == "mert" else options
        way = {"IPM": "mix", "async": "async"}.get(par, "none")
        runs.append(
            [trained(lab, name, seed, features=model, options=own, parallel=way,
                    learners=learners(lab) if way != "none" else 1) for seed in lab.seeds]
        )  # fmt: skip
    tests = [compare(on, trials, runs[0], lab) for trials in runs]
    table = []
    for row, trials, against in zip(ROWS, runs, tests, strict=True):
        epochs = ", ".join(str(run["epoch"]) for run in trials)
        paper = ["" if value is None else f" [{value:.1f}]" for value in row[7:]]
        marked = "" if trials is runs[0] else mark(against)
        table.append([*row[:5], epochs, with_spread([run["dev"] for run in trials]) + paper[0],
                      with_spread([run["test"] for run in trials]) + marked + paper[1]])  # fmt: skip
    means = [spread([run["test"] for run in trials])[0] for trials in runs]
    top, bottom = int(np.argmax(means[:4])), int(np.argmin(means[:4]))

    def over(ours: int, theirs: int) -> Comparison:
        return compare(on, runs[ours], runs[theirs], lab)

    def second(best: int, among: Sequence[int]) -> int:
        return max((row for row in among if row != best), key=lambda row: means[row])

    rival, runner = second(0, range(4)), second(7, range(8))  # without our MERT
    behind = {row: over(0, row) for row in (1, 2, 3)}
    return Outcome(
        tables=[Table(f"BLEU on {on.task.name}, ours [the paper's]; + - differ from MERT, p < 0.05",
                      ["model", "obj", "alg", "approx", "par", "epoch", "dev", "test"], table)],
        claims=[
            levelled("on the small model all methods are within half a point", over(top, bottom),
                     f"{ROWS[top][2]} over {ROWS[bottom][2]}"),
            better("on the small model MERT is the best", behind[rival],
                   f"over {ROWS[rival][1]} {ROWS[rival][2]} {in_bleu(behind[rival])}"),
            Claim("of the others only minimum risk is significantly below it",
                  behind[2].p < RATE and behind[2].delta > 0 and min(behind[1].p, behind[3].p) >= RATE,
                  "; ".join(f"MERT over {ROWS[row][1]} {ROWS[row][2]} {in_bleu(comparison)}"
                            for row, comparison in behind.items())),
            better("hinge loss is better than risk", over(1, 2), f"SGD, small model: {in_bleu(over(1, 2))}"),
            better("MIRA is better than SGD on the large model", over(5, 4)),
            better("lexical features help MIRA", over(5, 3)),
            better("asynchronous MIRA beats mixing on the large model", over(6, 5)),
            better("AROW on the large model beats MERT on the small one", over(7, 0)),
            better("AROW is the best row", over(7, runner),
                   f"over {ROWS[runner][0]} {ROWS[runner][2]} {ROWS[runner][4]} {in_bleu(over(7, runner))}"),
        ],
        notes=["MERT has 20 random starts and ascends along the features; ours has principal axes and kicks.",
               f"Parameter mixing and sharing with {learners(lab)} learners (20 in the paper).", NOTE],
        numbers={"test": means, "weights": [trials[0]["weights"] for trials in runs]},
    )  # fmt: skip
