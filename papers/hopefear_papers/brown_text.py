"""Brown (2011): the text's claims about objectives, passes, normalisation, beta, and many features."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu, spearmanr

from hopefear.metrics import by_name
from hopefear_papers.base import Claim, Lab, Outcome, Table, better, experiment, not_better
from hopefear_papers.brown import (
    ADJUSTED,
    COLUMNS,
    HAITIAN,
    NOTE,
    PAPER,
    PERCEPTRONS,
    PRINTED,
    features,
    mert,
    perceptron,
    perceptrons,
    row,
)
from hopefear_papers.loop import Trial, compare, mark, trainer
from hopefear_papers.setups import Setup, main_setup
from hopefear_papers.verdicts import RATE, in_bleu, opposite

MANY = 18  # passes over the same lists
RISE = 8  # iterations for which the objective rises, at most


def _oracles_on_top(lab: Lab, on: Setup, passes: int) -> float:
    """The share of the first lists where the oracle is the best after so many passes."""
    k = lab.pick(tiny=10, small=100, full=100)
    learner = trainer("pa", lab, lab.seed, **{**PERCEPTRONS[PRINTED], **HAITIAN, "iterations": passes})

    def compute() -> dict[str, Any]:
        start = dict.fromkeys(features(on), 1e-9)
        lists = on.lists(on.dev, start, k)
        rouge = by_name("rouge-s", beta=HAITIAN["beta"])
        gains, begin = rouge.sentence_gains(rouge.stats(lists)), lists.row_begin()
        learnt = learner.fit(lists, start).weights
        w = np.array([learnt.get(name, 0.0) for name in lists.feature_names])
        on_top = []
        for i in range(len(lists)):
            own = gains[int(begin[i]) : int(begin[i + 1])]
            if len(own) and own.max() > own.min():  # else every candidate is an oracle
                on_top.append(own[int(np.argmax(lists[i].scores(w)))] == own.max())
        return {"share": float(np.mean(on_top)), "lists": len(on_top)}

    key = {**on.key, "k": k, "options": learner.options(), "passes": passes}
    return float(lab.cached("brown oracles on top", key, compute)["share"])


def _rises(objective: Sequence[float]) -> Claim:
    """Up to the eighth iteration, and no trend afterwards."""
    early, late = (
        spearmanr(range(len(part)), part) if len(part) > 2 else None for part in (objective[:RISE], objective[RISE:])
    )
    held = None
    if early is not None and early.pvalue < 0.05:
        held = bool(early.statistic > 0 and (late is None or late.pvalue >= 0.05 or late.statistic <= 0))
    trends = [f"{part}: rank correlation {one.statistic:+.2f}, p = {one.pvalue:.2g}"
              for part, one in (("up to then", early), ("after", late)) if one is not None]  # fmt: skip
    values = " ".join(f"{100 * value:.1f}" for value in objective)
    p = float(early.pvalue) if early is not None and np.isfinite(early.pvalue) else None
    return Claim(f"the objective rises for {RISE} iterations, then there is no trend", held,
                 f"ROUGE-S x 100: {values}; " + "; ".join(trends), p)  # fmt: skip


def _rising(values: Sequence[float]) -> bool | None:
    """Whether each value is above the one before; undecided if they rise and fall."""
    signs = {after > before for before, after in itertools.pairwise(values)}
    return signs.pop() if len(signs) == 1 else None


def _steps(run: Trial) -> list[float]:
    """How much the objective changes between decodings, x 100."""
    return [100 * abs(after - before) for before, after in itertools.pairwise(run["measured"])]


def _test_of(steps: Sequence[float], others: Sequence[float]) -> tuple[bool | None, float, str]:
    """Whether steps are smaller than others, by the rank test of Mann and Whitney."""
    if not steps or not others:
        return None, 1.0, "too few decodings"
    p = float(mannwhitneyu(steps, others).pvalue)
    evidence = f"mean {np.mean(steps):.3f} against {np.mean(others):.3f}, p = {p:.2g}"
    return (bool(np.mean(steps) < np.mean(others)) if p < RATE else None), p, evidence


def _smaller(claim: str, steps: Sequence[float], others: Sequence[float]) -> Claim:
    verdict, p, evidence = _test_of(steps, others)
    return Claim(claim, verdict, evidence, p)


def _no_smaller(claim: str, steps: Sequence[float], others: Sequence[float]) -> Claim:
    """Rejected if they are significantly smaller, else decided by the means: there is no margin to test against."""
    verdict, p, evidence = _test_of(steps, others)
    held = False if verdict else (bool(np.mean(steps) >= np.mean(others)) or None) if steps and others else None
    return Claim(claim, held, evidence, p if held is False else None)


@experiment("brown-text", "objectives, passes, normalisation and beta of the perceptron", f"{PAPER}, sections 3 to 8")
def text(lab: Lab) -> Outcome:
    """Smoothed BLEU performs very poorly as objective; many passes over the same lists put the oracle on top in 80 to
    90 % of the sentences and hurt BLEU; the objective rises for six to eight iterations; normalisation tames the
    swings of the weights, not the oscillations of the objective, and improves little; a larger beta lengthens the
    output; learning is a thousand times faster than decoding."""
    on = main_setup(lab)
    variants: dict[str, dict[str, Any]] = {
        "as printed": {},
        "BLEU+1": {"sentence_objective": "metric", "gain": "plus1"},
        "many passes": {"iterations": lab.pick(tiny=3, small=MANY, full=MANY)},
        "normalised": {"normalize": True},
        "beta = 1": {"beta": 1.0},
        "beta = 3": {"beta": 3.0},
    }
    runs: dict[str, list[Trial]] = {
        name: [perceptron(lab, on, lab.seed, PRINTED, {**HAITIAN, **options})] for name, options in variants.items()
    }
    largest = {name: _largest_share(trials[0]) for name, trials in runs.items()}
    rows = [
        [
            name,
            f"{trials[0]['dev']:.2f}",
            f"{trials[0]['test']:.2f}",
            f"{trials[0]['ratio']:.3f}",
            f"{largest[name]:.2f}",
        ]
        for name, trials in runs.items()
    ]
    against = {name: compare(on, trials, runs["as printed"], lab) for name, trials in runs.items()}
    lengths = {beta: runs[name][0]["ratio"]
               for beta, name in ((1.0, "beta = 1"), (HAITIAN["beta"], "as printed"), (3.0, "beta = 3"))}  # fmt: skip
    once, often = _oracles_on_top(lab, on, 1), _oracles_on_top(lab, on, variants["many passes"]["iterations"])
    printed = runs["as printed"][0]
    learning = printed["cpu"] / printed["decodings"]  # the last pass goes through the lists of all decodings

    def worse(claim: str, name: str) -> Claim:
        gap = against[name]
        return better(claim, opposite(gap), in_bleu(gap))

    return Outcome(
        [Table(f"the perceptron on {on.task.name}",
               ["variant", "dev", "test", "length ratio", "largest weight"], rows)],
        [
            worse("BLEU+1 is worse as objective than ROUGE-S", "BLEU+1"),
            Claim("many passes put the oracle on top in 80 % of the sentences and more", often >= 0.8,
                  f"in {100 * often:.0f} %, after one pass in {100 * once:.0f} %"),
            worse("and hurt BLEU", "many passes"),
            _rises(printed["measured"]),
            _smaller("normalisation tames the swings of the weights",
                     runs["normalised"][0]["swings"], printed["swings"]),
            _no_smaller("but not those of the objective", _steps(runs["normalised"][0]), _steps(printed)),
            not_better("and it improves little", against["normalised"]),
            Claim("beta lengthens the output", _rising(list(lengths.values())),
                  ", ".join(f"{ratio:.3f} with {beta:g}" for beta, ratio in lengths.items())),
            Claim("learning is a thousand times faster than decoding", printed["decoding"] > 1000 * learning,
                  f"{printed['decoding']:.1f} CPU s for a decoding, {1000 * learning:.0f} ms for a pass over it"),
        ],
        ["One run each: the perceptron is deterministic. BLEU+1 has no online iteration.", NOTE],
    )  # fmt: skip


def _largest_share(run: Trial) -> float:
    """Of the largest weight in the sum of magnitudes."""
    return float(run["largest"][run["iteration"] - 1][0])


@experiment("brown-features", "MERT and the perceptron with 228 features", f"{PAPER}, section 8")
def many(lab: Lab) -> Outcome:
    """MERT has considerable difficulty with many features (52 in the paper); the perceptron, whose scores are those
    of other tuners with few features, is ahead of it."""
    on = main_setup(lab)
    templates = ("group",)
    ascents = {
        "sparse": 220,
        **lab.pick(tiny={}, small={"restarts": 2, "passes": 4}, full={"restarts": 2, "passes": 4}),
    }
    ours: dict[str, Any] = ascents if lab.size == "tiny" else ascents | {"kicks": 0}
    first = "new MERT, as printed"
    runs: dict[str, list[Trial]] = {
        first: [mert(lab, on, seed, True, templates=templates, **ascents) for seed in lab.seeds],
        "MERT": [mert(lab, on, seed, templates=templates, **ours) for seed in lab.seeds],
        **perceptrons(lab, on, templates=templates),
    }
    against: Mapping[str, Any] = {name: compare(on, trials, runs[first], lab) for name, trials in runs.items()}
    rows = [row(name, trials, "", mark(against[name])) for name, trials in runs.items()]
    return Outcome(
        [Table(f"228 features, {on.task.name}; + - differ from {first}, p < 0.05", COLUMNS, rows)],
        [
            better("with 228 features the perceptron is ahead of MERT, as printed", against[ADJUSTED]),
            better("so is ours, averaged", against["perceptron"]),
            better("and ours towards BLEU", against["perceptron, BLEU"]),
        ],
        [
            "The group features of Tan et al. (2013). MERT has two random starts and four passes over the features.",
            NOTE,
        ],
    )
