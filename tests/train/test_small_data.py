"""tune --cv, --bag and --trainer auto, and the baselines of every fit."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.cli.main import main
from hopefear.commands.tune import Tune
from hopefear.errors import InputError, OptionError
from hopefear.evaluation.holdout import split
from hopefear.evaluation.scores import chosen_stats, score_of
from hopefear.trainers.auto import Auto
from hopefear.trainers.bagged import Bagged, mean_of_fits, resampled
from hopefear.trainers.estimators import Fitting, single


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lists")
    arguments = ["--sentences", "40", "--candidates", "8", "--refs", "1", "--dense", "3", "--quiet"]
    assert main(["generate", "--out", str(folder), "--overwrite", *arguments]) == 0
    return folder


def tune(data: Path, out: Path, *more: str) -> dict[str, Any]:
    files = ["--nbest", str(data / "nbest.txt"), "--refs", str(data / "ref.0"), "--initial", str(data / "initial.txt")]
    assert main(["tune", *files, "--holdout", "0.25", "--out", str(out), "--quiet", *more]) == 0
    record: dict[str, Any] = json.loads((out / "run.json").read_text())
    return record


def test_baselines_are_on_the_part_kept_aside(data: Path, tmp_path: Path) -> None:
    run = tune(data, tmp_path / "run", "--trainer", "mert", "--set", "restarts=2")
    scores = run["final"]["baselines"]
    assert {*scores} == {"after", "initial", "equal", "best_single"}
    assert scores["after"]["score"] == pytest.approx(run["final"]["holdout"]["bleu"])
    assert scores["initial"]["score"] == pytest.approx(run["final"]["before"]["holdout"]["bleu"])
    assert all(score["low"] <= score["score"] <= score["high"] for score in scores.values())
    pool = hf.read_nbest(str(data / "nbest.txt"), references=[str(data / "ref.0")])
    _, aside = split(pool, 0.25, 1)
    assert aside is not None
    feature = scores["best_single"]["feature"]
    both = [score_of(aside, hf.Bleu(), {feature: sign}) for sign in (1.0, -1.0)]
    assert scores["best_single"]["score"] in [pytest.approx(score) for score in both]


def test_the_best_single_feature_is_the_best_of_all(data: Path) -> None:
    pool = hf.read_nbest(str(data / "nbest.txt"), references=[str(data / "ref.0")])
    for metric in (hf.Bleu(), hf.Chrf(), hf.Ter()):
        weights = single(pool, Fitting(metric))
        alone = [{name: sign} for name in pool.feature_names for sign in (1.0, -1.0)]
        gains = [metric.gain(chosen_stats(pool, w, metric).sum(axis=0)) for w in alone]
        assert {name: weight for name, weight in weights.items() if weight} == alone[int(np.argmax(gains))]


def test_cross_validation_chooses_l2(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tune(data, tmp_path / "run", "--trainer", "minrisk", "--cv", "3")
    scores = run["final"]["cv"]
    assert scores["folds"] == 3
    best = max(scores["l2"], key=lambda item: item["score"])
    assert scores["after"]["score"] == pytest.approx(best["score"])
    assert "cross-validation" in capsys.readouterr().out
    run = tune(data, tmp_path / "other", "--trainer", "minrisk", "--cv", "3", "--set", "l2=0.5")
    assert "l2" not in run["final"]["cv"]


def test_bag_and_auto(data: Path, tmp_path: Path) -> None:
    run = tune(data, tmp_path / "bag", "--trainer", "mert", "--bag", "3", "--set", "restarts=1")
    assert run["trainer"]["options"]["bag"] == 3
    tune(data, tmp_path / "auto", "--trainer", "auto")
    again = tune(data, tmp_path / "again", "--trainer", "auto", "--jobs", "1")
    assert (tmp_path / "auto" / "weights.txt").read_bytes() == (tmp_path / "again" / "weights.txt").read_bytes()
    assert again["trainer"]["name"] == "auto"


def test_a_bag_is_the_mean_of_its_fits(data: Path) -> None:
    pool = hf.read_nbest(str(data / "nbest.txt"), references=[str(data / "ref.0")])
    trainer = hf.Mert(restarts=1, kicks=0, seed=4, jobs=1)
    result = Bagged(of=trainer, bag=3, seed=4, jobs=1).fit(pool).weights
    random, names = np.random.default_rng([4, 31]), pool.feature_names
    spread = np.array([np.std(np.concatenate([d - d.mean() for d in _column(pool, j)])) for j in range(len(names))])
    total = np.zeros(len(names))
    for _ in range(3):
        drawn = resampled(pool, random.integers(0, len(pool), len(pool)))
        weights = trainer.fit(drawn).weights
        w = np.array([weights[name] for name in names])
        total += w / np.abs(w * spread).sum()
    total /= np.abs(total).sum()
    np.testing.assert_allclose([result[name] for name in names], total, rtol=1e-6)


def _column(pool: hf.Pool, j: int) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(pool[i].dense)[:, j] for i in range(len(pool))]


def test_uninformative_groups_are_left_out_of_a_bag() -> None:
    """A draw in which all outcomes are the same has nothing to learn; the others make the mean."""
    from hopefear.formats.table import Table, TableSpec

    outcome = np.array([1.0, 0.0] + [1.0, 1.0] * 4)
    columns = {"g": np.repeat(np.arange(5), 2), "y": outcome, "a": np.arange(10.0)[::-1]}
    pool = Table(columns).pool(TableSpec("g", ["a"], outcome=("y",)))
    metric = hf.External("y")
    result = mean_of_fits(pool, lambda drawn: hf.Mert(metric=metric, jobs=1).fit(drawn).weights, metric, 8, 1)
    assert result["a"] > 0


def test_options() -> None:
    with pytest.raises(OptionError, match="--cv"):
        Tune(trainer="mert", out="x", nbest=["a"], cv=1)
    with pytest.raises(OptionError, match="--bag"):
        Tune(trainer="mert", out="x", decoder_command="a", bag=2)
    with pytest.raises(InputError):
        Auto().fit(hf.Pool())
