"""Translations of a part of the corpus, with and without minimum Bayes risk, and their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hopefear.corpus.languages import UNSEGMENTED
from hopefear.decode import Hiero
from hopefear.decode.consensus import best_by_consensus
from hopefear.decode.translation import MBR_EDGES
from hopefear.metrics import Bleu, Chrf
from hopefear.metrics.base import Metric
from hopefear.runs.session import Session
from hopefear.trainers.data import Corpus

_BLOCK = 128  # sentences whose forests are held in memory

#: A way to choose a translation: nothing for the best score, or the scale of minimum Bayes risk.
Way = float | None


def translations(
    decoder: Hiero, lines: Sequence[str], ways: Sequence[Way], label: str, run: Session, jobs: int
) -> dict[Way, list[str]]:
    """Running text by each way, decoded once."""
    texts: dict[Way, list[str]] = {way: [] for way in ways}
    update = run.progress(label, len(lines))
    update(0)
    done = 0
    forests = any(way is not None for way in ways)
    for block in blocks(lines):
        pool = decoder.decode(block, max_edges=MBR_EDGES, jobs=jobs) if forests else None
        for way in ways:
            if way is None:
                best = decoder.kbest(block, 1, jobs=jobs) if pool is None else pool.kbest(decoder.weights, 1, jobs=jobs)
                tokens = [best.text(i, 0) for i in range(len(best))]
            else:
                assert pool is not None
                tokens = best_by_consensus(pool, decoder.weights, "bleu", way, jobs=jobs)
            texts[way] += decoder.model.running_text(tokens, block)
        done += len(block)
        update(done)
    return texts


def blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    """The lines in pieces that are decoded together."""
    return (list(lines[begin : begin + _BLOCK]) for begin in range(0, len(lines), _BLOCK))


def bleu_of(language: str) -> Bleu:
    """BLEU as sacreBLEU has it for a language: cased, punctuation apart, characters where words have no blanks."""
    tokenize = "zh" if language == "zh" else "char" if language in UNSEGMENTED else "13a"
    return Bleu(tokenize=tokenize)


def chrf() -> Metric:
    """chrF as sacreBLEU has it by default."""
    return Chrf()


def score(texts: Sequence[str], corpus: Corpus, metric: Metric, jobs: int) -> float:
    """The score of a corpus."""
    return float(metric.score(metric.corpus_stats(texts, corpus.references, jobs).sum(axis=0)))
