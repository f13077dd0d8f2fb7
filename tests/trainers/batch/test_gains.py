"""Gains of candidates: the core against plain Python, and the option with other metrics."""

import dataclasses

import numpy as np
import pytest

import hopefear as hf
from hopefear import _core
from hopefear.errors import OptionError
from hopefear.metrics import Metric
from hopefear.trainers.batch.gains import GAINS, SentenceGain
from tests.reference import batch_trainers
from tests.trainers.every import BATCH, make
from tests.trainers.pools import QUALITY, list_pool, matrices, random_pool, split, synthetic_pool
from tests.trainers.twins import setting

WITH_GAIN = [each for each in BATCH if issubclass(each, SentenceGain)]
every_with_gain = pytest.mark.parametrize("trainer", WITH_GAIN, ids=lambda each: each.__name__)


def rows_of(pool: hf.Pool, metric: Metric, w: np.ndarray, gain: str) -> np.ndarray:
    return _core.row_gains(pool, metric.stats(pool), metric.core, w, gain, decay=0.999, jobs=1, places=None)


@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("metric", [hf.Bleu(), hf.Ter(), hf.Chrf(), QUALITY], ids=lambda metric: metric.name)
def test_as_in_plain_python(metric: Metric, gain: str) -> None:
    for seed in range(5):
        pool, stats, w, _, _ = setting(seed, metric, sparse=3)
        twin = batch_trainers.GAINS[gain](matrices(pool), split(pool, stats), metric)(w)
        assert rows_of(pool, metric, w, gain) == pytest.approx(np.concatenate(twin), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("metric", [hf.Bleu(), hf.Ter(), QUALITY], ids=lambda metric: metric.name)
def test_linear_gains_of_the_best_candidates_have_the_metric_of_the_corpus_as_their_mean(metric: Metric) -> None:
    pool = synthetic_pool(sentences=60, candidates=8, dense=3)
    w = np.array([0.3, -0.2, 0.1])
    best, document = _core.one_best(pool, metric.stats(pool), metric.core, w, jobs=1, places=None)
    chosen = rows_of(pool, metric, w, "linear")[pool.row_begin()[:-1] + best]
    assert chosen.mean() == pytest.approx(metric.gain(document), abs=1e-6)


def test_linear_and_background_gains_are_of_one_size() -> None:
    """In a long corpus one sentence changes the background as it changes the corpus around it."""
    pool = random_pool(1, sentences=400, candidates=5)
    w = np.zeros(3)
    bleu = hf.Bleu()
    stats = bleu.stats(pool)
    hopes = rows_of(pool, bleu, w, "background")
    sizes = {gain: [np.ptp(rows) for rows in split(pool, rows_of(pool, bleu, w, gain))] for gain in GAINS}
    assert np.mean(sizes["background"][100:]) == pytest.approx(np.mean(sizes["linear"][100:]), rel=0.5)
    assert np.isfinite(hopes).all() and len(hopes) == len(stats)


def test_a_metric_that_is_a_mean_has_one_gain() -> None:
    pool = random_pool(2)
    w = np.array([0.1, 0.2, -0.3])
    for gain in GAINS:
        assert rows_of(pool, QUALITY, w, gain) == pytest.approx(QUALITY.sentence_gains(QUALITY.stats(pool)), abs=1e-6)


def test_short_sentences_count_less_in_a_corpus() -> None:
    """Two words right of three, and twenty of thirty: BLEU+1 calls the loss of one word larger in the short one."""
    long = [f"w{i}" for i in range(30)]
    texts = [["a b c d", "a b c x"], [" ".join(long), " ".join([*long[:29], "x"])]]
    pool = list_pool([np.eye(2)] * 2, texts=texts, references=[["a b c d"], [" ".join(long)]])
    lost = {
        gain: [rows[0] - rows[1] for rows in split(pool, rows_of(pool, hf.Bleu(), np.zeros(2), gain))] for gain in GAINS
    }
    assert lost["plus1"][0] > 3 * lost["plus1"][1]
    assert lost["linear"][0] == pytest.approx(lost["linear"][1], rel=0.01)  # the same n-grams are lost


@every_with_gain
def test_every_gain_learns(trainer: type[SentenceGain]) -> None:
    pool = random_pool(4, sentences=40, candidates=8)
    for gain in GAINS:
        options = {"sentence_objective": "metric"} if hasattr(trainer, "sentence_objective") else {}
        result = make(trainer, gain=gain, **options).fit(pool)
        assert result.score > 0
        again = make(trainer, gain=gain, jobs=2, **options).fit(pool)
        assert result.weights == again.weights


@every_with_gain
def test_an_unknown_gain_is_an_error(trainer: type[SentenceGain]) -> None:
    with pytest.raises(
        OptionError, match=f"trainer {trainer.name}: gain must be plus1, linear or background, not best"
    ):
        trainer(gain="best")


@every_with_gain
def test_the_option_has_one_definition(trainer: type[SentenceGain]) -> None:
    field = {each.name: each for each in dataclasses.fields(trainer)}["gain"]
    assert field.default in GAINS
    assert field.metadata["paper"] in GAINS
