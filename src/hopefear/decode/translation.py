"""Translation of a text of any length: what ``hopefear translate`` does.

    for piece in translate(TranslateConfig(model="model", nbest=100), "dev.source"):
        sys.stdout.write(piece)

A text is decoded in blocks; a block is decoded while the one before it is written, and two are held in memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from hopefear._core import Pool, format_nbest, stop_decoding
from hopefear.decode import Decoder, decoder_for
from hopefear.decode.blocks import Blocks, read_block_weights
from hopefear.decode.hiero import Hiero
from hopefear.errors import OptionError
from hopefear.formats.forests import forest_writer, plf_lattices
from hopefear.formats.weights import check_names, read_weights, weight_vector
from hopefear.model.directory import Model
from hopefear.runs.session import SILENT, Session
from hopefear.util.files import PathLike, iter_lines, path_name

BLOCK = 256  # sentences decoded at a time
FOREST_BLOCK = 32

Work = TypeVar("Work")


@dataclass(frozen=True, kw_only=True)
class TranslateConfig:
    """The options of ``hopefear translate``, by the same names."""

    model: PathLike
    weights: PathLike | None = None  # None: those of the model
    nbest: int = 0
    input: str = "text"  # or "plf"
    distinct: bool = False
    forests: PathLike | None = None
    max_edges: int = 0
    explain: bool = False
    tokens: bool = False
    pop_limit: int | None = None  # None: the decoder's own
    max_options: int | None = None
    max_span: int = 0
    jobs: int = 0

    def __post_init__(self) -> None:
        if self.explain and (self.nbest or self.forests or self.input == "plf"):
            raise OptionError("--explain goes with neither --nbest nor --forests nor --input plf.")


def translate(config: TranslateConfig, source: PathLike = "-", run: Session = SILENT) -> Generator[str, None, None]:
    """Pieces of the output, in order: translations, candidate lists or derivations. Forests go to their file."""
    model = Model.open(config.model, jobs=config.jobs)
    blocks = _blocks(iter_lines(source), FOREST_BLOCK if config.forests else BLOCK)
    arcs: tuple[str, ...] = ()
    if config.input == "plf":
        start = list(itertools.islice(blocks, 1))
        arcs = tuple(plf_lattices(start[0] if start else [], path_name(source)).feature_names)
        blocks = itertools.chain(start, blocks)
    decoder = _decoder(config, model, arcs, run)
    if config.explain:
        if not isinstance(decoder, Hiero):
            raise OptionError("--explain is for hierarchical models only.")
        for line in iter_lines(source):
            yield decoder.explain(line) + "\n\n"
        return
    with ExitStack() as stack:
        writer = stack.enter_context(forest_writer(config.forests)) if config.forests is not None else None
        if writer is not None:
            writer.add(decoder.decode([]))
        update = run.progress("translate")
        update(0)
        for done, (lists, forests) in _ahead(partial(_decoded, config, decoder, path_name(source)), blocks):
            yield _candidates(decoder, lists) if config.nbest else _translations(decoder, lists, config.tokens)
            if writer is not None and forests is not None:
                writer.add(forests)
            update(done)


def _decoder(config: TranslateConfig, model: Model, arcs: tuple[str, ...], run: Session) -> Decoder:
    weights = model.weights if config.weights is None else _weights(config.weights, model, arcs, run)
    decoder = decoder_for(model, weights, config.pop_limit, config.max_options, config.max_span)
    if config.input != "plf":
        return decoder
    if isinstance(decoder, Blocks):
        raise OptionError("--input plf is for hierarchical models only.")
    if without := [name for name in arcs if name not in weights]:
        run.warn(f"scores of arcs without a weight, which play no part: {', '.join(without)}")
    return replace(decoder, arcs=arcs)


def _weights(path: PathLike, model: Model, arcs: tuple[str, ...], run: Session) -> Mapping[str, float]:
    if model.kind == "blocks":
        return read_block_weights(path)
    weights = read_weights(path)
    known = {*model.feature_names, *arcs}
    whose = f"{model.path}. Use the weights of this model"
    if strangers := check_names(path, weights, known, "that the model does not have", whose):
        run.warn(strangers)
    return {name: value for name, value in weights.items() if name in known}


def _blocks(lines: Iterator[str], size: int) -> Iterator[list[str]]:
    while block := list(itertools.islice(lines, size)):
        yield block


def _decoded(
    config: TranslateConfig, decoder: Decoder, name: str, first: int, lines: list[str]
) -> tuple[Pool, Pool | None]:
    """The lists of a block, and its forests if they are asked for."""
    block: Any = lines if config.input == "text" else plf_lattices(lines, name, first)
    k, jobs = max(config.nbest, 1), config.jobs
    if config.forests is None:
        return decoder.kbest(block, k, config.distinct, first=first, jobs=jobs), None
    pool = decoder.decode(block, max_edges=config.max_edges, first=first, jobs=jobs)
    return pool.kbest(weight_vector(decoder.weights, pool.feature_names), k, config.distinct, jobs), pool


def _ahead(work: Callable[[int, list[str]], Work], blocks: Iterator[list[str]]) -> Iterator[tuple[int, Work]]:
    """``work(lines before, block)`` of each block with the number of lines then done, in order.

    A block is worked on while the caller writes the one before it.
    """
    waiting: tuple[int, Future[Work]] | None = None
    done = 0
    thread = ThreadPoolExecutor(1)
    try:
        for block in blocks:
            future = thread.submit(work, done, block)
            done += len(block)
            if waiting is not None:
                yield waiting[0], waiting[1].result()
            waiting = done, future
        if waiting is not None:
            yield waiting[0], waiting[1].result()
    except BaseException:  # after Ctrl-C, or if nobody reads on, a long sentence is not waited for
        stop_decoding(True)
        raise
    finally:
        thread.shutdown(cancel_futures=True)
        stop_decoding(False)


def _candidates(decoder: Decoder, lists: Pool) -> str:
    """The lists in Moses' format."""
    w = weight_vector(decoder.weights, lists.feature_names)
    lines = []
    for i, number in enumerate(lists.ids):  # the writer counts from the start of the block
        for line in format_nbest(lists, i, i + 1, "moses", w).decode().split("\n")[:-1]:
            lines.append(f"{number} ||| {line.removeprefix(f'{i} ||| ')}\n")
    return "".join(lines)


def _translations(decoder: Decoder, lists: Pool, tokens: bool) -> str:
    texts = [lists.text(i, 0) for i in range(len(lists))]
    return "".join(f"{text if tokens else decoder.model.target_text.detokenize(text)}\n" for text in texts)
