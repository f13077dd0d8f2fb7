"""Tillmann and Zhang (2006): A discriminative global training algorithm for statistical MT."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from hopefear.decode.blocks import Blocks
from hopefear.evaluation.significance import Comparison, confidence_interval, paired_bootstrap
from hopefear.metrics import Bleu
from hopefear.model import BuildOptions, Model, build
from hopefear.model.options import BLOCK_COUNT, BLOCK_PROBABILITY
from hopefear.runs.events import Epoch
from hopefear.runs.record import checksum
from hopefear.trainers.blocks.costmargin import Costmargin
from hopefear.trainers.data import Corpus, Task, Translations
from hopefear.util.files import atomic_write, iter_lines, sweep
from hopefear.util.svg import Curve
from hopefear_papers.base import Claim, Figure, Lab, Outcome, Table, all_better, experiment, spread
from hopefear_papers.tasks import TranslationTask, tasks

PAPER = "Tillmann and Zhang 2006"
NOTE = (
    "Blocks of our own extraction from the whole training text, up to 8 words, seen at least twice, with p(e|f) of "
    "0.1 or more; the paper's block set was filtered by rules that it does not give, and has blocks seen once. BLEU "
    "of training sentences is the mean of BLEU+1. Unless the size is full, a part of the training text is learnt from, "
    "for fewer iterations than the paper's 30. Replicates differ in the order of the sentences and in the random "
    "alternatives. Decoded with is the mean of the weights after each iteration. lambda, which the paper does not "
    "give, is chosen for each row on the first half of the development data, by shorter runs on a part of the text; "
    "the second half joins the test data."
)
#: The values of which lambda is chosen.
LAMBDAS = (0.0, 0.01, 0.03, 0.1, 0.3)
#: The filter of the blocks.
FILTER = {"min_occurrences": BLOCK_COUNT, "min_probability": BLOCK_PROBABILITY}
#: Reordering, features, and the paper's BLEU on its training and test data.
ROWS = (
    ("monotone", "bleu", 0.542, None),
    ("monotone", "phrase", 0.378, 0.256),
    ("monotone", "word", 0.427, 0.341),
    ("monotone", "both", 0.477, 0.359),
    ("swap", "bleu", 0.594, None),
    ("swap", "phrase", 0.441, 0.295),
    ("swap", "word", 0.455, 0.359),
    ("swap", "both", 0.479, 0.363),
)


def _task(lab: Lab) -> TranslationTask:
    """Clean text with one reference, which is closest to the paper's; else the first task."""
    known = tasks(lab)
    return next((task for task in known if task.name == "de-en-multi30k"), known[0])


def _pairs(task: TranslationTask) -> list[tuple[str, str]]:
    """The training text."""
    return [
        pair
        for source, target in task.train
        for pair in zip(iter_lines(source), iter_lines(target), strict=True)
        if pair[0].strip() and pair[1].strip()
    ]


def _sample(lab: Lab, pairs: list[tuple[str, str]], choosing: bool) -> list[tuple[str, str]]:
    """The pairs to learn from: all, or evenly spaced ones; fewer if lambda is chosen."""
    most = lab.pick(tiny=100, small=2500, full=10_000 if choosing else len(pairs))
    return pairs[:: max(1, len(pairs) // most)][:most]


def _key(lab: Lab, task: TranslationTask) -> dict[str, Any]:
    return {"files": [checksum(path)["sha256"] for path in task.files], "size": lab.size, "blocks": FILTER}


@lru_cache(maxsize=2)
def _model(lab: Lab, task: TranslationTask) -> Model:
    path = lab.out / "models" / f"blocks-{BLOCK_PROBABILITY}-{task.name if lab.data else lab.size}"
    sweep(path.parent)
    if not path.exists():
        pairs = _pairs(task)
        lab.run.note(f"building blocks from {len(pairs):,} pairs of {task.name}")
        text = path.with_name(path.name + ".text")
        for side in (0, 1):
            text.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(text.with_suffix(f".{side}")) as file:
                file.writelines(pair[side] + "\n" for pair in pairs)
        options = BuildOptions(kind="blocks", strip_punctuation=task.strip, **FILTER)  # type: ignore[arg-type]
        build(text.with_suffix(".0"), text.with_suffix(".1"), path, options, jobs=lab.jobs, run=lab.run)
    return Model.open(path, jobs=lab.jobs)


def _held(task: TranslationTask) -> tuple[Corpus, Corpus]:
    """The text that lambda is chosen on, and the text to test on: all the rest that is not learnt from."""
    dev, test = Corpus.read(*task.dev), Corpus.read(*task.test)
    half = len(dev) // 2
    if len(dev.references) != len(test.references):
        return dev, test
    references = [[*a[half:], *b] for a, b in zip(dev.references, test.references, strict=True)]
    rest = Corpus([*dev.lines[half:], *test.lines], references)
    return Corpus(dev.lines[:half], [reference[:half] for reference in dev.references]), rest


def _trainer(lab: Lab, reordering: str, features: str, seed: int, **more: Any) -> Costmargin:
    options = {"iterations": lab.pick(tiny=3, small=20, full=30)} | more
    return Costmargin(features=features, reordering=reordering, select=False, seed=seed, jobs=lab.jobs, **options)


def _row(lab: Lab, task: TranslationTask, reordering: str, features: str, beams: int = 1) -> list[Mapping[str, Any]]:
    """The replicates of a row. The search for the highest BLEU is deterministic: it is done once."""
    if features == "bleu":
        return [_run(lab, task, reordering, features, lab.seed)]
    more = {"l2": _lambda(lab, task, reordering, features), "pop_limit": beams * Costmargin().pop_limit}
    return [_run(lab, task, reordering, features, seed, False, **more) for seed in lab.seeds]


def _lambda(lab: Lab, task: TranslationTask, reordering: str, features: str) -> float:
    """The one with the highest BLEU on development data at the end of a shorter run."""
    values = LAMBDAS[: lab.pick(tiny=2, small=4, full=5)]
    short = lab.pick(tiny=2, small=12, full=12)
    strengths = [
        _run(lab, task, reordering, features, lab.seed, choosing=True, l2=value, iterations=short) for value in values
    ]
    return values[int(np.argmax([run["test"][-1] for run in strengths]))]


def _run(
    lab: Lab, task: TranslationTask, reordering: str, features: str, seed: int, choosing: bool = False, **more: Any
) -> Mapping[str, Any]:
    """One run: BLEU on training and test data after each iteration. From the cache if it is there.

    ``choosing``: a short one, on less text and with the development data in place of the test data.
    """
    truths = features == "bleu"
    trainer = _trainer(lab, reordering, "both" if truths else features, seed, **more)
    options = {name: value for name, value in trainer.options().items() if name not in ("seed", "jobs", "select")}
    key = {**_key(lab, task), "options": options, "bleu": truths, "seed": seed, "choosing": choosing}
    model = _model(lab, task)

    def compute() -> dict[str, Any]:
        pairs = _sample(lab, _pairs(task), choosing)
        corpus = Corpus([f for f, _ in pairs], [[e for _, e in pairs]])
        decoder = Blocks(model, {}, features="none", lms=False)
        if truths:
            own = trainer.adapted(decoder)
            oracle = own.core.oracle(own.corpus(corpus.lines, corpus.references[0]), 1, False, *own.limits, lab.jobs)
            return {"train": [float(oracle.bleu.mean())], "test": [], "features": 0, "sentences": len(pairs)}
        test = _held(task)[0 if choosing else 1]
        folder = lab.scratch("tillmann", key)
        label = f"tillmann {reordering} {features}, seed {seed}"
        session = lab.training(label, trainer.iterations, folder, _progress)
        result = trainer.fit(Task(decoder, corpus, test), run=session)
        learnt = Blocks(model, result.weights, trainer.pop_limit, trainer.max_options)
        began = time.process_time()
        stats = Translations.of(learnt, test, result.weights, lab.jobs).stats
        decoding = time.process_time() - began
        shutil.rmtree(folder, ignore_errors=True)
        return {
            "stats": stats.astype(int).tolist(),
            "train": [record["train_bleu"] / 100 for record in result.history],
            "test": [record["dev"] / 100 for record in result.history],
            "changed": [record["changed"] for record in result.history[1:]],
            "decoding": decoding,
            "l2": trainer.l2,
            "features": result.history[-1]["features"],
            "sentences": len(pairs),
        }

    return lab.cached("tillmann", key, compute)


def _progress(event: Epoch) -> str:
    return f"train {event.figures['train_bleu']:.1f} test {event.figures['dev']:.1f}"


def _ends(runs: list[Mapping[str, Any]], part: str, at: int = -1) -> list[float]:
    """BLEU of each replicate after an iteration, by default the last."""
    return [run[part][at] for run in runs if run[part]]


def _ours(values: list[float], paper: float | None) -> str:
    if not values:
        return "-"
    middle, deviation = spread(values)
    return f"{middle:.3f}" + (f" ± {deviation:.3f}" if len(values) > 1 else "") + (f" [{paper}]" if paper else "")


RowKey = tuple[str, str]  # reordering and features
Runs = Mapping[RowKey, list[Mapping[str, Any]]]
WIDE = "swap, 4 x pops"  # a search that is four times as wide


def _against(lab: Lab, runs: Runs, one: RowKey, other: RowKey) -> Comparison:
    """Two rows on test data."""
    ours, theirs = (np.stack([np.array(run["stats"], float) for run in runs[place]]) for place in (one, other))
    return paired_bootstrap(ours, theirs, Bleu(), 1000, lab.seed, lab.jobs)


def _ahead(lab: Lab, runs: Runs, text: str, pairs: Sequence[tuple[RowKey, RowKey]]) -> Claim:
    """A claim about rows on test data, decided by the paired bootstrap."""
    tests = [_against(lab, runs, first, other) for first, other in pairs]
    evidence = [
        f"{' '.join(first)} over {' '.join(other)} {test.delta / 100:+.3f}, p = {test.p:.2g}"
        for (first, other), test in zip(pairs, tests, strict=True)
    ]
    return all_better(text, tests, "; ".join(evidence))


@experiment("tillmann-table3", "block sequences: features and reordering", PAPER)
def table3(lab: Lab) -> Outcome:
    """Word-based models significantly outperform phrase-based ones, both together are best, swaps slightly improve on
    monotone decoding, and all stay far below the maximum BLEU. Monotone decoding is twice as fast; after 15 iterations
    new alternatives hardly differ from the last ones."""
    task = _task(lab)
    measured = {(r, f): _row(lab, task, r, f) for r, f, _, _ in ROWS}
    measured[WIDE, "both"] = _row(lab, task, "swap", "both", beams=4)
    rows = [
        _cells(n, r, f, measured[r, f], a, b) for n, (r, f, a, b) in enumerate([*ROWS, (WIDE, "both", None, None)], 1)
    ]
    train = {place: spread(_ends(runs, "train"))[0] for place, runs in measured.items()}
    decoding = {
        place: spread([run["decoding"] for run in runs])[0] for place, runs in measured.items() if place[1] != "bleu"
    }
    changed = np.mean([run["changed"] for run in measured["swap", "both"]], axis=0)  # from the second iteration on
    late = float(changed[min(14, len(changed) - 1) :].mean())

    def above(text: str, pairs: list[tuple[float, float]]) -> Claim:
        return Claim(text, all(a > b for a, b in pairs), ", ".join(f"{a:.3f} against {b:.3f}" for a, b in pairs))

    both, learnt = ("monotone", "swap"), ("phrase", "word", "both")
    claims = [
        _ahead(lab, measured, "word features beat phrase features", [((r, "word"), (r, "phrase")) for r in both]),
        _ahead(lab, measured, "both together beat phrase features", [((r, "both"), (r, "phrase")) for r in both]),
        _ahead(lab, measured, "both together beat word features", [((r, "both"), (r, "word")) for r in both]),
        _ahead(lab, measured, "swaps improve on monotone decoding", [(("swap", f), ("monotone", f)) for f in learnt]),
        _ahead(lab, measured, "with four times the pops, too", [((WIDE, "both"), ("monotone", "both"))]),
        above("swaps raise the maximum BLEU", [(train["swap", "bleu"], train["monotone", "bleu"])]),
        above(
            "training BLEU stays far (0.05) below the maximum BLEU",
            [(train[r, "bleu"] - 0.05, max(train[r, f] for f in learnt)) for r in both],
        ),
        Claim(
            "monotone decoding is much faster (half the time)",
            decoding["swap", "both"] > 1.5 * decoding["monotone", "both"],
            f"the test data in {decoding['monotone', 'both']:.2f} against {decoding['swap', 'both']:.2f} CPU s",
        ),
        Claim(
            "after 15 iterations new alternatives hardly differ",
            late < 0.5,
            f"in {100 * late:.0f} % of the sentences any block differs from those of the iteration before, "
            f"after the first {100 * float(changed[0]):.0f} %",
        ),
    ]
    sentences = measured["swap", "both"][0]["sentences"]
    title = f"BLEU on {sentences:,} training sentences of {task.name} and on its test data; the paper's in brackets"
    columns = ["", "reordering", "features", "number", "lambda", "train", "test", "95 % of test"]
    numbers = {
        f"{r} {f}": [{k: v for k, v in run.items() if k != "stats"} for run in runs]
        for (r, f), runs in measured.items()
    }
    return Outcome([Table(title, columns, rows)], claims, [NOTE], numbers=numbers)


def _cells(
    number: int, reordering: str, features: str, runs: list[Mapping[str, Any]], train: float | None, test: float | None
) -> list[str]:
    """A row of table 3, with half of the width of the interval of test BLEU (the paper: 0.014)."""
    learnt = features != "bleu"
    return [
        str(number),
        reordering,
        features,
        f"{round(spread([run['features'] for run in runs])[0]):,}" if learnt else "-",
        f"{runs[0]['l2']:g}" if learnt else "-",
        _ours(_ends(runs, "train"), train),
        _ours(_ends(runs, "test"), test),
        f"± {_margin(runs):.3f}" if learnt else "-",
    ]


def _margin(runs: list[Mapping[str, Any]]) -> float:
    interval = confidence_interval(np.stack([np.array(run["stats"], float) for run in runs]), Bleu())
    return (interval.high - interval.low) / 200


@experiment("tillmann-fig2", "block sequences: BLEU over training iterations", PAPER)
def fig2(lab: Lab) -> Outcome:
    """By adding top-scoring alternatives, BLEU on the training data rises from 0.22 to 0.48, and on the test data from
    0.08 to 0.36."""
    runs = _row(lab, _task(lab), "swap", "both")
    parts, paper = ("train", "test"), {"train": (0.22, 0.48), "test": (0.08, 0.36)}
    x = list(range(1, len(runs[0]["train"]) + 1))
    curves = []
    for part in parts:
        points = [spread(_ends(runs, part, i - 1)) for i in x]
        curves.append(Curve(part, x, [middle for middle, _ in points], [deviation for _, deviation in points]))
    figure = Figure("tillmann-fig2", "BLEU over training iterations, swap, both", "iteration", "BLEU", curves)
    rows = [
        [
            part,
            _ours(_ends(runs, part, 0), paper[part][0]),
            _ours(_ends(runs, part), paper[part][1]),
            _ours([max(run[part]) for run in runs], None),
        ]
        for part in parts
    ]
    table = Table(f"BLEU over {len(x)} iterations", ["", "first", "last", "highest"], rows)
    claims = [
        Claim(
            f"BLEU on the {part} data rises with the iterations",
            min(_ends(runs, part)) > max(_ends(runs, part, 0)),
            f"from {_ours(_ends(runs, part, 0), None)} to {_ours(_ends(runs, part), None)}",
        )
        for part in parts
    ]
    return Outcome([table], claims, [NOTE], [figure], {part: [run[part] for run in runs] for part in parts})
