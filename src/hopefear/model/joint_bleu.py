"""Expected-BLEU training of the neural joint model on lists of candidates (Auli and Gao 2014).

Noise-contrastive estimation teaches the model the words of the text. This teaches it to prefer good translations: with
the other features and all weights fixed, it raises the expected sentence BLEU of the candidates E of each sentence f,

    xBLEU(theta)  =  sum over e in E of  p(e | f) B(e)                                                           (1)
    p(e | f)  =  exp(gamma s(e)) / sum over e' in E of exp(gamma s(e'))                                          (2)
    s(e)  =  w . h(e)  +  lambda  sum over i of s_theta(e_i | e_{i-1} .. e_{i-n}, f_{a-m} .. f_{a+m})            (3)

so that the derivative for the network's score of one word in its context is

    delta  =  lambda gamma  sum over e of  c(e)  p(e | f) (B(e) - xBLEU)                                         (4)

where c(e) is how often e has this word in this context. From there it is back-propagation, with
AdaGrad. The number of epochs is that with the highest xBLEU of held-out sentences; then all sentences are trained on
for so many epochs.

Deviations from the paper: a feed-forward joint model in place of a recurrent language model; B is BLEU+1 with all
references (Lin and Och 2004); lists of sentences that no part of the model was trained on, in place of the training
text; the weights are not learnt again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from hopefear.model.joint import Floats, JointModel
from hopefear.model.joint_lists import CandidateList
from hopefear.model.joint_training import AdaGrad, Gradient, Params, backward, hidden_layer, rows_of
from hopefear.runs.session import SILENT, Session


@dataclass(frozen=True)
class BleuOptions:
    """The schedule; docs/quality.md has what was compared."""

    scale: float = 1.0  #: gamma
    step: float = 0.1  #: as that of noise-contrastive training
    batch: int = 10  #: sentences
    epochs: int = 5
    held_out: int = 5  #: one sentence of so many is held out


def expected_bleu(params: Params, lists: Sequence[CandidateList], weight: float, scale: float) -> float:
    """(1), the mean of these sentences."""
    total = 0.0
    for each in lists:
        _, h = hidden_layer(params, each.contexts)
        total += float(_posteriors(each, _word_scores(params, h, each.words), weight, scale) @ each.gains)
    return total / len(lists)


def bleu_gradient(params: Params, lists: Sequence[CandidateList], weight: float, scale: float) -> dict[str, Gradient]:
    """The gradient of (1) in the network's parameters, summed over these sentences."""
    contexts, words = (np.concatenate([getattr(each, name) for each in lists]) for name in ("contexts", "words"))
    x, h = hidden_layer(params, contexts)
    scores = _word_scores(params, h, words)
    deltas = np.empty(len(words))
    begin = 0
    for each in lists:
        own = slice(begin, begin := begin + len(each.words))
        p = _posteriors(each, scores[own], weight, scale)
        of_candidate = weight * scale * p * (each.gains - p @ each.gains)
        lengths = np.diff([*each.begin, len(each.uses)])
        deltas[own] = np.bincount(each.uses, np.repeat(of_candidate, lengths), len(each.words))  # (4)
    g = deltas.astype(h.dtype)[:, None]
    return {
        **backward(params, contexts, x, h, g * params["output"][words]),
        "output": rows_of(words, g * h),
        "output_bias": rows_of(words, g[:, 0]),
    }


def train_bleu(
    joint: JointModel,
    lists: Sequence[CandidateList],
    weight: float,
    options: BleuOptions | None = None,
    seed: int = 1,
    run: Session = SILENT,
) -> tuple[JointModel, list[float]]:
    """The trained joint model, and the expected BLEU of held-out sentences before and after each epoch."""
    options = options or BleuOptions()
    held_out = lists[:: options.held_out]
    rest = [each for n, each in enumerate(lists) if n % options.held_out]
    trained = dict(joint.arrays)
    history = [expected_bleu(trained, held_out, weight, options.scale)]
    with threadpool_limits(1):
        for epoch, trained in enumerate(_epochs(joint.arrays, rest, weight, options, seed), 1):
            history.append(expected_bleu(trained, held_out, weight, options.scale))
            run.note(f"joint model trained for BLEU, epoch {epoch}: {100 * history[-1]:.2f} of held-out sentences")
        best = int(np.argmax(history))
        if not best:
            return joint, history
        *_, trained = _epochs(joint.arrays, lists, weight, replace(options, epochs=best), seed)
    return replace(joint, arrays=trained), history


def _epochs(
    first: Params, lists: Sequence[CandidateList], weight: float, options: BleuOptions, seed: int
) -> Iterator[dict[str, Floats]]:
    """The parameters after each epoch; the next epoch changes the same arrays."""
    params: dict[str, Floats] = {name: array.copy() for name, array in first.items()}
    rng, optimizer = np.random.default_rng(seed), AdaGrad(params)
    for _ in range(options.epochs):
        order = rng.permutation(len(lists))
        for begin in range(0, len(order), options.batch):
            part = [lists[n] for n in order[begin : begin + options.batch]]
            for name, gradient in bleu_gradient(params, part, weight, options.scale).items():
                optimizer.add(name, gradient, options.step)
        yield params


def _word_scores(params: Params, h: NDArray[np.floating], words: NDArray[np.int32]) -> NDArray[np.floating]:
    scores: NDArray[np.floating] = np.einsum("ij,ij->i", h, params["output"][words]) + params["output_bias"][words]
    return scores


def _posteriors(each: CandidateList, scores: NDArray[np.floating], weight: float, scale: float) -> NDArray[np.float64]:
    """(2)."""
    total = scale * each.scores(scores, weight)
    p: NDArray[np.float64] = np.exp(total - total.max())
    p /= p.sum()
    return p
