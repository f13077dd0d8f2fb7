"""``hopefear translate``: source text in, translations, candidate lists or forests out."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from hopefear.cli.console import Console, plural
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Positional, count

if TYPE_CHECKING:
    from hopefear._core import Pool
    from hopefear.decode import Hiero
    from hopefear.model.directory import Model

PARAMS = [
    Positional(["model"], required=True, type=InputFile(folders=True), metavar="MODEL"),
    click.Option(["--weights"], type=InputFile(), help="Weights, e.g. the weights.txt of a run. [those of the model]"),
    count("--nbest", 0, "Print a list of the N best of each sentence, as in a candidate list.", least=0),
    click.Option(["--distinct"], is_flag=True, help="With --nbest: every string once."),
    click.Option(["--forests"], metavar="FILE", help="Write all forests to this file as well; it appears at the end."),
    count("--max-edges", 0, "With --forests: the best N edges of each forest; 0 is all.", least=0),
    click.Option(["--explain"], is_flag=True, help="Print derivations: which rule said what, and what it cost."),
    click.Option(["--tokens"], is_flag=True, help="Print tokens with blanks between them, not running text."),
    count("--pop-limit", 200, "Rule applications kept a span; 0 is all.", least=0),
    count("--max-options", 20, "Target sides kept of a source side; 0 is all.", least=0),
    count("--max-span", 0, "Source words below a rule with nonterminals; 0 is as in the model.", least=0),
]

EXAMPLES = """
hopefear translate model < source > target
hopefear translate model --weights run/weights.txt --nbest 100 < dev.source > dev.nbest
hopefear translate model --forests dev.forests < dev.source > dev.target
echo "la casa verde" | hopefear translate model --explain
"""

BLOCK = 256  # sentences decoded at a time, and held in memory
FOREST_BLOCK = 32


@make_command(PARAMS, examples=EXAMPLES)
def command(
    console: Console,
    model: str,
    weights: str | None,
    nbest: int,
    distinct: bool,
    forests: str | None,
    max_edges: int,
    explain: bool,
    tokens: bool,
    pop_limit: int,
    max_options: int,
    max_span: int,
    seed: int,
    jobs: int,
) -> None:
    """Translate text with a model; also candidate lists and forests.

    Reads standard input. One line a sentence, in order; an empty line gives an empty line. Text is tokenised as the
    model was.
    """
    from hopefear.decode import Hiero
    from hopefear.files import iter_lines
    from hopefear.model.directory import Model

    if explain and (nbest or forests):
        raise click.UsageError("--explain goes with neither --nbest nor --forests")
    opened = Model.open(model, jobs=jobs)
    chosen = _weights(console, opened, weights) if weights is not None else opened.weights
    decoder = Hiero(opened, chosen, pop_limit, max_options, max_span)
    kept: Pool | None = None
    done = 0
    with console.progress("translate") as progress:
        for block in _blocks(iter_lines("-"), FOREST_BLOCK if forests else BLOCK):
            if explain:
                for line in block:
                    sys.stdout.write(decoder.explain(line) + "\n\n")
            else:
                lists, pool = _decoded(decoder, block, max(nbest, 1), distinct, done, jobs, forests is not None)
                _write(decoder, lists, bool(nbest), tokens)
                if pool is not None:
                    if max_edges:
                        pool = pool.pruned(decoder.weights, max_edges=max_edges, jobs=jobs)
                    kept = pool if kept is None else _joined(kept, pool)
            sys.stdout.flush()
            done += len(block)
            progress.update(done)
    if forests is not None:
        from hopefear.formats import write_forests

        write_forests(kept if kept is not None else decoder.decode([]), forests)


def _weights(console: Console, model: Model, path: str) -> dict[str, float]:
    from hopefear.errors import input_error
    from hopefear.formats import read_weights

    weights = read_weights(path)
    known = set(model.feature_names)
    unknown = [name for name in weights if name not in known]
    if len(unknown) == len(weights):
        finding = f"none of its {plural(len(weights), 'weight')} belongs to a feature of {model.path}"
        raise input_error(path, None, f"{finding}. Use the weights of this model")
    if unknown:
        console.warn(
            f"{path}: {plural(len(unknown), 'weight')} for features that the model does not have: {', '.join(unknown)}"
        )
    return {name: value for name, value in weights.items() if name in known}


def _blocks(lines: Iterator[str], size: int) -> Iterator[list[str]]:
    while block := list(itertools.islice(lines, size)):
        yield block


def _decoded(
    decoder: Hiero, block: list[str], k: int, distinct: bool, first: int, jobs: int, keep: bool
) -> tuple[Pool, Pool | None]:
    if not keep:
        return decoder.kbest(block, k, distinct, first=first, jobs=jobs), None
    pool = decoder.decode(block, first=first, jobs=jobs)
    return pool.kbest(decoder.weights, k, distinct, jobs), pool


def _joined(kept: Pool, pool: Pool) -> Pool:
    for i, number in enumerate(pool.ids):
        kept.append(number, pool[i], pool.source(i))
    return kept


def _write(decoder: Hiero, lists: Pool, nbest: bool, tokens: bool) -> None:
    if nbest:
        import numpy as np

        from hopefear._core import format_nbest

        w = np.array([decoder.weights.get(name, 0.0) for name in lists.feature_names])
        for i, number in enumerate(lists.ids):  # the writer counts from the start of the block
            for line in format_nbest(lists, i, i + 1, "moses", w).decode().split("\n")[:-1]:
                sys.stdout.write(f"{number} ||| {line.removeprefix(f'{i} ||| ')}\n")
        return
    for i in range(len(lists)):
        text = lists.text(i, 0)
        if text and not tokens:
            text = decoder.model.target_text.detokenize(text.split(" "))
        sys.stdout.write(text + "\n")
