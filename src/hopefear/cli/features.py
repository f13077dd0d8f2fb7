"""``hopefear features``: more evidence for every candidate of a list."""

from __future__ import annotations

from typing import Any

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Many, Positional

PARAMS = [
    Positional(["list"], metavar="LIST", type=InputFile(), required=True),
    click.Option(
        ["--out"], metavar="LIST", required=True, help="The new list: JSON lines if its name has .jsonl, else Moses'."
    ),
    Many(["--lm"], type=InputFile(), help="Language models, ARPA or as hopefear saves them."),
    click.Option(
        ["--model"], type=InputFile(folders=True), help="A model of hopefear build: word translations, language models."
    ),
    Many(
        ["--consensus"],
        metavar="METRIC",
        help="Expected bleu, chrf, ter against the other candidates, and what their n-grams and words agree on.",
    ),
    click.Option(
        ["--weights"],
        type=InputFile(),
        help="With --consensus: how probable candidates are. [all are equally probable]",
    ),
    click.Option(
        ["--scale"], type=float, default=1.0, metavar="X", help="With --weights: p is exp(X w.h) over its sum. [1]"
    ),
    click.Option(["--forced"], is_flag=True, help="With --model: the best derivation of each candidate."),
    click.Option(["--explain"], metavar="ID", help="With --forced: print the derivations of a sentence's candidates."),
    click.Option(["--sources"], type=InputFile(), help="Source text, one line per sentence. [as in the list]"),
]

EXAMPLES = """
hopefear features dev.jsonl --out dev.more.jsonl --lm big.arpa.gz
hopefear features dev.jsonl --out dev.more.jsonl --model model --consensus bleu chrf --weights run/weights.txt
hopefear features dev.jsonl --out dev.more.jsonl --model model --forced --explain 17
hopefear features dev.nbest --out dev.more.nbest --sources dev.es --model model
"""


@make_command(PARAMS, examples=EXAMPLES)
def command(console: Console, seed: int, **options: Any) -> None:
    """Add columns of evidence to every candidate of a list.

    Always: length, repeated n-grams, punctuation and brackets; numbers, names and copies beside the source. With
    options: language models, word translations, coverage and derivations by a built model, consensus inside the list.
    docs/neural.md has the formula of each column. Lists of any length are read piece by piece.
    """
    from hopefear.decode.evidence import FeaturesConfig, add_features
    from hopefear.runs import Session

    with console.listener() as listen:
        added = add_features(FeaturesConfig(**options), Session(listen))
    for name, columns in added.families.items():
        console.note(f"{name}: {' '.join(columns)}")
    for text in added.explanations:
        click.echo(text + "\n")
