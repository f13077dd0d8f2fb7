"""Chiang (2012), figures 2 to 6: learning curves on development data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import pearsonr

from hopefear.util.svg import Curve
from hopefear_papers.base import (
    Claim,
    Figure,
    Lab,
    Outcome,
    Table,
    all_better,
    better,
    experiment,
    levelled,
    spread,
    with_spread,
)
from hopefear_papers.chiang import NOTE, PAPER, learners, mert_options
from hopefear_papers.loop import Trial
from hopefear_papers.online import curve, trained
from hopefear_papers.verdicts import Gap, all_of, beats, in_interval, no_better, no_better_p, opposite


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


def _falls(runs: Sequence[Trial]) -> list[float]:
    """Dev BLEU that each replicate lost in epochs that are worse than the one before: 0 for a smooth curve."""
    scores = [[float(score) for epoch, score in run["history"] if epoch > 0] for run in runs]
    return [sum(max(0.0, a - b) for a, b in pairwise(one)) for one in scores]


def _last(runs: Sequence[Trial]) -> list[float]:
    """Dev BLEU of each replicate after its last epoch."""
    return [float(run["history"][-1][1]) for run in runs]


def _score_table(title: str, curves: list[Curve]) -> Table:
    longest = max(curves, key=lambda curve: len(curve.x)).x

    def cell(curve: Curve, k: int) -> str:
        if k >= len(curve.y):  # MERT may stop before the last epoch
            return ""
        return f"{curve.y[k]:.2f}" + (f" ({curve.error[k]:.2f})" if curve.error else "")

    rows = [[curve.name, *(cell(curve, k) for k in range(len(longest)))] for curve in curves]
    return Table(title, ["", *(f"epoch {x:g}" for x in longest)], rows)


@experiment("chiang-fig2", "learning curves: learning rates, and online methods against MERT", f"{PAPER}, figure 2")
def fig2(lab: Lab) -> Outcome:
    """On the small model SGD and minimum risk hardly depend on the learning rate, MIRA converges faster with higher
    ones; all reach the same level. The online algorithms converge more quickly and smoothly than MERT."""
    rates = lab.pick(tiny=(0.01, 0.05), small=(0.005, 0.01, 0.05), full=(0.005, 0.01, 0.02, 0.05))
    runs = {
        (name, eta): _replicates(lab, name, options={"eta": eta}, parallel="mix",
                                 learners=learners(lab))
        for name in ("sgd", "mira", "minrisk")
        for eta in rates
    }  # fmt: skip
    mert = _replicates(lab, "mert", options=mert_options(lab))
    titles = {"sgd": "SGD", "mira": "MIRA", "minrisk": "minimum risk"}
    figures, tables = [], []
    for letter, name in zip("abc", titles, strict=True):
        curves = [curve(f"{titles[name]} {eta:g}", runs[name, eta]) for eta in rates]
        figures.append(Figure(f"chiang-fig2{letter}", f"{titles[name]} by learning rate", "epoch", "dev BLEU", curves))
        tables.append(_score_table(f"({letter}) {titles[name]}, dev BLEU", curves))
    tops = {place: spread(_best(trials))[0] for place, trials in runs.items()}
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
    rough = {name: Gap.between(_falls(runs[name, best[name]]), _falls(mert)) for name in titles}
    ahead = {name: Gap.between(_mean(runs["mira", best["mira"]]), _mean(runs[name, best[name]]))
             for name in titles if name != "mira"}  # fmt: skip
    return Outcome(
        tables=tables,
        claims=[
            Claim("SGD and minimum risk hardly depend on the rate", max(ranges["sgd"], ranges["minrisk"]) < 0.5,
                  ", ".join(f"{titles[name]} {ranges[name]:.2f}" for name in titles) + " BLEU between rates"),
            better("MIRA converges faster with higher rates", faster,
                   f"mean over epochs {_listed(speed)}; highest against lowest {faster}"),
            levelled("all reach the same level", apart,
                     ", ".join(f"{titles[name]} {with_spread(value)}" for name, value in reached.items())
                     + "; best against worst"),
            all_better("online methods converge more quickly than MERT", list(first.values()),
                       "after one epoch, against MERT: " + "; ".join(f"{titles[n]} {gap}" for n, gap in first.items())),
            all_better("and more smoothly", [opposite(gap) for gap in rough.values()],
                       "BLEU lost in epochs that are worse than the one before, less MERT's: "
                       + "; ".join(f"{titles[n]} {gap}" for n, gap in rough.items())),
            all_better("MIRA converges faster than the others", list(ahead.values()),
                       "mean over epochs, MIRA over " + "; ".join(f"{titles[n]} {gap}" for n, gap in ahead.items())),
        ],
        notes=[NOTE],
        figures=figures,
    )  # fmt: skip


@experiment("chiang-fig3", "how hope and fear are chosen: approximation and loss weight", f"{PAPER}, figure 3")
def fig3(lab: Lab) -> Outcome:
    """Linear BLEU does as well as forest reranking. More negative loss weights mu give higher initial performance,
    less negative ones higher final performance; -1 is a good compromise."""
    team = learners(lab)
    ways = {how: _replicates(lab, "sgd", options={"eta": 0.01, "approximation": option}, parallel="mix", learners=team)
            for how, option in (("forest", "auto"), ("linear", "linear"))}  # fmt: skip
    mus = lab.pick(tiny=(-2.0, -1.0), small=(-5.0, -1.0, -0.5, -0.2), full=(-5.0, -2.0, -1.0, -0.5, -0.2))
    loss = {mu: _replicates(lab, "mira", options={"eta": 0.01, "mu": mu},
                            parallel="mix", learners=team) for mu in mus}  # fmt: skip
    a = [curve(name, ways[how]) for how, name in (("forest", "forest reranking"), ("linear", "linear BLEU"))]
    b = [curve(f"mu = {mu:g}", loss[mu]) for mu in mus]
    gap = Gap.between(_best(ways["linear"]), _best(ways["forest"]))
    firsts, finals = {mu: _at(loss[mu], 1) for mu in mus}, {mu: _last(loss[mu]) for mu in mus}
    early = Gap.between(firsts[mus[0]], firsts[mus[-1]])
    mild = mus[-2] if len(mus) > 2 else mus[-1]  # the paper's own exception is -0.2
    late = Gap.between(finals[mild], finals[mus[0]])
    middle = Gap.between(firsts[-1.0], firsts[mus[-1]]), Gap.between(finals[-1.0], finals[mus[0]])
    return Outcome(
        tables=[_score_table("(a) SGD, dev BLEU", a), _score_table("(b) MIRA by mu, dev BLEU", b)],
        claims=[
            levelled("linear BLEU is as good as forest reranking", gap, "at the best epoch"),
            better("more negative mu is better at first", early,
                   f"after one epoch {_listed(firsts)}; most against least negative {early}"),
            better("less negative mu is better in the end", late,
                   f"after the last epoch {_listed(finals)}; {mild:g} against {mus[0]:g} {late}; "
                   "the paper excepts -0.2"),
            all_better("-1 is a good trade-off", middle,
                       f"after one epoch, over {mus[-1]:g}: {middle[0]}; after the last, over {mus[0]:g}: {middle[1]}"),
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
    far better. From 20 to 50 processors mixing gets worse at each epoch, asynchronous MIRA does not. Asynchronous SGD,
    whose steps are summed, needs a smaller learning rate."""
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
    summed = {eta: _replicates(lab, "sgd", options={"eta": eta}, parallel="async", learners=few)
              for eta in (0.01, 0.001)}  # fmt: skip
    tables.append(_score_table(f"asynchronous SGD, small model, {few} learners, dev BLEU",
                               [curve(f"eta = {eta:g}", trials) for eta, trials in summed.items()]))  # fmt: skip
    careful = Gap.between(_best(summed[0.001]), _best(summed[0.01]))
    small, large = (Gap.between(_best(runs[m, "async", few]), _best(runs[m, "mix", few])) for m in models)
    more = {m: Gap.between(_mean(runs[m, "mix", many]), _mean(runs[m, "mix", few])) for m in models}
    fewer = {m: Gap.between(_mean(runs[m, "async", few]), _mean(runs[m, "async", many])) for m in models}
    return Outcome(
        tables=tables,
        claims=[
            better("on the small model async is behind mixing", opposite(small), f"{small}, {few} learners"),
            Claim("on the large model async is far ahead", beats(large.delta - 0.5, large.p),
                  f"{large}, {few} learners", large.p),
            all_better(f"mixing with {many} is worse than with {few} at the same epoch",
                       [opposite(gap) for gap in more.values()],
                       "; ".join(f"{model} {gap}" for model, gap in more.items()) + " (mean over epochs)"),
            Claim(f"async with {many} is not", all_of([no_better(fewer[m]) for m in models]),
                  "; ".join(f"{few} over {many}, {m} {in_interval(fewer[m])}" for m in models)
                  + " (mean over epochs)",
                  max(no_better_p(fewer[m]) for m in models)),
            better("asynchronous SGD is better with a smaller learning rate", careful, f"0.001 over 0.01 {careful}"),
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
    number, scores = zip(*((np.log(p), value) for p, values in means.items() for value in values), strict=True)
    r, p_value = pearsonr(number, scores) if len(set(scores)) > 1 else (0.0, 1.0)
    return Outcome(
        tables=[_score_table("large model, dev BLEU", curves)],
        claims=[
            Claim("more learners are better at the same epoch", beats(r, p_value),
                  f"mean over epochs by learners {_listed(means)}; correlation with their logarithm {r:+.2f}, "
                  f"p = {p_value:.2g}", float(p_value)),
        ],
        notes=[NOTE],
        figures=[Figure("chiang-fig5", "asynchronous MIRA by learners", "epoch", "dev BLEU", curves)],
    )  # fmt: skip


@experiment("chiang-fig6", "AROW: initial learning rate and lambda", f"{PAPER}, figure 6")
def fig6(lab: Lab) -> Outcome:
    """With lambda = 0.01 AROW is insensitive to eta_0 between 0.1 and 1 and much worse outside. With eta_0 = 1 it
    converges faster for larger lambda up to 0.01; at 0.1 it makes no progress."""
    team = learners(lab)

    def arow(eta: float, lambda_: float) -> list[Trial]:
        return _replicates(lab, "arow", features="large",
                           options={"eta": eta, "lambda_": lambda_}, parallel="async", learners=team)  # fmt: skip

    etas = lab.pick(tiny=(0.1, 1.0, 10.0), small=(0.01, 0.1, 1.0, 10.0), full=(0.01, 0.1, 1.0, 10.0, 100.0))
    lambdas = lab.pick(tiny=(0.01, 0.1), small=(0.0001, 0.001, 0.01, 0.1), full=(0.0001, 0.001, 0.01, 0.1, 1.0))
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
    high = {value: Gap.between(finals[0.01], finals[value]) for value in lambdas if value > 0.01}
    return Outcome(
        tables=[_score_table("(a) by eta_0, dev BLEU", a), _score_table("(b) by lambda, dev BLEU", b)],
        claims=[
            levelled("between 0.1 and 1 eta_0 hardly matters", inside, "1 against 0.1"),
            all_better("outside it is worse", list(outside.values()), f"at the best epoch {_listed(tops)}; "
                       + "; ".join(f"{low:g} against {eta:g} {gap}" for eta, gap in outside.items())),
            better("larger lambda converges faster up to 0.01", faster,
                   f"mean over epochs {_listed(speed)}; 0.01 against {lambdas[0]:g} {faster}"),
            *(better(f"lambda = {value:g} is worse than 0.01", gap,
                     f"at the best epoch {_listed(finals)}; 0.01 against {value:g} {gap}")
              for value, gap in high.items()),
        ],
        notes=["eta_0 = 100 and lambda = 1 are ours: our sentences are half as long as the paper's, so x^2 is smaller "
               "and the same values do less.", NOTE],
        figures=[Figure("chiang-fig6a", "AROW by eta_0", "epoch", "dev BLEU", a),
                 Figure("chiang-fig6b", "AROW by lambda", "epoch", "dev BLEU", b)],
    )  # fmt: skip
