"""Word alignment: both directions by sil-thot, joined by grow-diag-final-and.

``fastalign`` is the log-linear reparameterisation of IBM model 2 (Dyer, Chahuneau and Smith 2013) with variational
Bayes; it needs no chance. ``eflomal`` is the Bayesian HMM with fertility of Östling and Tiedemann (2016), by Gibbs
sampling from a seed; it takes about five times as long. ``fastalign+eflomal`` is two alignments of the same text: it is
added to the parallel text once for each, so that rules are counted in both, and one that both agree on counts more.

Each direction runs in a process of its own with one thread: the library adds up in the order in which its threads
finish, so that with several threads no two runs are quite the same.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from hopefear._core import ParallelText
from hopefear.errors import InputError
from hopefear.model.options import BuildOptions
from hopefear.util import cluster
from hopefear.util.processes import die_with
from hopefear.util.values import check_choice

ALIGNERS = ("fastalign", "eflomal")
_BLOCK = 4000  # pairs handed to the library at a time
_STEP, _DONE, _MISSING = b"step\n", b"done\n", b"missing\n"  # what the worker says


def align(
    text: ParallelText,
    source: Sequence[str],
    target: Sequence[str],
    aligner: str = BuildOptions.aligner,
    iterations: int = BuildOptions.align_iterations,
    seed: int = 1,
    jobs: int = 0,
    step: Callable[[], None] | None = None,
    on_cluster: bool = False,
) -> None:
    """Give ``text``, whose lines are ``source`` and ``target``, its links; ``step`` is called after each iteration.

    With several aligners the lines are in the text once for each. ``on_cluster``: each direction is a task of the
    cluster that was joined; ``step`` is not called then.
    """
    names = aligner_names(aligner)
    if on_cluster:
        prepare = partial(partial, _direction, source, target, iterations, seed)
        halves = list(cluster.in_order(prepare, [(name, back) for name in names for back in (False, True)]))
        text.symmetrize(np.concatenate(halves[::2]), np.concatenate(halves[1::2]), jobs)
        return
    workers: list[subprocess.Popen[bytes]] = []
    pool = ThreadPoolExecutor(max_workers=1 if jobs == 1 else 2)
    try:
        tasks = [
            pool.submit(align_directed, first, second, name, iterations, seed, step, workers)
            for name in names
            for first, second in ((source, target), (target, source))
        ]
        links = [task.result() for task in tasks]
    except BaseException:
        for worker in workers:
            worker.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
    text.symmetrize(np.concatenate(links[::2]), np.concatenate(links[1::2]), jobs)


def aligner_names(aligner: str) -> list[str]:
    """The names in ``fastalign+eflomal``; complains about unknown and repeated ones."""
    names = aligner.split("+")
    for name in names:
        check_choice("aligner", name, ALIGNERS)
    if len(set(names)) < len(names):
        raise InputError(f"aligner: {aligner!r} names one twice. Leave one out")
    return names


def _direction(
    source: Sequence[str], target: Sequence[str], iterations: int, seed: int, which: tuple[str, bool]
) -> NDArray[np.int32]:
    """On a worker: by an aligner, forwards or back."""
    aligner, back = which
    return align_directed(*((target, source) if back else (source, target)), aligner, iterations, seed)


def align_directed(
    source: Sequence[str],
    target: Sequence[str],
    aligner: str,
    iterations: int,
    seed: int,
    step: Callable[[], None] | None = None,
    workers: list[subprocess.Popen[bytes]] | None = None,
) -> NDArray[np.int32]:
    """For each target word, all sentences in a row, the number of its source word, or -1."""
    command = [sys.executable, "-m", "hopefear.model.align", aligner, str(iterations), str(seed), str(len(source))]
    command.append(str(os.getpid()))
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as worker:
        if workers is not None:
            workers.append(worker)
        assert worker.stdin is not None and worker.stdout is not None
        try:
            worker.stdin.write("".join(f"{line}\n" for side in (source, target) for line in side).encode())
            worker.stdin.close()
        except BrokenPipeError:
            pass  # its exit code says more
        message = b""
        for message in worker.stdout:
            if message != _STEP:
                break
            if step:
                step()
        links = np.frombuffer(worker.stdout.read(), np.int32)
    if message == _MISSING:
        raise InputError("word alignment needs the package sil-thot. Install it, or give your own alignments")
    words = sum(line.count(" ") + 1 for line in target)
    if worker.returncode or message != _DONE or len(links) != words:
        code = worker.returncode
        how = f"it was killed by signal {-code}" if code < 0 else f"it ended with exit code {code}"
        raise InputError(f"word alignment failed: {how}. Is there enough memory? Try --jobs 1, or shorter --max-words")
    return links


def steps(aligner: str, iterations: int) -> int:
    """About how often ``step`` will be called."""
    each = {"fastalign": iterations, "eflomal": 40}
    return 2 * sum(each[name] for name in aligner_names(aligner))


def _work(aligner: str, iterations: int, seed: int, count: int, text: BinaryIO, out: BinaryIO) -> None:
    """The worker: lines on ``text``, first all of the source, then all of the target; progress and links on ``out``."""
    try:
        model = _model(aligner, seed)
    except ImportError:
        out.write(_MISSING)
        return
    lines = [line.split() for line in text.read().decode().split("\n")]
    source, target = lines[:count], lines[count : 2 * count]
    for f, e in zip(source, target, strict=True):
        model.add_sentence_pair(f, e)
    model.start_training()
    for _ in range(model.scheduled_iterations if aligner == "eflomal" else iterations):
        model.train()
        out.write(_STEP)
        out.flush()
    model.end_training()
    links = np.fromiter(_links(model, aligner, source, target), np.int32) - np.int32(1)
    out.write(_DONE)
    out.write(links.tobytes())


def _links(model: Any, aligner: str, source: list[list[str]], target: list[list[str]]) -> Iterator[int]:
    if aligner == "eflomal":
        for n in range(len(source)):
            yield from model.get_training_alignment(n)[1].to_list()
        return
    for begin in range(0, len(source), _BLOCK):
        for _, matrix in model.get_best_alignments(source[begin : begin + _BLOCK], target[begin : begin + _BLOCK]):
            yield from matrix.to_list()


def _model(aligner: str, seed: int) -> Any:
    """The model to train."""
    from thot.alignment import EflomalAlignmentModel, FastAlignModel

    model: Any
    if aligner == "fastalign":
        model = FastAlignModel()
        model.variational_bayes = True
    else:
        model = EflomalAlignmentModel()
        model.seed, model.deterministic, model.emit_training_alignments = seed, True, True
    return model


if __name__ == "__main__":
    die_with(int(sys.argv[5]))
    _work(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.stdin.buffer, sys.stdout.buffer)
