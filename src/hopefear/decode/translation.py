"""Translation of a text of any length: what ``hopefear translate`` does.

    for piece in translate(Translate(model="model", nbest=100), "dev.source"):
        sys.stdout.write(piece)

A text is decoded in blocks; a block is decoded while the one before it is written, and two are held in memory. On a
cluster, blocks are decoded wherever there is a core, and come back in order.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from hopefear._core import Pool, format_nbest, stop_decoding
from hopefear.decode import Decoder, decoder_for
from hopefear.decode.blocks import Blocks, read_block_weights, strangers_of
from hopefear.decode.consensus import best_by_consensus
from hopefear.decode.hiero import Hiero
from hopefear.errors import OptionError, input_error
from hopefear.formats.forests import forest_writer, joining, plf_lattices
from hopefear.formats.weights import check_names, read_weights, weight_vector
from hopefear.model.directory import Model
from hopefear.model.familiar import input_warning
from hopefear.runs.session import SILENT, Session
from hopefear.util import cluster
from hopefear.util.files import PathLike, iter_bytes, iter_lines, path_name
from hopefear.util.messages import plural, some

if TYPE_CHECKING:
    from hopefear.commands.translate import Translate

BLOCK = 256  # sentences decoded at a time
FOREST_BLOCK = 32
_STRANGE = "that the model does not have"
MBR_EDGES = 2000  # the best edges of a forest, of which minimum Bayes risk counts the n-grams (docs/quality.md)

Item = tuple[int, list[str]]  # the number of lines before a block, and its lines
Decoded = tuple[list[str], Pool | list[str], Pool | None]  # the lines of a block, their lists or texts, their forests


def translate(command: Translate, source: PathLike = "-", run: Session = SILENT) -> Generator[str, None, None]:
    """Pieces of the output, in order: translations, candidate lists or derivations. Forests go to their file."""
    model = Model.open(command.model, jobs=command.jobs)
    blocks = _blocks(iter_lines(source), FOREST_BLOCK if command.forests else BLOCK)
    arcs: tuple[str, ...] = ()
    if command.input == "plf":
        start = list(itertools.islice(blocks, 1))
        arcs = tuple(plf_lattices(start[0] if start else [], path_name(source)).feature_names)
        blocks = itertools.chain(start, blocks)
    weights = model.weights if command.weights is None else _weights(command.weights, model, arcs, run)
    decoder = _decoder(command, model, arcs, weights, run)
    if command.explain and not isinstance(decoder, Hiero):
        raise OptionError("--explain is for hierarchical models only.")
    if command.explain and not command.cluster:
        for (line,) in _blocks(iter_lines(source), 1):
            yield _explained(decoder, [line])
        return
    if command.input == "text":
        start = list(itertools.islice(blocks, 1))
        run.warn(input_warning(model, start[0] if start else []))
        blocks = itertools.chain(start, blocks)
    with ExitStack() as stack:
        writer = stack.enter_context(forest_writer(command.forests)) if command.forests is not None else None
        nothing = decoder.decode([])
        if writer is not None:
            writer.add(nothing)
        update = run.progress("translate")
        update(0)
        name, items, done = path_name(source), _numbered(blocks), 0
        if command.cluster:
            stack.enter_context(cluster.joined(command.cluster))
            results = _on_cluster(command, model, arcs, name, items, run)
        else:
            results = _ahead(partial(_decoded, command, decoder, name), items)
        for lines, lists, forests in results:
            if command.nbest and isinstance(lists, Pool):
                yield _candidates(decoder, lists)
            elif command.explain and isinstance(lists, list):
                yield "".join(lists)
            else:
                yield _translations(command, decoder.model, lines, lists)
            if writer is not None and forests is not None:
                writer.add(joining(forests, nothing) if command.cluster else forests)
            done += len(lines)
            update(done)


def _decoder(
    command: Translate, model: Model, arcs: tuple[str, ...], weights: Mapping[str, float], run: Session
) -> Decoder:
    decoder = decoder_for(model, weights, command.pop_limit, command.max_options, command.max_span)
    if command.input != "plf":
        return decoder
    if isinstance(decoder, Blocks):
        raise OptionError("--input plf is for hierarchical models only.")
    if without := [name for name in arcs if name not in weights]:
        run.warn(f"scores of arcs without a weight are ignored: {', '.join(without)}")
    return replace(decoder, arcs=arcs)


def _weights(path: PathLike, model: Model, arcs: tuple[str, ...], run: Session) -> Mapping[str, float]:
    if model.kind == "blocks":
        many = read_block_weights(path)
        if names := strangers_of(many):
            run.warn(f"{path_name(path)}: {plural(len(names), 'weight')} for features {_STRANGE}: {some(names)}")
        return many
    weights = read_weights(path)
    known = {*model.feature_names, *arcs}
    whose = f"{model.path}. Use the weights of this model"
    run.warn(check_names(path, weights, known, _STRANGE, whose))
    return {name: value for name, value in weights.items() if name in known}


def _blocks(lines: Iterator[str], size: int) -> Iterator[list[str]]:
    while block := list(itertools.islice(lines, size)):
        yield block


def _numbered(blocks: Iterator[list[str]]) -> Iterator[Item]:
    first = 0
    for lines in blocks:
        yield first, lines
        first += len(lines)


def _decoded(command: Translate, decoder: Decoder, name: str, item: Item) -> Decoded:
    """The lines of a block, its lists, and its forests if asked for; with mbr and explain, texts in place of lists."""
    first, lines = item
    if command.explain:
        return lines, [_explained(decoder, lines)], None
    block: Any = lines if command.input == "text" else plf_lattices(lines, name, first)
    k, jobs = max(command.nbest, 1), command.jobs
    if command.mbr is not None:
        pool = decoder.decode(block, max_edges=MBR_EDGES, first=first, jobs=jobs)
        return lines, best_by_consensus(pool, decoder.weights, command.mbr, command.scale, jobs=jobs), None
    if command.forests is None:
        return lines, decoder.kbest(block, k, command.distinct, first=first, jobs=jobs), None
    pool = decoder.decode(block, max_edges=command.max_edges, first=first, jobs=jobs)
    return lines, pool.kbest(weight_vector(decoder.weights, pool.feature_names), k, command.distinct, jobs), pool


def _explained(decoder: Decoder, lines: list[str]) -> str:
    assert isinstance(decoder, Hiero)
    return "".join(decoder.explain(line) + "\n\n" for line in lines)


def _ahead(work: Callable[[Item], Decoded], items: Iterator[Item]) -> Iterator[Decoded]:
    """``work`` of each item, in order; an item is worked on while the caller writes the one before it."""
    waiting: Future[Decoded] | None = None
    thread = ThreadPoolExecutor(1)
    try:
        for item in items:
            future = thread.submit(work, item)
            if waiting is not None:
                yield _result(waiting)
            waiting = future
        if waiting is not None:
            yield _result(waiting)
    except BaseException:  # after Ctrl-C, or if the output is closed: do not wait for a long sentence
        stop_decoding(True)
        raise
    finally:
        thread.shutdown(cancel_futures=True)
        stop_decoding(False)


def _result(future: Future[Decoded]) -> Decoded:
    """Its result. The main thread looks up now and then: a wait without a limit is not interrupted by a Ctrl-C that the
    system delivers to another thread."""
    while not wait([future], timeout=0.5).done:
        pass
    return future.result()


def _on_cluster(
    command: Translate, model: Model, arcs: tuple[str, ...], name: str, items: Iterator[Item], run: Session
) -> Iterator[Decoded]:
    """``_ahead`` on the cluster that this process has joined."""
    files = [*model.info["files"], "model.json"] if command.ship_model else []
    weights = [] if command.weights is None else [("weights", b"".join(iter_bytes(command.weights)))]
    prepare = partial(
        _far,
        replace(command, model=str(model.path.resolve()), weights=None, cluster=None, ship_model=False, jobs=1),
        str(model.info["checksum"]),
        cluster.shipped((name, (model.path / name).read_bytes()) for name in files),
        cluster.shipped(weights),
        arcs,
        name,
    )
    return cluster.in_order(prepare, items, run.warn)


def _far(
    command: Translate,
    checksum: str,
    files: Mapping[str, Any],
    weights: Mapping[str, Any],
    arcs: tuple[str, ...],
    name: str,
) -> Callable[[Item], Decoded]:
    """On a worker: the decoder, from the files that were sent or else from the same path."""
    model = Model.open(cluster.received(files, f"model-{checksum}") if files else command.model, verify=bool(files))
    if model.info["checksum"] != checksum:
        raise input_error(
            command.model, None, "is not the model that the work began with. Copy that model, or add --ship-model"
        )
    far_weights: Mapping[str, float] = model.weights
    if weights:
        with cluster.unpacked(weights, "weights") as folder:
            far_weights = _weights(folder / "weights", model, arcs, SILENT)
    decoder = _decoder(command, model, arcs, far_weights, SILENT)
    if command.forests is None:
        return partial(_decoded, command, decoder, name)
    # A decoder numbers words and features as it meets them. That of one block only leaves the order to the driver.
    return lambda item: _decoded(command, replace(decoder), name, item)


def _candidates(decoder: Decoder, lists: Pool) -> str:
    """The lists in Moses' format."""
    w = weight_vector(decoder.weights, lists.feature_names)
    lines = []
    for i, number in enumerate(lists.ids):  # the writer counts from the start of the block
        block = format_nbest(lists, i, i + 1, "moses", w).decode().split("\n")[:-1]
        lines += [f"{number} ||| {line.removeprefix(f'{i} ||| ')}\n" for line in block]
    return "".join(lines)


def _translations(command: Translate, model: Model, lines: list[str], lists: Pool | list[str]) -> str:
    texts = lists if isinstance(lists, list) else [lists.text(i, 0) for i in range(len(lists))]
    if not command.tokens:
        texts = model.running_text(texts, lines if command.input == "text" else ())
    return "".join(f"{text}\n" for text in texts)
