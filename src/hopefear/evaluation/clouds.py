"""The cloud of figure 1 of Chiang (2012): model score against metric for derivations of one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hopefear._core import OracleDocument, Pool
from hopefear.evaluation.scores import best_of
from hopefear.formats.weights import weight_vector
from hopefear.metrics import Bleu, Metric


def typical_document(pool: Pool, weights: Mapping[str, float], jobs: int = 0, sentences: int = 10) -> OracleDocument:
    """An oracle document as it is in the middle of training: ten average sentences, which is what a decay of 0.9 keeps.

    In the context of an empty document, BLEU of a sentence is hardly more than its pseudo-counts.
    """
    bleu = Bleu()
    stats = bleu.stats(best_of(pool, weights, jobs), jobs)
    document = OracleDocument(bleu.max_order)
    document.counts = np.maximum(sentences * stats.mean(axis=0), 1e-3)
    return document


def cloud(
    pool: Pool,
    i: int,
    weights: Mapping[str, float],
    metric: Metric,
    *,
    document: OracleDocument | None = None,
    kbest: int = 100,
    samples: int = 100,
    seed: int = 1,
) -> dict[str, Any]:
    """Points (model score, sentence metric 0 to 1) of the best, hope, fear, the k best and random derivations.

    On lists, hope and fear of any metric are exact; on forests they are those of BLEU in the context of ``document``.
    ``fear_kbest`` and ``hope_kbest`` are what the k-best list alone would have given.
    """
    w = weight_vector(weights, pool.feature_names)
    sentence = pool.subset(np.array([i]))
    best_list = sentence.kbest(w, kbest, distinct=False, jobs=1)
    gains = metric.sentence_gains(metric.stats(best_list, 1))
    scores = best_list[0].scores(w)
    points: dict[str, list[list[float]]] = {"kbest": [[float(s), float(g)] for s, g in zip(scores, gains, strict=True)]}
    texts: dict[str, str] = {"best": best_list.text(0, 0)}
    points["best"] = [points["kbest"][0]]
    drawn = sentence.sample(w, samples, seed, temperature=_temperature(sentence, w), jobs=1)
    points["sample"] = [
        [float(s), float(g)]
        for s, g in zip(drawn[0].scores(w), metric.sentence_gains(metric.stats(drawn, 1)), strict=True)
    ]
    size = max(float(np.mean([len(text.split()) for text in sentence.references(0)] or [1])), 1.0)
    for sign, kind in ((1.0, "hope"), (-1.0, "fear")):
        at = int(np.argmax(scores + sign * size * gains))
        points[f"{kind}_kbest"] = [points["kbest"][at]]
        texts[f"{kind}_kbest"] = best_list.text(0, at)
        if sentence.is_lists:
            everything = metric.sentence_gains(metric.stats(sentence, 1))
            all_scores = sentence[0].scores(w)
            at = int(np.argmax(all_scores + sign * size * everything))
            points[kind] = [[float(all_scores[at]), float(everything[at])]]
            texts[kind] = sentence.text(0, at)
    if not sentence.is_lists:
        hope_fear = sentence.hope_fear(w, document or typical_document(pool, weights, 1), jobs=1)[0]
        for kind, derivation in (("hope", hope_fear.hope), ("fear", hope_fear.fear)):
            gain = _gain(metric, derivation.text, sentence)
            points[kind] = [[float(derivation.score), gain]]
            texts[kind] = derivation.text
    return {
        "id": sentence.ids[0],
        "source": sentence.source(0),
        "references": sentence.references(0),
        "points": points,
        "texts": texts,
    }


def _gain(metric: Metric, text: str, sentence: Pool) -> float:
    references = [[text] for text in sentence.references(0)]
    return float(metric.sentence_gains(metric.corpus_stats([text], references))[0])


def _temperature(sentence: Pool, w: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    """Flat enough that samples leave the k best: scores differ by a few units of it."""
    return max(1.0, 0.02 * abs(float(sentence.viterbi(w, 1)[0].score)))
