"""Gimpel and Smith (2012): the notes' claims about other losses and other values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hopefear_papers.base import Claim, Lab, Outcome, Table, all_better, better, experiment
from hopefear_papers.gimpel import NOTE, PAPER, run
from hopefear_papers.loop import Trial, compare
from hopefear_papers.setups import main_setup
from hopefear_papers.verdicts import all_of, beats, in_bleu, in_interval, level, level_p, opposite

#: The options that note 12 varies, with values that include the paper's own.
VALUES: dict[str, Sequence[float]] = {"alpha": (1.0, 5.0, 10.0), "C": (0.1, 1.0, 10.0), "cccp": (2, 10, 40)}
LOSSES = ("ramp3", "ramp1", "ramp2", "softramp1", "softramp2", "softramp3")


@experiment("gimpel-text", "other losses, and the values of alpha, C and T'", f"{PAPER}, notes 8 and 12")
def text(lab: Lab) -> Outcome:
    """Ramp loss 1 does poorly, with single digits of BLEU; ramp loss 2 is high on the tuning set and fails to
    generalise; soft forms are slightly worse than ramp loss 3. alpha of 1, 5 and 10 work well, C hardly matters, a
    smaller T' is better."""
    on = main_setup(lab)

    def trial(**changed: Any) -> list[Trial]:
        return [run(lab, on, "RAMPION", lab.seed, on.initial(), printed=True, **changed)]  # it is deterministic

    losses = {loss: trial(loss=loss) for loss in LOSSES}
    values = {
        (name, value): trial(**{name: value})
        for name, among in VALUES.items()
        for value in among[: lab.pick(tiny=2, small=3, full=3)]
    }
    rows = [[loss, f"{runs[0]['dev']:.2f}", f"{runs[0]['test']:.2f}"] for loss, runs in losses.items()]
    rows += [
        [f"{name} = {value:g}", f"{runs[0]['dev']:.2f}", f"{runs[0]['test']:.2f}"]
        for (name, value), runs in values.items()
    ]
    over = compare(on, losses["ramp2"], losses["ramp3"], lab)
    soft = {loss: compare(on, losses[loss], losses["ramp3"], lab) for loss in LOSSES if loss.startswith("soft")}
    claims = [
        Claim(
            "ramp loss 1 has single digits", losses["ramp1"][0]["test"] < 10, f"{losses['ramp1'][0]['test']:.2f} BLEU"
        ),
        Claim(
            "ramp loss 2 is as high on the tuning set as ramp loss 3, and lower on the test set",
            all_of([losses["ramp2"][0]["dev"] >= losses["ramp3"][0]["dev"] - 0.5, beats(-over.delta, over.p)]),
            f"dev {losses['ramp2'][0]['dev']:.2f} and {losses['ramp3'][0]['dev']:.2f}; test {in_bleu(over)}",
            over.p,
        ),
        all_better(
            "soft forms are slightly worse",
            [opposite(gap) for gap in soft.values()],
            "; ".join(f"{loss} {in_bleu(gap)}" for loss, gap in soft.items()),
        ),
    ]
    for name, text in (("alpha", "alpha of 1, 5 and 10 are level"), ("C", "C hardly matters")):
        own = values[name, VALUES[name][-1] if name == "alpha" and lab.size != "tiny" else 1.0]
        others = {value: compare(on, runs, own, lab) for (of, value), runs in values.items() if of == name}
        claims.append(
            Claim(
                text,
                all_of([level(gap) for gap in others.values()]),
                "; ".join(f"{value:g} {in_interval(gap)}" for value, gap in others.items()),
                max(level_p(gap) for gap in others.values()),
            )
        )
    few, many = (values["cccp", k] for k in (2, [k for of, k in values if of == "cccp"][-1]))
    claims.append(better("a smaller T' is better", compare(on, few, many, lab)))
    return Outcome(
        [Table(f"RAMPION as printed on {on.task.name}", ["loss or value", "dev", "test"], rows)], claims, [NOTE]
    )
