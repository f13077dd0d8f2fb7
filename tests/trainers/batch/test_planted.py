"""The synthetic setting of Hopkins and May (2011): planted weights, and how many of them each trainer can find."""

import numpy as np
import pytest

import hopefear as hf
from hopefear import _core
from hopefear.trainers.batch.base import BatchTrainer
from tests.trainers.every import BATCH, every_batch_trainer
from tests.trainers.pools import QUALITY, bleu_planted_pool, planted_pool

OPTIONS = {
    "mert": {"restarts": 1, "kicks": 0, "passes": 3},
    "cmira": {"epochs": 100, "C": 1.0},
    "kbmira": {"passes": 10},
    "rampion": {"eta": 0.01},
}


def cosine(trainer: type[BatchTrainer], dimensions: int, noise: float = 0.0, sentences: int = 150) -> float:
    """Between the planted weights and those that were learnt."""
    pool, planted = planted_pool(1, dimensions, sentences=sentences, candidates=15, noise=noise)
    result = trainer(metric=QUALITY, **OPTIONS.get(trainer.name, {})).fit(pool)
    w = np.array([result.weights[feature] for feature in pool.feature_names])
    return float(w @ planted / np.linalg.norm(w))


@every_batch_trainer
def test_planted_weights_are_found(trainer: type[BatchTrainer]) -> None:
    assert cosine(trainer, 10) > 0.95


@pytest.mark.parametrize("trainer", [hf.Perceptron, hf.Pa], ids=lambda each: each.__name__)
def test_perceptrons_recover_the_planted_bleu(trainer: type[BatchTrainer]) -> None:
    """97 % of it, on lists of 300 x 60 candidates with 10 features."""
    pool, planted = bleu_planted_pool(1, 10, sentences=300, candidates=60)
    bleu = hf.Bleu()
    best = bleu.score(_core.one_best(pool, bleu.stats(pool), bleu.core, planted, jobs=1, places=None)[1])
    assert trainer().fit(pool).score > 0.97 * best


@pytest.mark.parametrize("trainer", [hf.Cmira, hf.Rampion], ids=lambda each: each.__name__)
def test_units_do_not_matter(trainer: type[BatchTrainer]) -> None:
    """Features in units that differ by powers of ten: unscaled, these two ended at 79 to 93 % of the BLEU."""
    pool, planted = bleu_planted_pool(2, 10, sentences=300, candidates=60)
    bleu = hf.Bleu()
    best = bleu.score(_core.one_best(pool, bleu.stats(pool), bleu.core, planted, jobs=1, places=None)[1])
    units = 10.0 ** np.random.default_rng(2).uniform(-3, 3, 10)
    badly = _core.reparameterized(pool, np.arange(10, dtype=np.int32), units, pool.features, pool.dense_width)
    assert trainer(scaling="none").fit(badly).score < 0.9 * best
    assert trainer().fit(badly).score > 0.99 * best


@every_batch_trainer
def test_planted_weights_are_found_through_noise(trainer: type[BatchTrainer]) -> None:
    assert cosine(trainer, 10, noise=0.5) > 0.8


def test_mert_degrades_with_dimension_and_the_others_do_not() -> None:
    at = {trainer.name: [cosine(trainer, d) for d in (10, 300)] for trainer in BATCH}
    lost = {name: few - many for name, (few, many) in at.items()}
    assert max(lost, key=lost.__getitem__) == "mert", at
    for name, (_, many) in at.items():
        if name != "mert":
            assert many > at["mert"][1] + 0.2, (name, at)
