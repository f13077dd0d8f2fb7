"""Translations by several ways at once are those of each way alone, whatever the blocks."""

from pathlib import Path

import pytest

from hopefear.creation import decoding
from hopefear.decode import Hiero
from hopefear.decode.consensus import best_by_consensus
from hopefear.runs.session import SILENT
from tests.models import corpus, write_task


def test_ways(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_task(tmp_path)
    monkeypatch.setattr(decoding, "_BLOCK", 7)
    decoder, dev = Hiero(tmp_path / "model"), corpus(tmp_path, "dev")
    texts = decoding.translations(decoder, dev.lines, [None, 0.5], "dev", SILENT, 1)
    alone = decoding.translations(decoder, dev.lines, [None], "dev", SILENT, 2)
    assert texts[None] == alone[None] == decoder.translate(dev.lines)
    pool = decoder.decode(dev.lines, max_edges=2000)
    consensus = best_by_consensus(pool, decoder.weights, "bleu", 0.5)
    assert texts[0.5] == decoder.model.running_text(consensus, dev.lines)


@pytest.mark.parametrize("language, tokenize", [("en", "13a"), ("zh", "zh"), ("ja", "char"), ("gn", "13a")])
def test_bleu(language: str, tokenize: str) -> None:
    assert decoding.bleu_of(language).tokenize == tokenize
