"""``hopefear rescore``: features of neighbouring words and language models, added to forests of any origin."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Many, count
from hopefear.util.words import plural, some

if TYPE_CHECKING:
    from hopefear.model.language_model import LanguageModel

PARAMS = [
    click.Option(["--forests"], type=InputFile(folders=True), required=True, help="Forests or lattices of any format."),
    click.Option(["--weights"], type=InputFile(), required=True, help="Weights of the old and the new features."),
    click.Option(
        ["--features"],
        type=InputFile(),
        help="Names of features, one a line, e.g. the features.txt of a model. [those that the weights name]",
    ),
    Many(["--lm"], metavar="NAME=FILE", help="A language model (ARPA, or as hopefear saves it) as the feature NAME."),
    click.Option(["--sources"], type=InputFile(), help="Source text, which pair features need. [as in the forests]"),
    count("--pop-limit", 100, "Edges kept of each node; 0 is all.", least=0),
    click.Option(["--out"], metavar="FILE", help="Write the new forests to this native file."),
]

EXAMPLES = """
hopefear rescore --forests dev.forests --weights weights.txt --features model/features.txt --out larger.forests
hopefear rescore --forests lattices/ --weights weights.txt --lm big=big.arpa.gz > best.txt
"""

TEMPLATES = ("unigram", "bigram", "trigram", "trigger", "pair")


@make_command(PARAMS, examples=EXAMPLES)
def command(
    console: Console,
    forests: str,
    weights: str,
    features: str | None,
    lm: tuple[str, ...],
    sources: str | None,
    pop_limit: int,
    out: str | None,
    seed: int,
    jobs: int,
) -> None:
    """Add features of neighbouring words or language models to forests.

    Forests and lattices of any origin are searched by cube pruning. The features are those of the templates unigram,
    bigram, trigram, trigger and pair, and language models. Prints the best translations, a blank between all tokens.
    """
    from hopefear.decode import rescore
    from hopefear.errors import input_error
    from hopefear.formats import read_forests, read_weights, write_forests
    from hopefear.util.files import read_lines

    models = dict(_language_model(text) for text in lm)
    values = read_weights(weights)
    pool = read_forests(forests, sources=sources)
    there = set(pool.feature_names)
    names = _of_templates(read_lines(features) if features is not None else values, there)
    if not names and not models:
        where = features if features is not None else weights
        raise input_error(where, None, f"no feature of {', '.join(TEMPLATES)} to add. Name some by --features, or --lm")
    known = there | set(names) | set(models)
    unknown = [name for name in values if name not in known]
    if len(unknown) == len(values):
        finding = f"none of its {plural(len(values), 'weight')} belongs to a feature of these forests"
        raise input_error(weights, None, f"{finding}, which have {some(pool.feature_names)}")
    if unknown:
        console.warn(f"{weights}: {plural(len(unknown), 'weight')} for features that are not there: {some(unknown)}")
    pool = rescore(pool, values, names, models, pop_limit, jobs)
    for best in pool.viterbi(values, jobs):
        sys.stdout.write(best.text + "\n")
    if out is not None:
        write_forests(pool, out)


def _of_templates(names: Iterable[str], there: set[str]) -> list[str]:
    from hopefear.model.features import template_of

    return [
        name for name in dict.fromkeys(names) if template_of(name) in TEMPLATES and "(" in name and name not in there
    ]


def _language_model(text: str) -> tuple[str, LanguageModel]:
    from hopefear.model.language_model import LanguageModel
    from hopefear.util.files import open_bytes

    name, equals, path = text.partition("=")
    if not name or not equals or not path:
        raise click.UsageError(f"--lm {text!r}: write NAME=FILE, e.g. big=big.arpa.gz")
    path = InputFile().convert(path, None, None)
    with open_bytes(path) as file:
        native = b"\0" in file.read(64)
    return name, LanguageModel.open(path) if native else LanguageModel.read_arpa(path)
