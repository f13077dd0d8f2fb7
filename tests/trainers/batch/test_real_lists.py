"""On the lists of a real decoder, where they are at hand."""

import pytest

import hopefear as hf
from hopefear.trainers.batch.base import BatchTrainer
from tests.shared_data import SHARED
from tests.trainers.every import BATCH

pytestmark = pytest.mark.skipif(SHARED is None, reason="the shared data sets are not here")

# Enough for a test; the defaults are for users.
FEW = {
    "cmira": {"epochs": 50},
    "kbmira": {"passes": 5},
    "rampion": {"cccp": 2},
    "perceptron": {"iterations": 3},
    "pa": {"iterations": 3},
    "minrisk": {"iterations": 15},
    "logloss": {"iterations": 15},
    "pro": {"samples": 500},
}


@pytest.fixture(scope="module")
def pool() -> hf.Pool:
    assert SHARED is not None
    folder = SHARED / "data" / "es-en-kbest"
    return hf.read_nbest(folder / "dev.nbest.xz", [folder / f"dev.en.{i}" for i in range(4)])


@pytest.fixture(scope="module")
def start(pool: hf.Pool) -> dict[str, float]:
    """Equal weights, and small: where scores differ by more than the metric does, cmira sees its margins as met."""
    return dict.fromkeys(pool.feature_names, 0.01)


@pytest.mark.parametrize(("seed", "restarts"), [(1, 20), (2, 10)])
def test_mert_is_at_least_as_good_as_moses(pool: hf.Pool, seed: int, restarts: int) -> None:
    assert round(hf.Mert(seed=seed, restarts=restarts).fit(pool).score, 2) >= 34.42


@pytest.mark.parametrize("trainer", [each for each in BATCH if each is not hf.Mert], ids=lambda each: each.__name__)
def test_every_other_trainer_improves(pool: hf.Pool, start: dict[str, float], trainer: type[BatchTrainer]) -> None:
    result = trainer(**FEW.get(trainer.name, {})).fit(pool, start)
    assert result.score > result.initial_score
