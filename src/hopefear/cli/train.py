"""``hopefear train``: the weights of a model, from sentences and their references."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Mapping
from typing import Any

import click

from hopefear.cli.console import Console, table
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import CLUSTER, InputFile, Many, Positional, count

PARAMS = [
    Positional(["model"], required=True, type=InputFile(folders=True), metavar="MODEL"),
    click.Option(["--source"], required=True, type=InputFile(), help="Sentences to learn from."),
    Many(["--refs"], required=True, type=InputFile(), help="Their references: one file per translator."),
    click.Option(["--trainer"], required=True, metavar="NAME", help="How to learn; hopefear trainers lists them."),
    click.Option(["--out"], required=True, metavar="RUN", help="The run directory to make."),
    click.Option(["--dev-source"], type=InputFile(), help="Sentences to see on what training is worth."),
    Many(["--dev-refs"], type=InputFile(), help="Their references."),
    click.Option(["--test-source"], type=InputFile(), help="Sentences to translate once, at the end."),
    Many(["--test-refs"], type=InputFile(), help="Their references."),
    Many(["--set"], metavar="NAME=VALUE", help="Options of the trainer; hopefear trainers NAME lists them."),
    click.Option(
        ["--input"],
        type=click.Choice(["text", "plf"]),
        default="text",
        help="Source lines of text, or word lattices in PLF, one per line; their scores are features too. [text]",
    ),
    click.Option(
        ["--features"],
        metavar="WHICH",
        help="small: the dense features; large: lex features as well; or templates, e.g. lex,group. "
        "[large, for batch trainers small]",
    ),
    click.Option(
        ["--initial"],
        type=InputFile(folders=True),
        help="Weights to start from: a file, or a model, for its own. [those of MODEL]",
    ),
    click.Option(
        ["--paper-start"], is_flag=True, help="Start from 1 for language models and phrases and 0 for all else."
    ),
    click.Option(
        ["--holdout"],
        type=float,
        default=0.1,
        metavar="SHARE",
        help="Without --dev-source: share of the sentences held out, to see what training is worth. [0.1]",
    ),
    count("--folds", 1, "Fits, each with another part held out; the mean of their weights is the result."),
    click.Option(
        ["--parallel"],
        type=click.Choice(["none", "average", "mix", "async"]),
        help="How several learners work together. [none; async on a cluster]",
    ),
    count("--learners", 0, "How many learners; 0 is one per core, of the cluster if there is one.", least=0),
    count("--simulate-learners", 0, "So many async learners, taking turns in one process; deterministic.", least=0),
    CLUSTER,
    count("--pop-limit", "200", "Of the decoder: rule applications kept per span; 0 is all. Blocks: 40.", least=0),
    count("--max-options", "20", "Of the decoder: target sides kept per source side; 0 is all. Blocks: 10.", least=0),
    count("--kbest", "200", "Of batch trainers: candidates per sentence and iteration.", least=2),
    count("--iterations", "10", "Of batch trainers: decodings to learn from."),
    click.Option(
        ["--checkpoint-every"], type=float, default=30.0, metavar="SECONDS", help="Between two checkpoints. [30]"
    ),
    click.Option(["--resume"], is_flag=True, help="Go on with a run that was interrupted."),
    click.Option(["--overwrite"], is_flag=True, help="Replace a run that is there already."),
    click.Option(["--json"], is_flag=True, help="The scores as JSON."),
]

EXAMPLES = """
hopefear train model --source tune.es --refs tune.en.0 tune.en.1 --trainer arow --out run
hopefear train model --source tune.es --refs tune.en --dev-source dev.es --dev-refs dev.en \\
    --trainer mira --set eta=0.05 epochs=5 --parallel mix --learners 4 --out run
hopefear train model --source tune.es --refs tune.en --trainer mira --parallel async --out run
hopefear train model --source tune.es --refs tune.en --trainer mert --out run
hopefear train blocks --source train.de --refs train.en --trainer costmargin --set iterations=30 --out run
hopefear translate model --weights run/weights.txt < test.es > test.out
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, json: bool, **options: Any) -> None:
    """Learn the weights of a model from sentences and their references.

    Online trainers (sgd, mira, arow, minrisk, perceptron) decode a sentence, search hope and fear in its forest,
    update, and go on; the average of their weights over all epochs is the result. The other trainers go round a loop of
    decoding and learning. BLEU is that of tokens as the model makes them. If nothing that was learnt translates the
    development data better than the model's own weights, these are kept.

    The same input, seed and options give the same weights, whatever --jobs is; only --parallel async without
    --simulate-learners does not.
    """
    from hopefear.train.training import TrainConfig, online

    with console.listener() as listen:
        trained = online(TrainConfig(**options, command=["hopefear", *sys.argv[1:]]), listen)
    if json:
        click.echo(json_module.dumps(trained.final, indent=2, ensure_ascii=False))
    else:
        _print(trained.final)
    console.note(f"weights: {trained.path}/weights.txt")


def _print(final: Mapping[str, Any]) -> None:
    parts = [part for part in ("train", "dev", "test") if part in final]
    if "before" not in final:  # a model of blocks, whose weights start at 0
        for part in parts:
            click.echo(f"bleu {part}  {final[part]['bleu']:.2f}")
        return
    rows = [["bleu", *parts]]
    ways = [("before", final["before"]), (f"after, epoch {final['epoch']}", final)]
    if "untrained" in final:
        ways.insert(0, ("untrained model", final["untrained"]))
    for name, scores in ways:
        rows.append([name, *(f"{scores[part]['bleu']:.2f}" for part in parts)])
    click.echo(table(rows))
