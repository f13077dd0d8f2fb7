"""Chiang (2012): Hope and fear for discriminative training of statistical translation models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import pearsonr, ttest_ind_from_stats, wilcoxon

from hopefear.decode import Hiero
from hopefear.evaluation.clouds import cloud, typical_document
from hopefear.experiments.base import (
    Claim,
    Figure,
    Lab,
    Outcome,
    Table,
    all_of,
    beats,
    experiment,
    in_bleu,
    level,
    spread,
    with_spread,
)
from hopefear.experiments.loop import Trial, compare, mark
from hopefear.experiments.online import POP_LIMIT, curve, online_setup, trained
from hopefear.experiments.setups import Setup
from hopefear.experiments.tasks import Part
from hopefear.formats.weights import weight_vector
from hopefear.report.svg import Curve
from hopefear.trainers.data import Corpus, Task
from hopefear.trainers.registry import find

PAPER = "Chiang 2012"


@dataclass(frozen=True)
class Gap:
    """The difference of two groups of replicates, with Welch's t-test."""

    delta: float
    p: float

    @classmethod
    def between(cls, ours: Sequence[float], theirs: Sequence[float]) -> Gap:
        delta = spread(ours)[0] - spread(theirs)[0]
        if max(spread(ours)[1], spread(theirs)[1]) < 1e-9:  # one replicate, or methods that know no chance
            return cls(delta, float(abs(delta) < 1e-9) if min(len(ours), len(theirs)) > 1 else 1.0)
        groups = (*spread(ours), len(ours), *spread(theirs), len(theirs))
        return cls(delta, float(ttest_ind_from_stats(*groups, equal_var=False).pvalue))

    def __str__(self) -> str:
        return in_bleu(self)


def _longest(part: Part, count: int, most: int = 40) -> Part:
    """The longest sentences up to so many words: the paper's news has 22 words per line, telephone speech 10."""
    sizes = [len(text.split()) for text in part.sources]
    order = sorted((i for i, size in enumerate(sizes) if size <= most), key=lambda i: (-sizes[i], i))
    return part.subset(sorted(order[:count]))


#: Weights that fig. 1 is looked at with: as a model is built, a quarter of them (the loss then counts four times as
#: much), and what MIRA has learnt.
SCALES = {"as built": 1.0, "a quarter": 0.25, "MIRA's": None}


def _scaled(lab: Lab, on: Setup, learn: Part, scale: float | None) -> dict[str, float]:
    if scale is not None:
        return {name: scale * value for name, value in on.initial().items()}
    decoder = Hiero(on.model, on.initial(), templates=(), pop_limit=POP_LIMIT)
    options: dict[str, Any] = {"epochs": lab.pick(tiny=1, small=3, full=3)}
    learner = find("mira")(seed=lab.seed, jobs=lab.jobs, **options)
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
    found = lab.cached("chiang fig1", key, lambda: _searched(lab, on, part, learn))
    table, told = [], {}
    for label in SCALES:
        rows = found["rows"][label]
        for kind in ("fear", "hope"):
            for how, name in (("forest", "forest reranking"), ("linear", "linear BLEU")):
                gained = np.array(rows[how][kind]) - np.array(rows["kbest"][kind])
                better, worse = (float(np.mean(sign * gained > 1e-9)) for sign in (1, -1))
                p = float(wilcoxon(gained).pvalue) if np.any(np.abs(gained) > 1e-9) else 1.0
                told[label, kind, how] = Gap(float(gained.mean()), p)
                table.append([label, kind, name, f"{np.mean(rows[how][kind]):.2f}", f"{gained.mean():+.3f}",
                              f"{100 * better:.0f} %", f"{100 * worse:.0f} %", f"{p:.2g}"])  # fmt: skip
    outside = {label: 100 * float(np.mean(found["rows"][label]["forest"]["outside"])) for label in SCALES}

    def ahead(text: str, kind: str) -> Claim:
        gaps = {label: told[label, kind, "forest"] for label in SCALES}
        evidence = "; ".join(f"weights {label}: {gap.delta:+.3f}, p = {gap.p:.2g}" for label, gap in gaps.items())
        learnt = gaps["MIRA's"]
        return Claim(text, beats(learnt.delta, learnt.p), evidence)

    shown = (("sample", "random samples"), ("kbest", "100-best"), ("best", "best"), ("hope", "hope, forest"),
             ("fear", "fear, forest"), ("fear_kbest", "fear, 100-best"))  # fmt: skip
    points = found["example"]["points"]
    curves = [Curve(name, [p[0] for p in points[kind]], [p[1] for p in points[kind]], points=True)
              for kind, name in shown]  # fmt: skip
    least, mean = found["words"]
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
        notes=["The larger the weights beside the loss, the nearer are hope and fear to the best derivation: the table "
               "has the weights that a model is built with, a quarter of them, and those of three epochs of MIRA."],
        figures=[Figure("chiang-fig1", "derivations of one sentence", "model score", "BLEU+1 of the sentence", curves)],
    )  # fmt: skip


# What needs online training -----------------------------------------------------------------------------------------

NOTE = (
    "Spanish-English telephone speech with a model of 133,000 sentence pairs instead of Arabic-English with 175 "
    "million words; fewer sentences and epochs than the paper's 3,011 and 10 unless the size is full. Asynchronous "
    "learners take turns in logical time."
)
#: model, objective, algorithm, approximation, parallelisation as in the columns of table 1; trainer; options; dev, test
ROWS: tuple[tuple[str, str, str, str, str, str, dict[str, Any], float, float], ...] = (
    ("small", "1 - BLEU", "MERT", "-", "-", "mert", {}, 42.1, 45.2),
    ("small", "hinge", "SGD 0.02", "rerank", "IPM", "sgd", {"eta": 0.02}, 42.2, 44.9),
    ("small", "risk", "SGD 0.05", "linear", "IPM", "minrisk", {"eta": 0.05}, 41.9, 44.8),
    ("small", "hinge", "MIRA 0.05", "rerank", "IPM", "mira", {"eta": 0.05}, 42.2, 44.9),
    ("large", "hinge", "SGD 0.01", "rerank", "IPM", "sgd", {"eta": 0.01}, 42.4, 45.2),
    ("large", "hinge", "MIRA 0.01", "rerank", "IPM", "mira", {"eta": 0.01}, 43.1, 45.9),
    ("large", "hinge", "MIRA 0.01", "rerank", "async", "mira", {"eta": 0.01}, 44.5, 47.3),
    ("large", "hinge", "AROW 1 0.01", "rerank", "async", "arow", {"eta": 1.0, "lambda_": 0.01}, 44.7, 47.6),
)


def _learners(lab: Lab) -> int:
    return lab.pick(tiny=2, small=4, full=20)


def _mert(lab: Lab) -> dict[str, Any]:
    return lab.pick(tiny={"restarts": 0, "kicks": 0, "passes": 2}, small={"restarts": 10, "kicks": 2}, full={})


@experiment("chiang-table1", "eight ways to train the small and the large model", f"{PAPER}, table 1")
def table1(lab: Lab) -> Outcome:
    """On the small model MERT is best on the test set, by little (45.2 against 44.8 to 44.9). Lexical features help
    only with a good learner: SGD gains nothing, MIRA 0.7, asynchronous MIRA 2.1, AROW 2.4 BLEU over MERT (47.6)."""
    on, _, _ = online_setup(lab)
    runs = []
    for model, _objective, _algorithm, _approx, par, name, options, _, _ in ROWS:
        own = _mert(lab) if name == "mert" else options
        way = {"IPM": "mix", "async": "async"}.get(par, "none")
        runs.append(
            [trained(lab, name, seed, features=model, options=own, parallel=way,
                    learners=_learners(lab) if way != "none" else 1) for seed in lab.seeds]
        )  # fmt: skip
    tests = [compare(on, found, runs[0], lab) for found in runs]
    table = []
    for row, found, against in zip(ROWS, runs, tests, strict=True):
        epochs = ", ".join(str(run["epoch"]) for run in found)
        table.append([*row[:5], epochs, f"{with_spread([run['dev'] for run in found])} [{row[7]:.1f}]",
                      f"{with_spread([run['test'] for run in found])}{mark(against) if found is not runs[0] else ''} "
                      f"[{row[8]:.1f}]"])  # fmt: skip
    means = [spread([run["test"] for run in found])[0] for found in runs]
    top, bottom = int(np.argmax(means[:4])), int(np.argmin(means[:4]))
    apart = compare(on, runs[top], runs[bottom], lab)
    best = compare(on, runs[7], runs[0], lab)
    shared = compare(on, runs[6], runs[5], lab)
    gained = compare(on, runs[5], runs[3], lab)
    return Outcome(
        tables=[Table(f"BLEU on {on.task.name}, ours [the paper's]; + - differ from MERT, p < 0.05",
                      ["model", "obj", "alg", "approx", "par", "epoch", "dev", "test"], table)],
        claims=[
            Claim("on the small model all methods are within half a point", level(apart.delta, apart.p),
                  f"{ROWS[top][2]} over {ROWS[bottom][2]} {in_bleu(apart)}"),
            Claim("lexical features help MIRA", beats(gained.delta, gained.p), in_bleu(gained)),
            Claim("asynchronous MIRA beats mixing on the large model", beats(shared.delta, shared.p), in_bleu(shared)),
            Claim("AROW on the large model beats MERT on the small one", beats(best.delta, best.p), in_bleu(best)),
            Claim("AROW is the best row", means[7] == max(means), f"best: {ROWS[int(np.argmax(means))][2]}"),
        ],
        notes=[f"Parameter mixing and sharing with {_learners(lab)} learners (20 in the paper).", NOTE],
        numbers={"test": means, "weights": [found[0]["weights"] for found in runs]},
    )  # fmt: skip


def _replicates(lab: Lab, name: str, **settings: Any) -> list[Trial]:
    return [trained(lab, name, seed, **settings) for seed in lab.seeds]


def _listed(values: Mapping[Any, Sequence[float]]) -> str:
    return ", ".join(f"{name:g}: {with_spread(value)}" for name, value in values.items())


def _best(runs: Sequence[Trial]) -> list[float]:
    """Dev BLEU of each replicate at its best epoch."""
    return [max(float(score) for epoch, score in run["history"] if epoch > 0) for run in runs]


def _at(runs: Sequence[Trial], epoch: int) -> list[float]:
    """Dev BLEU of each replicate after an epoch."""
    return [float(score) for run in runs for at, score in run["history"] if at == epoch] or _best(runs)


def _mean(runs: Sequence[Trial]) -> list[float]:
    """Dev BLEU of each replicate, the mean over its epochs: how fast it converges."""
    return [float(np.mean([score for epoch, score in run["history"] if epoch > 0])) for run in runs]


def _score_table(title: str, curves: list[Curve]) -> Table:
    longest = max(curves, key=lambda one: len(one.x)).x

    def cell(one: Curve, k: int) -> str:
        error = f" ({one.error[k]:.2f})" if one.error else ""
        return f"{one.y[k]:.2f}{error}" if k < len(one.y) else ""

    rows = [[one.name, *(cell(one, k) for k in range(len(longest)))] for one in curves]
    return Table(title, ["", *(f"epoch {x:g}" for x in longest)], rows)


@experiment("chiang-fig2", "learning curves: learning rates, and online methods against MERT", f"{PAPER}, figure 2")
def fig2(lab: Lab) -> Outcome:
    """On the small model SGD and minimum risk hardly depend on the learning rate, MIRA converges faster with higher
    ones; all reach the same level. The online algorithms converge more quickly and smoothly than MERT."""
    rates = lab.pick(tiny=(0.01, 0.05), small=(0.005, 0.01, 0.05), full=(0.005, 0.01, 0.02, 0.05))
    runs = {
        (name, eta): _replicates(lab, name, options={"eta": eta}, parallel="mix",
                                 learners=_learners(lab))
        for name in ("sgd", "mira", "minrisk")
        for eta in rates
    }  # fmt: skip
    mert = _replicates(lab, "mert", options=_mert(lab))
    titles = {"sgd": "SGD", "mira": "MIRA", "minrisk": "minimum risk"}
    figures, tables = [], []
    for letter, name in zip("abc", titles, strict=True):
        curves = [curve(f"{titles[name]} {eta:g}", runs[name, eta]) for eta in rates]
        figures.append(Figure(f"chiang-fig2{letter}", f"{titles[name]} by learning rate", "epoch", "dev BLEU", curves))
        tables.append(_score_table(f"({letter}) {titles[name]}, dev BLEU", curves))
    tops = {place: spread(_best(found))[0] for place, found in runs.items()}
    best = {name: max(rates, key=lambda eta, name=name: tops[name, eta]) for name in titles}  # type: ignore[misc]
    against = [curve("MERT", mert), *(curve(titles[name], runs[name, best[name]]) for name in titles)]
    figures.append(Figure("chiang-fig2d", "online methods and MERT", "epoch", "dev BLEU", against))
    tables.append(_score_table("(d) the best rate of each, and MERT", against))
    ranges = {name: max(tops[name, eta] for eta in rates) - min(tops[name, eta] for eta in rates) for name in titles}
    speed = {eta: _mean(runs["mira", eta]) for eta in rates}
    faster = Gap.between(speed[rates[-1]], speed[rates[0]])
    reached = {name: _best(runs[name, best[name]]) for name in titles}
    order = sorted(titles, key=lambda name: tops[name, best[name]])
    apart = Gap.between(reached[order[-1]], reached[order[0]])
    first = {name: Gap.between(_at(runs[name, best[name]], 1), _at(mert, 1)) for name in titles}
    return Outcome(
        tables=tables,
        claims=[
            Claim("SGD and minimum risk hardly depend on the rate", max(ranges["sgd"], ranges["minrisk"]) < 0.5,
                  ", ".join(f"{titles[name]} {ranges[name]:.2f}" for name in titles) + " BLEU between rates"),
            Claim("MIRA converges faster with higher rates", beats(faster.delta, faster.p),
                  f"mean over epochs {_listed(speed)}; highest against lowest {faster}"),
            Claim("all reach the same level", level(apart.delta, apart.p),
                  ", ".join(f"{titles[name]} {with_spread(value)}" for name, value in reached.items())
                  + f"; best against worst {apart}"),
            Claim("online methods converge more quickly than MERT",
                  all_of([beats(gap.delta, gap.p) for gap in first.values()]),
                  "after one epoch, against MERT: " + "; ".join(f"{titles[n]} {gap}" for n, gap in first.items())),
        ],
        notes=[NOTE],
        figures=figures,
    )  # fmt: skip


@experiment("chiang-fig3", "how hope and fear are chosen: approximation and loss weight", f"{PAPER}, figure 3")
def fig3(lab: Lab) -> Outcome:
    """Linear BLEU does as well as forest reranking. More negative loss weights mu give higher initial performance,
    less negative ones higher final performance; -1 is a good compromise."""
    team = _learners(lab)
    ways = {how: _replicates(lab, "sgd", options={"eta": 0.01, "approximation": option}, parallel="mix", learners=team)
            for how, option in (("forest", "auto"), ("linear", "linear"))}  # fmt: skip
    mus = lab.pick(tiny=(-2.0, -1.0), small=(-5.0, -1.0, -0.5, -0.2), full=(-5.0, -2.0, -1.0, -0.5, -0.2))
    loss = {mu: _replicates(lab, "mira", options={"eta": 0.01, "mu": mu},
                            parallel="mix", learners=team) for mu in mus}  # fmt: skip
    a = [curve(name, ways[how]) for how, name in (("forest", "forest reranking"), ("linear", "linear BLEU"))]
    b = [curve(f"mu = {mu:g}", loss[mu]) for mu in mus]
    gap = Gap.between(_best(ways["linear"]), _best(ways["forest"]))
    firsts, finals = {mu: _at(loss[mu], 1) for mu in mus}, {mu: _best(loss[mu]) for mu in mus}
    early = Gap.between(firsts[mus[0]], firsts[mus[-1]])
    other = max(mus[1:], key=lambda mu: spread(finals[mu])[0])
    late = Gap.between(finals[other], finals[mus[0]])
    return Outcome(
        tables=[_score_table("(a) SGD, dev BLEU", a), _score_table("(b) MIRA by mu, dev BLEU", b)],
        claims=[
            Claim("linear BLEU is as good as forest reranking", level(-gap.delta, gap.p), f"{gap}, at the best epoch"),
            Claim("more negative mu is better at first", beats(early.delta, early.p),
                  f"after one epoch {_listed(firsts)}; most against least negative {early}"),
            Claim("the most negative mu is not the best in the end", beats(late.delta, late.p),
                  f"at the best epoch {_listed(finals)}; {other:g} against {mus[0]:g} {late}"),
        ],
        notes=[NOTE],
        figures=[Figure("chiang-fig3a", "SGD by approximation of BLEU", "epoch", "dev BLEU", a),
                 Figure("chiang-fig3b", "MIRA by mu", "epoch", "dev BLEU", b)],
    )  # fmt: skip


def _teams(lab: Lab) -> tuple[int, int]:
    return lab.pick(tiny=(2, 3), small=(20, 50), full=(20, 50))


@experiment("chiang-fig4", "iterative parameter mixing and asynchronous MIRA", f"{PAPER}, figure 4")
def fig4(lab: Lab) -> Outcome:
    """On the small model asynchronous MIRA does not do as well as iterative parameter mixing, on the large model it is
    far better. From 20 to 50 processors mixing gets worse at each epoch, asynchronous MIRA does not."""
    few, many = _teams(lab)
    models, names = ("small", "large"), {"mix": "mixing", "async": "async"}
    runs = {
        (model, way, p): _replicates(lab, "mira", features=model,
                                     options={"eta": 0.01}, parallel=way, learners=p)
        for model in models for way in names for p in (few, many)
    }  # fmt: skip
    figures, tables = [], []
    for model in models:
        curves = [curve(f"{names[way]}, {p} learners", runs[model, way, p]) for way in names for p in (few, many)]
        figures.append(Figure(f"chiang-fig4-{model}", f"{model} model", "epoch", "dev BLEU", curves))
        tables.append(_score_table(f"{model} model, dev BLEU", curves))
    small, large = (Gap.between(_best(runs[m, "async", few]), _best(runs[m, "mix", few])) for m in models)
    more = {(way, model): Gap.between(_mean(runs[model, way, many]), _mean(runs[model, way, few]))
            for way in names for model in models}  # fmt: skip

    def told(way: str) -> str:
        return "; ".join(f"{model} {more[way, model]}" for model in models) + " (mean over epochs)"

    return Outcome(
        tables=tables,
        claims=[
            Claim("on the small model async is behind mixing", beats(-small.delta, small.p),
                  f"{small}, {few} learners"),
            Claim("on the large model async is far ahead", beats(large.delta - 0.5, large.p),
                  f"{large}, {few} learners"),
            Claim(f"mixing with {many} is worse than with {few} at the same epoch",
                  all_of([beats(-more["mix", m].delta, more["mix", m].p) for m in models]), told("mix")),
            Claim(f"async with {many} is not",
                  all_of([level(-more["async", m].delta, more["async", m].p) for m in models]), told("async")),
        ],
        notes=[NOTE],
        figures=figures,
    )  # fmt: skip


@experiment("chiang-fig5", "asynchronous MIRA with more and more learners", f"{PAPER}, figure 5")
def fig5(lab: Lab) -> Outcome:
    """At each epoch, greater parallelisation of asynchronous MIRA generally gives better performance on the large
    model: sharing working sets is more than a way to be fast."""
    few, many = _teams(lab)
    sizes = sorted({1, *lab.pick(tiny=(), small=(5,), full=(5, 10)), few, many})
    runs = {p: _replicates(lab, "mira", features="large", options={"eta": 0.01},
                           parallel="async", learners=p) for p in sizes}  # fmt: skip
    curves = [curve(f"{p} learner{'s' * (p > 1)}", runs[p]) for p in sizes]
    means = {p: _mean(runs[p]) for p in sizes}
    points = [(np.log(p), value) for p, values in means.items() for value in values]
    found = pearsonr(*zip(*points, strict=True))
    return Outcome(
        tables=[_score_table("large model, dev BLEU", curves)],
        claims=[
            Claim("more learners are better at the same epoch", beats(found.statistic, found.pvalue),
                  f"mean over epochs by learners {_listed(means)}; correlation with their logarithm "
                  f"{found.statistic:+.2f}, p = {found.pvalue:.2g}"),
        ],
        notes=[NOTE],
        figures=[Figure("chiang-fig5", "asynchronous MIRA by learners", "epoch", "dev BLEU", curves)],
    )  # fmt: skip


@experiment("chiang-fig6", "AROW: initial learning rate and lambda", f"{PAPER}, figure 6")
def fig6(lab: Lab) -> Outcome:
    """With lambda = 0.01 AROW is insensitive to eta_0 between 0.1 and 1 and much worse outside. With eta_0 = 1 it
    converges faster for larger lambda up to 0.01; at 0.1 it makes no progress."""
    team = _learners(lab)

    def arow(eta: float, lambda_: float) -> list[Trial]:
        return _replicates(lab, "arow", features="large",
                           options={"eta": eta, "lambda_": lambda_}, parallel="async", learners=team)  # fmt: skip

    etas = lab.pick(tiny=(0.1, 1.0), small=(0.01, 0.1, 1.0, 10.0), full=(0.01, 0.1, 1.0, 10.0))
    lambdas = lab.pick(tiny=(0.01, 0.1), small=(0.0001, 0.001, 0.01, 0.1), full=(0.0001, 0.001, 0.01, 0.1))
    by_eta = {eta: arow(eta, 0.01) for eta in etas}
    by_lambda = {value: arow(1.0, value) for value in lambdas}
    a = [curve(f"eta_0 = {eta:g}", runs) for eta, runs in by_eta.items()]
    b = [curve(f"lambda = {value:g}", runs) for value, runs in by_lambda.items()]
    tops = {eta: _best(runs) for eta, runs in by_eta.items()}
    inside = Gap.between(tops[1.0], tops[0.1])
    low = min((0.1, 1.0), key=lambda eta: spread(tops[eta])[0])
    outside = {eta: Gap.between(tops[low], tops[eta]) for eta in etas if eta not in (0.1, 1.0)}
    speed = {value: _mean(runs) for value, runs in by_lambda.items()}
    faster = Gap.between(speed[0.01], speed[lambdas[0]])
    finals = {value: _best(runs) for value, runs in by_lambda.items()}
    last = Gap.between(finals[0.01], finals[0.1])
    return Outcome(
        tables=[_score_table("(a) by eta_0, dev BLEU", a), _score_table("(b) by lambda, dev BLEU", b)],
        claims=[
            Claim("between 0.1 and 1 eta_0 hardly matters", abs(inside.delta) < 0.5, f"1 against 0.1 {inside}"),
            Claim("outside it is worse", all_of([beats(gap.delta, gap.p) for gap in outside.values()]),
                  f"at the best epoch {_listed(tops)}; "
                  + "; ".join(f"{low:g} against {eta:g} {gap}" for eta, gap in outside.items())),
            Claim("larger lambda converges faster up to 0.01", beats(faster.delta, faster.p),
                  f"mean over epochs {_listed(speed)}; 0.01 against {lambdas[0]:g} {faster}"),
            Claim("lambda = 0.1 is worse than 0.01", beats(last.delta, last.p),
                  f"at the best epoch {_listed(finals)}; 0.01 against 0.1 {last}"),
        ],
        notes=[NOTE],
        figures=[Figure("chiang-fig6a", "AROW by eta_0", "epoch", "dev BLEU", a),
                 Figure("chiang-fig6b", "AROW by lambda", "epoch", "dev BLEU", b)],
    )  # fmt: skip
