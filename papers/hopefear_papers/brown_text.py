"""Brown (2011): what sections 4 and 5 say of objectives, passes, normalisation and beta."""

from __future__ import annotations

from typing import Any

from hopefear_papers.base import Claim, Lab, Outcome, Table, experiment
from hopefear_papers.brown import HAITIAN, NOTE, PAPER, perceptron
from hopefear_papers.loop import Trial, compare
from hopefear_papers.setups import main_setup
from hopefear_papers.verdicts import beats, in_bleu, in_interval, no_better

PRINTED = "perceptron, as printed"


@experiment("brown-text", "objectives, passes, normalisation and beta of the perceptron", f"{PAPER}, sections 4 and 5")
def text(lab: Lab) -> Outcome:
    """Smoothed BLEU performs very poorly as objective; many passes over the same lists hurt BLEU; normalisation tames
    the weights, not the scores; a larger beta lengthens the output."""
    on = main_setup(lab)
    variants: dict[str, dict[str, Any]] = {
        "as printed": {},
        "BLEU+1": {"sentence_objective": "metric", "gain": "plus1"},
        "many passes": {"iterations": lab.pick(tiny=3, small=18, full=18)},
        "normalised": {"normalize": True},
        "beta = 1": {"beta": 1.0},
        "beta = 3": {"beta": 3.0},
    }
    runs: dict[str, list[Trial]] = {
        name: [perceptron(lab, on, lab.seed, which=PRINTED, values={**HAITIAN, **options})]
        for name, options in variants.items()
    }
    largest = {name: _largest_share(found[0]) for name, found in runs.items()}
    rows = [
        [name, f"{found[0]['dev']:.2f}", f"{found[0]['test']:.2f}", f"{found[0]['ratio']:.3f}", f"{largest[name]:.2f}"]
        for name, found in runs.items()
    ]
    against = {name: compare(on, found, runs["as printed"], lab) for name, found in runs.items()}
    low, high = runs["beta = 1"][0]["ratio"], runs["beta = 3"][0]["ratio"]

    def worse(claim: str, name: str) -> Claim:
        found = against[name]
        return Claim(claim, beats(-found.delta, found.p), in_bleu(found), found.p)

    return Outcome(
        [Table(f"the perceptron on {on.task.name}",
               ["variant", "dev", "test", "length ratio", "largest weight"], rows)],
        [
            worse("BLEU+1 is worse as objective than ROUGE-S", "BLEU+1"),
            worse("many passes hurt BLEU", "many passes"),
            Claim("normalisation tames the weights", largest["normalised"] < largest["as printed"],
                  f"share of the largest in the sum {largest['normalised']:.2f} against {largest['as printed']:.2f}"),
            Claim("but not the scores", no_better(against["normalised"]),
                  in_interval(against["normalised"])),
            Claim("beta lengthens the output", high > low, f"{low:.3f} with 1, {high:.3f} with 3"),
        ],
        ["One run each: the perceptron knows no chance.", NOTE],
    )  # fmt: skip


def _largest_share(run: Trial) -> float:
    """Of the largest weight in the sum of magnitudes."""
    sizes: list[float] = [abs(value) for value in run["weights"].values()]
    return max(sizes) / max(sum(sizes), 1e-300)
