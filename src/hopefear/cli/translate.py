"""``hopefear translate``: source text in, translations, candidate lists or forests out."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hopefear.cli.console import Console
from hopefear.cli.frame import command as make_command
from hopefear.cli.options import InputFile, Positional, count
from hopefear.util.words import plural

if TYPE_CHECKING:
    from hopefear._core import Pool
    from hopefear.decode import Decoder
    from hopefear.model.directory import Model

Work = TypeVar("Work")

PARAMS = [
    Positional(["model"], required=True, type=InputFile(folders=True), metavar="MODEL"),
    click.Option(["--weights"], type=InputFile(), help="Weights, e.g. the weights.txt of a run. [those of the model]"),
    count("--nbest", 0, "Print a list of the N best of each sentence, as in a candidate list.", least=0),
    click.Option(
        ["--input"],
        type=click.Choice(["text", "plf"]),
        default="text",
        show_default=True,
        help="Lines of text, or word lattices in PLF, one a line.",
    ),
    click.Option(["--distinct"], is_flag=True, help="With --nbest: every string once."),
    click.Option(["--forests"], metavar="FILE", help="Write all forests to this file as well; it appears at the end."),
    count("--max-edges", 0, "With --forests: the best N edges of each forest; 0 is all.", least=0),
    click.Option(["--explain"], is_flag=True, help="Print derivations: which rule said what, and what it cost."),
    click.Option(["--tokens"], is_flag=True, help="Print tokens with blanks between them, not running text."),
    count("--pop-limit", 200, "Rule applications kept a span; 0 is all. Blocks: 40 at a place.", least=0),
    count("--max-options", 20, "Target sides kept of a source side; 0 is all. Blocks: 10.", least=0),
    count("--max-span", 0, "Source words below a rule with nonterminals; 0 is as in the model.", least=0),
]

EXAMPLES = """
hopefear translate model < source > target
hopefear translate model --weights run/weights.txt --nbest 100 < dev.source > dev.nbest
hopefear translate model --forests dev.forests < dev.source > dev.target
echo "la casa verde" | hopefear translate model --explain
"""

BLOCK = 256  # sentences decoded at a time; two such blocks are held in memory
FOREST_BLOCK = 32


@make_command(PARAMS, examples=EXAMPLES)
def command(
    console: Console,
    model: str,
    weights: str | None,
    nbest: int,
    input: str,
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
    model was. The scores of a lattice's arcs are the features Feature_0, Feature_1, ...
    """
    from dataclasses import replace

    from hopefear.decode import Blocks, decoder_for
    from hopefear.formats import forest_writer
    from hopefear.formats.forests import plf_lattices
    from hopefear.model.directory import Model
    from hopefear.util.files import iter_lines

    if explain and (nbest or forests or input == "plf"):
        raise click.UsageError("--explain goes with neither --nbest nor --forests nor --input plf")
    opened = Model.open(model, jobs=jobs)
    blocks = _blocks(iter_lines("-"), FOREST_BLOCK if forests else BLOCK)
    arcs: tuple[str, ...] = ()
    if input == "plf":
        start = next(blocks, [])
        blocks = itertools.chain([start], blocks) if start else blocks
        arcs = tuple(plf_lattices(start, "standard input").feature_names)
    chosen = _weights(console, opened, weights, arcs) if weights is not None else opened.weights
    limits = (_given("pop_limit", pop_limit), _given("max_options", max_options), max_span)
    decoder = decoder_for(opened, chosen, *limits)
    if input == "plf":
        if isinstance(decoder, Blocks):
            raise click.UsageError("--input plf is for hierarchical models only")
        decoder = replace(decoder, arcs=arcs)
        if without := [name for name in arcs if name not in chosen]:
            console.warn(f"scores of arcs without a weight, which play no part: {', '.join(without)}")
    if explain:
        if isinstance(decoder, Blocks):
            raise click.UsageError("--explain is for hierarchical models only")
        for line in iter_lines("-"):
            sys.stdout.write(decoder.explain(line) + "\n\n")
            sys.stdout.flush()
        return

    def decoded(first: int, lines: list[str]) -> tuple[Pool, Pool | None]:
        block: Any = lines if input == "text" else plf_lattices(lines, "standard input", first)
        if forests is None:
            return decoder.kbest(block, max(nbest, 1), distinct, first=first, jobs=jobs), None
        pool = decoder.decode(block, max_edges=max_edges, first=first, jobs=jobs)
        w = decoder.weights_over(pool) if isinstance(decoder, Blocks) else decoder.weights
        return pool.kbest(w, max(nbest, 1), distinct, jobs), pool

    with contextlib.ExitStack() as stack:
        writer = stack.enter_context(forest_writer(forests)) if forests is not None else None
        if writer is not None:
            writer.add(decoder.decode([]))
        progress = stack.enter_context(console.progress("translate"))
        for done, (lists, pool) in _ahead(decoded, blocks):
            _write(decoder, lists, bool(nbest), tokens)
            if writer is not None and pool is not None:
                writer.add(pool)
            sys.stdout.flush()
            progress.update(done)


def _given(name: str, value: int) -> int | None:
    """A limit that was asked for; the kinds of models differ in their defaults."""
    source = click.get_current_context().get_parameter_source(name)
    return None if source == click.core.ParameterSource.DEFAULT else value


def _weights(console: Console, model: Model, path: str, arcs: tuple[str, ...]) -> Mapping[str, float]:
    from hopefear.decode.blocks import read_block_weights
    from hopefear.errors import input_error
    from hopefear.formats import read_weights

    if model.kind == "blocks":
        return read_block_weights(path)
    weights = read_weights(path)
    known = {*model.feature_names, *arcs}
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


def _ahead(work: Callable[[int, list[str]], Work], blocks: Iterator[list[str]]) -> Iterator[tuple[int, Work]]:
    """``work(lines before, block)`` of each block with the number of lines then done, in order.

    A block is worked on while the caller writes the one before it.
    """
    with ThreadPoolExecutor(1) as thread:
        waiting: tuple[int, Future[Work]] | None = None
        done = 0
        for block in blocks:
            future = thread.submit(work, done, block)
            done += len(block)
            if waiting is not None:
                yield waiting[0], waiting[1].result()
            waiting = done, future
        if waiting is not None:
            yield waiting[0], waiting[1].result()


def _write(decoder: Decoder, lists: Pool, nbest: bool, tokens: bool) -> None:
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
