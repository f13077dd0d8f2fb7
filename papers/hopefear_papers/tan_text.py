"""Tan et al. (2013): the claims of sections 4.1 and 4.3 about longer training, beams and more constraints."""

from __future__ import annotations

from hopefear_papers.base import Claim, Lab, Outcome, Table, better, experiment, not_better, spread, with_spread
from hopefear_papers.loop import Trial, compare
from hopefear_papers.setups import main_setup
from hopefear_papers.tan import AS_PRINTED, NOTE, PAPER, runs_of
from hopefear_papers.verdicts import all_of, beats, in_bleu


@experiment("tan-text", "longer training, a beam over the corpus, more constraints", f"{PAPER}, sections 4.1 and 4.3")
def text(lab: Lab) -> Outcome:
    """Hope and fear from a beam over the corpus are no better than joined ones and take ten times as long; 30 corpus
    hypotheses by SMO overfit; the other MIRAs do not gain from 400 epochs."""
    on = main_setup(lab)
    beam, many = lab.pick(tiny=(2, 3), small=(10, 30), full=(10, 30))
    long = lab.pick(tiny=5, small=200, full=400)
    runs: dict[str, list[Trial]] = {
        "c-MIRA": runs_of(lab, on, AS_PRINTED, "basic"),
        "c-MIRA, beam": runs_of(lab, on, AS_PRINTED, "basic", beam=beam),
        "c-MIRA, beam, constraints": runs_of(lab, on, AS_PRINTED, "basic", beam=many, constraints=many),
        "MIRA_1": runs_of(lab, on, "MIRA_1", "basic"),
        "MIRA_1, long": runs_of(lab, on, "MIRA_1", "basic", passes=long),
        "MIRA_2": runs_of(lab, on, "MIRA_2", "basic"),
        "MIRA_2, long": runs_of(lab, on, "MIRA_2", "basic", passes=long),
    }
    cpu, dev = (
        {name: spread([run[what] for run in trials])[0] for name, trials in runs.items()} for what in ("cpu", "dev")
    )
    beamed = compare(on, runs["c-MIRA, beam"], runs["c-MIRA"], lab)
    fitted = compare(on, runs["c-MIRA, beam, constraints"], runs["c-MIRA"], lab)
    longer = {name: compare(on, runs[f"{name}, long"], runs[name], lab) for name in ("MIRA_1", "MIRA_2")}
    rows = [
        [name, *(with_spread([run[part] for run in trials]) for part in ("dev", "test")), f"{cpu[name]:.2f}"]
        for name, trials in runs.items()
    ]
    return Outcome(
        [Table(f"8 features, {on.task.name}; beam of {beam}, {many} constraints, {long} epochs",
               ["method", "dev", "test", "CPU s per fit"], rows)],
        [
            not_better("the beam is not better", beamed),
            Claim("and takes ten times as long", cpu["c-MIRA, beam"] > 10 * cpu["c-MIRA"],
                  f"{cpu['c-MIRA, beam']:.2f} against {cpu['c-MIRA']:.2f} CPU s per fit"),
            Claim("more constraints overfit",
                  all_of([dev["c-MIRA, beam, constraints"] > dev["c-MIRA"], beats(-fitted.delta, fitted.p)]),
                  f"dev {dev['c-MIRA, beam, constraints']:.2f} against {dev['c-MIRA']:.2f}; test {in_bleu(fitted)}",
                  fitted.p),
            *(not_better(f"{name} does not gain from {long} epochs", gain) for name, gain in longer.items()),
            better("c-MIRA is better than MIRA_2 with 8 features", compare(on, runs["c-MIRA"], runs["MIRA_2"], lab)),
        ],
        ["c-MIRA as printed, to save time with 8 features; the paper does not say with how many.", NOTE],
    )  # fmt: skip
