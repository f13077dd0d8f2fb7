"""What every trainer does. A new one is in TRAINERS and so here."""

import json
import math

import numpy as np
import pytest

import hopefear as hf
from hopefear import _core
from hopefear.trainers import TRAINERS, trainer
from tests.trainers.every import every_trainer, make
from tests.trainers.pools import QUALITY, list_pool, random_pool, synthetic_pool


@pytest.fixture(scope="module")
def pool() -> hf.Pool:
    return synthetic_pool()


@pytest.fixture(scope="module")
def sparse_pool() -> hf.Pool:
    return synthetic_pool(sentences=25, candidates=12, dense=5, sparse=300)


INITIAL = {"lm": 0.3, "wordpenalty": -0.4, "distortion": -0.2, "tm0": 0.1, "tm3": -0.3}


@every_trainer
def test_fit_improves_and_says_so(name: str, pool: hf.Pool) -> None:
    found = make(name).fit(pool, INITIAL)
    assert found.score > found.initial_score + 1
    assert found.seconds > 0
    assert found.history
    for record in found.history:
        assert isinstance(record["epoch"], int)
        assert 0 <= record["score"] <= 100
    json.dumps({"history": found.history, "details": found.details}, allow_nan=False)


@every_trainer
def test_weights_are_finite_and_have_the_names_of_the_features(name: str, sparse_pool: hf.Pool) -> None:
    found = make(name).fit(sparse_pool)
    assert sorted(found.weights) == sorted(sparse_pool.feature_names)
    assert all(type(value) is float and math.isfinite(value) for value in found.weights.values())


@every_trainer
def test_the_score_is_that_of_the_weights(name: str, pool: hf.Pool) -> None:
    found = make(name).fit(pool, INITIAL)
    bleu = hf.Bleu()
    w = np.array([found.weights[feature] for feature in pool.feature_names])
    assert found.score == pytest.approx(bleu.score(_core.one_best(pool, bleu.stats(pool), bleu.core, w)[1]), abs=1e-9)
    start = np.array([INITIAL.get(feature, 0.0) for feature in pool.feature_names])
    assert found.initial_score == pytest.approx(
        bleu.score(_core.one_best(pool, bleu.stats(pool), bleu.core, start)[1]), abs=1e-9
    )


@every_trainer
def test_the_same_seed_gives_the_same_weights_on_any_number_of_threads(name: str, sparse_pool: hf.Pool) -> None:
    one, again, two = (make(name, seed=5, jobs=jobs).fit(sparse_pool, INITIAL) for jobs in (1, 1, 2))
    assert one.weights == again.weights == two.weights
    assert one.history == again.history == two.history


@every_trainer
@pytest.mark.parametrize("scaling", ["none", "std"])
def test_frozen_weights_stay(name: str, scaling: str, pool: hf.Pool) -> None:
    found = make(name, frozen="lm,tm*", scaling=scaling).fit(pool, INITIAL)
    for feature in pool.feature_names:
        if feature == "lm" or feature.startswith("tm"):
            assert found.weights[feature] == pytest.approx(INITIAL.get(feature, 0.0), rel=1e-15)
    assert found.weights["wordpenalty"] != INITIAL["wordpenalty"]


@every_trainer
def test_bounds_hold(name: str, pool: hf.Pool) -> None:
    found = make(name, bounds="lm:0.05:0.1,wordpenalty:-inf:0").fit(pool, INITIAL)
    assert 0.05 <= found.weights["lm"] <= 0.1
    assert found.weights["wordpenalty"] <= 0


@every_trainer
def test_groups_share_a_weight(name: str, pool: hf.Pool) -> None:
    found = make(name, groups="tm=tm*").fit(pool, {"tm0": 0.3})
    tied = {value for feature, value in found.weights.items() if feature.startswith("tm")}
    assert len(tied) == 1
    assert len(set(found.weights.values())) > 2


@every_trainer
@pytest.mark.parametrize("metric", [hf.Chrf(), hf.Ter(), QUALITY], ids=lambda metric: metric.name)
def test_any_metric(name: str, metric: hf.metrics.Metric, pool: hf.Pool) -> None:
    found = make(name, metric=metric).fit(pool, INITIAL)
    better = found.score - found.initial_score
    assert (better if metric.higher_is_better else -better) > 0
    scores = [record["score"] for record in found.history]
    assert min(scores) - 1e-9 <= found.score <= max([*scores, found.initial_score]) + 1e-9  # on the metric's own scale


@every_trainer
def test_progress_is_told_and_may_stop(name: str, pool: hf.Pool) -> None:
    seen = []
    found = make(name).fit(pool, INITIAL, progress=lambda record: seen.append(record) or True)
    assert [record for record in seen if "epoch" in record] == found.history  # between epochs some tell more
    stopped = make(name).fit(pool, INITIAL, progress=lambda record: False)
    assert all(math.isfinite(value) for value in stopped.weights.values())


@every_trainer
def test_options_are_plain_values(name: str) -> None:
    options = make(name).options()
    assert options["metric"] == "bleu"
    json.dumps(options)


# Bad input: one line that says what is wrong, never a hang or garbage.


def complaint(name: str, pool: hf.Pool, *, initial: dict[str, float] | None = None, **options: object) -> str:
    with pytest.raises(hf.InputError) as error:
        make(name, **options).fit(pool, initial)
    assert "\n" not in str(error.value)
    return str(error.value)


@every_trainer
def test_one_candidate_a_sentence(name: str) -> None:
    pool = list_pool([np.ones((1, 2))] * 3, numbers=[[0.5]] * 3)
    assert "one candidate only" in complaint(name, pool)
    twice = list_pool([np.ones((2, 2))] * 3, texts=[["a", "a"]] * 3, references=[["a"]] * 3)
    assert "one candidate only" in complaint(name, twice)


@every_trainer
def test_some_lists_of_one_candidate_do_no_harm(name: str, pool: hf.Pool) -> None:
    single = list_pool(
        [np.ones((1, 8))] * 5, texts=[["a b c"]] * 5, references=[["a b"]] * 5, numbers=[[0.5]] * 5,
        names=pool.feature_names, ids=[f"single{i}" for i in range(5)],
    )  # fmt: skip
    assert make(name).fit(hf.merged([pool, single]), INITIAL).score > 0


@every_trainer
def test_nothing_to_tell_candidates_apart(name: str) -> None:
    rng = np.random.default_rng(1)
    pool = list_pool([rng.normal(size=(4, 2))] * 3, numbers=[[0.3] * 4, [0.5] * 4, [0.7] * 4])
    assert "same external score" in complaint(name, pool, metric=QUALITY)
    texts = [["a b", "b c", "c d"]] * 2
    pool = list_pool([rng.normal(size=(3, 2))] * 2, texts=texts, references=[["x y"]] * 2)
    assert "right references" in complaint(name, pool)


@every_trainer
def test_an_empty_pool_and_candidates_without_features(name: str) -> None:
    assert "no sentences" in complaint(name, hf.Pool())
    assert "no features" in complaint(name, list_pool([np.zeros((3, 0))], texts=[["a", "b", "a b"]]))


@every_trainer
def test_options_that_mean_nothing(name: str, pool: hf.Pool) -> None:
    assert "no feature is called lm0" in complaint(name, pool, frozen="lm0")
    assert "no feature is called nix*" in complaint(name, pool, bounds="nix*:0:1")
    assert "feature:lower:upper" in complaint(name, pool, bounds="lm=3")
    assert "below the upper" in complaint(name, pool, bounds="lm:1:0")
    assert "below the upper" in complaint(name, pool, bounds="lm:nan:1")
    assert "name=feature" in complaint(name, pool, groups="lm")
    assert "groups: lm is a feature itself" in complaint(name, pool, groups="lm=tm0+tm1")
    assert "groups: tm0 is in two groups, a and b" in complaint(name, pool, groups="a=lm+tm0,b=tm*")
    assert "exclude each other" in complaint(name, pool, groups="g=lm+tm0", bounds="lm:0:1,tm0:2:3")
    assert "scaling must be" in complaint(name, pool, scaling="max")
    assert "NaN" in complaint(name, pool, initial={"lm": math.nan})
    assert "none of the initial weights" in complaint(name, pool, initial={"languagemodel": 1.0})


@every_trainer
def test_numbers_below_their_least_legal_value(name: str) -> None:
    with pytest.raises(hf.InputError, match="jobs must be at least 0, not -1"):
        make(name, jobs=-1)
    with pytest.raises(hf.InputError, match="jobs must be at least 0, not nan"):
        make(name, jobs=math.nan)
    with pytest.raises(TypeError, match="passses"):
        TRAINERS[name](passses=3)


def test_names_of_trainers() -> None:
    assert trainer("mert") is hf.Mert
    with pytest.raises(hf.InputError, match=r"there is no trainer miraculous\. Choose one of mert, pro"):
        trainer("miraculous")


@pytest.mark.parametrize(
    ("name", "options"),
    [("rampion", {"eta": 1e300}), ("rampion", {"eta": 1e10, "C": 1e10}), ("rampion", {"eta": math.inf})],
)
def test_weights_that_diverge(name: str, options: dict[str, float]) -> None:
    found = make(name, **options).fit(random_pool(1, sentences=10))
    assert [("diverged" in said, "eta" in said, "\n" in said) for said in found.warnings] == [(True, True, False)]
    assert all(math.isfinite(value) for value in found.weights.values())
    assert found.score >= found.initial_score or found.history
    json.dumps({"history": found.history, "details": found.details}, allow_nan=False)
