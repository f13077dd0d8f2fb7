"""What trainers say when they are asked for help, given a name, or given what they cannot use; metrics in Python."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.data.lists import Synthetic
from hopefear.trainers.registry import TRAINERS
from tests.trainers.every import make


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> hf.Pool:
    files = Synthetic(sentences=12, candidates=6, dense=4).write(tmp_path_factory.mktemp("pool"))
    return hf.read_nbest(files["nbest"], [files[f"ref.{i}"] for i in range(4)])


def test_a_metric_may_be_a_name(pool: hf.Pool) -> None:
    assert hf.Mert(metric="bleu").metric == hf.Bleu()
    assert hf.Mert(metric="chrf:word_order=2").metric == hf.Chrf(word_order=2)
    assert hf.Kbmira(metric="bleu", passes=2).fit(pool).weights == hf.Kbmira(passes=2).fit(pool).weights
    with pytest.raises(hf.InputError, match=r"there is no metric 'blue'.* Did you mean 'bleu'\?"):
        hf.Mert(metric="blue").fit(pool)
    with pytest.raises(hf.InputError, match=r"trainer mert: the metric is int 3"):
        hf.Mert(metric=3)


@pytest.mark.parametrize(
    ("data", "initial", "message"),
    [
        ("gone.nbest", None, "gone.nbest: no such file or folder"),
        (Path("gone.nbest"), None, "gone.nbest: no such file or folder"),
        ([1], None, "learns from the candidates of a pool, not from list"),
        (None, "weights.txt", "weights.txt: no such file or folder"),
        (None, [1.0, 2.0], "initial weights are a mapping from names to numbers, not list"),
        (None, np.ones(4), "initial weights are a mapping from names to numbers, not ndarray"),
        (None, {"lm": "1"}, "initial weights map names to numbers, but 'lm' has '1'"),
        (None, {0: 1.0}, "initial weights map names to numbers, but 0 has 1.0"),
    ],
)
def test_wrong_types_are_named(pool: hf.Pool, data: Any, initial: Any, message: str) -> None:
    with pytest.raises(hf.InputError) as error:
        hf.Mert().fit(pool if data is None else data, initial)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("trainer", "options", "said"),
    [
        (hf.Mert, {"seed": "1"}, "trainer mert: seed is a whole number, not '1'"),
        (hf.Mert, {"restarts": 2.5}, "trainer mert: restarts is a whole number, not 2.5"),
        (hf.Kbmira, {"C": None}, "trainer kbmira: C is a number, not None"),
        (hf.Rampion, {"loss": 3}, "trainer rampion: loss is a text, not 3"),
    ],
)
def test_options_have_types(trainer: type, options: dict[str, Any], said: str) -> None:
    with pytest.raises(hf.InputError) as error:
        trainer(**options)
    assert str(error.value) == said


def test_online_trainers_take_what_batch_trainers_take(pool: hf.Pool, tmp_path: Path) -> None:
    hf.write_nbest(pool, tmp_path / "dev.jsonl")
    start = dict.fromkeys(pool.feature_names, 0.1)
    hf.write_weights(start, tmp_path / "weights.txt")
    plain = hf.Arow(epochs=2).fit(pool, start)
    assert hf.Arow(epochs=2).fit(tmp_path / "dev.jsonl", tmp_path / "weights.txt").weights == plain.weights
    assert hf.Arow(epochs=2).fit(pool, hf.Reranker(start)).weights == plain.weights
    with pytest.raises(hf.InputError, match="initial weights are a mapping"):
        hf.Arow().fit(pool, [1.0])


@pytest.mark.parametrize("trainer", TRAINERS)
def test_help_explains_every_option(trainer: type) -> None:
    import dataclasses

    text = trainer.__doc__
    assert text is not None
    for each in dataclasses.fields(trainer):
        assert f"  {each.name}: {each.metadata.get('help', '')[:20]}" in text
    assert trainer.what in text  # type: ignore[attr-defined]


def bleu_statistics(text: str, references: list[str]) -> list[float]:
    """Matches and words: unigram precision."""
    words = text.split()
    return [sum(word in references[0].split() for word in words), len(words)]


def precision(sums: Any) -> float:
    return float(100 * sums[0] / max(sums[1], 1))


@pytest.mark.parametrize("name", [each.name for each in TRAINERS if each.learns_from == "candidates"])
def test_a_metric_in_python_works_with_every_trainer_on_lists(pool: hf.Pool, name: str) -> None:
    from hopefear.trainers.registry import find_batch

    metric = hf.CustomMetric(bleu_statistics, precision, label="precision", scale=100.0)
    stats = metric.stats(pool)
    assert stats.shape == (72, 2)
    result = make(find_batch(name), metric=metric, jobs=2).fit(pool)
    others = ("pro", "rampion", "cmira", "perceptron", "pa", "kbmira", "auto", "bagged")  # do not climb this metric
    assert result.score >= result.initial_score - 1e-9 or name in others
    w = np.array([result.weights[one] for one in pool.feature_names])
    best = [pool.text(i, int(pool[i].scores(w).argmax())) for i in range(len(pool))]
    sums = np.sum([bleu_statistics(text, pool.references(i)) for i, text in enumerate(best)], axis=0)
    assert result.score == pytest.approx(precision(sums))
    assert any("is written in Python" in warning for warning in result.warnings)


def test_a_failing_python_metric_is_an_error(pool: hf.Pool) -> None:
    with pytest.raises(ZeroDivisionError):
        hf.Mert(metric=hf.CustomMetric(bleu_statistics, lambda sums: 1 / 0)).fit(pool)
    with pytest.raises(hf.InputError, match=r"Give as many for every candidate"):
        hf.Mert(metric=hf.CustomMetric(lambda text, references: [1.0] * (1 + bool(text)), precision)).fit(pool)
