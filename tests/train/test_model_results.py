"""What a trained model's run ends with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import hopefear as hf
from hopefear.decode import Hiero
from hopefear.model.directory import Model
from hopefear.runs import Run, read_run
from hopefear.train import model_results
from hopefear.train.model_results import finish
from hopefear.trainers.base import Result
from hopefear.trainers.data import Task, Translations
from tests.models import corpus

BEFORE, AFTER = {"lm": 0.2, "phrase_ef": 0.0}, {"lm": 1.0, "phrase_ef": 1.0, "phrase_fe": 0.5}


@pytest.fixture(scope="module")
def data(task: Path) -> Task:
    return Task(Hiero(Model.open(task / "model"), pop_limit=20), corpus(task, "tune"), corpus(task, "dev"))


def result() -> Result:
    return Result(AFTER, 0.0, 0.0, [{"epoch": 0, "score": 1.0}], 0.1, 1, BEFORE, warnings=["look here"])


def test_scores_examples_and_statistics(data: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_results, "EXAMPLES", 3)
    with Run.open(tmp_path / "run") as run:
        finish(run, run.session(), hf.Mira(jobs=1), data, data.corpus, result())
    record = read_run(tmp_path / "run")
    assert data.dev is not None
    parts = {"dev": data.dev, "test": data.corpus}
    with np.load(tmp_path / "run" / "stats.npz") as stats:
        for part, sentences in parts.items():
            old, new = (Translations.of(data.decoder, sentences, w, 1) for w in (BEFORE, AFTER))
            assert record.final[part]["bleu"] == pytest.approx(new.score)
            assert record.final[part]["length_ratio"] == pytest.approx(new.length_ratio)
            assert record.final["before"][part]["bleu"] == pytest.approx(old.score)
            assert np.array_equal(stats[f"{part}_before"], old.stats)
            assert np.array_equal(stats[f"{part}_after"], new.stats)
        assert str(stats["dev_references"]) != str(stats["test_references"])
    assert 0 <= record.final["test"]["p"] <= 1 and "p" not in record.final["dev"]
    examples = json.loads((tmp_path / "run" / "examples.json").read_text())
    assert [example["line"] for example in examples] == [1, 2, 3]
    assert examples[0]["source"] == data.dev.lines[0]
    assert record.initial == {"lm": 0.2}  # those that are not 0
    assert record.epochs == [{"epoch": 0, "score": 1.0}]
    assert record.warnings[0] == "look here"
    assert all(
        str(text) in record.warnings
        for text in (f"{example['text']} [{example['code']}]" for example in record.findings)
    )
    assert (tmp_path / "run" / "weights.txt").read_text() == "lm 1.0\nphrase_ef 1.0\nphrase_fe 0.5\n"


def test_without_development_data_dev_is_what_was_learnt_from(data: Task, tmp_path: Path) -> None:
    with Run.open(tmp_path / "run") as run:
        finish(run, run.session(), hf.Mira(jobs=1), Task(data.decoder, data.corpus), None, result())
    final = read_run(tmp_path / "run").final
    assert set(final) == {"epoch", "dev", "before"}
    assert final["dev"]["bleu"] == pytest.approx(Translations.of(data.decoder, data.corpus, AFTER, 1).score)
