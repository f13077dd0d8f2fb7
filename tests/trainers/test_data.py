"""Corpora, and what a decoder makes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hopefear as hf
from hopefear.decode import Hiero
from hopefear.errors import InputError
from hopefear.model.directory import Model
from hopefear.trainers.data import Corpus, Translations
from tests.models import corpus


def test_a_corpus_is_read_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "source").write_text("a b\nc\n")
    (tmp_path / "ref").write_text("u\nv w\n")
    corpus = Corpus.read(tmp_path / "source", [tmp_path / "ref"] * 2)
    assert corpus == Corpus(["a b", "c"], [["u", "v w"]] * 2)
    assert len(corpus) == 2
    assert corpus.subset([1]) == Corpus(["c"], [["v w"]] * 2)


def test_mismatched_data_are_errors(tmp_path: Path) -> None:
    (tmp_path / "source").write_text("a b\nc\n")
    (tmp_path / "ref").write_text("u\n")
    (tmp_path / "empty").write_text("")
    with pytest.raises(InputError, match=r"ref: has 1 lines, and .*source has 2. References go line by line"):
        Corpus.read(tmp_path / "source", [tmp_path / "ref"])
    with pytest.raises(InputError, match=r"empty: is empty\. Training needs sentences"):
        Corpus.read(tmp_path / "empty", [tmp_path / "ref"])
    with pytest.raises(InputError, match="there are 2 source lines and 1 references: one each is needed"):
        Corpus(["a", "b"], [["u"]])


def test_translations_are_scored_in_tokens(task: Path) -> None:
    decoder, data = Hiero(Model.open(task / "model"), pop_limit=20), corpus(task, "dev")
    translations = Translations.of(decoder, data, {"lm": 1.0, "phrase_ef": 1.0}, 1)
    assert len(translations.texts) == len(data)
    assert translations.score == pytest.approx(hf.Bleu().corpus_score(translations.texts, translations.tokens))
    words = sum(len(text.split()) for text in translations.texts)
    assert translations.length_ratio == pytest.approx(words / translations.stats.sum(axis=0)[8])
    # weights by name and as a vector over the features are the same
    w = np.array([{"lm": 1.0, "phrase_ef": 1.0}.get(name, 0.0) for name in decoder.feature_names])
    assert Translations.of(decoder, data, w, 2).texts == translations.texts
