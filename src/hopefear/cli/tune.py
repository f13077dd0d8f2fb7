"""``hopefear tune``: weights from candidates of any origin."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from hopefear.cli.console import Console, table
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import CLUSTER, InputFile, Many, count, table_options

if TYPE_CHECKING:
    from hopefear.metrics import Metric
    from hopefear.train.tuning import Tuned

PARAMS = [
    *table_options(),
    Many(["--nbest"], type=InputFile(folders=True), help="Candidate lists: parts of one, or of the same sentences."),
    click.Option(
        ["--forests"], type=InputFile(folders=True), help="Forests or lattices instead: a file, or a folder of them."
    ),
    click.Option(["--format"], metavar="NAME", help="Format of lists or forests (see convert). [seen from the file]"),
    click.Option(
        ["--decoder-command"],
        metavar="CMD",
        help="A decoder to run again and again, with {weights} and {nbest} for its files.",
    ),
    click.Option(
        ["--scorer-command"],
        metavar="CMD",
        help="A program that scores new candidates, with {candidates}, {sources} and {scores} for its files.",
    ),
    click.Option(["--decoder-timeout"], type=float, metavar="SECONDS", help="Longest time for one decoding."),
    count("--iterations", "10", "Decodings to learn from, with --decoder-command."),
    count("--recent", "all", "Learn from the candidates of the last so many decodings only."),
    click.Option(
        ["--sources"], type=InputFile(), help="The source sentences, one per line; {sources} in a decoder's command."
    ),
    click.Option(["--params"], type=InputFile(), help="TOML: parameters of the decoder to tune as well."),
    count("--retune-every", "4", "Parameters between two tunings of the weights; 0: none.", least=0),
    count("--max-evaluations", "750", "Settings of the parameters to try at most."),
    Many(["--refs"], type=InputFile(), help="References: one file per translator. Not needed if the lists hold them."),
    click.Option(
        ["--trainer"], required=True, metavar="NAME", help="How to learn: hopefear trainers lists them; or auto."
    ),
    click.Option(["--out"], required=True, metavar="RUN", help="The run directory to make."),
    Many(["--set"], metavar="NAME=VALUE", help="Options of the trainer; hopefear trainers NAME lists them."),
    Many(
        ["--metric"],
        metavar="NAME",
        help="What to optimise: bleu, chrf, ter, ..., or a column. More are reported only. [the outcome, or bleu]",
    ),
    click.Option(["--lowercase"], is_flag=True, help="The metric ignores case."),
    click.Option(
        ["--tokenize"], metavar="NAME", help="The metric's tokenizer; by default, words are taken as they are."
    ),
    click.Option(["--initial"], type=InputFile(), help="Weights to start from."),
    click.Option(["--random-init"], is_flag=True, help="Start each replicate from a random model around --initial."),
    click.Option(
        ["--holdout"], type=float, default=0.1, metavar="SHARE", help="Share of the sentences to hold out. [0.1]"
    ),
    count("--replicates", 1, "Fits under so many seeds; the best by development score is kept."),
    count("--cv", "none", "Folds of a cross-validation of the trainer, which chooses l2 as well.", least=2),
    count("--bag", "none", "Fits on resampled sentences, of which the mean is taken."),
    Many(["--dev-nbest"], type=InputFile(), help="Score and choose on these lists instead."),
    Many(["--dev-refs"], type=InputFile(), help="Their references."),
    click.Option(
        ["--memory"],
        type=click.FloatRange(min=0.0),
        metavar="GB",
        help="That candidates may take before they go to disk, beside RUN. [no limit]",
    ),
    CLUSTER,
    click.Option(["--resume"], is_flag=True, help="Go on with a run that was interrupted."),
    click.Option(["--overwrite"], is_flag=True, help="Replace a run that is there already."),
    click.Option(["--json"], is_flag=True, help="The scores as JSON."),
]

EXAMPLES = """
hopefear tune --nbest dev.nbest.gz --refs ref.0 ref.1 --trainer kbmira --out run
hopefear tune --nbest dev.nbest.gz --refs ref.0 ref.1 --trainer mert --set restarts=10 \\
    --initial weights.txt --replicates 5 --out run
hopefear tune --nbest dev.jsonl --metric comet --trainer pro --out run     # a column of the lists
hopefear tune --table scores.csv --group prompt --outcome reward --trainer auto --out run
hopefear tune --table hyps.parquet --group id --features 'lm*' rev --text hyp --references ref \\
    --metric bleu --metric chrf --trainer mert --out run
hopefear tune --decoder-command 'decode -w {weights} < dev.src > {nbest}' --refs ref.0 \\
    --initial weights.txt --trainer kbmira --out run
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, json: bool, **options: Any) -> None:
    """Learn weights from candidate lists, tables of scores or forests of any origin.

    Prints the metric before and after, on the sentences learnt from and on those held out, and writes
    RUN/weights.txt, RUN/run.json and RUN/log.jsonl. Before means --initial, or the first candidate of each list; of
    forests without --initial it is not known. Of several metrics the first is optimised. The same input, seed and
    options give the same weights, whatever --jobs is.
    """
    from hopefear.train.tuning import TuneConfig, tune

    with console.listener() as listen:
        tuned = tune(TuneConfig(**options, command=["hopefear", *sys.argv[1:]]), listen)
    if json:
        click.echo(json_module.dumps(tuned.final(), indent=2, ensure_ascii=False))
    else:
        print_scores(tuned)
        if tuned.setting is not None:
            click.echo("params  " + "  ".join(f"{name}={value!r}" for name, value in tuned.setting.items()))
    console.note(f"weights: {tuned.path}/weights.txt")
    if tuned.setting is not None:
        console.note(f"params: {tuned.path}/params.txt")


TITLES = {"train": "train", "dev": "dev", "holdout": "held out"}


def print_scores(tuned: Tuned) -> None:
    """A small table: before and after, a column for each part."""
    for metric in (tuned.metric, *tuned.others):
        print_metric(tuned, metric)
    for title, found in (("held out", tuned.more.get("baselines")), ("cross-validation", tuned.more.get("cv"))):
        if found is not None:
            print_baselines(title, tuned.metric.key, found)


def print_metric(tuned: Tuned, metric: Metric) -> None:
    """One metric of it."""
    parts, key = list(tuned.best.scores), metric.key
    rows = [[key, *(TITLES[part] for part in parts)]]
    rows.append(["before", *(_cells(tuned.before, parts, key) if tuned.before else ["not known"] * len(parts))])
    many = len(tuned.replicates) > 1
    if many:
        spread = [tuned.over_replicates(part, key) for part in parts]
        rows.append([f"after, mean of {len(tuned.replicates)}", *(f"{value:.2f}" for value, _ in spread)])
        rows.append(["  standard deviation", *(f"{value:.2f}" for _, value in spread)])
    rows.append([f"after, best (seed {tuned.best.seed})" if many else "after", *_cells(tuned.best.scores, parts, key)])
    click.echo(table(rows))
    click.echo(f"{key}|{metric.signature()}")


WAYS = {"after": "after", "initial": "initial weights", "equal": "equal weights", "best_single": "best single feature"}


def print_baselines(title: str, key: str, found: Mapping[str, Any]) -> None:
    """The fit beside what needs no learning, on sentences that were not learnt from."""
    rows = [[title, key, "95 %"]]
    for way, words in WAYS.items():
        if one := found.get(way):
            name = f"{words} ({one['feature']})" if one.get("feature") else words
            rows.append([name, f"{one['score']:.2f}", f"{one['low']:.2f} to {one['high']:.2f}"])
    click.echo("")
    click.echo(table(rows))


def _cells(scores: Mapping[str, Mapping[str, float]], parts: Sequence[str], key: str) -> list[str]:
    return [f"{scores[part][key]:.2f}" for part in parts]
