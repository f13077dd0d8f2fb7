"""The joint model trained for BLEU on the sentences that weights were learnt from (``model/joint_bleu.py``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hopefear.creation.decoding import blocks
from hopefear.decode import Hiero
from hopefear.formats.weights import read_weights
from hopefear.metrics import Bleu
from hopefear.model.directory import Model
from hopefear.model.joint_bleu import train_bleu
from hopefear.model.joint_lists import CandidateList, candidate_lists
from hopefear.runs.session import Session
from hopefear.trainers.data import Corpus

CANDIDATES = 50  # of each sentence


def tune_joint(
    model: Model, corpus: Corpus, weights: Path, out: Path, seed: int, jobs: int, run: Session
) -> dict[str, Any]:
    """Train the joint model for BLEU and write it; the record has the expected BLEU of held-out sentences."""
    assert model.joint is not None
    decoder = Hiero(model, read_weights(weights))
    lists = list(lists_of(decoder, corpus, jobs, run))
    tuned, history = train_bleu(model.joint, lists, decoder.weights["njm"], seed=seed, run=run)
    tuned.save(out)
    return {"before": history[0], "after": max(history), "epochs": len(history) - 1, "sentences": len(corpus)}


def lists_of(decoder: Hiero, corpus: Corpus, jobs: int, run: Session) -> Iterator[CandidateList]:
    """The best candidates of each sentence, with their BLEU+1 on the model's words, without punctuation."""
    model, metric = decoder.model, Bleu()
    assert model.joint is not None
    tokens = [[_plain(model.target_text.tokens(line)) for line in lines] for lines in corpus.references]
    update = run.progress("candidates", len(corpus))
    done = 0
    for block in blocks(corpus.lines):
        pool = decoder.decode(block, jobs=jobs)
        for texts, each in candidate_lists(pool, model.grammar, model.joint, decoder.weights, CANDIDATES):
            references = [[lines[done]] * len(texts) for lines in tokens]
            stats = metric.corpus_stats([_plain(words) for words in texts], references, jobs)
            yield replace(each, gains=np.asarray(metric.sentence_gains(stats)))
            done += 1
        update(done)


def _plain(words: Sequence[str]) -> str:
    """The words that have a letter or a digit: which commas a reference has teaches little."""
    return " ".join(word for word in words if any(map(str.isalnum, word)))
