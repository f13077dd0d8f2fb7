"""Frames with odd indices and types, arrays with names, outputs of several systems, and what else people hand over."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hopefear as hf
from hopefear.sklearn import Weigher

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

ROWS = 120
TOKENS = [[1, 2]] * ROWS
FORMS: dict[str, Callable[[Any], Any]] = {
    "rows of a larger frame": lambda frame: frame.set_index(np.arange(ROWS) * 7 + 3),
    "the group is the index": lambda frame: frame.set_index("id"),
    "the index has the name of a column": lambda frame: frame.set_index("lm", drop=False),
    "a level of the index has no name": lambda frame: frame.set_index([np.arange(ROWS), "id"]),
    "a column of several types": lambda frame: frame.assign(note=[1, "a"] * (ROWS // 2)),
    "a column of objects": lambda frame: frame.assign(note=[object()] * ROWS),
    "categories": lambda frame: frame.astype({"id": "category"}),
    "nullable numbers": lambda frame: frame.convert_dtypes(),
    "types of Arrow": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "sparse numbers": lambda frame: frame.assign(lm=pandas.arrays.SparseArray(frame["lm"].to_numpy())),
    "tokens of each candidate": lambda frame: frame.assign(tokens=TOKENS),
    "categories of polars": lambda frame: polars.from_pandas(frame).with_columns(
        polars.col("id").cast(polars.Categorical)
    ),
    "tokens in polars": lambda frame: polars.from_pandas(frame).with_columns(tokens=polars.Series(TOKENS)),
    "a row of polars for each group": lambda frame: (
        polars.from_pandas(frame).group_by("id", maintain_order=True).agg(polars.all())
    ),
    "a structured array": lambda frame: frame.drop(columns="text").to_records(index=False),
    "a record batch": pyarrow.RecordBatch.from_pandas,
}


@pytest.fixture(scope="module")
def frame() -> Any:
    random = np.random.default_rng(3)
    lm, tm, noise = random.normal(size=(3, ROWS))
    good = 1 / (1 + np.exp(0.2 * noise - lm + 0.5 * tm))
    columns = {"id": [f"q{row // 4}" for row in range(ROWS)], "text": [f"answer {row}" for row in range(ROWS)]}
    return pandas.DataFrame({**columns, "lm": lm, "tm": tm, "good": good})


@pytest.fixture(scope="module")
def weights(frame: Any) -> dict[str, float]:
    return dict(hf.tune(frame, "id", "good", trainer="mert", holdout=0).weights)


@pytest.mark.parametrize("form", FORMS)
def test_the_same_weights_from_any_frame(form: str, frame: Any, weights: dict[str, float]) -> None:
    learnt = hf.tune(FORMS[form](frame), "id", "good", trainer="mert", holdout=0).weights
    assert learnt == pytest.approx(weights)


def test_columns_without_names(frame: Any, weights: dict[str, float]) -> None:
    numbered = frame.set_axis(range(5), axis=1)
    learnt = hf.tune(numbered, 0, 4, features=[2, 3], trainer="mert", holdout=0).weights
    assert learnt == pytest.approx({"2": weights["lm"], "3": weights["tm"]})


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "__index_level_0__"])
def test_the_numbers_of_rows_are_no_feature(name: str, frame: Any, weights: dict[str, float], tmp_path: Path) -> None:
    numbered = frame.assign(number=range(ROWS))[["number", *frame.columns]].rename(columns={"number": name})
    numbered.to_csv(tmp_path / "numbered.csv", index=False)
    with pytest.warns(UserWarning, match=f"the column {name or 'without a name'} is left out"):
        assert set(hf.tune(tmp_path / "numbered.csv", "id", "good").weights) == set(weights)


def test_truth_values_as_outcome(frame: Any) -> None:
    records = [
        {
            "candidates": [
                {"text": r.text, "lm": r.lm, "tm": r.tm, "correct": bool(r.good > 0.6)} for r in rows.itertuples()
            ]
        }
        for _, rows in frame.groupby("id")
    ]
    numbers = [
        {"candidates": [{**each, "correct": float(each["correct"])} for each in record["candidates"]]}
        for record in records
    ]
    weighed = [hf.weigh(data, outcome="correct").weights for data in (records, numbers)]
    assert set(weighed[0]) == {"lm", "tm"} and weighed[0] == weighed[1]


def test_samples_that_repeat(frame: Any) -> None:
    records = []
    for _, rows in frame.groupby("id"):
        candidates = [{"text": r.text, "lm": r.lm, "tm": r.tm, "good": r.good} for r in rows.itertuples()]
        records.append({"candidates": [*candidates, candidates[0]]})
    with pytest.warns(UserWarning, match="30 candidates of 150 with the same scores"):
        assert set(hf.weigh(records, outcome="good").weights) == {"lm", "tm"}


def test_weights_of_any_kind(frame: Any, weights: dict[str, float]) -> None:
    ranked = hf.rerank(frame, weights, "id")
    weigher = Weigher().fit(frame[["lm", "tm"]], frame["good"], groups=frame["id"])
    assert hf.Reranker(weigher).weights == weigher.weights_
    assert hf.rerank(frame, pandas.Series(weights), "id")["score"].tolist() == ranked["score"].tolist()
    records = [{"candidates": [{"text": "a b", "lm": 1.0}, {"text": "a c", "lm": 0.9}, {"text": "a b c", "lm": 0.0}]}]
    assert hf.rerank(records, {"lm": 1.0}, mbr="chrf") == hf.best_by_consensus(
        hf.read_nbest(records), {"lm": 1.0}, "chrf"
    )


def test_pipeline_with_metadata_routing(frame: Any) -> None:
    import sklearn  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from sklearn.model_selection import GroupKFold, cross_val_score  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from sklearn.pipeline import make_pipeline  # type: ignore[import-not-found,import-untyped,unused-ignore]
    from sklearn.preprocessing import StandardScaler  # type: ignore[import-not-found,import-untyped,unused-ignore]

    X, y = frame[["lm", "tm"]], frame["good"]
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), Weigher())
        scores = cross_val_score(pipeline, X, y, cv=GroupKFold(3), params={"groups": frame["id"]}, error_score="raise")
    assert scores.mean() > y.mean() + 0.1


TEXTS = ["the cat sat down here"] * 12


@pytest.mark.filterwarnings("ignore:.* is the output itself")
@pytest.mark.parametrize(
    ("outputs", "references"),
    [
        ("hyp", "ref"),
        (Path("hyp"), Path("ref")),
        ("hyp", TEXTS),
        (TEXTS, "ref"),
        (TEXTS, ["ref"]),
        (iter(TEXTS), iter(TEXTS)),
        (TEXTS[0], TEXTS[0]),
        ([" ".join([word] * 4) for word in "abc"], [" ".join([word] * 4) for word in "abc"]),
        ({"old": TEXTS}, TEXTS),
        (TEXTS, [*TEXTS[:-1], None]),
        (TEXTS, [TEXTS, [None] * 12]),
    ],
)
def test_score_of_texts_and_files(
    outputs: Any, references: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("hyp", "ref"):
        (tmp_path / name).write_text("\n".join(TEXTS) + "\n")
    if references == [*TEXTS[:-1], None]:
        assert hf.score(outputs, references)["bleu"] < 100
    else:
        assert hf.score(outputs, references)["bleu"] == pytest.approx(100)


def test_score_of_several_systems() -> None:
    scored = hf.score({"good": TEXTS, "poor": ["the dog sat down there"] * 12}, TEXTS, metrics=["chrf", "bleu"])
    assert [system["name"] for system in scored.record()] == ["good", "poor"]
    assert scored.record()[1]["comparison"]["bleu"]["p"]["bootstrap"] < 0.05
    assert scored["chrf"] == scored["score"] == pytest.approx(100)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "hf.tune(frame, ['id', 'text'], 'good')",
            "group is the name of a column, not list. Join the columns into one",
        ),
        ("hf.weigh(X, frame['id'].to_numpy(), 'good')", "not ndarray. Put it into the table; hopefear.sklearn.Weigher"),
        ("hf.tune(pandas.concat([frame, frame['lm']], axis=1), 'id', 'good')", "two columns are called 'lm'"),
        ("hf.weigh(io.StringIO('a,b'), 'a', 'b')", "this is an open file. Give its path"),
        ("hf.tune()", "there are no candidates: hf.tune"),
        ("hf.tune([{'prompt': 'a', 'candidates': []}], outcome='b')", "there are no candidates. Give each sentence"),
        ("hf.tune(frame, 'id', 'good', metric=len)", "metric is a name, hf.Chrf.. or the like, or hf.CustomMetric"),
        ("hf.score(TEXTS, TEXTS, metric=len)", "metric is a name, hf.Chrf.. or the like"),
        ("hf.tune(frame, 'id', 'good', random_state=1)", "no option 'random_state'. Did you mean 'seed'?"),
        ("hf.weigh(frame, 'id', 'good', n_jobs=1)", "no option 'n_jobs'. Did you mean 'jobs'?"),
        ("hf.weigh(X=frame, y='good')", "no option 'X'. Did you mean 'table'?"),
        ("hf.tune(frame, 'id', 'good', trainer='mert', restart=1)", "no option 'restart'. Did you mean 'restarts'?"),
        ("hf.score(['a', 'b'], ['a'])", "there are 2 sentences, and the lists of references have 1"),
        ("hf.score(['a cat', None], ['a cat', 'a dog'])", "line 1 of the output is None, not text"),
        ("hf.score({'a': TEXTS, 'b': TEXTS[:2]}, TEXTS)", "b: has 2 lines, but the references have 12"),
        ("hf.Reranker({'a': 1.0}).best([])", "there are no candidates to choose from"),
        ("hf.Reranker({'a': 1.0}).predict([{'a': 'x'}])", "a of row 0 is 'x', which is not a number"),
        ("hf.Reranker({'a': 1.0}).predict(np.array([['x']]))", "a matrix of numbers is needed"),
        ("hf.Reranker({'a': 1.0}).predict(np.array([[1], [-np.inf]]))", "a of row 1 is infinite. Give a finite number"),
        ("Weigher().fit(X, y, groups).score(X, y, groups, sample_weight=y)", "rows have no weights here"),
    ],
)
def test_errors_say_what_to_do(line: str, said: str, frame: Any) -> None:
    X, y, groups = frame[["lm", "tm"]], frame["good"], frame["id"]
    names = {"hf": hf, "np": np, "pandas": pandas, "io": io, "Weigher": Weigher, "TEXTS": TEXTS}
    with pytest.raises(hf.InputError, match=said.replace("?", r"\?")) as error:
        eval(line, {**names, "frame": frame, "X": X, "y": y, "groups": groups})
    assert "--" not in str(error.value) and "\n" not in str(error.value)


def test_what_is_no_file_of_weights(frame: Any, tmp_path: Path) -> None:
    pool = hf.Pool.from_table(frame, "id", outcome="good", text="text")
    hf.write_nbest(pool, tmp_path / "lists.jsonl")
    hf.write_forests(pool, tmp_path / "lists.forests")
    hf.tune(frame, "id", "good", out=tmp_path / "run")
    for name, said in {
        "lists.jsonl": "has lists of candidates, not weights",
        "lists.forests": "has forests of candidates, not weights",
        "run/run.json": "is the record of a run, without its weights. Give its folder",
        ".": "is not a folder of tune, train, compare or weigh",
    }.items():
        with pytest.raises(hf.InputError, match=said):
            hf.load(tmp_path / name)


def test_no_more_is_done_than_there_is(frame: Any, tmp_path: Path) -> None:
    from hopefear.commands.tune import Tune
    from hopefear.runs.events import Progress
    from hopefear.runs.session import Session
    from hopefear.util.progress import Progressing

    bars: dict[str, Progressing] = {}

    def listen(event: Any) -> None:
        if isinstance(event, Progress):
            bars.setdefault(event.label, Progressing(event.label)).update(event.done, event.total, event.text)

    pool = hf.Pool.from_table(frame, "id", outcome="good")
    Tune(pool=pool, trainer="kbmira", set={"passes": 3}, out=str(tmp_path / "run")).run(Session(listen))
    assert bars["tune kbmira"].count() == "3/3"


@pytest.mark.filterwarnings("ignore:.* are the same list")
@pytest.mark.parametrize("policy", ["zero", "mean"])
def test_missing_scores_where_features_are_added(policy: str, tmp_path: Path) -> None:
    records = [
        {
            "candidates": [
                {"text": "a b", "lm": 1.0, "tm": 2.0},
                {"text": "a c", "lm": 3.0, "tm": 1.0},
                {"text": "c", "lm": 2.0},
            ]
        }
    ]
    path = tmp_path / "lists.jsonl"
    path.write_text(json.dumps(records[0]))
    for data in (records, path):
        with pytest.raises(hf.InputError, match='missing="mean"'):
            hf.features(data)
        pool = hf.features(data, missing=policy)
        assert pool.to_pandas()["tm"].tolist()[2] == {"zero": 0.0, "mean": 1.5}[policy]
        assert "a.tm" in hf.combine(data, data, names=["a", "b"], missing=policy).feature_names
