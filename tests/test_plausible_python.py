"""Lines that users of pandas, scikit-learn and Hugging Face type without reading the documentation first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.data.lists import Synthetic
from hopefear.errors import InputError, OptionError
from hopefear.trainers.batch.kbmira import Kbmira

pandas = pytest.importorskip("pandas")

REFS = [f"ref.{i}" for i in range(4)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("plausible")
    Synthetic(sentences=40, candidates=6, dense=5).write(path)
    return path


@pytest.fixture(scope="module")
def pool(folder: Path) -> hf.Pool:
    return hf.read_nbest(folder / "nbest.txt", [folder / name for name in REFS])


@pytest.fixture(scope="module")
def frame() -> Any:
    random = np.random.default_rng(3)
    a, b, noise = random.normal(-20, 3, (3, 240))
    columns = {
        "prompt_id": np.repeat(np.arange(60), 4),
        "a": a,
        "b": b,
        "c": noise,
        "text": [f"t{i}" for i in range(240)],
    }
    return pandas.DataFrame({**columns, "comet": 0.02 * a - 0.01 * b + random.normal(0, 0.01, 240)})


@pytest.fixture(scope="module")
def tuned(frame: Any) -> Any:
    return hf.tune(frame, group="prompt_id", features=["a", "b", "c"], outcome="comet", trainer="mert")


def test_tune_a_frame_without_a_run_directory(frame: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tuned = hf.tune(frame, group="prompt_id", features=["a", "b", "c"], outcome="comet")
    assert tuned.weights["a"] > 0 > tuned.weights["b"] and tuned.path is None
    assert list(tmp_path.iterdir()) == []


def test_tune_a_dict_of_columns(frame: Any) -> None:
    columns = {name: frame[name].to_numpy() for name in ("prompt_id", "a", "b", "comet")}
    assert set(hf.tune(columns, group="prompt_id", outcome="comet", trainer="mert").weights) == {"a", "b"}


@pytest.mark.parametrize("trainer", ["kbmira", hf.Kbmira(passes=10), hf.Kbmira, hf.Mert(restarts=1), "auto"])
def test_tune_a_pool_with_any_kind_of_trainer(pool: hf.Pool, trainer: Any) -> None:
    tuned = hf.tune(pool, trainer=trainer)
    assert tuned.best.scores["dev"]["bleu"] > 0


def test_an_object_of_a_trainer_keeps_its_options(pool: hf.Pool, tmp_path: Path) -> None:
    hf.tune(pool, trainer=hf.Kbmira(passes=7, C=0.5), out=tmp_path / "run")
    options = hf.read_run(tmp_path / "run").trainer["options"]
    assert (options["passes"], options["C"]) == (7, 0.5)


def test_a_class_of_the_users_own(pool: hf.Pool) -> None:
    class Mine(Kbmira):
        """Mine."""

        name = "mine"

    assert hf.tune(pool, trainer=Mine(passes=3)).weights
    assert hf.tune(pool, trainer=Mine, set={"passes": 3}).weights


def test_tune_files(folder: Path) -> None:
    refs = [folder / name for name in REFS]
    assert hf.tune(folder / "nbest.txt", refs=refs, trainer="kbmira").weights
    assert hf.tune(str(folder / "nbest.txt"), refs=[str(name) for name in refs], trainer="kbmira").weights
    assert hf.tune([folder / "nbest.txt"], refs=refs, trainer="kbmira", metric=hf.Chrf()).metric == hf.Chrf()


def test_weigh_with_names_in_order(frame: Any) -> None:
    weighed = hf.weigh(frame[["prompt_id", "a", "b", "c", "comet"]], "prompt_id", "comet")
    assert weighed.weights["a"] > 0
    assert "<td>a</td>" in weighed._repr_html_() and weighed.verdict in weighed._repr_html_()
    assert weighed.predict(frame).shape == (240,)


def test_rerank_with_a_result(frame: Any, tuned: Any) -> None:
    ranked = hf.rerank(frame, tuned, group="prompt_id")
    assert list(ranked.columns[-2:]) == ["score", "rank"]
    best = ranked[ranked["rank"] == 1]
    assert len(best) == 60
    assert best["comet"].mean() > frame["comet"].mean()
    assert ranked.groupby("prompt_id")["score"].is_monotonic_decreasing.all()
    assert list(ranked["text"]) == list(tuned.rerank(frame, group="prompt_id")["text"])


def test_rerank_a_pool(pool: hf.Pool, folder: Path) -> None:
    tuned = hf.tune(pool, trainer="kbmira")
    best = hf.rerank(pool, tuned)
    assert best == hf.rerank(nbest=folder / "nbest.txt", weights=tuned.weights)
    assert best == hf.rerank(pool, tuned.weights) == tuned.rerank(pool)


def test_score_lines() -> None:
    assert hf.score(["hyp"], [["ref"]]).record()[0]["bleu"] == 0.0
    three = ["a cat sat down", "the dog ran off", "it is so"]
    assert hf.score(three, [three]).value == pytest.approx(100)
    assert hf.score(three, [[line, "x"] for line in three], metric="chrf").value == pytest.approx(100)
    with pytest.raises(InputError, match="there are 3 sentences, and the lists of references have 1, 1"):
        hf.score(three, [["a"], ["b"]])


def test_a_metric_that_is_a_column(frame: Any) -> None:
    pool = hf.Pool.from_table(frame, group="prompt_id", features=["a", "b"], outcome=["comet"])
    result = hf.Mert(metric="comet", restarts=1).fit(pool)
    assert result.weights["a"] > 0 > result.weights["b"]
    with pytest.raises(InputError, match="there is no metric 'commet'"):
        hf.Mert(metric="commet").fit(pool)


def test_results_predict_save_and_load(pool: hf.Pool, frame: Any, tuned: Any, tmp_path: Path) -> None:
    result = hf.Kbmira().fit(pool)
    scores = result.predict(pool)
    assert scores.shape == (pool.row_begin()[-1],)
    result.save(tmp_path / "weights.json")
    again = hf.load(tmp_path / "weights.json")
    assert dict(again.weights) == dict(result.weights)
    np.testing.assert_array_equal(again.predict(pool), scores)
    np.testing.assert_allclose(tuned.predict(frame), tuned.predict(frame[["a", "b", "c"]].to_numpy()))
    assert tuned.to_dict()["weights"] == tuned.weights
    assert list(tuned.to_pandas().abs()) == sorted(tuned.to_pandas().abs(), reverse=True)


def test_a_plot_shows_the_weights(tuned: Any) -> None:
    picture = tuned.plot()
    shown = str(picture) if hasattr(picture, "svg") else [label.get_text() for label in picture.get_yticklabels()]
    assert all(name in shown for name in ("a", "b"))


def test_a_reranker_reads_runs_weights_and_json(pool: hf.Pool, tmp_path: Path) -> None:
    tuned = hf.tune(pool, trainer="kbmira", out=tmp_path / "run")
    tuned.save(tmp_path / "weights.json")
    everything = [tmp_path / "run", tmp_path / "run" / "weights.txt", tmp_path / "weights.json"]
    first, *others = [hf.Reranker.load(path).rerank(pool) for path in everything]
    assert all(other == first for other in others)


def test_a_reranker_takes_rows_of_any_kind() -> None:
    reranker = hf.Reranker({"a": 2.0, "b": -1.0})
    rows = [{"a": 1, "b": 0, "text": "x"}, {"a": 3, "b": 1, "text": "y"}]
    assert reranker.predict(rows).tolist() == [2.0, 5.0]
    assert reranker.predict([{"features": {"a": 1, "b": 0}}]).tolist() == [2.0]
    assert reranker.predict({"a": 1, "b": 1}).tolist() == [1.0]
    assert reranker.predict({"a": [1, 2], "b": [0, 0]}).tolist() == [2.0, 4.0]
    assert reranker.predict(np.array([[1, 0], [3, 1]])).tolist() == [2.0, 5.0]
    assert reranker.best(rows) == 1
    assert [row["text"] for row in reranker.rerank(rows)] == ["y", "x"]
    assert reranker.rerank(np.array([[1, 0], [3, 1]])).tolist() == [1, 0]


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_frames_come_back_as_they_came(kind: str) -> None:
    module = pytest.importorskip(kind)
    columns = {"id": [1, 1, 2], "a": [1.0, 2.0, 3.0]}
    frame = module.DataFrame(columns) if kind == "polars" else module.table(columns)
    ranked = hf.Reranker({"a": 1.0}).rerank(frame, group="id")
    assert type(ranked) is type(frame)
    assert list(ranked["rank"].to_list() if kind == "polars" else ranked["rank"].to_pylist()) == [1, 2, 1]


def test_missing_scores_are_an_error_unless_told_otherwise() -> None:
    weights = {"a": 1.0, "b": 2.0}
    with pytest.raises(InputError, match=r"row 1 has no b"):
        hf.Reranker(weights).predict([{"a": 1, "b": 1}, {"a": 1}])
    with pytest.raises(InputError, match=r"table lacks b, which has a weight"):
        hf.Reranker(weights).predict(pandas.DataFrame({"a": [1.0]}))
    assert hf.Reranker(weights, missing="zero").predict([{"a": 1}]).tolist() == [1.0]
    assert hf.Reranker(weights, missing="mean", means={"a": 0, "b": 3}).predict([{"a": 1}]).tolist() == [7.0]
    with pytest.raises(InputError, match="means of a, b"):
        hf.Reranker(weights, missing="mean").predict([{"a": 1}])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text.replace("2.0", "3.0"), "checksum is wrong"),
        (lambda text: text[:-20], "is not JSON"),
        (lambda text: text.replace('"version": 1', '"version": 9'), "has version 9"),
        (lambda text: "{}", "not a file of weights"),
    ],
)
def test_damaged_files_are_refused(damage: Any, said: str, tmp_path: Path) -> None:
    path = hf.Reranker({"a": 2.0}).save(tmp_path / "weights.json")
    path.write_text(damage(path.read_text()))
    with pytest.raises(InputError, match=said):
        hf.Reranker.load(path)


def test_ten_lines_of_any_language_can_score(tmp_path: Path) -> None:
    path = hf.Reranker({"a": 2.0, "b": -1.0}).save(tmp_path / "weights.json")
    weights = json.loads(path.read_text())["weights"]
    row = {"a": 3.0, "b": 1.0}
    assert sum(weights[name] * row[name] for name in weights) == hf.load(path).predict(row)[0]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: hf.tune(trainr="mert"), r"tune\(\) has no option 'trainr'. Did you mean 'trainer'\?"),
        (lambda: hf.weigh(), r"weigh\(\) needs table"),
        (lambda: hf.tune(3, group="a"), "a table is a file, a frame or a dict of arrays, not int"),
        (lambda: hf.rerank([{"a": 1}]), r"rerank\(\) needs weights"),
        (
            lambda: hf.tune({"g": [1], "a": [1]}, group="g", outcome="a", trainer=int),
            "is not a trainer that learns from candidates",
        ),
    ],
)
def test_errors_speak_python(call: Any, said: str) -> None:
    with pytest.raises((InputError, OptionError), match=said):
        call()
