"""Word alignment through the library, on a language whose links are known."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from hopefear._core import ParallelText
from hopefear.data.language import SyntheticParallel
from hopefear.errors import InputError
from hopefear.model.align import ALIGNERS, align, align_directed, steps

PAIRS = SyntheticParallel(seed=4, noise=0, nouns=20, verbs=8, adjectives=8).pairs(300)
SOURCE = [pair.source for pair in PAIRS]
TARGET = [pair.target for pair in PAIRS]


def aligned(aligner: str, seed: int = 1, jobs: int = 0) -> ParallelText:
    size = 80 if aligner == "eflomal" else 300
    text = ParallelText()
    text.add(SOURCE[:size], TARGET[:size])
    align(text, SOURCE[:size], TARGET[:size], aligner, 5, seed, jobs)
    return text


@pytest.mark.parametrize("aligner", ALIGNERS)
def test_finds_the_links_and_finds_them_again(aligner: str) -> None:
    text = aligned(aligner)
    gold = proposed = right = 0
    for n, pair in enumerate(PAIRS[: len(text)]):
        links = {(int(s), int(t)) for s, t in text.links(n)}
        gold += len(pair.links)
        right += len(links & set(pair.links))
        proposed += len(links)
    assert right > 0.85 * gold
    assert right > 0.6 * proposed  # articles and particles have no partner, and get one
    again = aligned(aligner, jobs=1)
    assert all(again.pharaoh(n) == text.pharaoh(n) for n in range(len(text)))


def test_a_seed_is_a_seed() -> None:
    serial, two = (align_directed(SOURCE[:40], TARGET[:40], "eflomal", 5, seed) for seed in (1, 2))
    assert len(serial) == sum(len(line.split()) for line in TARGET[:40])
    assert not np.array_equal(serial, two)
    assert serial.min() >= -1


def test_unknown_aligner() -> None:
    with pytest.raises(InputError, match=r"aligner: 'giza' is not known\. Choose one of fastalign, eflomal"):
        aligned("giza")
    with pytest.raises(InputError, match=r"aligner: 'eflomal\+eflomal' names one twice"):
        aligned("eflomal+eflomal")


def test_several_aligners_give_the_links_of_each() -> None:
    """The twin: each by itself, one text behind the other."""
    source, target = SOURCE[:40], TARGET[:40]
    each = []
    for name in ("fastalign", "eflomal"):
        text = ParallelText()
        text.add(source, target)
        align(text, source, target, name)
        each += [text.pharaoh(n) for n in range(len(text))]
    both = ParallelText()
    both.add(source, target)
    both.add(source, target)
    align(both, source, target, "fastalign+eflomal")
    assert [both.pharaoh(n) for n in range(len(both))] == each
    assert each[:40] != each[40:]
    assert steps("fastalign+eflomal", 5) == 2 * (5 + 40)


def test_missing_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "thot.py").write_text("raise ImportError('not here')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(InputError, match="needs the package sil-thot"):
        aligned("fastalign")


def test_a_worker_that_dies_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "thot.py").write_text("import os\nos.kill(os.getpid(), 9)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(InputError, match=r"alignment failed: it was killed by signal 9\. Is there enough memory\?"):
        aligned("fastalign")
