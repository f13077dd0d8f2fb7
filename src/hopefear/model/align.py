"""Word alignment: both directions by sil-thot, joined by grow-diag-final-and.

``fastalign`` is the log-linear reparameterisation of IBM model 2 (Dyer, Chahuneau and Smith 2013) with variational
Bayes; it needs no chance. ``eflomal`` is the Bayesian HMM with fertility of Östling and Tiedemann (2016), by Gibbs
sampling from a seed; it takes about five times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopefear._core import ParallelText
from hopefear.errors import InputError

__all__ = ["ALIGNERS", "align", "align_directed", "steps"]

ALIGNERS = ("fastalign", "eflomal")
_BLOCK = 4000  # pairs handed to the library at a time


def align(
    text: ParallelText,
    source: Sequence[str],
    target: Sequence[str],
    aligner: str = "fastalign",
    iterations: int = 5,
    seed: int = 1,
    jobs: int = 0,
    step: Callable[[], None] | None = None,
) -> None:
    """Give ``text``, whose lines are ``source`` and ``target``, its links; ``step`` is called now and then."""
    if aligner not in ALIGNERS:
        raise InputError(f"aligner: {aligner!r} is not known. Choose one of {', '.join(ALIGNERS)}")
    with ThreadPoolExecutor(max_workers=1 if jobs == 1 else 2) as pool:
        tasks = [
            pool.submit(align_directed, first, second, aligner, iterations, seed, step)
            for first, second in ((source, target), (target, source))
        ]
        forward, backward = (task.result() for task in tasks)
    text.symmetrize(forward, backward, jobs)


def align_directed(
    source: Sequence[str],
    target: Sequence[str],
    aligner: str,
    iterations: int,
    seed: int,
    step: Callable[[], None] | None = None,
) -> NDArray[np.int32]:
    """For each target word, all sentences in a row, the number of its source word, or -1."""
    model = _model(aligner, seed)
    for f, e in zip(source, target, strict=True):
        model.add_sentence_pair(f.split(), e.split())
    model.start_training()
    for _ in range(iterations if aligner == "fastalign" else model.scheduled_iterations):
        model.train()
        if step:
            step()
    model.end_training()
    words = sum(e.count(" ") + 1 for e in target)
    links = np.fromiter(_links(model, aligner, source, target), np.int32)
    if len(links) != words:  # a defect, ours or theirs: extraction would go wrong silently
        raise RuntimeError(f"the aligner gave {len(links)} links for {words} words")
    return links - 1


def _links(model: Any, aligner: str, source: Sequence[str], target: Sequence[str]) -> Iterator[int]:
    if aligner == "eflomal":
        for n in range(len(source)):
            yield from model.get_training_alignment(n)[1].to_list()
        return
    for begin in range(0, len(source), _BLOCK):
        f = [line.split() for line in source[begin : begin + _BLOCK]]
        e = [line.split() for line in target[begin : begin + _BLOCK]]
        for _, matrix in model.get_best_alignments(f, e):
            yield from matrix.to_list()


def _model(aligner: str, seed: int) -> Any:
    try:
        from thot.alignment import EflomalAlignmentModel, FastAlignModel
    except ImportError:
        raise InputError(
            "word alignment needs the package sil-thot. Install it, or give alignments of your own"
        ) from None
    if aligner == "fastalign":
        fast = FastAlignModel()
        fast.variational_bayes = True
        return fast
    sampler = EflomalAlignmentModel()
    sampler.seed = seed
    sampler.deterministic = True
    sampler.emit_training_alignments = True
    return sampler


def steps(aligner: str, iterations: int) -> int:
    """About how often ``step`` will be called."""
    return 2 * iterations if aligner == "fastalign" else 2 * 40
