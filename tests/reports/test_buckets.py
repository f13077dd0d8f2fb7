"""Scores by length and by the frequency of words, against counting by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from hopefear.reports.buckets import COUNTS, FEWEST, LENGTHS, _joined, _name, length_buckets, word_buckets
from hopefear.reports.gather import RunReader
from hopefear.reports.run_view import RunView


@pytest.fixture
def view(runs: Path) -> list[RunView]:
    reader = RunReader(jobs=1)
    return [RunView(reader.read(runs / name), k, 0, 1) for k, name in enumerate(("kbmira", "mert"))]


def test_buckets_of_sentences_are_scored_as_documents(view: list[RunView]) -> None:
    got = length_buckets(view, "dev")
    pool = view[0].run.parts["dev"]
    lengths = [len(pool.references(i)[0].split()) for i in range(len(pool))]
    if got is None:  # all in one bucket
        assert max(lengths) - min(lengths) < 20
        return
    assert sum(got.sizes) == len(pool) and len(got.after) == 2
    metric = view[0].run.metric
    low = 0
    for k, name in enumerate(got.names):
        high = int(name.split(" to ")[1]) if " to " in name else 10**9
        rows = [i for i, length in enumerate(lengths) if low < length <= high]
        assert len(rows) == got.sizes[k] >= FEWEST
        for each, scores in zip(view, got.after, strict=True):
            wanted = np.mean([metric.score(stats[rows].sum(axis=0)) for stats in each.scored["dev"].stats])
            assert scores[k] == pytest.approx(wanted)
        low = high


def test_words_are_counted_by_their_frequency(view: list[RunView]) -> None:
    got = word_buckets(view, "dev")
    assert got is not None
    pool = view[1].run.parts["dev"]
    references = [[text.split() for text in pool.references(i)] for i in range(len(pool))]
    counts = Counter(word for each in references for words in each for word in words)
    said = view[1].scored["dev"].outputs
    assert said is not None
    for k, name in enumerate(got.names):
        at = next(b for b in range(len(COUNTS) + 1) if _name(b, b, COUNTS) == name)
        inside = {w for w, n in counts.items() if (COUNTS[at - 1] if at else 0) < n <= (*COUNTS, 10**9)[at]}
        right = said_words = recalled = wanted = 0.0
        for i, each in enumerate(references):
            spoken = said.after[0].text(i, 0).split()
            for word in set(spoken) | {word for words in each for word in words}:
                if not (word in inside or (at == 0 and word not in counts)):
                    continue
                said_words += spoken.count(word)
                right += min(spoken.count(word), max(words.count(word) for words in each))
                wanted += sum(words.count(word) for words in each) / len(each)
                recalled += sum(min(spoken.count(word), words.count(word)) for words in each) / len(each)
        precision, recall = right / said_words if said_words else 0.0, recalled / wanted
        f1 = 200 * precision * recall / (precision + recall) if precision + recall else 0.0
        assert got.after[1][k] == pytest.approx(f1)
        assert got.sizes[k] == sum(counts[word] for word in inside)


def test_small_buckets_join_the_next() -> None:
    sizes = [3, 0, 12, 4, 11, 2, 1]
    groups, start = [], 0
    for size in sizes:
        groups.append(np.arange(start, start + size))
        start += size
    assert [(first, last, len(rows)) for first, last, rows in _joined(groups)] == [(0, 2, 15), (3, 6, 18)]
    assert [_name(0, 2, LENGTHS), _name(3, 6, LENGTHS), _name(0, 0, COUNTS)] == ["1 to 15", "16 or more", "1"]
