"""Chiang (2012): Hope and fear for discriminative training of statistical translation models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hopefear.experiments.base import (
    Claim,
    Curve,
    Figure,
    Lab,
    Outcome,
    Table,
    beats,
    experiment,
    spread,
    with_spread,
)
from hopefear.experiments.clouds import cloud, typical_document
from hopefear.experiments.loop import Run, compare, mark
from hopefear.experiments.material import Part, main_system
from hopefear.experiments.online import curve, online, online_system
from hopefear.metrics.significance import Comparison
from hopefear.tuning import vector

PAPER = "Chiang 2012"


def _longest(part: Part, count: int, most: int = 40) -> Part:
    """The longest sentences up to so many words: the paper's news has 22 words a line, telephone speech 10."""
    sizes = [len(text.split()) for text in part.sources]
    order = sorted((i for i, size in enumerate(sizes) if size <= most), key=lambda i: (-sizes[i], i))
    return part.subset(sorted(order[:count]))


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
        gained = np.array(rows["forest"]["fear"]) - np.array(rows["kbest"]["fear"])
        example = int(np.argmax(np.where((words >= 8) & (words <= 20), gained, -np.inf)))
        return {"rows": rows, "example": cloud(forests, example, start, on.metric, document=document, seed=lab.seed)}

    found = lab.cached("chiang fig1", {**on.key, "sentences": count, "form": 6}, compute)
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
        figures=[Figure("chiang-fig1", "derivations of one sentence", "model score", "BLEU+1 of the sentence", curves)],
        numbers={"ahead": {" ".join(key): value for key, value in ahead.items()}},
    )


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
    on, _, _ = online_system(lab)
    runs = []
    for model, _objective, algorithm, _approx, par, name, options, _, _ in ROWS:
        own = _mert(lab) if name == "mert" else options
        way = {"IPM": "mix", "async": "async"}.get(par, "none")
        label = f"chiang {model} {algorithm} {par}"
        runs.append(
            [online(lab, label, name, seed, features=model, options=own, parallel=way,
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
    small = max(means[1:4])
    best = compare(on, runs[7], runs[0], lab)
    shared = compare(on, runs[6], runs[5], lab)
    gained = compare(on, runs[5], runs[3], lab)
    return Outcome(
        tables=[Table(f"BLEU on {on.task.name}, ours [the paper's]; + - differ from MERT, p < 0.05",
                      ["model", "obj", "alg", "approx", "par", "epoch", "dev", "test"], table)],
        claims=[
            Claim("on the small model all methods are within half a point", max(means[:4]) - min(means[:4]) < 0.5,
                  f"{max(means[:4]) - min(means[:4]):.2f} BLEU between best and worst; MERT {means[0]:.2f}, "
                  f"online at best {small:.2f}"),
            Claim("lexical features help MIRA", beats(gained.delta, gained.p), _change(gained)),
            Claim("asynchronous MIRA beats mixing on the large model", beats(shared.delta, shared.p), _change(shared)),
            Claim("AROW on the large model beats MERT on the small one", beats(best.delta, best.p), _change(best)),
            Claim("AROW is the best row", means[7] == max(means), f"best: {ROWS[int(np.argmax(means))][2]}"),
        ],
        notes=[f"Parameter mixing and sharing with {_learners(lab)} learners instead of 20.", NOTE],
        numbers={"test": means, "weights": [found[0]["weights"] for found in runs]},
    )  # fmt: skip


def _change(found: Comparison) -> str:
    return f"{found.delta:+.2f} BLEU, p = {found.p:.2g}"


def _listed(names: Sequence[float], values: Sequence[float]) -> str:
    return ", ".join(f"{name:g}: {value:.2f}" for name, value in zip(names, values, strict=True))


def _best(run: Run) -> float:
    return max(float(score) for epoch, score in run["history"] if epoch > 0)


def _at(run: Run, epoch: int) -> float:
    later = [float(score) for at, score in run["history"] if at == epoch]
    return later[0] if later else _best(run)


def _score_table(title: str, curves: list[Curve]) -> Table:
    longest = max(curves, key=lambda one: len(one.x)).x
    rows = [[one.name, *(f"{one.y[k]:.2f}" if k < len(one.y) else "" for k in range(len(longest)))] for one in curves]
    return Table(title, ["", *(f"epoch {x:g}" for x in longest)], rows)


@experiment("chiang-fig2", "learning curves: learning rates, and online methods against MERT", f"{PAPER}, figure 2")
def fig2(lab: Lab) -> Outcome:
    """On the small model SGD and minimum risk hardly depend on the learning rate, MIRA converges faster with higher
    ones; all reach the same level. The online algorithms converge more quickly and smoothly than MERT."""
    seed = lab.seed
    rates = lab.pick(tiny=(0.01, 0.05), small=(0.005, 0.01, 0.05), full=(0.005, 0.01, 0.02, 0.05))
    runs = {
        (name, eta): online(lab, f"chiang small {name} {eta}", name, seed, options={"eta": eta}, parallel="mix",
                            learners=_learners(lab))
        for name in ("sgd", "mira", "minrisk")
        for eta in rates
    }  # fmt: skip
    mert = online(lab, "chiang small MERT -", "mert", seed, options=_mert(lab))
    titles = {"sgd": "SGD", "mira": "MIRA", "minrisk": "minimum risk"}
    figures, tables = [], []
    for letter, name in zip("abc", titles, strict=True):
        curves = [curve(f"{titles[name]} {eta:g}", [runs[name, eta]]) for eta in rates]
        figures.append(Figure(f"chiang-fig2{letter}", f"{titles[name]} by learning rate", "epoch", "dev BLEU", curves))
        tables.append(_score_table(f"({letter}) {titles[name]}, dev BLEU", curves))
    best = {name: max((runs[name, eta] for eta in rates), key=_best) for name in titles}
    against = [curve("MERT", [mert]), *(curve(titles[name], [best[name]]) for name in titles)]
    figures.append(Figure("chiang-fig2d", "online methods and MERT", "epoch", "dev BLEU", against))
    tables.append(_score_table("(d) the best rate of each, and MERT", against))
    ranges = {name: max(_best(runs[name, eta]) for eta in rates) - min(_best(runs[name, eta]) for eta in rates)
              for name in titles}  # fmt: skip
    firsts = [_at(runs["mira", eta], 1) for eta in rates]
    tops = {name: _best(run) for name, run in best.items()}
    first = {name: _at(run, 1) for name, run in best.items()}
    return Outcome(
        tables=tables,
        claims=[
            Claim("SGD and minimum risk hardly depend on the rate", max(ranges["sgd"], ranges["minrisk"]) < 0.5,
                  ", ".join(f"{titles[name]} {ranges[name]:.2f}" for name in titles) + " BLEU between rates"),
            Claim("MIRA converges faster with higher rates", firsts == sorted(firsts),
                  "after one epoch " + _listed(rates, firsts)),
            Claim("all reach the same level", max(tops.values()) - min(tops.values()) < 0.5,
                  ", ".join(f"{titles[name]} {value:.2f}" for name, value in tops.items())),
            Claim("online methods converge more quickly than MERT", min(first.values()) > _at(mert, 1),
                  f"after one epoch at least {min(first.values()):.2f}, MERT {_at(mert, 1):.2f}"),
        ],
        notes=[NOTE],
        figures=figures,
    )  # fmt: skip


@experiment("chiang-fig3", "how hope and fear are chosen: approximation and loss weight", f"{PAPER}, figure 3")
def fig3(lab: Lab) -> Outcome:
    """Linear BLEU does as well as forest reranking. More negative loss weights mu give higher initial performance,
    less negative ones higher final performance; -1 is a good compromise."""
    seed, team = lab.seed, _learners(lab)
    ways = {how: online(lab, f"chiang small sgd {how}", "sgd", seed, options={"eta": 0.01, "approximation": how},
                        parallel="mix", learners=team) for how in ("forest", "linear")}  # fmt: skip
    mus = lab.pick(tiny=(-2.0, -1.0), small=(-5.0, -1.0, -0.5, -0.2), full=(-5.0, -2.0, -1.0, -0.5, -0.2))
    loss = {mu: online(lab, f"chiang small mira mu {mu}", "mira", seed, options={"eta": 0.01, "mu": mu},
                       parallel="mix", learners=team) for mu in mus}  # fmt: skip
    a = [curve(name, [ways[how]]) for how, name in (("forest", "forest reranking"), ("linear", "linear BLEU"))]
    b = [curve(f"mu = {mu:g}", [loss[mu]]) for mu in mus]
    gap = _best(ways["linear"]) - _best(ways["forest"])
    firsts = [_at(loss[mu], 1) for mu in mus]
    finals = {mu: _best(loss[mu]) for mu in mus}
    return Outcome(
        tables=[_score_table("(a) SGD, dev BLEU", a), _score_table("(b) MIRA by mu, dev BLEU", b)],
        claims=[
            Claim("linear BLEU is as good as forest reranking", gap > -0.3, f"{gap:+.2f} BLEU at the best epoch"),
            Claim("more negative mu is better at first", firsts == sorted(firsts, reverse=True),
                  "after one epoch " + _listed(mus, firsts)),
            Claim("the most negative mu is not the best in the end", max(finals, key=lambda mu: finals[mu]) != mus[0],
                  ", ".join(f"{mu:g}: {value:.2f}" for mu, value in finals.items())),
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
    runs = {
        (model, way, p): online(lab, f"chiang {model} mira {way} {p}", "mira", lab.seed, features=model,
                                options={"eta": 0.01}, parallel=way, learners=p)
        for model in ("small", "large") for way in ("mix", "async") for p in (few, many)
    }  # fmt: skip
    names = {"mix": "mixing", "async": "async"}
    figures, tables = [], []
    for model in ("small", "large"):
        curves = [curve(f"{names[way]}, p = {p}", [runs[model, way, p]]) for way in names for p in (few, many)]
        figures.append(Figure(f"chiang-fig4-{model}", f"{model} model", "epoch", "dev BLEU", curves))
        tables.append(_score_table(f"{model} model, dev BLEU", curves))
    small = _best(runs["small", "async", few]) - _best(runs["small", "mix", few])
    large = _best(runs["large", "async", few]) - _best(runs["large", "mix", few])
    mixing = [_mean(runs[model, "mix", many]) - _mean(runs[model, "mix", few]) for model in ("small", "large")]
    sharing = [_mean(runs[model, "async", many]) - _mean(runs[model, "async", few]) for model in ("small", "large")]
    return Outcome(
        tables=tables,
        claims=[
            Claim("on the small model async is behind mixing", small < 0, f"{small:+.2f} dev BLEU, p = {few}"),
            Claim("on the large model async is far ahead", large > 0.5, f"{large:+.2f} dev BLEU, p = {few}"),
            Claim(f"mixing with {many} is worse than with {few} at the same epoch", max(mixing) < 0,
                  ", ".join(f"{value:+.2f}" for value in mixing) + " (small, large; mean over epochs)"),
            Claim(f"async with {many} is not", min(sharing) > -0.3,
                  ", ".join(f"{value:+.2f}" for value in sharing) + " (small, large)"),
        ],
        notes=[NOTE],
        figures=figures,
    )  # fmt: skip


def _mean(run: Run) -> float:
    return float(np.mean([score for epoch, score in run["history"] if epoch > 0]))


@experiment("chiang-fig5", "asynchronous MIRA with more and more learners", f"{PAPER}, figure 5")
def fig5(lab: Lab) -> Outcome:
    """At each epoch, greater parallelisation of asynchronous MIRA generally gives better performance on the large
    model: sharing working sets is more than a way to be fast."""
    few, many = _teams(lab)
    sizes = sorted({1, *lab.pick(tiny=(), small=(5,), full=(5, 10)), few, many})
    runs = {p: online(lab, f"chiang large mira async {p}", "mira", lab.seed, features="large", options={"eta": 0.01},
                      parallel="async", learners=p) for p in sizes}  # fmt: skip
    curves = [curve(f"p = {p}", [runs[p]]) for p in sizes]
    means = [_mean(runs[p]) for p in sizes]
    order = np.corrcoef(np.log(sizes), means)[0, 1] if len(set(means)) > 1 else 0.0
    return Outcome(
        tables=[_score_table("large model, dev BLEU", curves)],
        claims=[
            Claim("more learners are better at the same epoch", bool(order > 0.5),
                  ", ".join(f"p = {p}: {value:.2f}" for p, value in zip(sizes, means, strict=True))
                  + f" (mean over epochs; correlation with log p {order:+.2f})"),
        ],
        notes=[NOTE],
        figures=[Figure("chiang-fig5", "asynchronous MIRA by learners", "epoch", "dev BLEU", curves)],
    )  # fmt: skip


@experiment("chiang-fig6", "AROW: initial learning rate and lambda", f"{PAPER}, figure 6")
def fig6(lab: Lab) -> Outcome:
    """With lambda = 0.01 AROW is insensitive to eta_0 between 0.1 and 1 and much worse outside. With eta_0 = 1 it
    converges faster for larger lambda up to 0.01; at 0.1 it makes no progress."""
    team = _learners(lab)

    def arow(eta: float, lambda_: float) -> Run:
        return online(lab, f"chiang large arow {eta} {lambda_}", "arow", lab.seed, features="large",
                      options={"eta": eta, "lambda_": lambda_}, parallel="async", learners=team)  # fmt: skip

    etas = lab.pick(tiny=(0.1, 1.0), small=(0.01, 0.1, 1.0, 10.0), full=(0.01, 0.1, 1.0, 10.0))
    lambdas = lab.pick(tiny=(0.01, 0.1), small=(0.0001, 0.001, 0.01, 0.1), full=(0.0001, 0.001, 0.01, 0.1))
    by_eta = {eta: arow(eta, 0.01) for eta in etas}
    by_lambda = {value: arow(1.0, value) for value in lambdas}
    a = [curve(f"eta_0 = {eta:g}", [run]) for eta, run in by_eta.items()]
    b = [curve(f"lambda = {value:g}", [run]) for value, run in by_lambda.items()]
    tops = {eta: _best(run) for eta, run in by_eta.items()}
    inside = abs(tops[0.1] - tops[1.0])
    outside = [min(tops[0.1], tops[1.0]) - value for eta, value in tops.items() if eta not in (0.1, 1.0)]
    firsts = {value: _at(run, 1) for value, run in by_lambda.items()}
    upto = [firsts[value] for value in lambdas if value <= 0.01]
    return Outcome(
        tables=[_score_table("(a) by eta_0, dev BLEU", a), _score_table("(b) by lambda, dev BLEU", b)],
        claims=[
            Claim("between 0.1 and 1 eta_0 hardly matters", inside < 0.5, f"{inside:.2f} BLEU"),
            Claim("outside it is worse", bool(outside) and min(outside) > 0.3,
                  ", ".join(f"eta_0 {eta:g}: {value:.2f}" for eta, value in tops.items())),
            Claim("larger lambda converges faster up to 0.01", upto == sorted(upto),
                  "after one epoch " + ", ".join(f"{key:g}: {value:.2f}" for key, value in firsts.items())),
            Claim("lambda = 0.1 is worse than 0.01", _best(by_lambda[0.1]) < _best(by_lambda[0.01]) - 0.3,
                  f"{_best(by_lambda[0.1]):.2f} against {_best(by_lambda[0.01]):.2f}"),
        ],
        notes=[NOTE],
        figures=[Figure("chiang-fig6a", "AROW by eta_0", "epoch", "dev BLEU", a),
                 Figure("chiang-fig6b", "AROW by lambda", "epoch", "dev BLEU", b)],
    )  # fmt: skip
